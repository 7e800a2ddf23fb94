// Hides from sources in a disguised run what Node knows of the program, its modules and the machine; in a page, that is
// everything. Loaded once in each process, outside the realms of tests. Exports functions that hide a `process` object, a
// test file or a realm's stacks, and one that says whether sources are in a page.
"use strict";
const path = require("path");
const vm = require("vm");
const {
  LOADER, about: { build }, compiling, headOf, isSource, isCalledBySource, isCalledDirectly, isOnBehalfOfSource,
  isReadBySource, isAskedForSource, isReadForSource, isUsedForSource, nameOf, ownStack, stackOf,
} = require("./askers.cjs");
const { hidden, hide, hideFiles, isHiddenFile, isTest, isWithin, isWithinRoot, scratch } = require("./files.cjs");
const imports = require("./imports.cjs");
const { clearBases, closeRealm, keepDefining, keepNode, keepProcess, keepRealm, markBound } = require("./keeping.cjs");
const { note } = require("./kept.cjs");
const { INSTALLED, isDenied, isDeniedFile, realOf } = require("./modules.cjs");
const { checkNodes, isComputing, watchNodes, watchStyles, whenFramed } = require("./reading.cjs");
const { deafProxy, secrets, veil } = require("./veiling.cjs");
const { restored } = require("./watching.cjs");
//: environment variables of runners, which are removed for everyone
const VARIABLES =
  ["JEST_WORKER_ID", "TEST", "TINYPOOL_WORKER_ID", "VITEST", "VITEST_MODE", "VITEST_POOL_ID", "VITEST_WORKER_ID"];
//: functions of Node that start other programs, or that use files and cannot hide any; in a page, libraries cannot use
//: them for sources either
const OF_SYSTEMS = {
  child_process: "exec execFile execFileSync execSync fork spawn spawnSync",
  cluster: "fork",
  fs: "glob globSync link linkSync opendir opendirSync readdir symlink symlinkSync",
  "fs/promises": "glob link opendir readdir symlink",
  inspector: "Session open",
  module: "register registerHooks",
  worker_threads: "Worker",
};
//: functions of Node, and properties of `process`, that show the running program from outside
const OF_NODE = {
  os: "homedir hostname networkInterfaces tmpdir uptime userInfo",
  util: "getCallSite getCallSites",
  v8: "getHeapSnapshot writeHeapSnapshot",
  vm: "Script compileFunction createContext runInContext runInNewContext runInThisContext",
};
const OF_PROCESS =
  "_getActiveHandles _getActiveRequests _linkedBinding binding config dlopen execPath features " +
  "getActiveResourcesInfo getBuiltinModule getuid mainModule moduleLoadList pid ppid release report uptime version versions";
//: properties of `process` that tell nothing of tests, and process ids: sources without a page, which Node programs are,
//: get the true value of the first and other numbers for the second
const OF_PROGRAMS = ["features", "release", "uptime", "version", "versions"];
const OF_IDS = ["pid", "ppid"];
//: functions of Node for which they get other values, as on another machine, and those that list folders for them
const OF_PLACES = { homedir: "/root", hostname: "localhost", tmpdir: "/var/tmp" };
const OF_LISTS = ["readdir"];
//: properties of `process` that bundlers provide for a page, and those by which Node itself works
const OF_PAGES =
  "addListener argv binding browser constructor cwd emit env listeners nextTick off on once prependListener " +
  "prependOnceListener removeAllListeners removeListener title version versions";
const OF_SELF =
  "_events _eventsCount _exiting _fatalException _immediateCallback _maxListeners _needImmediateCallback _tickCallback " +
  "_tickDomainCallback domain emitWarning exitCode";
//: functions of `process` that do nothing in a page
const OF_LISTENING =
  "addListener emit off on once prependListener prependOnceListener removeAllListeners removeListener".split(" ");
//: functions of `process` that are kept; sources in a page do not see them
const OF_KEPT = ["exit", "reallyExit", "send"];
//: properties of `performance` that no page has
const OF_TIMES = ["eventLoopUtilization", "nodeTiming", "timerify"];
//: functions that list the listeners of a process
const OF_LISTENERS = ["eventNames", "listenerCount", "listeners", "rawListeners", "getEventListeners"];
//: functions of Node that describe the machine; sources in a page cannot use them
const OF_MACHINES = {
  async_hooks: "executionAsyncId executionAsyncResource triggerAsyncId createHook",
  os: "arch availableParallelism cpus endianness freemem loadavg machine platform release totalmem type version",
  v8: "cachedDataVersionTag getHeapCodeStatistics getHeapSpaceStatistics getHeapStatistics",
};
//: environment variables of a shell
const OF_SHELLS = /^(?:_|CI|HOME|HOSTNAME|LANG|LC_\w+|OLDPWD|PATH|PWD|SHELL|SHLVL|TERM|TMPDIR|TZ|USER|YARN_\w+|npm_\w+)$/;
//: environment variables of runners, of their compilers, and our own
const OF_TESTING =
  /^(?:A11Y_\w+|BABEL_ENV|(?:JASMINE|KARMA|MOCHA)_\w+|NODE_TEST_CONTEXT|NODE_V8_COVERAGE|TEST_REPORT|TS_(?:JEST|NODE)_\w+)$/;
//: variables that Vite gives to modules, which read them through a file of Vitest, in addition to those named VITE_…
const OF_MODULES = ["BASE_URL", "DEV", "MODE", "PROD", "SSR"];
const OF_VITEST = /[\\/]node_modules[\\/]vite(?:st|-node)?[\\/]/;
//: what bundlers for browsers provide for some properties of `process`
const IN_BROWSERS = { version: "", versions: {} };

//: methods by which Jest loads or finds modules, with the places of the importing file and of the name among their
//: arguments: those of its runtime, of a part that loads ES modules, and of the part that finds files. Methods of one
//: place give the functions of Jest
const OF_RUNTIMES = {
  getGlobalsForCjs: [0],
  getGlobalsForEsm: [0],
  importMock: [0, 1],
  linkModules: [1, 0],
  requireActual: [0, 1],
  requireMock: [0, 1],
  requireModule: [0, 1],
  resolveModule: [1, 0],
  unstable_importModule: [0, 1],
};
const OF_LOADERS = {
  dynamicImportFromCjs: [1, 0],
  importMock: [0, 1],
  resolveModule: [1, 0],
  resolveSpecifierForSyncGraph: [0, 1],
};
const OF_RESOLVERS = ["resolveModule", "resolveModuleAsync"];
const OF_GLOBALS = ["cjsGlobals", "esmGlobalsModule"];

const define = Object.defineProperty;
//: whether the running test file has a document, so that its sources are in a page
let isPage = false;
//: whether the runner is Vitest, whose modules have variables
let hasModules = false;
//: objects that are hidden already
const done = new WeakSet();
//: process -> what sources in a page get in its place
const ofPages = new WeakMap();

/** Whether a source uses this, and not Node to load a module for it: version 16 does so by functions of OF_NODE. */
const isCalledAtOnce = () => isCalledDirectly(LOADER);

/** The same; in a page, also whether a library uses this for a source. */
const isUsedInAnyWay = () => (isPage ? isOnBehalfOfSource(true, true) : isCalledAtOnce());

/** A function or class that throws where `isDenied`: by default, if a source calls it. */
function refusing(real, isDenied = isCalledAtOnce) {
  const given = function (...words) {
    if (isDenied()) throw Object.assign(new Error("not available"), { code: "ENOENT" });
    if (!new.target) return real.apply(this, words);
    return Reflect.construct(real, words, new.target === given ? real : new.target);
  };
  given.prototype = real.prototype;
  return Object.setPrototypeOf(given, real);
}

/** A function that tells sources another place. In a page, it refuses them any. */
function placed(real, place) {
  const refused = refusing(real);
  return Object.setPrototypeOf(function () {
    return !isPage && isCalledAtOnce() ? place : refused.apply(this, arguments);
  }, real);
}

/** Refuse functions of Node's modules where `isDenied`. As in a browser, sources cannot start programs, threads and
 * realms, or inspect this one; in a page, they cannot inspect the machine either. */
function hideNode(table, isDenied) {
  Object.keys(table).forEach(function (name) {
    let own;
    try {
      own = require(name);
    } catch (error) {
      return; // this version of Node does not have it
    }
    table[name].split(" ").forEach(function (method) {
      if (typeof own[method] !== "function") return;
      if (name === "os" && method in OF_PLACES) own[method] = placed(own[method], OF_PLACES[method]);
      else own[method] = refusing(own[method], OF_LISTS.includes(method) ? () => isPage && isDenied() : isDenied);
    });
  });
}

/** Hide the properties of a process that show the running program and, in a page, the machine. */
function hideReports(own, world) {
  OF_PROCESS.split(" ").forEach(function (name) {
    const real = own[name];
    const { configurable } = Object.getOwnPropertyDescriptor(own, name) || { configurable: true };
    const kept = { configurable: true, enumerable: !isPage };
    const ofProgram = OF_PROGRAMS.includes(name) ? real : OF_IDS.includes(name) ? real + 1 : undefined;
    const told = () => (isPage ? IN_BROWSERS[name] : ofProgram);
    const isDenied = () => (isPage || !OF_PROGRAMS.includes(name)) && isCalledAtOnce();
    if (typeof real === "function") Object.assign(kept, functionOf(refusing(real, isDenied), name));
    else kept.get = () => (isUsedForSource(name) ? told() : real);
    secrets.add(kept.get);
    if (real && configurable) define(own, name, kept);
  });
  const isHidden = (name) => isPage && isUsedForSource(name);
  const known = OF_PAGES.split(" ").concat(OF_PROCESS.split(" "), OF_KEPT, OF_SELF.split(" "));
  const others = Object.getOwnPropertyNames(own).filter((name) => !known.includes(name));
  others.forEach((name) => hideProperty(own, name, isHidden));
  OF_SELF.split(" ").forEach((name) => hideProperty(own, name, () => isPage && isReadBySource()));
  hideProperty(own, "cwd", isHidden, () => "/");
  hideProperty(own, "title", isHidden, "browser");
  hideProperty(own, "argv", isHidden, new world.Array());
  const parent = Object.getPrototypeOf(own); // that of all objects, for the copies that old versions of Jest make
  if (Object.getPrototypeOf(parent)) hideProperty(parent, "constructor", isHidden, world.Object);
  const shown = new Set(OF_PAGES.split(" "));
  veil(own, (name) => isPage && !shown.has(name));
}

/** Show callers another value of a property, if `isHidden` is true of its name now. */
function hideProperty(owner, name, isHidden, told) {
  let own = Object.getOwnPropertyDescriptor(owner, name);
  if (!own || !own.configurable || ("value" in own && own.value === undefined)) return;
  const { enumerable } = own;
  const get = function () {
    if (isHidden(name)) return told;
    return own.get ? own.get.call(this) : own.value;
  };
  const set = function (other) {
    if (own.set) own.set.call(this, other);
    else own = { value: other };
  };
  secrets.add(get);
  define(owner, name, { configurable: true, enumerable: enumerable && !isPage, get, set });
}

/** What sources in a page get in place of a process: an object that has only what they may see of it, so that they
 * cannot find the names of the rest either. */
function pageOf(own, world) {
  const shown = OF_PAGES.split(" ");
  const isFixed = (name) => !shown.includes(name) && !Object.getOwnPropertyDescriptor(own, name).configurable;
  const fixed = new Set(Object.getOwnPropertyNames(own).filter(isFixed)); // nothing else can hide these
  const calls = new WeakMap();
  const calling = function (does) {
    const apply = function (real, self, words) {
      const told = Reflect.apply(real, self === page ? own : self, words);
      return told === own ? page : told;
    };
    if (!calls.has(does)) calls.set(does, new Proxy(does, { apply }));
    return calls.get(does);
  };
  const ignored = () => page;
  const get = function (_, name) {
    if (OF_LISTENING.includes(name)) return ignored;
    const told = typeof name === "symbol" ? world.Object.prototype[name] : fixed.has(name) ? undefined : own[name];
    return typeof told === "function" && name !== "constructor" ? calling(told) : told;
  };
  const has = (_, name) => name in world.Object.prototype || get(_, name) !== undefined;
  const isOwn = (name) => name !== "constructor" && Object.prototype.hasOwnProperty.call(own, name) && has(page, name);
  const page = new Proxy(new world.Object(), {
    get,
    has,
    defineProperty: (_, name, descriptor) => Reflect.defineProperty(own, name, descriptor),
    deleteProperty: (_, name) => Reflect.deleteProperty(own, name),
    getOwnPropertyDescriptor: (_, name) =>
      isOwn(name) ? { configurable: true, enumerable: true, value: get(_, name), writable: true } : undefined,
    ownKeys: () => Object.getOwnPropertyNames(own).filter(isOwn),
    set: (_, name, value) => Reflect.set(own, name, value),
  });
  done.add(page);
  return page;
}

/** What a source gets if it asks for this. */
const given = (told) => (isPage && ofPages.get(told)) || told;

/** Hide the channel to the process that started this one: one of the properties that have symbols as their names. */
function hideChannel(own) {
  const names = [...Object.getOwnPropertySymbols(own), "channel"].filter((name) => Object(own[name]) === own[name]);
  names.forEach((name) => hideProperty(own, name, isUsedForSource));
}

/** Hide the properties of `performance` that no page has. */
function hideTimes({ performance } = {}) {
  const isHidden = (name) => isPage && isUsedForSource(name);
  for (let one = performance; one; one = Object.getPrototypeOf(one))
    OF_TIMES.forEach((name) => hideProperty(one, name, isHidden));
}

/** A property with a function that sources in a page cannot even read, and so cannot pass on. */
function functionOf(value, name) {
  let own = value;
  return { get: () => (isPage && (isCalledAtOnce() || isUsedForSource(name)) ? undefined : own), set: (other) => (own = other) };
}

/** Hide the environment variables of compilers from sources and, in a page, those of a shell. Modules of Vite see only
 * what Vite gives them. If sources are in another `build` than libraries, only they see its name. */
function hideCompiling(own) {
  const isOfModules = (name) => hasModules && OF_MODULES.includes(name);
  const isTelling = (name) => OF_TESTING.test(name) || isOfModules(name) || (isPage && OF_SHELLS.test(name));
  const isGiven = (name) => isOfModules(name) || /^VITE_/.test(name);
  const isHidden = function (name) {
    if (isTelling(String(name)) && isReadForSource()) return true;
    if (!hasModules || name === "NODE_ENV" || isGiven(String(name))) return false;
    return isCalledBySource(OF_VITEST) && !isCalledBySource();
  };
  const isOther = (name) => name === "NODE_ENV" && Boolean(build) && isAskedForSource(name);
  own.env = new Proxy(own.env, {
    get: (env, name) => (isHidden(name) ? undefined : isOther(name) ? build : env[name]),
    getOwnPropertyDescriptor: function (env, name) {
      const found = isHidden(name) ? undefined : Object.getOwnPropertyDescriptor(env, name);
      return found && isOther(name) ? Object.assign(found, { value: build }) : found;
    },
    has: (env, name) => name in env && !isHidden(name),
    ownKeys: (env) => Reflect.ownKeys(env).filter((name) => !isHidden(name)),
    set: function (env, name, value) {
      env[name] = value;
      return true;
    },
  });
}

/** Remove what a process was started with: variables, arguments, and its title, which the system shows, too. */
function hideStart(own) {
  const { VITEST, MODE } = own.env;
  if (VITEST) hasModules = delete own.env.BABEL_ENV; // its compilers run in another process
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

/** Hide the loaded modules, and which module loaded another. Runners with modules of their own show neither. */
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
    return found && isCalledBySource() && (isTest(found) || isHiddenFile(found, isPage)) ? false : found;
  };
  const isOf = (from) => Boolean(from && from.filename) && isSource(from.filename);
  Module._resolveFilename = function (name, from, ...words) {
    const isForSource = isOf(from) || isCalledBySource(); // anyone may call a source's `require`
    if (isForSource && isDenied(name, isPage)) throw missing(name);
    const found = _resolveFilename.call(this, name, from, ...words);
    if (isForSource && isDeniedFile(name, found, isPage)) throw missing(name);
    return found;
  };
  const { _load } = Module;
  Module._load = function (name, from, ...words) { // Node asks only once where a name leads from a folder
    const isForSource = isOf(from) || (/^node:/.test(name) && isCalledBySource());
    if (isForSource && isDenied(name, isPage)) throw missing(name);
    const told = _load.call(this, name, from, ...words);
    return isForSource ? given(told) : told;
  };
  Module._pathCache = new Proxy(Module._pathCache, { ownKeys: () => [] });
  const { getOwnPropertyDescriptor } = Reflect;
  const isKnown = (name) => typeof name !== "string" || !isCalledAtOnce() || !(isKnowing(name) || isDenied(name, isPage));
  Module._cache = new Proxy(Module._cache, {
    get: (cache, name) => (isKnown(name) ? cache[name] : undefined),
    getOwnPropertyDescriptor: (cache, name) => (isKnown(name) ? getOwnPropertyDescriptor(cache, name) : undefined),
    has: (cache, name) => name in cache && isKnown(name),
    ownKeys: (cache) => (isCalledAtOnce() ? Reflect.ownKeys(cache).filter(isKnown) : Reflect.ownKeys(cache)),
  });
  const parent = { id: ".", filename: "", exports: {}, children: [], paths: [], loaded: true };
  const { load } = Module.prototype;
  Module.prototype.load = function (...words) {
    this.parent = parent;
    hide(this.id);
    return load.apply(this, words);
  };
}

/** Whether a module is ours, a test, or a file that may know of tests. */
const isKnowing = (name) => isWithin(name, scratch) || isTest(name) || !(isSource(name) || INSTALLED.test(name));

/** Whether this is the path of a file that sources in a page cannot load: neither the repository's nor installed. */
function isAway(name) {
  const plain = path.normalize(name);
  return isPage && path.isAbsolute(plain) && !isWithinRoot(plain) && !INSTALLED.test(plain);
}

function missing(name) {
  return Object.assign(new Error(`Cannot find module '${name}'`), { code: "MODULE_NOT_FOUND" });
}

/** Replace the test's module, which sources could reach as a parent: its `require` is older than our replacements. */
function hideTest(runtime) {
  const other = { children: [], exports: {}, filename: "", id: ".", loaded: true, parent: null, path: "", paths: [] };
  const { registries = {}, testMainModule: main } = runtime;
  if (runtime._mainModule) runtime._mainModule = other;
  if (main && main.current) main.current = other;
  const lists = [runtime._moduleRegistry, runtime._isolatedModuleRegistry, registries.moduleRegistry];
  lists.forEach(function (modules) {
    hidden.forEach((file) => modules && modules.has && modules.has(file) && modules.set(file, other));
  });
}

/** Put another function in place of a method, unless that was done already. `make` gets the real one. */
function instead(owner, name, make) {
  const real = owner && owner[name];
  if (typeof real !== "function" || done.has(real)) return;
  owner[name] = make(real);
  done.add(owner[name]);
}

/** The path of an importing file, of which runners give the path or address, the module or the ES module. */
function fileOf(from) {
  const file = Object(from) === from ? from.filename || from.identifier : from;
  return nameOf(String(file).replace(/^\/@fs(?=\/)/, ""));
}

const isNamed = (from, name) => isTest(path.resolve(path.dirname(from), name)) || isDenied(name, isPage);

/** Whether a name leads sources to a file that they cannot load. */
const isLeading = (name, file) => isTest(realOf(file)) || isDeniedFile(name, file, isPage);

/** The same with Jest, unless it is the configuration that gives this file to the name. */
function isRefused(resolver, from, name, file) {
  if (typeof file !== "string" || !isLeading(name, file)) return false;
  return typeof resolver.resolveStubModuleName !== "function" || !resolver.resolveStubModuleName(from, name);
}

/** A method of Jest that refuses sources the modules that they cannot load. The first two numbers are the places of the
 * importing file and of the name among its arguments. If it finds files, `resolverOf` gives its resolver. */
function guarded([place, second], resolverOf) {
  return (real) =>
    function () {
      const from = arguments[place];
      const name = second === undefined ? "@jest/globals" : arguments[second];
      if (!from || name === undefined || !isSource(fileOf(from))) return real.apply(this, arguments);
      if (isNamed(fileOf(from), String(name))) throw missing(name);
      const told = real.apply(this, arguments);
      if (!resolverOf) return told;
      const checked = (file) => {
        if (isRefused(resolverOf(this), fileOf(from), String(name), file)) throw missing(name);
        return file;
      };
      return told && told.then ? (async () => checked(await told))() : checked(told);
    };
}

/** The same for those by which sources may also use the `require` of a test, and reach files that are away. */
function asked(real, resolverOf) {
  const own = guarded([0, 1], resolverOf)(real);
  return function (from, name) {
    if (!isSource(fileOf(from)) && !isCalledBySource()) return own.apply(this, arguments);
    if (isNamed(fileOf(from), String(name)) || isAway(String(name))) throw missing(name);
    const told = own.apply(this, arguments);
    if (resolverOf && (isTest(told) || isAway(told))) throw missing(name);
    return given(told);
  };
}

/** Keep sources from Jest's `jest` object, its list of modules, its tests, and modules that sources cannot load. */
function hideJest(own) {
  const cache = own.mainModule && own.mainModule.constructor._cache;
  const names = Object.getOwnPropertyNames(cache || {});
  const classes = (pattern) => names.filter((name) => pattern.test(name)).map((name) => cache[name].exports);
  const ofAll = (pattern, hide) => classes(pattern).forEach((own) => hide((own.default || own).prototype));
  ofAll(/[\\/]jest-resolve[\\/]build[\\/](?:index|resolver)\.js$/, (prototype) =>
    OF_RESOLVERS.forEach((name) => instead(prototype, name, guarded([0, 1], (resolver) => resolver))));
  ofAll(/[\\/]jest-runtime[\\/]build[\\/]index\.js$/, hideRuntime);
}

/** The same for one version of Jest. */
function hideRuntime(prototype) {
  hideObjects(prototype, "_createJestObjectFor");
  instead(prototype, "_createRequireImplementation", (real) => hiding(real, (runtime) => runtime));
  instead(prototype, "_requireResolve", (real) => asked(real, (runtime) => runtime._resolver));
  instead(prototype, "transformFile", compiling.within);
  Object.keys(OF_RUNTIMES).forEach((name) => instead(prototype, name, guarded(OF_RUNTIMES[name])));
  instead(prototype, "requireModuleOrMock", function (real) {
    const own = asked(real);
    return function () {
      if (this.requireBuilder) hideParts(this);
      return own.apply(this, arguments);
    };
  });
}

/** The same for the parts of which Jest consists since version 30.4. */
function hideParts(runtime) {
  const { esmLoader, jestGlobals, requireBuilder, transformCache } = runtime;
  if (done.has(runtime)) return;
  done.add(runtime);
  hideObjects(jestGlobals, "jestObjectFor");
  instead(requireBuilder, "for", (real) => hiding(real, () => runtime));
  instead(requireBuilder, "resolve", (real) => asked(real, (builder) => builder.resolution.resolver));
  instead(transformCache, "transform", compiling.within);
  OF_GLOBALS.forEach((name) => instead(jestGlobals, name, guarded([0])));
  Object.keys(OF_LOADERS).forEach((name) => instead(esmLoader, name, guarded(OF_LOADERS[name])));
}

/** Give sources no `jest` object. */
function hideObjects(owner, name) {
  const make = (real) =>
    function (from) {
      return isSource(fileOf(from)) ? undefined : real.apply(this, arguments);
    };
  instead(owner, name, make);
}

/** A method that makes the `require` of a file: that of a source reaches no other modules. */
function hiding(real, runtimeOf) {
  return function (from) {
    const isOfSource = isSource(fileOf(from));
    if (isOfSource) hideTest(runtimeOf(this));
    const given = real.apply(this, arguments);
    if (!isOfSource) return given;
    ["requireActual", "requireMock"].forEach((name) => delete given[name]);
    return Object.assign(given, { cache: {} });
  };
}

/** The same for Vitest, which resolves names in another process and loads modules itself. */
function hideImports(mocker) {
  const runner = mocker && (mocker.executor || mocker.moduleRunner);
  if (!runner || done.has(runner)) return;
  done.add(runner);
  ["resolveUrl", "cachedModule"].forEach(function (method) {
    const real = runner[method];
    if (!real) return;
    runner[method] = async function (name, from, ...words) {
      if (!from || !isSource(fileOf(from))) return real.call(this, name, from, ...words);
      if (isNamed(fileOf(from), String(name))) throw missing(name);
      const found = await real.call(this, name, from, ...words);
      const { meta = {} } = found || {};
      const files = [].concat(found || [], meta.externalize, meta.file).filter((file) => typeof file === "string");
      if (files.some((file) => isLeading(String(name), fileOf(file)))) throw missing(name);
      return found;
    };
  });
}

/** Show sources stacks with frames of sources only, whatever limit they set. V8 writes the stack of an error only once,
 * so those of errors that sources cause are written like this for everyone. */
function hideFrames(errors) {
  const own = Object.getOwnPropertyDescriptor(errors, "prepareStackTrace") || { configurable: true };
  if (!own.configurable || own.get) return;
  const ours = new WeakSet();
  const writing = function (write) {
    const writer = function (error, sites) {
      const told = stackOf(error, sites);
      if (told !== undefined) return told;
      return write ? write.call(errors, error, sites) : [headOf(error)].concat(sites).join("\n    at ");
    };
    ours.add(writer);
    return writer;
  };
  let now = writing(own.value);
  const get = () => (isCalledBySource() ? ownStack : now);
  const set = function (other) {
    if (!isCalledBySource()) now = ours.has(other) ? other : writing(other);
  };
  define(errors, "prepareStackTrace", { configurable: false, enumerable: true, get, set });
}

/** The same in each realm that is created from now on, as for a document's frames; nor can its functions redefine what
 * is kept. */
function hideRealms() {
  const { createContext, runInContext } = vm;
  vm.createContext = function () {
    const made = createContext.apply(this, arguments);
    hideFrames(runInContext("Error", made));
    const realm = runInContext("({ Function, Object, Reflect })", made);
    keepDefining(realm);
    markBound(realm);
    runInContext("(function (other) { this.Proxy = other; })", made)(deafProxy(runInContext("Proxy", made)));
    return made;
  };
}

/** Hide the listeners of processes, which are those of runners. `isHidden` gets the object and the arguments. */
function hideListeners(owner, isHidden) {
  OF_LISTENERS.forEach(function (method) {
    const real = owner[method];
    const value = function () {
      if (!isHidden(this, arguments) || !isAskedForSource(method)) return real.apply(this, arguments);
      return method === "listenerCount" ? 0 : [];
    };
    if (real) define(owner, method, { configurable: true, enumerable: false, value, writable: true });
  });
}

/** The same for the functions of Node that list listeners of any object. */
function hideAllListeners() {
  const events = require("events");
  hideListeners(events.prototype, (self) => done.has(self));
  hideListeners(events, (_, words) => done.has(words[0]));
}

hideModules();
hideRealms();
hideNode(OF_SYSTEMS, isUsedInAnyWay);
hideNode(OF_NODE, isCalledAtOnce);
hideNode(OF_MACHINES, () => isPage && isCalledAtOnce());
hideFiles(() => isPage);
hideAllListeners();
keepNode();

module.exports = {
  hideProcess: function (own, world) {
    if (done.has(own)) return;
    done.add(own);
    hideListeners(own, () => true);
    ofPages.set(own, pageOf(own, world));
    [hideJest, hideStart, hideReports, hideChannel, hideCompiling].forEach((hide) => hide(own, world));
    keepProcess(own, (name) => isPage && OF_KEPT.includes(name) && isUsedForSource(name));
  },
  checkNodes,
  clearBases,
  closeRealm,
  given,
  hide,
  hideFrames,
  hideImports,
  hideTimes,
  isComputing,
  keepDefining,
  keepRealm,
  note,
  restored,
  secrets,
  show: function (page) {
    isPage = page;
    imports.begin(page);
  },
  veil,
  watchNodes,
  watchStyles,
  whenFramed,
};
