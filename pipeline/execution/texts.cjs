// Makes functions of the language, of the document and of Node look native to sources in a disguised run, even if they
// were replaced, and look as if they belonged to the realm of sources. Loaded once in each process.
"use strict";
const { isCalledBySource, isUsedForSource } = require("./askers.cjs");
const { keysOf } = require("./early.cjs");
const { behind } = require("./kept.cjs");
const { TEXT, isDouble, veil } = require("./veiling.cjs");
const define = Object.defineProperty;
const described = Object.getOwnPropertyDescriptor;
const parentOf = Object.getPrototypeOf;
//: what the console of a browser can do
const OF_CONSOLES = new Set((
  "assert clear count countReset debug dir dirxml error group groupCollapsed groupEnd info log profile profileEnd " +
  "table time timeEnd timeLog timeStamp trace warn"
).split(" "));
//: objects with native functions, in addition to all global names
const PLACES =
  "Object.prototype Function.prototype Array.prototype String.prototype Promise.prototype JSON Reflect console process";

/** Add the functions of an object with these properties; with `isDeep`, also the functions of these and of their
 * prototypes. */
function gather(object, found, isDeep, keys = Reflect.ownKeys(object || {})) {
  keys.forEach(function (name) {
    const all = [described(object, name), behind(object, name)].filter(Boolean);
    const isLazy = isDeep && /^[A-Z]/.test(String(name)) && all.some((own) => own.get); // as with Vitest
    const values = isLazy ? [object[name]] : [];
    values.concat(...all.map((own) => [own.value, own.get, own.set])).forEach(function (one) {
      if (typeof one !== "function") return;
      found.add(one);
      if (!isDeep) return;
      gather(one, found, false);
      for (let owner = (described(one, "prototype") || {}).value; owner && !found.has(owner); owner = parentOf(owner)) {
        found.add(owner);
        gather(owner, found, false);
      }
    });
  });
}

/** All native functions of a global object and its document. */
function natives(world) {
  const found = new WeakSet();
  const view = world.document && world.document.defaultView;
  [world, view].filter(Boolean).forEach((one) => gather(one, found, true, keysOf(one)));
  const page = view ? [world.document, world.document.createElement("button"), view] : [];
  page.forEach(function (one) {
    for (let object = one; object; object = Object.getPrototypeOf(object)) gather(object, found, false);
  });
  const at = (place) => place.split(".").reduce((owner, name) => owner && owner[name], world);
  PLACES.split(" ").forEach((place) => gather(at(place), found, false));
  return found;
}

/** In a realm, show sources the text of a native function for each function that `isNative` accepts, and that of an empty
 * one for test doubles. */
function hideTexts(owner, isNative) {
  const real = owner.toString;
  const value = function toString() {
    if (typeof this !== "function" || !isCalledBySource()) return real.call(this);
    if (isDouble(this)) return TEXT;
    return this === value || isNative(this) ? `function ${this.name}() { [native code] }` : real.call(this);
  };
  define(owner, "toString", { configurable: true, enumerable: false, value, writable: true });
}

/** Make functions of another realm name the constructor of the sources' realm. */
function hideRealm(world, outer) {
  const real = outer.Function;
  if (real === world.Function) return;
  const get = () => (isCalledBySource() ? world.Function : real);
  define(real.prototype, "constructor", { configurable: true, enumerable: false, get, set() {} });
}

/** Make the console look like that of a browser: a plain object that has nothing else than a tag. */
function hideConsole(world) {
  const isHidden = (name) => name !== Symbol.toStringTag && !OF_CONSOLES.has(name);
  const { console } = world;
  const real = console && console.constructor;
  if (!real) return;
  const hide = function (name, told) {
    let own = console[name];
    const get = () => (isUsedForSource(name) ? told : own);
    define(console, name, { configurable: true, enumerable: false, get, set: (other) => (own = other) });
  };
  for (let one = console; one && one !== world.Object.prototype && parentOf(one); one = parentOf(one))
    Reflect.ownKeys(one).filter(isHidden).forEach(function (name) {
      const { configurable } = described(console, name) || { configurable: true };
      if (configurable) hide(name, name === "constructor" ? world.Object : undefined);
    });
  veil(console, isHidden);
}

//: whether a function is a native one of the sources' realm
let isNative = () => false;

/** Make the functions of a frame look native, too. It may have a realm of its own. */
function hideFrame(frame) {
  let known;
  const isKnown = (one) => isNative(one) || (known = known || natives(frame)).has(one);
  if (frame.Function) hideTexts(frame.Function.prototype, isKnown);
}

module.exports = function (world, outer) {
  let known;
  isNative = (one) => (known = known || natives(world)).has(one) || one === outer.Function.prototype.toString;
  new Set([world, outer]).forEach((one) => hideTexts(one.Function.prototype, isNative));
  hideRealm(world, outer);
  hideConsole(world);
};
module.exports.ofFrame = hideFrame;
