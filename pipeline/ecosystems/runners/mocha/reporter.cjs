// Mocha's own `spec` output, and the same tests as JSON: their files and groups are in no reporter of all its versions.
// A file that can not be loaded fails by itself; Mocha would end without a result for the others.
"use strict";
const fs = require("fs");
const Mocha = require(require.resolve("mocha", { paths: [process.cwd()] }));

const path = (test) => (test.parent && !test.parent.root ? path(test.parent) : []).concat(test.title);
const file = (test) => test.file || (test.parent ? file(test.parent) : "");
const broken = [];

function failed(name, error) {
  console.error(error);
  broken.push(fs.realpathSync(name));
}

const { loadFiles, loadFilesAsync } = Mocha.prototype;

Mocha.prototype.loadFiles = function (done) {
  for (const name of this.files)
    try {
      loadFiles.call(Object.assign(Object.create(this), { files: [name] }));
    } catch (error) {
      failed(name, error);
    }
  if (done) done();
};

Mocha.prototype.loadFilesAsync = async function (options) {
  if (this.lazyLoadFiles) this.lazyLoadFiles(true);
  else this.loadAsync = true; // Mocha 7
  for (const name of this.files)
    try {
      await loadFilesAsync.call(Object.assign(Object.create(this), { files: [name] }), options);
    } catch (error) {
      failed(name, error);
    }
};

module.exports = class extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const report = process.env.TEST_REPORT;
    const tests = [];
    const keep = (status) => (test) =>
      tests.push({ file: file(test), path: path(test), hook: test.type === "hook", status });
    runner.on("pass", keep("passed"));
    runner.on("pending", keep("pending"));
    runner.on("fail", keep("failed"));
    runner.on("end", () => {
      runner.failures += broken.length;
      fs.writeFileSync(report, JSON.stringify({ stats: this.stats, tests, broken }));
      fs.writeSync(1, `Test results written to: ${report}\n`);
    });
  }
};
