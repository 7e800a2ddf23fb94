// Node loads this file before the runner in a disguised run. It makes the runner's global names configurable, so that
// they can be hidden later, and remembers the objects from which `vm` makes global objects. Written for any Node that
// runs tests. Exports a function that lists the properties of a global object.
"use strict";
const vm = require("vm");
const world = new Function("return this")();
const { defineProperties, defineProperty } = Object;
const configurable = (descriptor) => Object.assign({}, descriptor, { configurable: true });
//: names under which Jest gives functions of its own to the global object of each test file
const isOfJest = (name) => /^jest-/.test(typeof name === "symbol" ? Symbol.keyFor(name) : name);

Object.defineProperty = function (object, name, descriptor) {
  const isTelling = object === world && (typeof name === "symbol" || /vitest|jest/i.test(String(name)));
  return defineProperty(object, name, isTelling ? configurable(descriptor) : descriptor);
};

Object.defineProperties = function (object, descriptors) {
  const names = Object(descriptors) === descriptors ? Reflect.ownKeys(descriptors).filter(isOfJest) : [];
  if (!names.length) return defineProperties(object, descriptors);
  const given = Object.assign({}, descriptors);
  names.forEach((name) => (given[name] = configurable(given[name])));
  return defineProperties(object, given);
};

//: global object -> the object from which `vm` made it
const origins = new WeakMap();
const { createContext, runInContext } = vm;
vm.createContext = function () {
  const made = createContext.apply(this, arguments);
  origins.set(runInContext("this", made), made);
  return made;
};

/** The names and symbols of a global object's properties. If `vm` made it, it does not list most of its classes. */
exports.keysOf = function (global) {
  const hidden = Reflect.ownKeys(origins.get(global) || {});
  return Array.from(new Set(Reflect.ownKeys(global).concat(hidden)));
};
