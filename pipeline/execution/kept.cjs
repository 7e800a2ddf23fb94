// How a property is kept: sources cannot replace it, or only for themselves, while it looks like any other property to
// all callers. Which ones are kept is said in `keeping.cjs` and `reading.cjs`.
"use strict";
const { isAskedForSource, isCalledBySource, isDoneForSource, isGivenBySource } = require("./askers.cjs");
//: methods that are not kept, because tests of real repositories delete them
const DELETED = ["constructor", "toString"];

const define = Object.defineProperty;
const described = Object.getOwnPropertyDescriptor;
//: the kept properties: object -> name -> whether it is `enumerable`; `show` returns the descriptor that all callers
//: see (without it, only sources see a plain property), and `take` accepts a replacement
const kept = new WeakMap();
//: the prototypes of all objects in a realm
const bases = new WeakSet();
//: global objects that inherit their `window`
const windows = new WeakSet();
//: by object, the names of those properties that somebody assigned or defined, once they are remembered
let assigned;

const isFunction = (value) => typeof value === "function";

/** Keep an object's own functions of these names, or the values that `isKept` accepts. Sources cannot give others to
 * objects that `isStrict` accepts. A value is read with `show`, which gets it and its name. */
function keep(owner, names, { isKept = isFunction, isStrict, show = (value) => value } = {}) {
  names.forEach(function (name) {
    const own = owner && described(owner, name);
    if (!own || !own.configurable || !isKept(own.value)) return;
    let { value } = own;
    let copies; // objects to which this property was copied, with values of their own
    const read = (object) => show(copies && copies.has(object) ? copies.get(object) : value, name);
    const write = (other) => (value = other);
    const get = function () {
      return read(this);
    };
    const set = function (other) {
      if (this === owner || this === undefined || this === null) {
        if (!isDoneForSource()) write(other);
        return;
      }
      const copied = described(this, name);
      if (isStrict && isStrict(this) && isGivenBySource()) return;
      if (copied && copied.set === set) copies = (copies || new WeakMap()).set(this, other);
      else define(assigning(this, name), name, { value: other, configurable: true, enumerable: true, writable: true });
    };
    define(owner, name, { configurable: false, enumerable: own.enumerable, get, set });
    note(owner, name, taking(own.enumerable, () => read(owner), write));
  });
}

/** Keep methods that programs may replace, too: what a source gives an owner in place of its own one reaches sources
 * only. Libraries can replace them for themselves, but not for a source. */
function share(owner, names, isStrict = () => false) {
  names.forEach(function (name) {
    const own = owner && described(owner, name);
    if (!own || !own.configurable || !isFunction(own.value)) return;
    let { value } = own;
    let theirs;
    const get = () => (theirs !== undefined && isCalledBySource() ? theirs : value);
    const give = function (given, object) {
      const other = "value" in given || !isFunction(given.get) ? given.value : given.get.call(object);
      if (isAskedForSource(name)) theirs = other;
      else value = other;
    };
    const set = function (other) {
      if (this === owner || this === undefined || this === null) give({ value: other });
      else if (!isStrict(this) || !isAskedForSource(name))
        define(this, name, { value: other, configurable: true, enumerable: true, writable: true });
    };
    define(owner, name, { configurable: false, enumerable: own.enumerable, get, set });
    note(owner, name, Object.assign(taking(own.enumerable, get), { isShared: true, take: give }));
  });
}

/** How to keep a value that all callers see as a plain property, and that tests may replace. */
function taking(enumerable, read, write) {
  return {
    enumerable,
    show: () => ({ configurable: true, enumerable, value: read(), writable: true }),
    take: (given, object) => write("value" in given ? given.value : given.get.call(object)),
  };
}

/** Record that a property is kept, and how. */
function note(owner, name, how) {
  if (!kept.has(owner)) kept.set(owner, new Map());
  kept.get(owner).set(name, how);
}

/** Remember that somebody gives this property to an object. Returns the object. */
function assigning(object, name) {
  if (assigned && !assigned.has(object)) assigned.set(object, new Set());
  if (assigned) assigned.get(object).add(name);
  return object;
}

/** Remember what objects get from now on. */
const rememberAssigned = () => (assigned = assigned || new WeakMap());

/** The names of the properties that somebody has given to an object since then. */
const assignedTo = (object) => assigned.get(object) || new Set();

const namesOf = (owner) => Object.getOwnPropertyNames(owner).filter((name) => !DELETED.includes(name));
const keepAll = (owner, show) => owner && keep(owner, namesOf(owner), { show });

/** How an object's property is kept, if it is. */
const howKept = (owner, name) => (kept.has(owner) ? kept.get(owner).get(name) : undefined);

/** The descriptor that a kept property would have if it were not kept; nothing for other properties. */
function behind(owner, name) {
  const how = howKept(owner, name);
  return how && (how.show ? how.show() : { value: described(owner, name).get() });
}

/** The descriptor that callers see, given the one `found`: a kept property looks like any other. The window of a global
 * object always looks like its own property, so that code that replaces it can restore it. */
function shown(object, name, found) {
  if (found === undefined && name === "window" && windows.has(object))
    return { configurable: true, enumerable: true, value: object.window, writable: true };
  const own = found && found.get && howKept(object, name);
  if (own && own.show) return own.show();
  if (!own || !isDoneForSource()) return found;
  return { configurable: true, enumerable: own.enumerable, value: found.get(), writable: true };
}

/** Keep a global function. A global accessor stays configurable, because its runner removes it after the tests. */
function keepGlobal(world, name) {
  const own = described(world, name);
  if (!own || !own.configurable) return;
  let { value } = own;
  const get = own.get || (() => value);
  const write = own.set ? own.set.bind(world) : (other) => (value = other);
  const set = function (other) {
    if (!isDoneForSource()) write(other);
  };
  define(world, name, { configurable: Boolean(own.get), enumerable: own.enumerable, get, set });
  note(world, name, own.get ? { enumerable: own.enumerable } : taking(own.enumerable, get, write));
}

/** Keep the window of a global object. A global object that is its own window, such as Vitest's, has it deleted after
 * the tests. Its window therefore moves to its prototype: there it cannot be deleted, and deleting it from the global
 * object is no error. */
function keepWindow(world) {
  const own = described(world, "window");
  if (!own || !own.configurable || own.value !== world) return keep(world, ["window"], { isKept: Boolean });
  let { value } = own;
  const get = () => value;
  const set = function (other) {
    if (!isDoneForSource()) value = other;
  };
  const parent = Object.getPrototypeOf(world);
  define(parent, "window", { configurable: false, enumerable: own.enumerable, get, set });
  delete world.window;
  windows.add(world);
  const { enumerable, take } = taking(own.enumerable, get, set);
  [world, parent].forEach((owner) => note(owner, "window", { enumerable, take }));
}

module.exports = {
  assignedTo, assigning, bases, behind, howKept, keep, keepAll, keepGlobal, keepWindow, namesOf, note, rememberAssigned, share,
  shown, taking,
};
