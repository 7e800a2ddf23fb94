// Hides properties from sources in a disguised run: the global names of runners, and the symbols by which the
// document's library finds the true content of a node. Whatever lists or describes properties leaves them out, in each
// realm, and proxies of sources do not hear of the symbols. Loaded once in each process.
"use strict";
const { types } = require("util");
const { isCalledBySource, isReadForSource } = require("./askers.cjs");

const define = Object.defineProperty;
const parentOf = Object.getPrototypeOf;
const { apply, construct } = Reflect;
//: object -> a function that says of a name whether it is hidden
const veils = new WeakMap();
//: functions that return what is hidden, which sources could otherwise read through a proxy
const secrets = new WeakSet();
//: the window of the running test file; a library makes its elements in another realm
let view = {};
//: the symbols that the document's library gives to its nodes
let marks = new Set();
const isMark = (key) => marks.has(key);
//: what proxies do with a property, whose name they get as the second argument
const OF_PROXIES = new Set(["defineProperty", "deleteProperty", "get", "getOwnPropertyDescriptor", "has", "set"]);

/** Remember the document of a global object that has one. Returns its window. */
function see(world) {
  view = world.document.defaultView || {};
  marks = new Set(Object.getOwnPropertySymbols(world.document.createElement("i")));
  return view;
}

// `instanceof` would run a proxy's own code
const isNode = (object) =>
  Boolean(view.Node) && typeof object === "object" && (types.isProxy(object) || object instanceof view.Node);

/** Hide an object's properties from sources, if `isHidden` is true of their names. */
const veil = (object, isHidden) => veils.set(object, isHidden);

/** Whether the caller cannot see a property of this name. */
function isVeiled(object, key) {
  const isNamed = isMark(key) ? isNode(object) : veils.has(object) && veils.get(object)(key);
  return isNamed && isReadForSource();
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
    const isHidden = veils.get(object) || (isNode(object) && isMark);
    return isHidden && isReadForSource() ? found.filter((key) => !isHidden(key)) : found;
  };
  const told = (real) => function (object, key) {
    const descriptor = isVeiled(object, key) ? undefined : shown(object, key, real(object, key));
    return descriptor && secrets.has(descriptor.get) && isReadForSource() ? undefined : descriptor;
  };
  const asked = (real) => (object, key) => !isVeiled(object, key) && real(object, key);
  const called = (real) =>
    function (key) {
      return !isVeiled(this, key) && apply(real, this, [key]);
    };
  const found = (kind) => () =>
    function (key) {
      const name = typeof key === "symbol" ? key : `${key}`;
      for (let one = this; one; one = parentOf(one)) {
        const descriptor = own.getOwnPropertyDescriptor(one, name);
        if (descriptor) return descriptor[kind];
      }
      return undefined;
    };
  const all = (real) => (object) => {
    const every = real(object);
    const isHidden = veils.get(object) || (isNode(object) && isMark);
    const hides = isHidden && isReadForSource();
    Reflect.ownKeys(every).forEach(function (key) {
      if (hides && isHidden(key)) delete every[key];
      else every[key] = shown(object, key, every[key]);
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

/** What a proxy does, if the document's symbols are left out: for these, it answers like the object behind it. */
function deafened(handler, RealProxy) {
  const get = function (own, trap) {
    const does = own[trap];
    if (!OF_PROXIES.has(trap) || typeof does !== "function") return does;
    return function (object, key) {
      return isMark(key) ? apply(Reflect[trap], Reflect, arguments) : apply(does, own, arguments);
    };
  };
  return new RealProxy(handler, { get });
}

/** A realm's class of proxies. Those that sources make do not hear of the document's symbols. */
function deafProxy(RealProxy) {
  const heard = new WeakSet(); // handlers of others: the document uses the same ones for many proxies
  const isDeaf = function (handler) {
    if (marks.size === 0 || Object(handler) !== handler || heard.has(handler)) return false;
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

module.exports = { deafProxy, hideProperties, isNode, replace, secrets, see, veil };
