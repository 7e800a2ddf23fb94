// Reports Jasmine's results as JSON. This is a helper, which every version loads before the specs. A spec belongs to
// the file that was being loaded when it was declared: Jasmine does not name files before version 4.6, and its
// environment is frozen since version 7. A file that cannot be loaded fails as a spec of its own; Jasmine would end
// without results for the others.
"use strict";
const fs = require("fs");
const path = require("path");
const Jasmine = require(require.resolve("jasmine", { paths: [process.cwd()] }));

const env = jasmine.getEnv();
const { realpathSync } = fs; // code that tests load may replace it
const real = (name) => realpathSync(path.resolve(name));
const files = new Map();
const lost = new Set();
let loading = "";

for (const name of Object.isFrozen(env) ? [] : ["it", "fit", "xit", "describe", "fdescribe", "xdescribe"]) {
  const declare = env[name];
  env[name] = function (...args) {
    const made = declare.apply(this, args);
    if (made && loading) files.set(made.id, loading);
    return made;
  };
}

// all tests run
if (env.configure) env.configure({ stopOnSpecFailure: false, failFast: false });
else env.stopOnSpecFailure(false); // before version 3.3

function failed(error) {
  console.error(error);
  const { id } = env.it(`${loading} can not be loaded`, () => Promise.reject(error));
  files.set(id, loading);
  lost.add(id);
}

// Files are loaded one by one: synchronously before version 3.10, asynchronously since then.
const { loadSpecs } = Jasmine.prototype;
const single = (runner, name) => {
  loading = real(name);
  return loadSpecs.call(Object.assign(Object.create(runner), { specFiles: [name] }));
};
const atOnce = function () {
  for (const name of this.specFiles)
    try {
      single(this, name);
    } catch (error) {
      failed(error);
    }
};
const later = async function () {
  for (const name of this.specFiles)
    try {
      await single(this, name);
    } catch (error) {
      failed(error);
    }
};
Jasmine.prototype.loadSpecs = loadSpecs.constructor.name === "AsyncFunction" ? later : atOnce;

const groups = [];
const tests = [];
const hooks = [];
let defined = 0;

env.addReporter({
  jasmineStarted: ({ totalSpecsDefined }) => (defined = totalSpecsDefined),
  suiteStarted: ({ description }) => groups.push(description),
  suiteDone: ({ id, filename, failedExpectations }) => {
    groups.pop();
    if (failedExpectations.length) hooks.push(files.get(id) || filename || "");
  },
  specDone: ({ id, filename, description, status }) =>
    tests.push({ file: files.get(id) || filename || "", path: groups.concat(description), lost: lost.has(id), status }),
  jasmineDone: ({ overallStatus, failedExpectations }) => {
    if (failedExpectations && failedExpectations.length) hooks.push(""); // of a hook outside every group
    const report = process.env.TEST_REPORT; // a pipe, to which Node before 12 can only append
    fs.appendFileSync(report, JSON.stringify({ defined, overallStatus, tests, hooks }));
    // on a line of its own, since output that is still buffered may end in the middle of a line
    fs.writeSync(1, `\nTest results written to: ${report}\n`);
  },
});
