// Marks files in which a `beforeAll` or `afterAll` failed, which Jest's report does not tell: jest-circus reports a
// failed `beforeAll` as failed tests, and jest-jasmine2 does not report a failed `afterAll`. Node loads this file
// before the runner (`--require`), in each of its processes. The message of a file in which such a hook failed gets the
// line MARK. With TS_JEST_UNCHECKED=true, ts-jest reports no type errors. Nothing else changes. Written for any Node
// that Jest 21 runs on.
//
// Jest's report is written to a pipe, which has no positions. Node before 12.17 and Node 13 before 13.12 would write
// at one, so up to Node 13 we append.
"use strict";
const fs = require("fs");
const Module = require("module");
const MARK = "\u25cf A hook of this file failed";

if (parseInt(process.versions.node, 10) < 14) {
  const { writeFileSync } = fs;
  fs.writeFileSync = (file, data, options) => writeFileSync(file, data, isPipe(file) ? { flag: "a" } : options);
}

function isPipe(file) {
  try {
    return fs.statSync(file).isFIFO();
  } catch (error) {
    return false; // a descriptor, or a file that does not exist yet
  }
}

const load = Module._load;
const wrapped = new WeakMap();
const UNCHECKED = process.env.TS_JEST_UNCHECKED === "true";

Module._load = function (request) {
  const found = load.apply(this, arguments);
  if (UNCHECKED && /config-set(?:\.js)?$/.test(request)) leaveUnchecked(found);
  const wrap = /jest-jasmine2/.test(request) ? byJasmine : /jest-circus/.test(request) ? byCircus : null;
  return wrap ? replaced(found, wrap) : found;
};

// In ts-jest 23.10 and later, this method throws the type errors that were found.
function leaveUnchecked(found) {
  const settings = found && found.ConfigSet && found.ConfigSet.prototype;
  if (settings && "raiseDiagnostics" in settings) {
    Object.defineProperty(settings, "raiseDiagnostics", { configurable: true, value: () => undefined });
  }
}

// A runner is a function, or the default export of a module.
function replaced(found, wrap) {
  const run = found && found.__esModule ? found.default : found;
  if (typeof run !== "function" || run.length < 5) return found;
  if (!wrapped.has(run)) wrapped.set(run, wrap(run));
  return run === found ? wrapped.get(run) : Object.assign({}, found, { __esModule: true, default: wrapped.get(run) });
}

const marked = (failed) => (result) => {
  if (failed.length) result.failureMessage = `${result.failureMessage || ""}\n\n${MARK}`;
  return result;
};

function byCircus(run) {
  return function (globals, config, environment, runtime, path, ...rest) {
    const failed = [];
    const own = environment.handleTestEvent;
    environment.handleTestEvent = function (event) {
      if (event.name === "hook_failure" && /All$/.test(event.hook.type)) failed.push(event.hook);
      return own && own.apply(environment, arguments);
    };
    return run.call(this, globals, config, environment, runtime, path, ...rest).then(marked(failed));
  };
}

function byJasmine(run) {
  return function (globals, config, environment, ...rest) {
    const failed = [];
    let jasmine;
    const get = () => jasmine;
    const set = (made) => {
      jasmine = made;
      if (made.Suite) watch(made.Suite.prototype, failed);
    };
    Object.defineProperty(environment.global, "jasmine", { configurable: true, enumerable: true, get, set });
    return run.call(this, globals, config, environment, ...rest).then(marked(failed));
  };
}

// A group's own errors are those of its hooks: errors that they throw, rejected promises, and failed expectations.
function watch(suite, failed) {
  const { onException, addExpectationResult } = suite;
  suite.onException = function (error) {
    failed.push(error);
    return onException.apply(this, arguments);
  };
  suite.addExpectationResult = function (passed) {
    if (!passed) failed.push(passed);
    return addExpectationResult.apply(this, arguments);
  };
}
