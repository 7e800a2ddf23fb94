// Hides properties from sources in a disguised run: the global names of runners, the properties of test doubles, and the
// symbols by which the document's library finds the true content of a node. Whatever lists or describes properties leaves them out, in each
// realm, and proxies of sources do not hear of the symbols. Loaded once in each process.
"use strict";
const vm = require("vm");
const { isCalledBySource, isCalledByTool, isProxy, isReadForSource } = require("./askers.cjs");
const { keysOf } = require("./early.cjs");

const define = Object.defineProperty;
const owns = Function.prototype.call.bind(Object.prototype.hasOwnProperty);
const isDefined = Reflect.defineProperty;
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
//: what the window of the running test file held when the disguise began, since sources can replace it: whether
//: something is a node, and the prototypes of nodes and of all classes, to which those of frames are added. A library
//: makes its elements in another realm
let isOfNodes;
let nodes = new WeakSet();
let classes = new WeakSet();
let hasFrames = false;
//: elements of several classes; happy-dom gives each class symbols of its own
const OF_CLASSES = "i a button form iframe img input label option select slot table template textarea".split(" ");
//: objects of a page other than elements, each of a kind of its own. Nodes get another symbol when these are asked for
const OF_PAGES = [
  ({ document }) => document.createTextNode(""), ({ document }) => document.childNodes,
  ({ document }) => document.implementation, ({ document }) => document.createRange(), ({ document }) => document.styleSheets,
  ({ document }) => document.head.children, ({ document }) => document.head.attributes, ({ document }) => document.head.classList,
  ({ document }) => document.head.style, ({ document }) => document.head.dataset, ({ location }) => location,
  ({ navigator }) => navigator, ({ history }) => history, ({ screen }) => screen, ({ performance }) => performance,
  ({ Event }) => new Event("x"), ({ MutationObserver }) => new MutationObserver(() => {}),
  ({ DOMParser }) => new DOMParser(), ({ AbortController }) => new AbortController().signal,
  ({ document }) => document, ({ document }) => document.head,
];
//: the symbols that the document's library gives to its objects
let marks = new Set();
const isMark = (key) => marks.has(key);
//: libraries that make documents, which find their own nodes by these symbols while sources call them
const OF_DOCUMENTS = /[\\/]node_modules[\\/](?:happy-dom|jsdom)[\\/]/;
//: the properties of test doubles: those by which libraries mark them, those of Jest and Vitest, of tinyspy, and of Sinon
const OF_MARKED = new Set(["_isMockFunction", "isSinonProxy", "and"]);
const OF_DOUBLES = new Set((
  "_protoImpl getMockImplementation getMockName mock mockClear mockImplementation mockImplementationOnce mockName " +
  "mockRejectedValue mockRejectedValueOnce mockReset mockResolvedValue mockResolvedValueOnce mockRestore " +
  "mockReturnThis mockReturnValue mockReturnValueOnce mockThrow mockThrowOnce withImplementation " +
  "callCount called calls getOriginal impl nextError nextResult resolves restore results returns willCall " +
  "alwaysCalledOn alwaysCalledWith alwaysCalledWithExactly alwaysCalledWithMatch alwaysCalledWithNew alwaysReturned " +
  "alwaysThrew args behaviors callArg callArgOn callArgOnWith callArgWith callIds callThrough callThroughWithNew " +
  "callback calledAfter calledBefore calledImmediatelyAfter calledImmediatelyBefore calledOn calledOnce calledOnceWith " +
  "calledOnceWithExactly calledOnceWithMatch calledThrice calledTwice calledWith calledWithExactly calledWithMatch " +
  "calledWithNew callsArg callsArgAsync callsArgOn callsArgOnAsync callsArgOnWith callsArgOnWithAsync callsArgWith " +
  "callsArgWithAsync callsFake defaultBehavior displayName errorsWithCallStack exceptions fakes firstArg firstCall " +
  "formatters getCall getCalls id instantiateFake invoke invokeCallback lastArg lastCall matchingArguments " +
  "matchingFakes named neverCalledWith neverCalledWithMatch notCalled onCall onFirstCall onSecondCall onThirdCall printf " +
  "rejects reset resetBehavior resetHistory resolvesArg resolvesThis returned returnValues returnsArg returnsThis " +
  "secondCall shadowsPropOnPrototype stackTraceError thirdCall thisValues threw throwArg throws throwsArg " +
  "throwsException usingPromise withArgs wrappedMethod yield yieldOn yieldTo yieldToOn yields yieldsAsync yieldsOn " +
  "yieldsOnAsync yieldsRight yieldsRightAsync yieldsTo yieldsToAsync yieldsToOn yieldsToOnAsync"
).split(" ").concat(Array.from(OF_MARKED), Symbol.for("tinyspy:spy"), Symbol.dispose || []));
//: other methods that doubles have themselves
const OF_OWN = ["get", "set", "toString", "value"];
//: the names that libraries give to doubles of functions without a name, and the text that sources see of all doubles
const OF_NAMELESS = /^(?:[Mm]ock|mockConstructor|spy|proxy|functionStub|fake|fakeInstance|vi\.fn\(\))$/;
const TEXT = "() => {}";
//: test double -> its properties of these names; and the functions that hide the name of one -> this name
const doubles = new WeakMap();
const names = new WeakMap();
//: what proxies do with a property, whose name they get as the second argument
const OF_PROXIES = new Set(["defineProperty", "deleteProperty", "get", "getOwnPropertyDescriptor", "has", "set"]);

/** Remember the document of a global object that has one. Returns its window. */
function see(world) {
  const view = world.document.defaultView || {};
  const elements = OF_CLASSES.map((name) => world.document.createElement(name));
  marks = new Set([].concat(...elements.map(Object.getOwnPropertySymbols), ...OF_PAGES.map((get) => symbolsOf(get, view))));
  [nodes, classes, hasFrames] = [new WeakSet(), new WeakSet(), false];
  isOfNodes = view.Node && kindOf(view.Node);
  addClasses(view);
  return view;
}

/** The symbols of an object that a window may have; none if it does not have it. */
function symbolsOf(get, view) {
  try {
    return Object.getOwnPropertySymbols(get(view));
  } catch (error) {
    return [];
  }
}

function addClasses(view) {
  const own = keysOf(view).filter((name) => /^[A-Z]/.test(String(name))).map((name) => view[name]);
  own.filter((type) => typeof type === "function" && type.prototype).forEach((type) => classes.add(type.prototype));
  if (view.Node) nodes.add(view.Node.prototype);
}

/** Remember the window of a frame, too, which has classes of its own. */
function seeFrame(view) {
  hasFrames = true;
  addClasses(view);
}

/** Whether an object inherits from one of these prototypes. */
function isBelow(object, prototypes) {
  for (let one = object && parentOf(object); one; one = parentOf(one)) if (prototypes.has(one)) return true;
  return false;
}

/** How to find out whether an object belongs to a class, which sources may replace or change later. */
function kindOf(type) {
  const belongs = typeof type === "function" && type[Symbol.hasInstance];
  return (object) => Boolean(belongs) && apply(belongs, type, [object]);
}

/** Whether an object is a node, or may be one: looking for the class of a proxy would run its own code. Functions can
 * inherit from nodes, too. */
function isNode(object) {
  if (!isOfNodes || (typeof object !== "object" && typeof object !== "function")) return false;
  if (isProxy(object)) return typeof object === "object";
  return isOfNodes(object) || (hasFrames && isBelow(object, nodes));
}

/** Whether this is the prototype of a class that the document's library has made; and that of all nodes of a window. */
const isClass = (object) => classes.has(object);
const isOfAllNodes = (object) => nodes.has(object);

const isDouble = (object) => doubles.has(object);

/** Hide an object's properties from sources, if `isHidden` is true of their names. */
function veil(object, isHidden) {
  const before = veils.get(object);
  veils.set(object, before ? (key) => before(key) || isHidden(key) : isHidden);
}

/** The name of a property, which an object could give differently each time it is asked. */
function nameOf(key) {
  if (typeof key === "string" || typeof key === "symbol") return key;
  return typeof key === "number" ? String(key) : Reflect.ownKeys({ [key]: 0 })[0];
}

/** Whether the caller cannot see a property of this name. */
function isVeiled(object, key) {
  if (isMark(key)) return isReadForSource(OF_DOCUMENTS);
  return veils.has(object) && veils.get(object)(key) && isReadForSource();
}

/** Those of an object's properties that the caller sees. */
function seenOf(object, keys) {
  const isVeiled = veils.get(object);
  const plain = isVeiled && isReadForSource() ? keys.filter((key) => !isVeiled(key)) : keys;
  return plain.some(isMark) && isReadForSource(OF_DOCUMENTS) ? plain.filter((key) => !isMark(key)) : plain;
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
  const listed = (real) => (object) => seenOf(object, real(object));
  const seen = function (object, name, found) {
    const descriptor = isVeiled(object, name) ? undefined : shown(object, name, found);
    if (descriptor && names.has(descriptor.get))
      return { configurable: true, enumerable: false, value: isReadForSource() ? "" : names.get(descriptor.get), writable: false };
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

/** The properties of a test double, of which a class inherits those of its parent. */
function propertiesOf(object) {
  for (let one = object; one; one = parentOf(one)) if (doubles.has(one)) return doubles.get(one);
  return undefined;
}

/** Keep the properties of test doubles in a realm apart from the doubles, where only others than sources find them. */
function hideDoubles({ Function: { prototype } }) {
  OF_DOUBLES.forEach(function (name) {
    const get = function () {
      const all = propertiesOf(this);
      const own = all && all.get(name);
      if (!own || isReadForSource()) return undefined;
      return own.get ? apply(own.get, this, []) : own.value;
    };
    const set = function (other) {
      const value = { configurable: true, enumerable: true, value: other, writable: true };
      if (Object(this) === this && !isTaken(this, name, value)) isDefined(this, name, value);
    };
    if (!owns(prototype, name)) define(prototype, name, { configurable: true, enumerable: false, get, set });
  });
  veil(prototype, (name) => OF_DOUBLES.has(name));
}

/** Whether a property is kept apart from the test double that gets it, or is none that a source can change. */
function isTaken(object, name, descriptor) {
  if (Object(descriptor) !== descriptor || !(doubles.has(object) || isMarking(object, name))) return false;
  const all = doubles.get(object);
  if (name === "name") return isNameless(object, descriptor.value);
  if (OF_OWN.includes(name) && typeof descriptor.value === "function") return isHidden(object, name, descriptor.value);
  if (!OF_DOUBLES.has(name) || owns(object, name) || !(all.has(name) || isCalledByTool())) return false;
  const { set } = all.get(name) || {};
  if (isReadForSource()) return true;
  if (set && "value" in descriptor) apply(set, object, [descriptor.value]);
  else all.set(name, descriptor);
  return true;
}

/** Whether a library makes a function a test double by giving it this property. */
function isMarking(object, name) {
  if (!OF_MARKED.has(name) || typeof object !== "function" || !isCalledByTool()) return false;
  doubles.set(object, new Map());
  veil(object, (key) => OF_DOUBLES.has(key) || OF_OWN.includes(key));
  isNameless(object, object.name);
  return true;
}

/** Hide the name that a library gives to a double, and return whether there is one. */
function isNameless(object, name) {
  const get = () => (isReadForSource() ? "" : name);
  names.set(get, name);
  return OF_NAMELESS.test(String(name)) && isDefined(object, "name", { configurable: true, enumerable: false, get });
}

/** Give a double a method of its library, except to sources. */
function isHidden(object, name, real) {
  const told = name === "toString" ? () => TEXT : undefined;
  const get = () => (isReadForSource() ? told : real);
  return isDefined(object, name, { configurable: true, enumerable: false, get });
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

module.exports = {
  TEXT, deafProxy, hideDoubles, hideProperties, isBelow, isClass, isDouble, isMark, isNode, isOfAllNodes, isTaken,
  kindOf, marked, nameOf, replace, secrets, see, seeFrame, veil,
};
