// Saves the document of each Jest test at the end of the test, before anything cleans up. Node loads this file before
// the runner (`--require`). When a test file is done, it writes `captured.jsonl` beside itself ({file, names, html} per
// line), and `jsdom`, the path of the jsdom in which the tests run. The tests do not change. Written for any Node that
// Jest 22 runs on. jest-circus (the default since 27) tells an environment when a test's function ends; jasmine's specs
// are wrapped.
const fs = require("fs");
const path = require("path");
const Module = require("module");

const load = Module._load;
const known = new WeakSet();
const lines = new WeakMap();

Module._load = function (request, parent, isMain) {
  const found = load.call(this, request, parent, isMain);
  if (request === "jsdom") fs.writeFileSync(path.join(__dirname, "jsdom"), Module._resolveFilename(request, parent));
  if (/jest-jasmine2/.test(request) && typeof found === "function") return withSpecs(found);
  if (/env/i.test(request)) listen(found && (found.TestEnvironment || found.default || found));
  return found;
};

const isNew = (value) => !known.has(value) && known.add(value);

function listen(Environment) {
  const environment = Environment && Environment.prototype;
  if (!environment || !environment.teardown || !isNew(environment)) return;
  const { handleTestEvent, teardown } = environment;
  environment.handleTestEvent = async function (event, state) {
    if (/^test_fn_(success|failure)$/.test(event.name) && isNew(event)) keep(this, names(event.test));
    return handleTestEvent && handleTestEvent.call(this, event, state);
  };
  environment.teardown = function () {
    write(this);
    return teardown.call(this);
  };
}

const names = (test) => (test.parent ? [...names(test.parent), test.name] : []);

function withSpecs(jasmine2) {
  return function (globals, config, environment, ...rest) {
    let jasmine;
    const get = () => jasmine;
    const set = (found) => {
      jasmine = found;
      if (found.Spec) watch(environment, found.Spec.prototype);
    };
    Object.defineProperty(environment.global, "jasmine", { configurable: true, enumerable: true, get, set });
    return jasmine2.call(this, globals, config, environment, ...rest);
  };
}

function watch(environment, spec) {
  const { execute } = spec;
  spec.execute = function (...args) {
    this.queueableFn.fn = ending(this.queueableFn.fn, () => keep(environment, [this.getFullName()]));
    return execute.apply(this, args);
  };
}

// A test's function that calls `end` at its end, however it ends: it calls `done` or `done.fail`, or it throws.
function ending(fn, end) {
  const after = (next) => (...args) => {
    end();
    return next(...args);
  };
  return function (done) {
    try {
      return fn.call(this, Object.assign(after(done), { fail: after(done.fail) }));
    } catch (error) {
      end();
      throw error;
    }
  };
}

function keep(environment, called) {
  const { document } = environment.global;
  if (!document || !document.body || !document.body.firstElementChild) return;
  const styles = [...document.querySelectorAll("head style")].map((style) => style.outerHTML);
  const { testPath } = environment.global[Symbol.for("$$jest-matchers-object")].state;
  const html = [...styles, document.body.innerHTML].join("\n");
  const line = JSON.stringify({ file: testPath, names: called, html });
  lines.set(environment, (lines.get(environment) || []).concat(`${line}\n`));
}

function write(environment) {
  fs.appendFileSync(path.join(__dirname, "captured.jsonl"), (lines.get(environment) || []).join(""));
  lines.delete(environment);
}
