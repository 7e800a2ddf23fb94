// Karma with the repository's own configuration, once, in a headless Chromium, and its tests as JSON. The browser is that
// of CHROME_BIN, else the first on the path, started by a launcher of ours with the flags that the configuration has for
// a Chrome; where none starts there is no report. The order is that of the files: a random one would give equal names to
// others. Written for every Karma from 1 on, of which only those from 6 on wait for a configuration that is a promise.
"use strict";
const fs = require("fs");
const path = require("path");

const original = path.resolve(process.env.KARMA_CONFIG);
const report = process.env.TEST_REPORT;

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const folders = process.env.PATH.split(path.delimiter);
const programs = [].concat(...names.map((name) => folders.map((folder) => path.join(folder, name))));
process.env.CHROME_BIN = process.env.CHROME_BIN || programs.find((program) => fs.existsSync(program)) || "";

// what Karma's own launcher of Chrome passes (karma-chrome-launcher), which need not be installed
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=9222", "--enable-automation", "--no-first-run"].concat(
  ["no-default-browser-check", "disable-default-apps", "disable-popup-blocking", "disable-translate"].map((flag) => `--${flag}`),
  ["disable-background-timer-throttling", "disable-renderer-backgrounding"].map((flag) => `--${flag}`),
);
const PATIENCE = 300000;
// characters of what a test that failed has said
const SAID = 2000;
// plugins that choose browsers themselves, or share tests out among several
const CHOOSERS = ["detectBrowsers", "parallel"];

// nothing ends before its time
const JASMINE = { random: false, stopOnSpecFailure: false, failFast: false };

function flags(config) {
  const launchers = config.customLaunchers || {};
  for (let name of config.browsers || []) {
    let found = [];
    for (; launchers[name]; name = launchers[name].base) found = (launchers[name].flags || []).concat(found);
    if (/chrom|puppeteer/i.test(name)) return found;
  }
  return [];
}

function launcher(extra) {
  function Chromium(decorate) {
    decorate(this);
    this._getOptions = (url) => FLAGS.concat(extra, `--user-data-dir=${this._tempDir}`, url);
  }
  Chromium.prototype = { name: "Chromium", DEFAULT_CMD: { linux: process.env.CHROME_BIN }, ENV_CMD: "CHROME_BIN" };
  Chromium.$inject = ["baseBrowserDecorator"];
  return Chromium;
}

function Reporter() {
  const tests = [];
  this.onSpecComplete = (browser, result) =>
    tests.push({
      path: result.suite.concat(result.description),
      status: result.skipped ? "pending" : result.success ? "passed" : "failed",
      said: (result.log || []).join("\n").slice(0, SAID),
    });
  this.onRunComplete = (browsers, { success, failed, error, exitCode }) => {
    if (!browsers.length) return;
    let skipped = 0; // which a run's own totals have since Karma 6 only
    browsers.forEach(({ lastResult }) => (skipped += lastResult.skipped || 0));
    const stats = { success, failed, skipped, error, exitCode };
    fs.writeFileSync(report, JSON.stringify({ bundle: original, stats, tests }));
    // on a line of its own: what the stream of the run still holds may end in the middle of one
    fs.writeSync(1, `\nTest results written to: ${report}\n`);
  };
}

function ours(config) {
  const client = config.client || {};
  config.set({
    basePath: path.resolve(path.dirname(original), config.basePath || ""),
    frameworks: (config.frameworks || []).filter((name) => !CHOOSERS.includes(name)),
    plugins: (config.plugins || ["karma-*"]).concat({
      "reporter:a11y-bench": ["type", Reporter],
      "launcher:A11yBench": ["type", launcher(flags(config))],
    }),
    reporters: ["dots", "a11y-bench"],
    browsers: ["A11yBench"],
    client: Object.assign({}, client, { jasmine: Object.assign({}, client.jasmine, JASMINE) }),
    captureTimeout: PATIENCE,
    browserNoActivityTimeout: PATIENCE,
    autoWatch: false,
    singleRun: true,
  });
}

// The configuration as Karma loads it itself: TypeScript where ts-node is there, a module where it is one.
function load() {
  if (/\.[cm]?ts$/.test(original)) require(require.resolve("ts-node", { paths: [path.dirname(original)] })).register();
  try {
    return require(original);
  } catch (error) {
    if (error.code !== "ERR_REQUIRE_ESM") throw error;
    return import(`file://${original}`);
  }
}

module.exports = (config) => {
  config.set({ autoWatch: false, singleRun: true }); // configurations ask for it
  const apply = (loaded) => (loaded.default || loaded)(config);
  const loaded = load();
  const done = loaded.then ? loaded.then(apply) : apply(loaded);
  return done && done.then ? done.then(() => ours(config)) : ours(config);
};
