// What Node loads before the runner in a disguised run: what the runner makes global can be hidden later, for which it
// has to be configurable. Written for any Node that runs tests.
"use strict";
const world = new Function("return this")();
const { defineProperty } = Object;

Object.defineProperty = function (object, name, descriptor) {
  const isTelling = object === world && (typeof name === "symbol" || /vitest|jest/i.test(String(name)));
  return defineProperty(object, name, isTelling ? Object.assign({}, descriptor, { configurable: true }) : descriptor);
};
