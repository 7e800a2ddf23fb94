// What a test file loads first in a disguised run: nothing tells any more that tests run, and nothing can be replaced that
// assertions read an element or a value by. What the runner and its set-up files did before stays as it is. Gives a
// function that a test file hands its own path to: it is no longer there.
"use strict";
const fs = require("fs");
const path = require("path");
const { isSource, isAskedBySource } = require("./askers.cjs");
const VARIABLES = ["JEST_WORKER_ID", "VITEST", "VITEST_MODE", "VITEST_POOL_ID", "VITEST_WORKER_ID", "TEST"];
//: what takes the path of a file first
const READING =
  "access accessSync createReadStream exists existsSync lstat lstatSync open openSync opendir opendirSync readFile " +
  "readFileSync readdir readlink readlinkSync realpath realpathSync stat statSync";
//: the words that define tests and hooks, and what else of runners and of libraries for tests is global
const WORDS =
  "describe context suite it test specify fdescribe fit xdescribe xcontext xit xtest xspecify before after beforeEach " +
  "afterEach beforeAll afterAll run";
const GLOBALS = "expect jest vi chai IS_REACT_ACT_ENVIRONMENT";
const OF_RUNNERS = /jest|vitest|mocha|karma|jsdom|happyDOM|matchers?-object/i;
const OF_VALUES = {
  Object: "is keys entries getOwnPropertyNames getOwnPropertyDescriptor",
  "Object.prototype": "hasOwnProperty toString valueOf",
  "Array.prototype": "includes indexOf every some filter map find forEach join",
  "String.prototype": "includes indexOf match replace trim startsWith endsWith split toLowerCase toString valueOf",
  "RegExp.prototype": "test exec",
  "Map.prototype": "get has",
  "Set.prototype": "has",
  "Function.prototype": "call apply", // tests of real repositories delete its `toString`
  JSON: "stringify parse",
};
const OF_ELEMENTS = {
  "Element.prototype":
    "getAttribute getAttributeNames getAttributeNode hasAttribute hasAttributes attributes matches closest querySelector " +
    "querySelectorAll getElementsByTagName getElementsByClassName innerHTML outerHTML className id tagName localName role",
  "Node.prototype": "textContent contains childNodes firstChild nodeType nodeName parentNode isEqualNode",
  "Document.prototype": "querySelector querySelectorAll getElementById getElementsByTagName body",
  "Attr.prototype": "name value",
  "NamedNodeMap.prototype": "getNamedItem item length",
  "DOMTokenList.prototype": "contains value",
};

const define = Object.defineProperty;
//: what is global where this file runs; Node before 12 has no name for it
const world = new Function("return this")();

/** Keep what an object has under these names: assigning to it is passed over. Heirs may have their own where `open`. */
function keep(owner, names, open) {
  names.forEach(function (name) {
    const own = owner && Object.getOwnPropertyDescriptor(owner, name);
    if (!own || !own.configurable) return;
    const kept = { configurable: false, enumerable: own.enumerable, get: own.get, set: own.set };
    if ("value" in own) {
      const value = own.value;
      kept.get = function () {
        return value;
      };
      kept.set = function (other) {
        if (open && this !== owner)
          define(this, name, { value: other, configurable: true, enumerable: true, writable: true });
      };
    }
    define(owner, name, kept);
  });
}

function keepAll(table, open) {
  Object.keys(table).forEach(function (path) {
    const owner = path.split(".").reduce((place, name) => place && place[name], world);
    keep(owner, table[path].split(" "), open);
  });
}

/** No element gets one of these under its own name either. */
function keepElements() {
  const names = new Set(`${OF_ELEMENTS["Element.prototype"]} ${OF_ELEMENTS["Node.prototype"]}`.split(" "));
  const node = world.Node;
  const isKept = (object, name) => node && object instanceof node && names.has(name);
  const passing = (real, given) =>
    function (object, name, descriptor) {
      return isKept(object, name) ? given(object) : real(object, name, descriptor);
    };
  Object.defineProperty = passing(define, (object) => object);
  Reflect.defineProperty = passing(Reflect.defineProperty, () => true);
  keep(Object, ["defineProperty"], true);
  keep(Reflect, ["defineProperty"], true);
}

/** Tests are defined when they begin to run, and the runner knows its report and snapshots: nobody needs these any more. */
function hideWords() {
  snapshots.forEach(function (file) {
    hidden.add(file);
  });
  processes.forEach(function (one) {
    delete one.env.TEST_REPORT;
  });
  define(Error, "stackTraceLimit", { value: 0, writable: false, configurable: false });
  WORDS.split(" ").forEach(function (name) {
    const own = Object.getOwnPropertyDescriptor(world, name);
    if (own && own.configurable && !theirs.has(name)) delete world[name];
  });
}

/** What it was started with, which the system knows by its title, too. */
function hideProcess(own) {
  VARIABLES.forEach(function (name) {
    delete own.env[name];
  });
  const options = (own.env.NODE_OPTIONS || "").replace(/ *--require (?:"[^"]*|\S*)\/hooks\.cjs"?/, "");
  if (options) own.env.NODE_OPTIONS = options;
  else delete own.env.NODE_OPTIONS;
  own.argv = own.argv.slice(0, 1);
  own.execArgv = [];
  try {
    own.title = "node";
  } catch (error) {
    return; // a thread has no title of its own
  }
}

/** Who asked for a module, and which ones are there already; runners with modules of their own tell neither. */
function hideModules() {
  const Module = module.constructor;
  if (!Module._cache || Module._cache !== require.cache) return;
  const hide = function (name) {
    const own = Object.getOwnPropertyDescriptor(Module._cache, name);
    if (own && own.configurable) define(Module._cache, name, { enumerable: false });
  };
  Object.keys(Module._cache).forEach(hide);
  const parent = { id: ".", filename: "", exports: {}, children: [], paths: [], loaded: true };
  const { load } = Module.prototype;
  Module.prototype.load = function (...words) {
    this.parent = parent;
    hide(this.id);
    return load.apply(this, words);
  };
}

/** The files of tests that have begun, and what the system tells of processes, are not there; for sources, no file of
 * ours is. */
function hideFiles() {
  const elsewhere = function (file) {
    let name = file;
    if (file && file.protocol === "file:") name = file.pathname;
    if (typeof name !== "string" && !Buffer.isBuffer(name)) return file;
    name = path.resolve(String(name));
    const isOurs = `${name}${path.sep}`.startsWith(scratch) && isAskedBySource();
    return isOurs || hidden.has(name) || /^\/proc(?:\/|$)/.test(name) ? `${name}~` : file;
  };
  const passing = (real) =>
    Object.assign(function (file, ...words) {
      return real.call(this, elsewhere(file), ...words);
    }, real);
  const readdirSync = fs.readdirSync;
  [fs, fs.promises].forEach(function (owner) {
    READING.split(" ").forEach(function (name) {
      if (owner && typeof owner[name] === "function") owner[name] = passing(owner[name]);
    });
  });
  fs.readdirSync = function (folder, ...words) {
    const found = readdirSync.call(this, elsewhere(folder), ...words);
    return found.filter((one) => !hidden.has(path.resolve(String(folder), String(one.name || one))));
  };
  const { syncBuiltinESMExports } = require("module");
  if (syncBuiltinESMExports) syncBuiltinESMExports();
}

/** What runners and libraries make global is there for them and for tests alone, and `expect` stays what it is. */
function hideGlobals() {
  const keys = Object.getOwnPropertyNames(world).concat(Object.getOwnPropertySymbols(world));
  const names = new Set(`${WORDS} ${GLOBALS}`.split(" ").concat(keys.filter((key) => OF_RUNNERS.test(String(key)))));
  names.forEach(function (name) {
    const own = Object.getOwnPropertyDescriptor(world, name) || { configurable: true };
    if (!own.configurable || own.get) return;
    let { value } = own;
    const get = () => (!theirs.has(name) && isAskedBySource() ? undefined : value);
    const set = function (other) {
      if (name === "expect" && own.value) return;
      value = other;
      if (isAskedBySource()) theirs.add(name);
    };
    define(world, name, { configurable: name !== "expect", enumerable: false, get, set });
  });
  const listing = [[Object, "getOwnPropertyNames"], [Object, "getOwnPropertySymbols"], [Reflect, "ownKeys"]];
  listing.forEach(function ([owner, method]) {
    const real = owner[method];
    owner[method] = function (object) {
      const found = real(object);
      return object === world && isAskedBySource() ? found.filter((key) => !names.has(key)) : found;
    };
  });
}

/** Jest gives every module an object of its own; a source gets none. */
function hideJest(own) {
  const cache = own.mainModule && own.mainModule.constructor._cache;
  const runtimes = Object.keys(cache || {}).filter((name) => /[\\/]jest-runtime[\\/]build[\\/]index\.js$/.test(name));
  runtimes.forEach(function (name) {
    const { prototype } = cache[name].exports.default || cache[name].exports;
    const create = prototype._createJestObjectFor;
    if (!create || create.isHiding) return;
    prototype._createJestObjectFor = function (from) {
      return isSource(String(from.filename || from)) ? undefined : create.apply(this, arguments);
    };
    prototype._createJestObjectFor.isHiding = true;
  });
}

/** Only runners listen to a process of tests. */
function hideListeners(own) {
  const asked = { eventNames: [], listenerCount: 0, listeners: [], rawListeners: [] };
  Object.keys(asked).forEach(function (method) {
    const real = own[method];
    const value = function () {
      return isAskedBySource() ? asked[method] : real.apply(this, arguments);
    };
    if (real) define(own, method, { configurable: true, enumerable: false, value, writable: true });
  });
}

/** Stacks have no frames for sources, however many they ask for. */
function hideFrames(errors) {
  const own = Object.getOwnPropertyDescriptor(errors, "prepareStackTrace") || { configurable: true };
  if (!own.configurable || own.get) return;
  let { value } = own;
  const get = () => (isAskedBySource() ? String : value);
  const set = function (other) {
    if (!isAskedBySource()) value = other;
  };
  define(errors, "prepareStackTrace", { configurable: false, enumerable: true, get, set });
}

/** A document that no browser shows says whose it is. */
function hideEngine() {
  const owner = world.Navigator && world.Navigator.prototype;
  const own = owner && Object.getOwnPropertyDescriptor(owner, "userAgent");
  if (!own || !own.get || !own.configurable) return;
  const told = function () {
    return own.get.call(this).replace(/(?:jsdom|HappyDOM)\/\S+/, "Chrome/126.0.0.0 Safari/537.36");
  };
  define(owner, "userAgent", { configurable: false, enumerable: own.enumerable, get: told });
}

const scratch = path.dirname(__dirname) + path.sep;
const hidden = new Set();
//: global names that sources have set: they are their own
const theirs = new Set();
const snapshots = [];
//: a runner may give tests a copy of the process, and a realm of their own
const outer = fs.readFileSync.constructor;
const processes = Array.from(new Set([process, outer("return process")()]));
processes.forEach(hideJest);
processes.forEach(hideProcess);
processes.forEach(hideListeners);
new Set([Error, outer("return Error")()]).forEach(hideFrames);
hideModules();
hideFiles();
hideEngine();
hideGlobals();
if (require.main) Object.assign(require.main, { filename: "", id: ".", path: "" });
Error.stackTraceLimit = 0;
const known = world[Symbol.for("$$jest-matchers-object")];
if (known && known.matchers) keep(known.matchers, Object.keys(known.matchers));
keepAll(OF_ELEMENTS, false);
keepElements();
keepAll(OF_VALUES, true);
const first = world.beforeAll || world.before;
if (first) first(hideWords);

module.exports = function (file) {
  hidden.add(file);
  snapshots.push(path.join(path.dirname(file), "__snapshots__", `${path.basename(file)}.snap`));
};
