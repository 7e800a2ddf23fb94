// Node loads this file before the runner in a disguised run. It makes the runner's global names configurable, so that
// they can be hidden later. Written for any Node that runs tests.
"use strict";
const world = new Function("return this")();
const { defineProperty } = Object;

Object.defineProperty = function (object, name, descriptor) {
  const isTelling = object === world && (typeof name === "symbol" || /vitest|jest/i.test(String(name)));
  return defineProperty(object, name, isTelling ? Object.assign({}, descriptor, { configurable: true }) : descriptor);
};
