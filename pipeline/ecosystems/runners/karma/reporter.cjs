// Karma with the repository's own configuration, once, in a headless Chromium, and its tests as JSON. The browser is that
// of CHROME_BIN, else the first on the path; where none starts there is no report.
"use strict";
const fs = require("fs");
const path = require("path");

const original = path.resolve(process.env.KARMA_CONFIG);
const report = process.env.TEST_REPORT;

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const programs = names.flatMap((name) => process.env.PATH.split(path.delimiter).map((folder) => path.join(folder, name)));
process.env.CHROME_BIN = process.env.CHROME_BIN || programs.find((program) => fs.existsSync(program)) || "";

function Reporter() {
  const tests = [];
  this.onSpecComplete = (browser, result) =>
    tests.push({
      path: result.suite.concat(result.description),
      status: result.skipped ? "pending" : result.success ? "passed" : "failed",
    });
  this.onRunComplete = (browsers, { success, failed, skipped, error, exitCode }) => {
    if (!browsers.length) return;
    fs.writeFileSync(report, JSON.stringify({ stats: { success, failed, skipped, error, exitCode }, tests }));
    fs.writeSync(1, `Test results written to: ${report}\n`);
  };
}

module.exports = (config) => {
  const done = require(original)(config);
  return Promise.resolve(done).then(() =>
    config.set({
      basePath: path.resolve(path.dirname(original), config.basePath || ""),
      plugins: [...(config.plugins || ["karma-*"]), { "reporter:a11y-bench": ["type", Reporter] }],
      reporters: ["dots", "a11y-bench"],
      customLaunchers: { Headless: { base: "ChromeHeadless", flags: ["--no-sandbox"] } },
      browsers: ["Headless"],
      autoWatch: false,
      singleRun: true,
    }),
  );
};
