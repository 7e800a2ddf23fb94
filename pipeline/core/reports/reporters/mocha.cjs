// Mocha's own `spec` output, and the same tests as JSON: their files and groups are in no reporter of all its versions.
"use strict";
const fs = require("fs");
const mocha = require(require.resolve("mocha", { paths: [process.cwd()] }));

const path = (test) => (test.parent && !test.parent.root ? path(test.parent) : []).concat(test.title);
const file = (test) => test.file || (test.parent ? file(test.parent) : "");

module.exports = class extends mocha.reporters.Spec {
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
      fs.writeFileSync(report, JSON.stringify({ stats: this.stats, tests }));
      fs.writeSync(1, `Test results written to: ${report}\n`);
    });
  }
};
