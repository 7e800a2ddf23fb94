// Keeps functions that runners, libraries and tests call, too, in a disguised run: sources cannot replace those of the
// language and of Node, nor define what answers for all objects. Tests, runners and libraries may replace anything, unless
// a source has them do it. Loaded once in each process; each realm is kept separately.
"use strict";
const Module = require("module");
const { isAbove, isAskedForSource, isCalledBySource, isDoneForSource, isProxy } = require("./askers.cjs");
const { bases, howKept, keep, keepAll, keepGlobal, keepWindow, namesOf, note, share, shown, taking } = require("./kept.cjs");
const {
  hideInner, isActing, isAnswer, isHiding, isLyingParent, isWithoutWindow, keepElements, keepEvents, keepInner, keepReading,
  noteAnswer, noteMade, readPage, viewed,
} = require("./reading.cjs");
const {
  deafProxy, hideDoubles, hideProperties, isNode, isOfAllNodes, isTaken, marked, nameOf, replace,
} = require("./veiling.cjs");
const { loopsOf, restore, restored, watchRealm } = require("./watching.cjs");
//: objects with the language's functions, except those that fake clocks replace
const OF_LANGUAGE =
  "Object Reflect JSON Promise Promise.prototype Array Array.prototype String.prototype Map.prototype " +
  "Set.prototype WeakMap.prototype WeakSet.prototype Symbol.prototype Error Function.prototype";
//: the language's global names, except those that fake clocks replace
const OF_GLOBALS =
  "Array Boolean Error Function JSON Map Number Object Promise Reflect RegExp Set String Symbol WeakMap WeakSet";
//: names by which the language, Node and runners ask any object, of which the first ones can be kept; and prototypes that
//: sources cannot give these names
const KEPT_ASKED = ["asymmetricMatch", Symbol.for("nodejs.util.inspect.custom")];
const ASKED = KEPT_ASKED.concat("then", "toJSON");
const OF_ASKED = "Object Function Array String Number Boolean Map Set Error RegExp";
//: functions of a window that call others later
const TIMERS = ["setTimeout", "setInterval", "requestAnimationFrame", "queueMicrotask"];
//: modules of Node by which reports leave a process, or from which their classes inherit
const OF_NODE =
  ["fs", "fs/promises", "v8", "events", "worker_threads", "util", "path", "vm", "module", "assert", "assert/strict"];
//: names and paths of libraries whose functions tests call themselves, to render, to find roles and to check code
const OF_LIBRARIES =
  /(?:^|[\\/]node_modules[\\/])(?:aria-query|axe-core|dom-accessibility-api|eslint|@typescript-eslint[\\/](?:rule-tester|utils)|react(?:-dom|-test-renderer)?|vue|@vue[\\/]server-renderer)(?:$|[\\/](?!node_modules[\\/]))/;
const JEST = /[\\/]jest-runtime[\\/]build[\\/]index\.js$/;
const OF_PROCESS = ["emit", "send", "exit", "reallyExit", "on", "once", "addListener", "removeListener", "nextTick"];

const define = Object.defineProperty;
const described = Object.getOwnPropertyDescriptor;
const owns = Function.prototype.call.bind(Object.prototype.hasOwnProperty);
//: objects from which everything inherits: sources can add nothing that affects assignments to inheriting objects
const roots = new WeakSet();
//: the prototypes of all objects to which anybody may still add properties, with the names that they had when the
//: disguise began
let open = [];
//: the realms whose functions are kept
const realms = new WeakSet();
//: prototypes from which many objects inherit: sources cannot give them the names in ASKED; and those of lists, whose
//: places sources cannot define either
const common = new WeakSet();
const lists = new WeakSet();
//: what libraries export, if it is kept
const libraries = new WeakSet();

const isFunction = (value) => typeof value === "function";

/** Whether this is the name of a place in a list. An accessor there would get what anyone puts into a list. */
const isPlace = (name) => typeof name !== "symbol" && /^\d+$/.test(String(name));

/** Whether a property with this descriptor does not affect assignments to inheriting objects. */
function isPlain(descriptor) {
  if (!descriptor || isProxy(descriptor)) return false;
  const value = described(descriptor, "value");
  const writable = described(descriptor, "writable");
  return Boolean(value && "value" in value && writable && writable.value === true);
}

/** Whether a property of this name would answer for all objects, or for all of a kind. */
function isOfMany(object, name, descriptor) {
  if (bases.has(object) || (roots.has(object) && !isPlain(descriptor))) return true;
  if ((common.has(object) && ASKED.includes(name)) || (lists.has(object) && isPlace(name))) return true;
  return KEPT_ASKED.includes(name) && isNode(object);
}

/** Whether an object does not get this property, because a source defines it and tests would notice, or because the
 * property is kept and has taken what it is given. */
function isRefused(object, name, descriptor) {
  noteMade(object, name);
  if (isFunction(object) && isTaken(object, name, descriptor)) return true;
  if (name === "view" && isWithoutWindow(object, descriptor)) return true;
  const how = howKept(object, name);
  const isNamed = (how && !how.isShared) || isOfMany(object, name, descriptor) || isAnswer(object, name);
  if (isNamed && isDoneForSource()) return true;
  if (!how && isActing(object, name) && isAskedForSource(name)) return true;
  if (name === "dispatchEvent" && isNode(object) && isCalledBySource()) return true;
  if (how && how.take && descriptor && ("value" in descriptor || descriptor.get)) {
    how.take(descriptor, object);
    return true;
  }
  if (!how && isHiding(object, name) && isCalledBySource()) return true;
  noteAnswer(object, name);
  return false;
}

/** Replace a realm's functions that define properties, so that sources cannot use them on what is kept. */
function keepDefining(world) {
  if (world.document) readPage(world);
  if (roots.has(world.Object.prototype)) return;
  const { Object: own, Reflect: reflect } = world;
  replace(own, "defineProperty", (real) => function (object, key, descriptor) {
    const name = nameOf(key);
    return isRefused(object, name, descriptor) ? object : real(object, name, descriptor);
  });
  replace(own, "defineProperties", (real) => function (object, descriptors) {
    const taken = {};
    Reflect.ownKeys(descriptors).forEach(function (name) {
      const { enumerable } = described(descriptors, name);
      const value = enumerable && descriptors[name];
      if (enumerable && !isRefused(object, name, value)) define(taken, name, { enumerable, value });
    });
    return real(object, taken);
  });
  replace(reflect, "defineProperty", (real) => function (object, key, descriptor) {
    const name = nameOf(key);
    return isRefused(object, name, descriptor) || real(object, name, descriptor);
  });
  ["__defineGetter__", "__defineSetter__"].forEach((method) =>
    replace(own.prototype, method, (real) => function (key, does) {
      const name = nameOf(key);
      if (!isRefused(this, name)) real.call(this, name, does);
    }));
  keepParents(world);
  hideProperties(world, shown);
  [own.prototype, world.Function.prototype].forEach((root) => roots.add(root));
  bases.add(own.prototype);
}

/** Replace a realm's functions that give an object another prototype. */
function keepParents(world) {
  const { Object: own, Reflect: reflect } = world;
  const isMoved = (object, parent) =>
    object === world || isOfAllNodes(object) ? isDoneForSource() : isLyingParent(object, parent);
  replace(own, "setPrototypeOf", (real) => (object, parent) =>
    isMoved(object, parent) ? object : real(object, parent));
  replace(reflect, "setPrototypeOf", (real) => (object, parent) => isMoved(object, parent) || real(object, parent));
  const proto = described(own.prototype, "__proto__");
  define(own.prototype, "__proto__", Object.assign({}, proto, {
    set: function (parent) {
      if (!isMoved(this, parent)) proto.set.call(this, parent);
    },
  }));
}

/** Remove properties that were added to all objects, as only sources do by assignment, and undo what sources assigned to
 * watched properties. */
function clearBases() {
  restore();
  open.forEach(function ({ base, names }) {
    const found = Reflect.ownKeys(base);
    if (found.length === names.size) return;
    const added = found.filter((name) => !names.has(name) && "value" in described(base, name));
    added.forEach((name) => Reflect.deleteProperty(base, name));
  });
}

/** Keep the methods that loops call, and the global names of the language's classes. */
function keepLoops(world, at) {
  loopsOf(world, at).forEach(function (owner) {
    keepAll(owner, restored);
    keep(owner, Object.getOwnPropertySymbols(owner), { show: restored });
  });
  OF_GLOBALS.split(" ").forEach((name) => keepGlobal(world, name));
}

/** Keep sources from answering for all objects, or for all values of a kind, when an assertion compares them. The other
 * names in ASKED cannot be kept like this, since code asks whether an object has them. */
function keepAsked(world) {
  const { prototype } = world.Object;
  OF_ASKED.split(" ").forEach((name) => common.add(world[name].prototype));
  lists.add(world.Array.prototype);
  KEPT_ASKED.forEach(function (name) {
    if (owns(prototype, name)) return;
    let value;
    const get = () => value;
    const set = function (other) {
      if ((common.has(this) || isNode(this)) && isDoneForSource()) return;
      if (this === prototype) value = other;
      else if (Object(this) === this)
        define(this, name, { value: other, configurable: true, enumerable: true, writable: true });
    };
    define(prototype, name, { configurable: false, enumerable: false, get, set });
    note(prototype, name, taking(false, get, set.bind(prototype)));
  });
}

/** Remove what answers for all objects or lists, and let nobody add anything to all objects from now on. */
function closeRealm(world) {
  const owners = OF_ASKED.split(" ").map((name) => world[name].prototype);
  clearBases();
  owners.forEach((owner) => ASKED.slice(KEPT_ASKED.length).forEach((name) => Reflect.deleteProperty(owner, name)));
  Object.preventExtensions(owners[0]);
  open = open.filter(({ base }) => base !== owners[0]);
}

/** Let functions that a source binds count as a source's, whoever calls them. Bound functions have no file. */
function markBound(world) {
  const { prototype } = world.Function;
  const { configurable, value: real } = described(prototype, "bind");
  if (!configurable || !real) return;
  const { apply, construct } = Reflect;
  const value = {
    bind(self) {
      const bound = apply(real, this, arguments);
      return isAbove(value) ? marked(bound, construct, apply) : bound;
    },
  }.bind;
  define(prototype, "bind", { configurable: true, enumerable: false, value, writable: true });
}

/** The same for functions that a source gives to the timers of a window or of Node, which call them with any words. In a
 * page, sources get numbers. What puts the real timers back, as fake clocks do, puts these back: a library notices if a
 * timer is not the one from before. */
function markTimers(owner) {
  TIMERS.forEach(function (name) {
    const own = described(owner, name);
    if (!own || !own.writable || !own.configurable || !isFunction(own.value)) return;
    const marking = new Proxy(own.value, {
      apply: function (real, self, words) {
        if (!isFunction(words[0]) || !isCalledBySource()) return Reflect.apply(real, self, words);
        const does = marked(words[0], Reflect.construct, Reflect.apply);
        const timer = Reflect.apply(real, self, [does].concat(words.slice(1)));
        return viewed().Node && timer && timer[Symbol.toPrimitive] ? +timer : timer;
      },
    });
    let now = marking;
    const get = () => now;
    const set = (other) => (now = other === own.value ? marking : other);
    define(owner, name, { configurable: true, enumerable: own.enumerable, get, set });
    note(owner, name, taking(own.enumerable, get, set));
  });
}

/** Keep a realm's functions. Those of regular expressions and loops are kept in the realm of sources only, since V8
 * runs kept ones slowly. */
function keepRealm(world, ofSources) {
  if (realms.has(world)) return; // Jest's own realm is the same for all test files of a process
  realms.add(world);
  open.push({ base: world.Object.prototype, names: new Set(Reflect.ownKeys(world.Object.prototype)) });
  const at = (place) => place.split(".").reduce((owner, name) => owner && owner[name], world);
  markBound(world);
  hideDoubles(world);
  world.Proxy = deafProxy(world.Proxy);
  watchRealm(world, at, world === ofSources);
  keepAsked(world);
  OF_LANGUAGE.split(" ").forEach((place) => keepAll(at(place), world === ofSources ? restored : undefined));
  if (world === ofSources) {
    const view = viewed();
    keepReading(view);
    keepEvents(world, view);
    keepInner();
    hideInner(view);
    new Set([world, view]).forEach(markTimers);
    keepLoops(world, at);
    keepGlobal(world, "Proxy");
    new Set([world, view]).forEach((owner) =>
      ["getComputedStyle", "getSelection"].forEach((name) => keepGlobal(owner, name)));
  }
  keepElements();
  if ((described(world, "document") || {}).get) keepGlobal(world, "document");
  else keep(world, ["document"], { isKept: Boolean });
  keepWindow(world);
}

/** Keep the functions of Node's modules. */
function keepNode() {
  keepLibraries();
  OF_NODE.concat(process.env.NODE_TEST_CONTEXT ? "node:test" : []).forEach(function (name) {
    let own;
    try {
      own = require(name);
    } catch (error) {
      return; // this version of Node does not have it
    }
    keepAll(own);
    const classes = Object.keys(own).filter((key) => /^[A-Z]/.test(key) && isFunction(own[key]));
    classes.forEach((key) => keepAll(own[key].prototype));
    classes.forEach((key) => own[key].prototype && roots.add(own[key].prototype));
  });
  const { _extensions, syncBuiltinESMExports } = Module;
  keepAll(_extensions);
  if (syncBuiltinESMExports) syncBuiltinESMExports();
}

/** Keep what libraries export, when Node or Jest gives it to anyone. */
function keepLibraries() {
  const keeping = (real, place) =>
    function () {
      const told = Reflect.apply(real, this, arguments);
      if (OF_LIBRARIES.test(arguments[place])) keepLibrary(told);
      return told;
    };
  Module._load = keeping(Module._load, 0);
  Object.getOwnPropertyNames(Module._cache).filter((name) => JEST.test(name)).forEach(function (name) {
    const { prototype } = Module._cache[name].exports.default || Module._cache[name].exports;
    if (prototype && prototype.requireModuleOrMock)
      prototype.requireModuleOrMock = keeping(prototype.requireModuleOrMock, 1);
  });
}

/** Keep the functions that a library exports, itself or in objects, and the methods of its classes. */
function keepLibrary(exported) {
  if (Object(exported) !== exported || isProxy(exported) || libraries.has(exported)) return;
  libraries.add(exported);
  const names = namesOf(exported).filter((name) => !/^_/.test(name));
  const values = names.map((name) => (described(exported, name) || {}).value);
  const classes = values.filter((value, at) => isFunction(value) && /^[A-Z]/.test(names[at])).map((type) => type.prototype);
  const objects = values.filter((value) => Object(value) === value && !isFunction(value) && !Array.isArray(value));
  [exported].concat(objects, classes).filter((owner) => owner && !isProxy(owner)).forEach((owner) =>
    share(owner, namesOf(owner)));
}

/** Keep the functions that a process has or inherits. Those of which `isHidden` is true seem to be missing. */
function keepProcess(own, isHidden) {
  OF_PROCESS.forEach(function (name) {
    if (isFunction(own[name]) && !owns(own, name))
      define(own, name, { configurable: true, enumerable: false, value: own[name], writable: true });
  });
  keep(own, OF_PROCESS, { show: (value, name) => (isHidden(name) ? undefined : value) });
}

module.exports = { clearBases, closeRealm, keepDefining, keepNode, keepProcess, keepRealm, markBound };
