// Node loads this file before the runner in a disguised run. It makes the runner's global names configurable, so that
// they can be hidden later, and remembers the objects from which `vm` makes global objects. It takes the names of test
// files out of the elements that they make. Written for any Node that runs tests. Exports a function that lists the
// properties of a global object.
"use strict";
const fs = require("fs");
const Module = require("module");
const path = require("path");
const vm = require("vm");
const world = new Function("return this")();
const { defineProperties, defineProperty } = Object;
const configurable = (descriptor) => Object.assign({}, descriptor, { configurable: true });
const { root, files } = JSON.parse(fs.readFileSync(path.join(__dirname, "askers.json"), "utf8"));
//: the repository's files that may know of tests
const knowing = new Set(files.map((name) => path.join(root, name)));
//: how compilers write the name of a JSX element's file, for developers
const OF_ELEMENTS = /(\b(?:_jsxF|f)ileName["']?\s*[:=]\s*)(["'`])([^"'`\n]*)\2/g;
const OF_TESTING = /test|spec|mock|fixture|e2e|cypress/i;
//: runners that load no tests through Node
const OWN_LOADERS = /[\\/](?:jest|vitest)(?:[\\/.]|$)/;
//: symbols of runners, by their descriptions
const OF_RUNNERS = /jest|vitest|matchers/i;
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
  const global = runInContext("this", made);
  origins.set(global, made);
  leaveConfigurable(runInContext("Object", made), global);
  return made;
};

/** Let nobody in a realm fix the symbols by which runners find what they keep in its global object. */
function leaveConfigurable(own, global) {
  const real = own.defineProperty;
  const value = function (object, name, descriptor) {
    const isTelling = object === global && typeof name === "symbol" && OF_RUNNERS.test(String(name));
    return real(object, name, isTelling ? configurable(descriptor) : descriptor);
  };
  defineProperty(value, "name", { value: "defineProperty" });
  defineProperty(own, "defineProperty", { configurable: true, enumerable: false, value, writable: true });
}

/** The path of a file without the words that tell that it is for tests. */
function plainPath(name) {
  const { dir, base, ext } = path.parse(path.relative(root, name));
  const folders = dir.split(path.sep).filter((word) => word && !/^__\w+__$/.test(word));
  const own = base.replace(/[._-](?:tests?|spec)(?=\.)/gi, "");
  const plain = folders.map((word) => (OF_TESTING.test(word) ? "src" : word));
  return path.join(root, ...plain, OF_TESTING.test(own) ? `index${ext}` : own);
}

/** The compiled text of a file. Those that know of tests do not give their names to elements, which sources may get. */
function told(text, file) {
  const name = String(file).replace(/^file:\/\//, "").replace(/\?.*$/, "");
  if (!knowing.has(name) || typeof text !== "string") return text;
  return text.replace(OF_ELEMENTS, (all, before, quote, own) =>
    path.resolve(root, own) === name ? `${before}${quote}${plainPath(name)}${quote}` : all);
}

/** The options of a function that compiles a text, with another name of the file. */
const renamed = (options, filename) => (Object(options) === options ? Object.assign({}, options, { filename }) : filename);

/** The same for each function that compiles a text: the place of the options, which name the file, differs. A document
 * gives its scripts its own address, which may be that of any file: runners name files by their paths. */
function hideNames() {
  const nameOf = (options) => (Object(options) === options ? options.filename : options);
  const given = function (words, place) {
    const name = nameOf(words[place]);
    const all = [told(words[0], name)].concat(Array.from(words).slice(1));
    if (/^file:/.test(name)) all[place] = renamed(words[place], `made:${name}`);
    return all;
  };
  const { Script } = vm;
  vm.Script = new Proxy(Script, {
    construct: (type, words, target) => Reflect.construct(type, given(words, 1), target === vm.Script ? type : target),
  });
  const places = { compileFunction: 2, runInThisContext: 1, runInContext: 2 };
  Object.keys(places).forEach(function (name) {
    const real = vm[name];
    if (real) vm[name] = function () {
      return real.apply(this, given(arguments, places[name]));
    };
  });
  const { _compile } = Module.prototype;
  Module.prototype._compile = function (text, file, ...words) {
    return _compile.call(this, told(text, file), file, ...words);
  };
}

hideNames();
if (!OWN_LOADERS.test(process.argv[1] || "")) require("./imports.cjs").hook();
if (Module.syncBuiltinESMExports) Module.syncBuiltinESMExports();

/** The names and symbols of a global object's properties. If `vm` made it, it does not list most of its classes. */
exports.keysOf = function (global) {
  const hidden = Reflect.ownKeys(origins.get(global) || {});
  return Array.from(new Set(Reflect.ownKeys(global).concat(hidden)));
};
