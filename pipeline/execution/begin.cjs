// What a test file loads first in a disguised run: nothing tells any more that tests run, and nothing can be replaced that
// assertions read an element or a value by. What the runner and its set-up files did before stays as it is. Gives a
// function that a test file hands its own path to: it is no longer there.
"use strict";
const fs = require("fs");
const path = require("path");
const VARIABLES = ["JEST_WORKER_ID", "VITEST", "VITEST_MODE", "VITEST_POOL_ID", "VITEST_WORKER_ID", "TEST"];
//: what takes the path of a file first
const READING =
  "access accessSync createReadStream exists existsSync lstat lstatSync open openSync opendir opendirSync readFile " +
  "readFileSync readdir readlink readlinkSync realpath realpathSync stat statSync";
const OF_VALUES = {
  Object: "is keys entries getOwnPropertyNames getOwnPropertyDescriptor",
  "Object.prototype": "hasOwnProperty toString valueOf",
  "Array.prototype": "includes indexOf every some filter map find forEach join",
  "String.prototype": "includes indexOf match replace trim startsWith endsWith split toLowerCase toString valueOf",
  "RegExp.prototype": "test exec",
  "Map.prototype": "get has",
  "Set.prototype": "has",
  "Function.prototype": "call apply toString",
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
    const owner = path.split(".").reduce((place, name) => place && place[name], globalThis);
    keep(owner, table[path].split(" "), open);
  });
}

/** No element gets one of these under its own name either. */
function keepElements() {
  const names = new Set(`${OF_ELEMENTS["Element.prototype"]} ${OF_ELEMENTS["Node.prototype"]}`.split(" "));
  const node = globalThis.Node;
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
  ["describe", "context", "it", "test", "specify", "suite"].forEach(function (name) {
    const own = Object.getOwnPropertyDescriptor(globalThis, name);
    if (own && own.configurable) delete globalThis[name];
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

/** The files of tests that have begun, and what the system tells of processes, are not there. */
function hideFiles() {
  const elsewhere = function (file) {
    let name = file;
    if (file && file.protocol === "file:") name = file.pathname;
    if (typeof name !== "string" && !Buffer.isBuffer(name)) return file;
    name = path.resolve(String(name));
    return hidden.has(name) || /^\/proc(?:\/|$)/.test(name) ? `${name}~` : file;
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

/** A document that no browser shows says whose it is. */
function hideEngine() {
  const owner = globalThis.Navigator && globalThis.Navigator.prototype;
  const own = owner && Object.getOwnPropertyDescriptor(owner, "userAgent");
  if (!own || !own.get || !own.configurable) return;
  const told = function () {
    return own.get.call(this).replace(/(?:jsdom|HappyDOM)\/\S+/, "Chrome/126.0.0.0 Safari/537.36");
  };
  define(owner, "userAgent", { configurable: false, enumerable: own.enumerable, get: told });
}

const define = Object.defineProperty;
const hidden = new Set();
const snapshots = [];
//: a runner may give tests a copy of the process
const processes = Array.from(new Set([process, fs.readFileSync.constructor("return process")()]));
processes.forEach(hideProcess);
hideModules();
hideFiles();
hideEngine();
if (require.main) Object.assign(require.main, { filename: "", id: ".", path: "" });
Error.stackTraceLimit = 0;
const known = globalThis[Symbol.for("$$jest-matchers-object")];
if (known && known.matchers) keep(known.matchers, Object.keys(known.matchers));
keep(globalThis, ["expect"]);
keepAll(OF_ELEMENTS, false);
keepElements();
keepAll(OF_VALUES, true);
const first = globalThis.beforeAll || globalThis.before;
if (first) first(hideWords);

module.exports = function (file) {
  hidden.add(file);
  snapshots.push(path.join(path.dirname(file), "__snapshots__", `${path.basename(file)}.snap`));
};
