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
//: packages that tests alone use, also as folders of installed packages
const OF_TESTS = /^(?:@jest|@vitest|@testing-library|jest|vitest|mocha|chai|karma|jasmine|jsdom|happy-dom)(?![a-z0-9])/;
const INSTALLED = /^[^]*[\\/]node_modules[\\/](?:\.(?:bin|pnpm)[\\/])?/;
//: what of Node's own modules, and of a process, looks at the running program from outside
const OF_NODE = {
  child_process: "exec execFile execFileSync execSync fork spawn spawnSync",
  cluster: "fork",
  inspector: "Session open",
  util: "getCallSite getCallSites",
  v8: "getHeapSnapshot writeHeapSnapshot",
  vm: "Script compileFunction createContext runInContext runInNewContext runInThisContext",
  worker_threads: "Worker",
};
const OF_PROCESS =
  "_getActiveHandles _getActiveRequests _linkedBinding binding dlopen getActiveResourcesInfo moduleLoadList report";
const OF_RUNNERS = /jest|vitest|mocha|karma|jsdom|happyDOM|matchers?-object|TEST_TIMEOUT|RETRY|EVENT_HANDLERS/i;
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

/** Whether a name or a path is that of a package for tests. */
function isOfTests(name) {
  const isRelative = /^(?:\.|[\\/])/.test(name) && !INSTALLED.test(name);
  return !isRelative && OF_TESTS.test(name.replace(INSTALLED, ""));
}

/** A function or class that sources cannot use. */
function refusing(real) {
  const given = function (...words) {
    if (isAskedBySource()) throw Object.assign(new Error("not available"), { code: "ENOENT" });
    if (!new.target) return real.apply(this, words);
    return Reflect.construct(real, words, new.target === given ? real : new.target);
  };
  given.prototype = real.prototype;
  return Object.setPrototypeOf(given, real);
}

/** As in a browser, sources have no other programs, threads and realms, and nothing that describes this one. */
function hideNode() {
  Object.keys(OF_NODE).forEach(function (name) {
    let own;
    try {
      own = require(name);
    } catch (error) {
      return; // this Node has none
    }
    OF_NODE[name].split(" ").forEach(function (method) {
      if (typeof own[method] === "function") own[method] = refusing(own[method]);
    });
  });
}

function hideReports(own) {
  OF_PROCESS.split(" ").forEach(function (name) {
    const real = own[name];
    const kept = { configurable: true, enumerable: true };
    if (typeof real === "function") Object.assign(kept, { value: refusing(real), writable: true });
    else kept.get = () => (isAskedBySource() ? undefined : real);
    if (real) define(own, name, kept);
  });
}

/** Compilers are told what they compile for; sources are not. */
function hideCompiling(own) {
  const isHidden = (name) => name === "BABEL_ENV" && isAskedBySource();
  own.env = new Proxy(own.env, {
    get: (env, name) => (isHidden(name) ? undefined : env[name]),
    getOwnPropertyDescriptor: (env, name) => (isHidden(name) ? undefined : Object.getOwnPropertyDescriptor(env, name)),
    has: (env, name) => name in env && !isHidden(name),
    ownKeys: (env) => Reflect.ownKeys(env).filter((name) => !isHidden(name)),
    set: function (env, name, value) {
      env[name] = value;
      return true;
    },
  });
}

/** What it was started with, which the system knows by its title, too. */
function hideProcess(own) {
  const { VITEST, MODE } = own.env;
  if (VITEST) delete own.env.BABEL_ENV; // its compilers are in another process
  if (VITEST && MODE) own.env.MODE = "development";
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
  const { _resolveFilename } = Module;
  Module._resolveFilename = function (name, from, ...words) {
    if (isOfTests(String(name)) && isAskedBySource()) throw missing(name);
    return _resolveFilename.call(this, name, from, ...words);
  };
  Module._pathCache = new Proxy(Module._pathCache, { ownKeys: () => [] });
  const parent = { id: ".", filename: "", exports: {}, children: [], paths: [], loaded: true };
  const { load } = Module.prototype;
  Module.prototype.load = function (...words) {
    this.parent = parent;
    hide(this.id);
    return load.apply(this, words);
  };
}

function missing(name) {
  return Object.assign(new Error(`Cannot find module '${name}'`), { code: "MODULE_NOT_FOUND" });
}

/** The files of tests that have begun, and what the system tells of processes, are not there; for sources, no file of
 * ours is. */
function hideFiles() {
  const elsewhere = function (file) {
    let name = file;
    if (file && file.protocol === "file:") name = file.pathname;
    if (typeof name !== "string" && !Buffer.isBuffer(name)) return file;
    name = path.resolve(String(name));
    const isOurs = (`${name}${path.sep}`.startsWith(scratch) || isOfTests(name)) && isAskedBySource();
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
  const kept = function (folder, found) {
    const isHidden = (name) => hidden.has(name) || (isOfTests(name) && isAskedBySource());
    return found.filter((one) => !isHidden(path.resolve(String(folder), String(one.name || one))));
  };
  fs.readdirSync = function (folder, ...words) {
    return kept(folder, readdirSync.call(this, elsewhere(folder), ...words));
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
  const modules = module.constructor._cache;
  const isHidden = (object, key) => object === modules || names.has(key);
  const isTelling = (object) => (object === world || (modules && object === modules)) && isAskedBySource();
  listing.forEach(function ([owner, method]) {
    const real = owner[method];
    owner[method] = function (object) {
      const found = real(object);
      return isTelling(object) ? found.filter((key) => !isHidden(object, key)) : found;
    };
  });
  const described = Object.getOwnPropertyDescriptors;
  Object.getOwnPropertyDescriptors = function (object) {
    const found = described(object);
    if (isTelling(object)) Reflect.ownKeys(found).forEach((key) => isHidden(object, key) && delete found[key]);
    return found;
  };
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
    ["_requireResolve", "requireModuleOrMock"].forEach(function (method) {
      const real = prototype[method];
      prototype[method] = function (from, name) {
        if (isOfTests(String(name)) && isSource(String(from))) throw missing(name);
        return real.apply(this, arguments);
      };
    });
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
processes.forEach(hideReports);
processes.forEach(hideCompiling);
new Set([Error, outer("return Error")()]).forEach(hideFrames);
hideModules();
hideNode();
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
