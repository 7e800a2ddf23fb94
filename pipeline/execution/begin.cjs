// What a test file loads first in a disguised run: nothing tells any more that tests run, and nothing can be replaced that
// assertions read an element or a value by. What the runner and its set-up files did before stays as it is.
"use strict";
const VARIABLES = ["JEST_WORKER_ID", "VITEST", "VITEST_MODE", "VITEST_WORKER_ID", "TEST"];
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

/** Tests are defined when they begin to run, and the runner knows its report: nobody needs these any more. */
function hideWords() {
  delete process.env.TEST_REPORT;
  define(Error, "stackTraceLimit", { value: 0, writable: false, configurable: false });
  ["describe", "context", "it", "test", "specify", "suite"].forEach(function (name) {
    const own = Object.getOwnPropertyDescriptor(globalThis, name);
    if (own && own.configurable) delete globalThis[name];
  });
}

const define = Object.defineProperty;
VARIABLES.forEach(function (name) {
  delete process.env[name];
});
const options = (process.env.NODE_OPTIONS || "").replace(/ *--require=(?:"[^"]*|\S*)\/hooks\.cjs"?/, "");
if (options) process.env.NODE_OPTIONS = options;
else delete process.env.NODE_OPTIONS;
process.argv = process.argv.slice(0, 1);
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
