// Adds the files in which a `beforeAll` or `afterAll` failed to Playwright's own JSON report, which attributes such a
// failure to the group's first or last test. Must come after the JSON reporter in the list of reporters.
//
// Playwright loads it before it starts the server of its configuration (`webServer`), whose command may name programs of
// packages: like a script of package.json, it finds them on the path.
"use strict";
const fs = require("fs");
const path = require("path");

const above = (folder) => [folder].concat(folder === path.dirname(folder) ? [] : above(path.dirname(folder)));
const programs = above(process.cwd()).map((folder) => path.join(folder, "node_modules", ".bin"));
process.env.PATH = programs.concat(process.env.PATH || []).join(path.delimiter);

const inside = (steps) => (steps || []).reduce((all, step) => all.concat(step, inside(step.steps)), []);
const failed = (step) => step.category === "hook" && step.error && /^(?:before|after)All\b/.test(step.title);

module.exports = class {
  constructor() {
    this.hooks = new Set();
  }

  onTestEnd(test, result) {
    if (inside(result.steps).some(failed)) this.hooks.add(test.location.file);
  }

  onEnd() {
    const file = process.env.PLAYWRIGHT_JSON_OUTPUT_NAME;
    const report = JSON.parse(fs.readFileSync(file, "utf8"));
    fs.writeFileSync(file, JSON.stringify(Object.assign(report, { hooks: Array.from(this.hooks) }), null, 2));
  }

  printsToStdio() {
    return false;
  }
};
