// What functions tell sources of themselves in a disguised run: those of the language, of the document and of Node are
// native, whoever replaced them, and of this realm. Loaded once in each process.
"use strict";
const { isAskedBySource } = require("./askers.cjs");
const { behind } = require("./keeping.cjs");
const define = Object.defineProperty;
const described = Object.getOwnPropertyDescriptor;
//: besides everything that is global
const PLACES =
  "Object.prototype Function.prototype Array.prototype String.prototype Promise.prototype JSON Reflect console process";

/** Add the functions that an object has, and those of the classes that it has. */
function gather(object, found, isDeep) {
  if (!object) return;
  Reflect.ownKeys(object).forEach(function (name) {
    const all = [described(object, name), behind(object, name)].filter(Boolean);
    [].concat(...all.map((own) => [own.value, own.get, own.set])).forEach(function (one) {
      if (typeof one !== "function") return;
      found.add(one);
      const prototype = isDeep && described(one, "prototype");
      if (isDeep) gather(one, found, false);
      if (prototype && prototype.value) gather(prototype.value, found, false);
    });
  });
}

/** All native functions of a world and its document. */
function natives(world) {
  const found = new WeakSet();
  gather(world, found, true);
  const page = world.document ? [world.document, world.document.createElement("button"), world.document.defaultView] : [];
  page.forEach(function (one) {
    for (let object = one; object; object = Object.getPrototypeOf(object)) gather(object, found, false);
  });
  const at = (place) => place.split(".").reduce((owner, name) => owner && owner[name], world);
  PLACES.split(" ").forEach((place) => gather(at(place), found, false));
  return found;
}

/** The texts of functions in a realm are those of native functions where `isNative`. */
function hideTexts(owner, isNative) {
  const real = owner.toString;
  const value = function toString() {
    const isHidden = typeof this === "function" && isAskedBySource() && (this === value || isNative(this));
    return isHidden ? `function ${this.name}() { [native code] }` : real.call(this);
  };
  define(owner, "toString", { configurable: true, enumerable: false, value, writable: true });
}

/** Functions of another realm tell the realm of sources. */
function hideRealm(world, outer) {
  const real = outer.Function;
  if (real === world.Function) return;
  const get = () => (isAskedBySource() ? world.Function : real);
  define(real.prototype, "constructor", { configurable: true, enumerable: false, get, set() {} });
}

/** The console has no class of its own. */
function hideConsole(world) {
  const real = world.console && world.console.constructor;
  if (!real || real === world.Object) return;
  const get = () => (isAskedBySource() ? world.Object : real);
  define(world.console, "constructor", { configurable: true, enumerable: false, get, set() {} });
}

module.exports = function (world, outer) {
  let known;
  const isNative = (one) => (known = known || natives(world)).has(one) || one === outer.Function.prototype.toString;
  new Set([world, outer]).forEach((one) => hideTexts(one.Function.prototype, isNative));
  hideRealm(world, outer);
  hideConsole(world);
};
