// Hides properties from sources in a disguised run: the global names of runners, and the symbols by which the
// document's library finds the true content of a node. Whatever lists or describes properties leaves them out, in each
// realm, and proxies of sources do not hear of the symbols. Loaded once in each process.
"use strict";
const { types } = require("util");
const vm = require("vm");
const { isCalledBySource, isReadForSource } = require("./askers.cjs");

const define = Object.defineProperty;
const parentOf = Object.getPrototypeOf;
const { apply, construct } = Reflect;
//: wraps a function so that its calls seem to come from code that is in no file
const marked = vm.runInThisContext(`(function (RealProxy) {
  return function (does, construct, apply) {
    return new RealProxy(does, {
      apply: function (bound, self, words) { return apply(bound, self, words); },
      construct: function (bound, words) { return construct(bound, words); },
      get: function (bound, name) { // a proxy has no prototype for \`instanceof\` to look for
        return name === Symbol.hasInstance ? function (object) { return object instanceof bound; } : bound[name];
      },
    });
  };
})`, { filename: "bound" })(Proxy);
//: object -> a function that says of a name whether it is hidden
const veils = new WeakMap();
//: functions that return what is hidden, which sources could otherwise read through a proxy
const secrets = new WeakSet();
//: the window of the running test file; a library makes its elements in another realm
let view = {};
//: elements of several classes; happy-dom gives each class symbols of its own
const OF_CLASSES = "i a button form iframe img input label option select slot table template textarea".split(" ");
//: the symbols that the document's library gives to its nodes
let marks = new Set();
const isMark = (key) => marks.has(key);
//: libraries that make documents, which find their own nodes by these symbols while sources call them
const OF_DOCUMENTS = /[\\/]node_modules[\\/](?:happy-dom|jsdom)[\\/]/;
//: what proxies do with a property, whose name they get as the second argument
const OF_PROXIES = new Set(["defineProperty", "deleteProperty", "get", "getOwnPropertyDescriptor", "has", "set"]);

/** Remember the document of a global object that has one. Returns its window. */
function see(world) {
  view = world.document.defaultView || {};
  const nodes = OF_CLASSES.map((name) => world.document.createElement(name));
  marks = new Set([].concat(...nodes.map(Object.getOwnPropertySymbols)));
  return view;
}

// `instanceof` would run a proxy's own code
const isNode = (object) =>
  Boolean(view.Node) && typeof object === "object" && (types.isProxy(object) || object instanceof view.Node);

/** Hide an object's properties from sources, if `isHidden` is true of their names. */
const veil = (object, isHidden) => veils.set(object, isHidden);

/** The name of a property, which an object could give differently each time it is asked. */
const nameOf = (key) => (typeof key === "string" || typeof key === "symbol" ? key : Reflect.ownKeys({ [key]: 0 })[0]);

/** Whether the caller cannot see a property of this name. */
function isVeiled(object, key) {
  if (isMark(key)) return isNode(object) && isReadForSource(OF_DOCUMENTS);
  return veils.has(object) && veils.get(object)(key) && isReadForSource();
}

/** Which names of an object's properties are hidden from the caller, as a function; nothing if none are. */
function hiddenOf(object) {
  const isHidden = veils.get(object) || (isNode(object) && isMark);
  const own = isHidden === isMark ? OF_DOCUMENTS : undefined;
  return isHidden && isReadForSource(own) ? isHidden : undefined;
}

/** Give an object a function in place of another one of its name. */
function replace(owner, name, make) {
  const real = owner[name];
  if (!real) return;
  const value = make(real);
  define(value, "name", { value: name, configurable: true });
  define(owner, name, { configurable: true, enumerable: false, value, writable: true });
}

/** Replace a realm's functions that list or describe properties. `shown` gives the descriptor that callers see. */
function hideProperties({ Object: own, Reflect: reflect }, shown) {
  const listed = (real) => (object) => {
    const found = real(object);
    const isHidden = hiddenOf(object);
    return isHidden ? found.filter((key) => !isHidden(key)) : found;
  };
  const seen = function (object, name, found) {
    const descriptor = isVeiled(object, name) ? undefined : shown(object, name, found);
    return descriptor && secrets.has(descriptor.get) && isReadForSource() ? undefined : descriptor;
  };
  const told = (real) => function (object, key) {
    const name = nameOf(key);
    return seen(object, name, real(object, name));
  };
  const asked = (real) => function (object, key) {
    const name = nameOf(key);
    return !isVeiled(object, name) && real(object, name);
  };
  const called = (real) =>
    function (key) {
      const name = nameOf(key);
      return !isVeiled(this, name) && apply(real, this, [name]);
    };
  const found = (kind) => () =>
    function (key) {
      const name = nameOf(key);
      for (let one = this; one; one = parentOf(one)) {
        const descriptor = own.getOwnPropertyDescriptor(one, name);
        if (descriptor) return descriptor[kind];
      }
      return undefined;
    };
  const all = (real) => (object) => {
    const every = real(object);
    Reflect.ownKeys(every).forEach(function (key) {
      const descriptor = seen(object, key, every[key]);
      if (descriptor) every[key] = descriptor;
      else delete every[key];
    });
    return every;
  };
  [
    [own, "getOwnPropertyNames", listed], [own, "getOwnPropertySymbols", listed], [reflect, "ownKeys", listed],
    [own, "getOwnPropertyDescriptor", told], [reflect, "getOwnPropertyDescriptor", told],
    [own, "getOwnPropertyDescriptors", all], [own, "hasOwn", asked], [reflect, "has", asked],
    [own.prototype, "hasOwnProperty", called], [own.prototype, "propertyIsEnumerable", called],
    [own.prototype, "__lookupGetter__", found("get")], [own.prototype, "__lookupSetter__", found("set")],
  ].forEach(([owner, name, make]) => replace(owner, name, make));
}

/** What a proxy of a source does, if the document's symbols are left out: for these, it answers like the object behind
 * it. What happens in calls counts as a source's. */
function deafened(handler, RealProxy) {
  const get = function (_, trap) {
    const does = handler[trap];
    if (typeof does !== "function") return does;
    if (!OF_PROXIES.has(trap)) return marked(does, construct, apply);
    return function (object, key) {
      return isMark(key) ? apply(Reflect[trap], Reflect, arguments) : apply(does, handler, arguments);
    };
  };
  return new RealProxy({}, { get }); // not around the handler itself, which may be frozen
}

/** A realm's class of proxies. Those that sources make do not hear of the document's symbols. */
function deafProxy(RealProxy) {
  const heard = new WeakSet(); // handlers of others: the document uses the same ones for many proxies
  const isDeaf = function (handler) {
    if (Object(handler) !== handler || heard.has(handler)) return false;
    const isTheirs = isCalledBySource();
    if (!isTheirs) heard.add(handler);
    return isTheirs;
  };
  const given = ([object, handler]) => [object, isDeaf(handler) ? deafened(handler, RealProxy) : handler];
  const { revocable } = RealProxy;
  const value = { revocable: (object, handler) => apply(revocable, RealProxy, given([object, handler])) }.revocable;
  const made = new RealProxy(RealProxy, {
    construct: (type, words, target) => construct(type, given(words), target === made ? type : target),
    get: (type, name) => (name === "revocable" ? value : type[name]),
  });
  return made;
}

module.exports = { deafProxy, hideProperties, isNode, marked, replace, secrets, see, veil };
