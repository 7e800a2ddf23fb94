// Keeps sources, in a disguised run, from importing modules that they cannot load, through the loader of ES modules. Before
// Node 22.15, the loader works in a thread of its own, which loads this file as well. Written for any Node that runs tests.
"use strict";
const Module = require("module");
const path = require("path");
const url = require("url");
const world = new Function("return this")();
const BEGUN = 0, IN_PAGE = 1;
//: whether a test has begun, and whether sources are in a page: memory that the loader's thread shares
let state;
let asks;

const isPage = () => Boolean(state ? state[IN_PAGE] : world.document);
const fileOf = (address) => (/^file:/.test(address) ? url.fileURLToPath(address) : "");

/** Whether a test has begun. The loader finds all that a test file imports before any of it runs: that the file imports
 * us is the first sign of a test. */
function isBegun(name) {
  if (asks) return true;
  if (!name.startsWith(__dirname) && !(state && state[BEGUN])) return false;
  asks = Object.assign({}, ...["askers", "modules", "files"].map((own) => require(`./${own}.cjs`)));
  return true;
}

/** A function that returns what was found for a name, or throws if sources cannot import it. Throws at once for names that
 * they cannot import. */
function judging(name, context) {
  const from = context.parentURL || "";
  const isImport = isBegun(name) && from && !context.conditions.includes("require"); // `machine.cjs` judges the others
  if (!isImport || !asks.isSource(fileOf(from) || from)) return (found) => found;
  const refused = () =>
    Object.assign(new Error(`Cannot find package '${name}' imported from ${fileOf(from)}`), { code: "ERR_MODULE_NOT_FOUND" });
  if (asks.isDenied(name, isPage())) throw refused();
  return function (found) {
    const file = fileOf(found.url);
    if (file && (asks.isDeniedFile(name, file, isPage()) || asks.isTest(asks.realOf(file)))) throw refused();
    return found;
  };
}

/** What the loader calls in its thread, first with the shared memory. */
exports.initialize = function (shared) {
  state = shared;
};
exports.resolve = function (name, context, next) {
  const judged = judging(name, context);
  return next(name, context).then(judged);
};

/** Judge all imports from now on, where Node can: since 18.19 and 20.6. */
exports.hook = function () {
  const resolve = (name, context, next) => judging(name, context)(next(name, context));
  if (Module.registerHooks) return Module.registerHooks({ resolve });
  if (!Module.register) return undefined;
  state = new Int32Array(new SharedArrayBuffer(8));
  return Module.register(url.pathToFileURL(path.join(__dirname, "imports.cjs")), { data: state });
};

/** Say that a test has begun, and whether sources are in a page. */
exports.begin = function (page) {
  if (!state) return;
  state[IN_PAGE] = Number(page);
  state[BEGUN] = 1;
};
