// Every test file of a disguised run loads this file first. From then on, sources cannot see that tests run, and cannot
// replace the functions by which assertions read elements and values. What the runner and its set-up files did before
// stays as it is. Exports a function that hides the test file whose path it is given.
"use strict";
const fs = require("fs");
const path = require("path");
const { isAbove, isCalledBySource, isDoneForSource, isReadForSource, isUsedForSource } = require("./askers.cjs");
const disguisePage = require("./document.cjs");
//: global functions that define tests and hooks, and other global names of runners and test libraries
const WORDS = (
  "describe context suite it test specify fdescribe fit xdescribe xcontext xit xtest xspecify before after " +
  "beforeEach afterEach beforeAll afterAll run suiteSetup suiteTeardown setup teardown"
).split(" ");
//: those of Mocha's hooks that run before the tests, and may define some
const OF_SUITES = ["before", "suiteSetup"];
const GLOBALS = (
  "expect jest vi chai sinon axe jasmine spyOn spyOnProperty spyOnAllFunctions fail pending IS_REACT_ACT_ENVIRONMENT"
).split(" ");
//: global symbols by which Jest is told what to do, which may not exist yet
const OF_JEST = ["RETRY_TIMES", "RETRY_IMMEDIATELY", "WAIT_BEFORE_RETRY", "LOG_ERRORS_BEFORE_RETRY"].map((name) =>
  Symbol.for(name));
//: global names that libraries read while sources call them, and that change what these do
const OF_LIBRARIES = ["IS_REACT_ACT_ENVIRONMENT"];
//: global names of Node that no page has
const OF_NODE = ["Buffer", "setImmediate", "clearImmediate"];
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
  Math: "abs",
  Number: "isFinite isInteger isNaN",
  JSON: "stringify parse",
};

const define = Object.defineProperty;
const described = Object.getOwnPropertyDescriptor;
//: the global object of this file's realm; Node before 12 has no name for it
const world = new Function("return this")();

/** Keep an object's own functions of these names. Assignments are ignored; inheriting objects may have their own. */
function keep(owner, names) {
  names.forEach(function (name) {
    const own = owner && described(owner, name);
    if (!own || !own.configurable || !("value" in own)) return;
    const get = () => machine.restored(own.value);
    const set = function (other) {
      if (this !== owner) define(this, name, { value: other, configurable: true, enumerable: true, writable: true });
    };
    machine.note(owner, name, { enumerable: own.enumerable });
    define(owner, name, { configurable: false, enumerable: own.enumerable, get, set });
  });
}

/** What calls a function before the first test runs: a hook of the runner; if there is no global one, what is certain to
 * happen then. */
function hookBeforeTests() {
  const hook = world.beforeAll || world.before || world.suiteSetup || (world.__vitest_index__ || {}).beforeAll;
  if (hook) return hook;
  const cache = (main || module).constructor._cache || {};
  const runner = Object.getOwnPropertyNames(cache).find((name) => /[\\/]mocha[\\/]lib[\\/]runner\.js$/.test(name));
  if (runner) return (does) => beforeSuites(cache[runner].exports.prototype, does);
  const isOfNode = process.env.NODE_TEST_CONTEXT || process.execArgv.includes("--test");
  return isOfNode && outside("node:test").beforeEach; // Node calls its `before` at once
}

/** Call a function once before Mocha runs the first group of tests, which is that of all. */
function beforeSuites(runner, does) {
  const { runSuite } = runner;
  runner.runSuite = function () {
    runner.runSuite = runSuite;
    does();
    return runSuite.apply(this, arguments);
  };
}

/** After each test, find elements that answered it in place of the document. */
function checkAfterTests() {
  const hook = world.afterEach || world.teardown || (world.__vitest_index__ || {}).afterEach;
  if (!hook) return;
  machine.watchNodes();
  hook(() => machine.checkNodes());
}

/** Hide what is not needed once tests begin to run: the functions that define tests, the report and the snapshots. */
function hideAll() {
  if (isHidden) return;
  isHidden = true;
  worlds.forEach(machine.closeRealm);
  snapshots.forEach(machine.hide);
  processes.forEach(function (one) {
    delete one.env.TEST_REPORT;
  });
  hideWords();
}

/** Remove the functions that define tests. No test runs if one of the runner's has been replaced since the disguise
 * began. */
function hideWords() {
  words.forEach(function ({ own, isOfRunner }, name) {
    const now = described(world, name);
    const isReplaced = now && now.get !== own.get;
    if (isReplaced && isOfRunner) throw new Error(`${name} was replaced`);
    if (!isReplaced && !theirs.has(name)) delete world[name];
  });
}

/** Give them back. */
const giveWords = () => words.forEach(({ own }, name) => described(world, name) || define(world, name, own));

/** A hook of Mocha that runs before the tests, and may define some. */
function defining(does) {
  if (typeof does !== "function") return does;
  const ending = (end) =>
    function () {
      hideWords();
      return end.apply(this, arguments);
    };
  const hook = function (done) {
    giveWords();
    let told;
    try {
      told = does.call(this, done && ending(done));
    } finally {
      if (!done && !(told && told.then)) hideWords();
    }
    return told && told.then ? told.then(hideWords, (error) => (hideWords(), Promise.reject(error))) : told;
  };
  return Object.defineProperties(hook, { length: { value: does.length }, name: { value: does.name } });
}

/** Hide the global names of runners and test libraries from sources. What sources assign to a runner's names reaches
 * sources only. */
function hideGlobals() {
  const keys = Object.getOwnPropertyNames(world).concat(Object.getOwnPropertySymbols(world));
  const ofNode = view ? OF_NODE : [];
  const known = WORDS.concat(GLOBALS, OF_JEST, ofNode);
  const isTelling = (key) => OF_RUNNERS.test(String(key)) || (typeof key === "symbol" && Symbol.keyFor(key));
  const names = new Set(known.concat(keys.filter(isTelling)));
  names.forEach(function (name) {
    const own = described(world, name) || { configurable: true };
    const isLive = own.get && typeof name === "symbol";
    if (!own.configurable || (own.get && !isLive && !ofNode.includes(name))) return;
    let value = isLive ? undefined : world[name];
    const isShared = typeof name === "string" && value === undefined;
    const isAsked = askerOf(name, ofNode);
    const get = function () {
      if (isAsked()) return theirs.get(name);
      if (name === "expect" || WORDS.includes(name)) machine.clearBases();
      if (isLive) return own.get.call(world);
      return OF_SUITES.includes(name) && value ? (...given) => value.apply(world, given.map(defining)) : value;
    };
    const set = function (other) {
      const isTheirs = isReadForSource();
      if (isTheirs) theirs.set(name, other);
      if (!isTheirs || isShared) value = other;
    };
    define(world, name, { configurable: name !== "expect", enumerable: false, get, set });
    machine.secrets.add(get);
    if (WORDS.includes(name))
      words.set(name, { own: described(world, name), isOfRunner: typeof value === "function" });
  });
  machine.veil(world, (key) => names.has(key) && !theirs.has(key));
  if (module.constructor._cache) machine.veil(module.constructor._cache, () => true);
}

/** How to find out whether a source reads this global name. */
function askerOf(name, ofNode) {
  if (ofNode.includes(name)) return () => isUsedForSource(name);
  return OF_LIBRARIES.includes(name) ? isCalledBySource : isReadForSource;
}

/** The global object of an object's realm. */
function realmOf(object) {
  let root = object;
  for (let one = object; one; one = Object.getPrototypeOf(one)) root = one;
  const made = root.constructor && root.constructor.constructor;
  return typeof made === "function" ? made("return this")() : world;
}

/** Hide the tables of a test library from sources, and from libraries that a source has called. */
function hideTables(tables) {
  Object.keys(tables || {}).forEach(function (name) {
    const own = described(tables, name);
    if (!own.configurable || !("value" in own)) return;
    let { value } = own;
    const get = () => (isDoneForSource() ? undefined : value);
    const set = function (other) {
      if (!isDoneForSource()) value = other;
    };
    define(tables, name, { configurable: false, enumerable: true, get, set });
  });
}

/** Give sources another process than everyone else, if they are in a page. */
function hideProcess() {
  const own = described(world, "process");
  if (!view || !own || !own.configurable) return;
  let { process: value } = world;
  const get = () => (isAbove(get) ? machine.given(value) : value);
  const set = (other) => (value = other);
  machine.note(world, "process", { enumerable: own.enumerable });
  define(world, "process", { configurable: true, enumerable: own.enumerable, get, set });
}

/** In a page, `process` looks like a plain object to sources, and the global object like a window. */
function hideKind(root) {
  const real = root.toString;
  const value = function toString() {
    const told = real.call(this);
    const other = told === "[object process]" ? "[object Object]" : this === world || this === view ? "[object Window]" : told;
    return other !== told && view && isCalledBySource() ? other : told;
  };
  define(root, "toString", { configurable: true, enumerable: false, value, writable: true });
}

const view = world.document && world.document.defaultView;
//: global names that sources have set, with their values: these are not hidden
const theirs = new Map();
//: the functions that define tests: their properties of the global object
const words = new Map();
const snapshots = [];
//: a runner may give tests a copy of the process and a realm of their own; `machine.cjs` is loaded outside that realm
const outer = fs.readFileSync.constructor;
const processes = Array.from(new Set([process, outer("return process")()]));
const main = processes[processes.length - 1].mainModule;
const outside = main ? main.require.bind(main) : require;
const hideTexts = outside(path.join(__dirname, "texts.cjs"));
const machine = outside(path.join(__dirname, "machine.cjs"));
const outermost = outer("return this")();
//: the global objects of the realms of tests, of Node, and of elements
const worlds = Array.from(new Set([world, outermost].concat(view ? realmOf(world.document) : [])));
const first = hookBeforeTests();
let isHidden = false;
machine.show(Boolean(world.document));
machine.watchStyles(world);
disguisePage(machine.isComputing);
machine.whenFramed(function (frame) {
  disguisePage(machine.isComputing, frame);
  hideTexts.ofFrame(frame);
});
processes.forEach((one) => machine.hideProcess(one, world));
worlds.forEach((one) => machine.hideFrames(one.Error));
worlds.forEach(machine.keepDefining);
worlds.forEach((one) => hideKind(one.Object.prototype));
machine.hideImports(world.__vitest_mocker__);
machine.hideTimes(world);
hideGlobals();
hideProcess();
hideTexts(world, outermost);
if (require.main) Object.assign(require.main, { children: [], filename: "", id: ".", path: "", paths: [] });
Error.stackTraceLimit = 0;
const known = world[Symbol.for("$$jest-matchers-object")];
if (known && known.matchers) keep(known.matchers, Object.keys(known.matchers));
hideTables(known);
Object.keys(OF_VALUES).forEach(function (place) {
  keep(place.split(".").reduce((owner, name) => owner && owner[name], world), OF_VALUES[place].split(" "));
});
worlds.forEach((one) => machine.keepRealm(one, world));
if (outermost !== world) machine.closeRealm(outermost); // compilers and the document's library are there
if (first) first(hideAll);
if (view) checkAfterTests();

module.exports = function (file) {
  machine.hide(file);
  snapshots.push(path.join(path.dirname(file), "__snapshots__", `${path.basename(file)}.snap`));
};
