// What a test file loads first in a disguised run: nothing tells any more that tests run, and nothing can be replaced
// that assertions read an element or a value by. What the runner and its set-up files did before stays as it is. Gives
// a function that a test file hands its own path to: it is no longer there.
"use strict";
const fs = require("fs");
const path = require("path");
const { types } = require("util");
const { isAskedBySource, isDoneBySource } = require("./askers.cjs");
require("./document.cjs");
//: the words that define tests and hooks, and what else of runners and of libraries for tests is global
const WORDS =
  "describe context suite it test specify fdescribe fit xdescribe xcontext xit xtest xspecify before after " +
  "beforeEach afterEach beforeAll afterAll run";
const GLOBALS =
  "expect jest vi chai sinon axe jasmine spyOn spyOnProperty spyOnAllFunctions fail pending IS_REACT_ACT_ENVIRONMENT";
//: what Node makes global, and no page has
const OF_NODE = "Buffer setImmediate clearImmediate";
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
    "getAttribute getAttributeNames getAttributeNode hasAttribute hasAttributes attributes matches closest " +
    "querySelector querySelectorAll getElementsByTagName getElementsByClassName innerHTML outerHTML className id " +
    "tagName localName role",
  "Node.prototype": "textContent contains childNodes firstChild nodeType nodeName parentNode isEqualNode",
  "Document.prototype": "querySelector querySelectorAll getElementById getElementsByTagName body",
  "Attr.prototype": "name value",
  "NamedNodeMap.prototype": "getNamedItem item length",
  "DOMTokenList.prototype": "contains value",
};

const define = Object.defineProperty;
const described = Object.getOwnPropertyDescriptor;
//: what is global where this file runs; Node before 12 has no name for it
const world = new Function("return this")();

/** Keep what an object has under these names: assigning to it is passed over. Heirs may have their own where `open`. */
function keep(owner, names, open) {
  names.forEach(function (name) {
    const own = owner && described(owner, name);
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
      machine.note(owner, name, { enumerable: own.enumerable });
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
  const isKept = (object, name) => node && object instanceof node && names.has(name) && name in object;
  const passing = (real, given) =>
    function (object, name, descriptor) {
      return isKept(object, name) ? given(object) : real(object, name, descriptor);
    };
  Object.defineProperty = passing(Object.defineProperty, (object) => object);
  Reflect.defineProperty = passing(Reflect.defineProperty, () => true);
  keep(Object, ["defineProperty"], true);
  keep(Reflect, ["defineProperty"], true);
}

/** Tests are defined when they begin to run, and the runner knows its report and snapshots: nobody needs these now. */
function hideWords() {
  snapshots.forEach(machine.hide);
  processes.forEach(function (one) {
    delete one.env.TEST_REPORT;
  });
  WORDS.split(" ").forEach(function (name) {
    const own = Object.getOwnPropertyDescriptor(world, name);
    if (own && own.configurable && !theirs.has(name) && hiding.has(own.get)) delete world[name];
  });
}

/** What runners and libraries make global is there for them and for tests alone, and `expect` stays what it is. */
function hideGlobals() {
  const keys = Object.getOwnPropertyNames(world).concat(Object.getOwnPropertySymbols(world));
  const ofNode = view ? OF_NODE.split(" ") : [];
  const words = `${WORDS} ${GLOBALS}`.split(" ").concat(ofNode);
  const isTelling = (key) => OF_RUNNERS.test(String(key)) || (typeof key === "symbol" && Symbol.keyFor(key));
  const names = new Set(words.concat(keys.filter(isTelling)));
  names.forEach(function (name) {
    const own = Object.getOwnPropertyDescriptor(world, name) || { configurable: true };
    const isLive = own.get && typeof name === "symbol";
    if (!own.configurable || (own.get && !isLive && !ofNode.includes(name))) return;
    let value = isLive ? undefined : world[name];
    const read = () => (isLive ? own.get.call(world) : value);
    const isAsked = ofNode.includes(name) ? machine.isAskedByItself : isAskedBySource;
    const get = () => (!theirs.has(name) && isAsked() ? undefined : read());
    const set = function (other) {
      if (name === "expect" && own.value) return;
      value = other;
      if (isAskedBySource()) theirs.add(name);
    };
    define(world, name, { configurable: name !== "expect", enumerable: false, get, set });
    hiding.add(get);
  });
  const listing = [[Object, "getOwnPropertyNames"], [Object, "getOwnPropertySymbols"], [Reflect, "ownKeys"]];
  const modules = module.constructor._cache;
  const marks = new Set(view ? Object.getOwnPropertySymbols(world.document.createElement("i")) : []);
  const isHidden = (object, key) => object === modules || (object === world ? names : marks).has(key);
  const isModules = (object) => modules && object === modules;
  // a proxy answers itself whether it is one
  const isNode = (object) => view && (types.isProxy(object) || object instanceof view.Node);
  const tells = (object) => (object === world || isModules(object) || isNode(object)) && isAskedBySource();
  listing.forEach(function ([owner, method]) {
    const real = owner[method];
    owner[method] = function (object) {
      const found = real(object);
      return tells(object) ? found.filter((key) => !isHidden(object, key)) : found;
    };
  });
  const isNamed = (key) => (names.has(key) || marks.has(key)) && !theirs.has(key);
  const isDenied = (object, key) => isNamed(key) && tells(object) && isHidden(object, key);
  const asking = [
    [Object, "hasOwn", false],
    [Object, "getOwnPropertyDescriptor", undefined],
    [Reflect, "getOwnPropertyDescriptor", undefined],
    [Reflect, "has", false],
  ];
  asking.forEach(function ([owner, method, nothing]) {
    const real = owner[method];
    const told = (object, key) => machine.shown(object, key, real(object, key));
    if (real) owner[method] = (object, key) => (isDenied(object, key) ? nothing : told(object, key));
  });
  ["hasOwnProperty", "propertyIsEnumerable"].forEach(function (method) {
    const real = Object.prototype[method];
    const value = function (key) {
      return isDenied(this, key) ? false : real.call(this, key);
    };
    const given = { configurable: true, enumerable: false, value, writable: true };
    [Object.prototype, world].forEach((owner) => define(owner, method, given)); // a document's is of another realm
  });
  const all = Object.getOwnPropertyDescriptors;
  Object.getOwnPropertyDescriptors = function (object) {
    const found = all(object);
    if (tells(object)) Reflect.ownKeys(found).forEach((key) => isHidden(object, key) && delete found[key]);
    Reflect.ownKeys(found).forEach((key) => (found[key] = machine.shown(object, key, found[key])));
    return found;
  };
}

/** What is global in the realm of an object. */
function realmOf(object) {
  let root = object;
  for (let one = object; one; one = Object.getPrototypeOf(one)) root = one;
  const made = root.constructor && root.constructor.constructor;
  return typeof made === "function" ? made("return this")() : world;
}

/** Tables of a library for tests are not there for sources, nor for a library that a source has called. */
function hideTables(tables) {
  Object.keys(tables || {}).forEach(function (name) {
    const own = Object.getOwnPropertyDescriptor(tables, name);
    if (!own.configurable || !("value" in own)) return;
    let { value } = own;
    const get = () => (isDoneBySource() ? undefined : value);
    const set = function (other) {
      if (!isDoneBySource()) value = other;
    };
    define(tables, name, { configurable: false, enumerable: true, get, set });
  });
}

/** In a page, a process is an object as any other. */
function hideKind(root) {
  const real = root.toString;
  const value = function toString() {
    const told = real.call(this);
    return told === "[object process]" && view && isAskedBySource() ? "[object Object]" : told;
  };
  define(root, "toString", { configurable: true, enumerable: false, value, writable: true });
}

const view = world.document && world.document.defaultView;
//: global names that sources have set: they are their own
const theirs = new Set();
//: functions that hide global names
const hiding = new Set();
const snapshots = [];
//: a runner may give tests a copy of the process, and a realm of their own; what is of the machine is loaded outside
const outer = fs.readFileSync.constructor;
const processes = Array.from(new Set([process, outer("return process")()]));
const main = processes[processes.length - 1].mainModule;
const outside = main ? main.require.bind(main) : require;
const hideTexts = outside(path.join(__dirname, "texts.cjs"));
const machine = outside(path.join(__dirname, "machine.cjs"));
const outermost = outer("return this")();
//: the realms of tests, of Node, and of elements
const worlds = Array.from(new Set([world, outermost].concat(view ? realmOf(world.document) : [])));
machine.show(Boolean(world.document));
processes.forEach(machine.hideProcess);
worlds.forEach((one) => machine.hideFrames(one.Error));
worlds.forEach(machine.keepDefining);
worlds.forEach((one) => hideKind(one.Object.prototype));
machine.hideImports(world.__vitest_mocker__);
hideGlobals();
hideTexts(world, outermost);
if (require.main) Object.assign(require.main, { children: [], filename: "", id: ".", path: "", paths: [] });
Error.stackTraceLimit = 0;
const known = world[Symbol.for("$$jest-matchers-object")];
if (known && known.matchers) keep(known.matchers, Object.keys(known.matchers));
hideTables(known);
keepAll(OF_ELEMENTS, false);
keepElements();
keepAll(OF_VALUES, true);
worlds.forEach((one) => machine.keepRealm(one, world));
const first = world.beforeAll || world.before || (world.__vitest_index__ || {}).beforeAll;
if (first) first(hideWords);

module.exports = function (file) {
  machine.hide(file);
  snapshots.push(path.join(path.dirname(file), "__snapshots__", `${path.basename(file)}.snap`));
};
