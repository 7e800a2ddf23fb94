// Two runners in jest's place, for its hook: `node --require HOOK runners.cjs circus|jasmine`. Each runs four tests (one
// passes, one calls back, one throws, one renders nothing), and cleans the document up after each. A document is what
// the hook asks of it; files that the hook looks at are written to FOLDER.
const fs = require("fs");
const path = require("path");

const state = { testPath: "/repo/src/a.test.js" };
const body = { innerHTML: "", get firstElementChild() { return this.innerHTML || null; } };
const document = { body, querySelectorAll: () => [{ outerHTML: "<style></style>" }] };
const made = (name, text) => {
  const file = path.join(process.env.FOLDER, name);
  fs.writeFileSync(file, text);
  return require(file);
};

const show = (html) => (body.innerHTML = html);
const tests = {
  passes: (done) => { show("<b></b>"); done(); },
  waits: (done) => { show("<i></i>"); setTimeout(done, 1); },
  throws: () => { show("<u></u>"); throw new Error("no"); },
  renders: (done) => { show(""); done(); },
};

made("jsdom.js", "");
const Environment = made("test-environment.js", "module.exports = class { async teardown() { this.global = null; } };");
const environment = new Environment();
environment.global = { document, [Symbol.for("$$jest-matchers-object")]: { state } };
const run = (fn) => new Promise((resolve, reject) => {
  try { fn(Object.assign(resolve, { fail: reject })); } catch (error) { reject(error); }
});

async function circus() {
  const group = { name: "Avatar", parent: { name: "ROOT" } };
  for (const name of Object.keys(tests)) {
    const ended = await run(tests[name]).then(() => "success", () => "failure");
    const event = { name: `test_fn_${ended}`, test: { name, parent: group } };
    await environment.handleTestEvent(event, {});
    await environment.handleTestEvent({ ...event, name: "test_done" }, {});
    show("");
  }
}

async function jasmine() {
  const jasmine2 = made("jest-jasmine2.js", `module.exports = async (globals, config, environment) => {
    class Spec {
      constructor(name, fn, run) { Object.assign(this, { name, run, queueableFn: { fn } }); }
      getFullName() { return "Avatar " + this.name; }
      execute() { return this.run(this.queueableFn.fn); }
    }
    environment.global.jasmine = { Spec };
  };`);
  await jasmine2({}, {}, environment);
  for (const name of Object.keys(tests)) {
    await new environment.global.jasmine.Spec(name, tests[name], run).execute().catch(() => {});
    show("");
  }
}

({ circus, jasmine })[process.argv[2]]().then(() => environment.teardown());
