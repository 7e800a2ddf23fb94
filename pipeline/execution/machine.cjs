// What the machine tells sources in a disguised run: which modules there are, who runs, and what Node knows of the program
// and of the machine, which is nothing in a page. Loaded once in each process, outside of what a runner gives tests.
// Gives a function for each process that tests see, one that hides a file, and one that says whether there is a page.
"use strict";
const path = require("path");
const vm = require("vm");
const { LOADER, isSource, isAskedBySource, isAskedDirectly, isHadDoneBySource, ownStack } = require("./askers.cjs");
const { hidden, hide, hideFiles, isHiddenFile, isTest, isWithin, scratch } = require("./files.cjs");
const { keepDefining, keepNode, keepProcess, keepRealm, note, shown } = require("./keeping.cjs");
const { INSTALLED, isDenied } = require("./modules.cjs");
const VARIABLES = ["JEST_WORKER_ID", "VITEST", "VITEST_MODE", "VITEST_POOL_ID", "VITEST_WORKER_ID", "TEST"];
//: what of Node's own modules starts programs that know more, or takes files and hides none; in a page, libraries do not
//: use it for sources either
const OF_SYSTEMS = {
  child_process: "exec execFile execFileSync execSync fork spawn spawnSync",
  cluster: "fork",
  fs: "glob globSync link linkSync opendir opendirSync readdir symlink symlinkSync",
  "fs/promises": "glob link opendir readdir symlink",
  inspector: "Session open",
  worker_threads: "Worker",
};
//: what of them, and of a process, looks at the running program from outside
const OF_NODE = {
  os: "homedir hostname networkInterfaces tmpdir uptime userInfo",
  util: "getCallSite getCallSites",
  v8: "getHeapSnapshot writeHeapSnapshot",
  vm: "Script compileFunction createContext runInContext runInNewContext runInThisContext",
};
const OF_PROCESS =
  "_getActiveHandles _getActiveRequests _linkedBinding binding config dlopen execPath features " +
  "getActiveResourcesInfo getBuiltinModule getuid mainModule moduleLoadList pid ppid release report uptime version versions";
//: what of a process no page has
const OF_SERVERS =
  "allowedNodeEnvironmentFlags arch argv0 availableMemory chdir constrainedMemory cpuUsage debugPort getegid geteuid getgid " +
  "getgroups hrtime memoryUsage platform resourceUsage stderr stdin stdout umask";
//: what of Node's own modules describes the machine, to sources in a page
const OF_MACHINES = {
  async_hooks: "executionAsyncId executionAsyncResource triggerAsyncId createHook",
  os: "arch availableParallelism cpus endianness freemem loadavg machine platform release totalmem type version",
  v8: "cachedDataVersionTag getHeapCodeStatistics getHeapSpaceStatistics getHeapStatistics",
};
const OF_SHELLS = /^(?:_|CI|HOME|HOSTNAME|LANG|LC_\w+|OLDPWD|PATH|PWD|SHELL|SHLVL|TERM|TMPDIR|TZ|USER|YARN_\w+|npm_\w+)$/;
//: variables of runners, of what compiles for them, and of ours
const OF_TESTING =
  /^(?:A11Y_\w+|BABEL_ENV|(?:JASMINE|KARMA|MOCHA)_\w+|NODE_TEST_CONTEXT|NODE_V8_COVERAGE|TEST_REPORT|TS_(?:JEST|NODE)_\w+)$/;
//: lines of Node's own functions in a stack, in its versions
const INSIDE = /[\s(](?:node:|internal\/)|\(\w+\.js:/;
//: what bundlers for browsers give programs in place of some of these
const IN_BROWSERS = { version: "", versions: {} };

const define = Object.defineProperty;
//: whether the test file that runs has a document: then its sources are in a page
let isPage = false;
const done = new WeakSet();

/** Whether a source asks, and not Node for what a source has it do, such as load what is global as late as possible. */
const isAskedByItself = () => isAskedDirectly(INSIDE);

/** Whether a source asks, and not Node that loads modules, which it does in version 16 by what sources cannot use. */
const isAskedAtOnce = () => isAskedDirectly(LOADER);

/** The same in a server. In a page, no library does this for sources either. */
const isAskedInAnyWay = () => (isPage ? isHadDoneBySource(true, true) : isAskedAtOnce());

/** A function or class that cannot be used where `isDenied`: by sources, if nothing else is told. */
function refusing(real, isDenied = isAskedAtOnce) {
  const given = function (...words) {
    if (isDenied()) throw Object.assign(new Error("not available"), { code: "ENOENT" });
    if (!new.target) return real.apply(this, words);
    return Reflect.construct(real, words, new.target === given ? real : new.target);
  };
  given.prototype = real.prototype;
  return Object.setPrototypeOf(given, real);
}

/** What of Node's modules cannot be used where `isDenied`. As in a browser, sources have no other programs, threads and
 * realms, and nothing that describes this one; in a page, nothing that describes the machine either. */
function hideNode(table, isDenied) {
  Object.keys(table).forEach(function (name) {
    let own;
    try {
      own = require(name);
    } catch (error) {
      return; // this Node has none
    }
    table[name].split(" ").forEach(function (method) {
      if (typeof own[method] === "function") own[method] = refusing(own[method], isDenied);
    });
  });
}

function hideReports(own) {
  OF_PROCESS.split(" ").forEach(function (name) {
    const real = own[name];
    const { configurable } = Object.getOwnPropertyDescriptor(own, name) || { configurable: true };
    const kept = { configurable: true, enumerable: true };
    if (typeof real === "function") Object.assign(kept, functionOf(refusing(real)));
    else kept.get = () => (isAskedByItself() ? IN_BROWSERS[name] : real);
    if (real && configurable) define(own, name, kept);
  });
  OF_SERVERS.split(" ").forEach(function (name) {
    const { configurable, enumerable } = Object.getOwnPropertyDescriptor(own, name) || {};
    let real;
    const get = () => (isPage && isAskedByItself() ? undefined : real);
    const set = (other) => (real = other);
    if (configurable && (real = own[name]) !== undefined)
      define(own, name, { configurable, enumerable, get, set });
  });
}

/** A property whose function no page has, not even to hand it to others. */
function functionOf(value) {
  let own = value;
  return { get: () => (isPage && isAskedAtOnce() ? undefined : own), set: (other) => (own = other) };
}

/** Compilers are told what they compile for; sources are not, and a page has no variables of a shell. */
function hideCompiling(own) {
  const isTelling = (name) => OF_TESTING.test(name) || (isPage && OF_SHELLS.test(name));
  const isHidden = (name) => isTelling(String(name)) && isAskedBySource();
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
function hideStart(own) {
  const { VITEST, MODE } = own.env;
  if (VITEST) delete own.env.BABEL_ENV; // its compilers are in another process
  if (VITEST && MODE) own.env.MODE = "development";
  VARIABLES.forEach(function (name) {
    delete own.env[name];
  });
  const options = (own.env.NODE_OPTIONS || "").replace(/ *--require (?:"[^"]*|\S*)\/(?:hooks|early)\.cjs"?/g, "");
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
  const { _findPath, _resolveFilename } = Module;
  Module._findPath = function () {
    const found = _findPath.apply(this, arguments);
    return found && isAskedBySource() && (isTest(found) || isHiddenFile(found, isPage)) ? false : found;
  };
  Module._resolveFilename = function (name, from, ...words) {
    const isOfSource = from && from.filename && isSource(from.filename); // whoever calls its `require`
    if ((isOfSource || isAskedBySource()) && isDenied(String(name), isPage)) throw missing(name);
    return _resolveFilename.call(this, name, from, ...words);
  };
  const { _load } = Module;
  Module._load = function (name, ...words) {
    if (/^node:/.test(name) && isAskedBySource() && isDenied(String(name), isPage)) throw missing(name);
    return _load.call(this, name, ...words);
  };
  Module._pathCache = new Proxy(Module._pathCache, { ownKeys: () => [] });
  const { getOwnPropertyDescriptor } = Reflect;
  const isKnown = (name) => typeof name !== "string" || !isForSource() || !(isKnowing(name) || isDenied(name, isPage));
  Module._cache = new Proxy(Module._cache, {
    get: (cache, name) => (isKnown(name) ? cache[name] : undefined),
    getOwnPropertyDescriptor: (cache, name) => (isKnown(name) ? getOwnPropertyDescriptor(cache, name) : undefined),
    has: (cache, name) => name in cache && isKnown(name),
    ownKeys: (cache) => (isForSource() ? Reflect.ownKeys(cache).filter(isKnown) : Reflect.ownKeys(cache)),
  });
  const parent = { id: ".", filename: "", exports: {}, children: [], paths: [], loaded: true };
  const { load } = Module.prototype;
  Module.prototype.load = function (...words) {
    this.parent = parent;
    hide(this.id);
    return load.apply(this, words);
  };
}

/** Whether a source asks for a module that is loaded, and not Node, which loads one for it. */
const isForSource = () => isAskedDirectly(LOADER);

/** Whether a module is one of ours, or of tests. */
const isKnowing = (name) => isWithin(name, scratch) || isTest(name) || !(isSource(name) || INSTALLED.test(name));

function missing(name) {
  return Object.assign(new Error(`Cannot find module '${name}'`), { code: "MODULE_NOT_FOUND" });
}

/** The test asks for modules by a function that came before all of ours: as somebody's parent, it is another module. */
function hideTest(runtime) {
  const other = { children: [], exports: {}, filename: "", id: ".", loaded: true, parent: null, path: "", paths: [] };
  if (runtime._mainModule) runtime._mainModule = other;
  [runtime._moduleRegistry, runtime._isolatedModuleRegistry].forEach(function (modules) {
    hidden.forEach((file) => modules && modules.has && modules.has(file) && modules.set(file, other));
  });
}

/** Jest gives every module an object of its own, and a list of all modules; a source gets none. */
function hideJest(own) {
  const cache = own.mainModule && own.mainModule.constructor._cache;
  const names = Object.getOwnPropertyNames(cache || {});
  const runtimes = names.filter((name) => /[\\/]jest-runtime[\\/]build[\\/]index\.js$/.test(name));
  runtimes.forEach(function (name) {
    const { prototype } = cache[name].exports.default || cache[name].exports;
    const create = prototype._createJestObjectFor;
    if (!create || create.isHiding) return;
    prototype._createJestObjectFor = function (from) {
      return isSource(String(from.filename || from)) ? undefined : create.apply(this, arguments);
    };
    prototype._createJestObjectFor.isHiding = true;
    const { _createRequireImplementation, _requireResolve } = prototype;
    prototype._createRequireImplementation = function (from) {
      if (isSource(String(from.filename || from))) hideTest(this);
      const given = _createRequireImplementation.apply(this, arguments);
      if (isSource(String(from.filename || from))) given.cache = {};
      return given;
    };
    const isNamed = (from, name) => isTest(path.resolve(path.dirname(from), name)) || isDenied(name, isPage);
    const isForSource = (from) => isSource(String(from)) || isAskedBySource(); // a source may call the `require` of a test
    prototype._requireResolve = function (from, name) {
      if (!isForSource(from)) return _requireResolve.apply(this, arguments);
      if (isNamed(String(from), String(name))) throw missing(name);
      const found = _requireResolve.apply(this, arguments);
      if (isTest(found)) throw missing(name);
      return found;
    };
    const { requireModuleOrMock } = prototype;
    prototype.requireModuleOrMock = function (from, name) {
      if (isForSource(from) && isNamed(String(from), String(name))) throw missing(name);
      return requireModuleOrMock.apply(this, arguments);
    };
  });
}

/** What Vitest imports for sources: it resolves names in another process, and loads the modules by itself. */
function hideImports(mocker) {
  const runner = mocker && (mocker.executor || mocker.moduleRunner);
  if (!runner || done.has(runner)) return;
  done.add(runner);
  ["resolveUrl", "cachedModule"].forEach(function (method) {
    const real = runner[method];
    if (!real) return;
    runner[method] = function (name, from, ...words) {
      const importer = String(from || "").replace(/^\/@fs(?=\/)/, "");
      const isHidden = isTest(path.resolve(path.dirname(importer), String(name)));
      const isRefused = importer && isSource(importer) && (isHidden || isDenied(String(name), isPage));
      if (isRefused) return Promise.reject(missing(name));
      return real.call(this, name, from, ...words);
    };
  });
}

/** Stacks have frames of sources alone for sources, however many they ask for. */
function hideFrames(errors) {
  const own = Object.getOwnPropertyDescriptor(errors, "prepareStackTrace") || { configurable: true };
  if (!own.configurable || own.get) return;
  let { value } = own;
  const get = () => (isAskedBySource() ? ownStack : value);
  const set = function (other) {
    if (!isAskedBySource()) value = other;
  };
  define(errors, "prepareStackTrace", { configurable: false, enumerable: true, get, set });
}

/** The same in each realm that is made from now on, as frames of a document are; nor do its functions define what is
 * kept. */
function hideRealms() {
  const { createContext, runInContext } = vm;
  vm.createContext = function () {
    const made = createContext.apply(this, arguments);
    hideFrames(runInContext("Error", made));
    keepDefining(runInContext("({ Function, Object, Reflect })", made));
    return made;
  };
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

hideModules();
hideRealms();
hideNode(OF_SYSTEMS, isAskedInAnyWay);
hideNode(OF_NODE, isAskedAtOnce);
hideNode(OF_MACHINES, () => isPage && isAskedAtOnce());
hideFiles(() => isPage);
keepNode();

module.exports = {
  hideProcess: function (own) {
    if (done.has(own)) return;
    done.add(own);
    [hideJest, hideStart, hideListeners, hideReports, hideCompiling, keepProcess].forEach((hide) => hide(own));
  },
  hide,
  hideFrames,
  hideImports,
  isAskedByItself,
  keepDefining,
  keepRealm,
  note,
  show: (page) => (isPage = page),
  shown,
};
