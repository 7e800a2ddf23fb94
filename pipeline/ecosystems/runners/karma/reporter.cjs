// Karma with the repository's own configuration, once, in a headless Chromium, and its tests as JSON. The browser is that
// of CHROME_BIN, else the first on the path, started by a launcher of ours with the flags that the configuration has for
// a Chrome; where none starts there is no report. The order is that of the files: a random one would give equal names to
// others. Written for every Karma from 1 on, of which only those from 6 on wait for a configuration that is a promise.
//
// Where a repository starts Karma in a program of its own, as Angular's `ng test` does, that program is started instead:
// `node reporter.cjs COMMAND… -- FILES…`. Every Karma that it starts is ours then, with what the program configured. The
// files are ignored: there is one bundle.
"use strict";
const fs = require("fs");
const Module = require("module");
const os = require("os");
const path = require("path");

const BY_SCRIPT = "A11Y_KARMA_BY_SCRIPT";
const report = process.env.TEST_REPORT;

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const folders = process.env.PATH.split(path.delimiter);
const programs = [].concat(...names.map((name) => folders.map((folder) => path.join(folder, name))));
const BROWSER = process.env.CHROME_BIN || programs.find((program) => fs.existsSync(program)) || "";
process.env.CHROME_BIN = BROWSER;

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

const reporter = (bundle) => function Reporter() {
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
    const text = JSON.stringify({ bundle, stats, tests });
    // a program may start several, one after another
    if (process.env[BY_SCRIPT]) fs.appendFileSync(report, `${text}\n`);
    else fs.writeFileSync(report, text);
    // on a line of its own: what the stream of the run still holds may end in the middle of one
    fs.writeSync(1, `\nTest results written to: ${report}\n`);
  };
};

function ours(config, bundle) {
  if (BROWSER) process.env.CHROME_BIN = BROWSER; // configurations name browsers that were never downloaded
  const client = config.client || {};
  config.set({
    frameworks: (config.frameworks || []).filter((name) => !CHOOSERS.includes(name)),
    plugins: (config.plugins || ["karma-*"]).concat({
      "reporter:a11y-bench": ["type", reporter(bundle)],
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
function load(original) {
  if (/\.[cm]?ts$/.test(original)) require(require.resolve("ts-node", { paths: [path.dirname(original)] })).register();
  try {
    return require(original);
  } catch (error) {
    if (error.code !== "ERR_REQUIRE_ESM") throw error;
    return import(`file://${original}`);
  }
}

function around(original) {
  const finish = (config) => {
    config.set({ basePath: path.resolve(path.dirname(original), config.basePath || "") });
    ours(config, original);
  };
  return (config) => {
    config.set({ autoWatch: false, singleRun: true }); // configurations ask for it
    const apply = (loaded) => (loaded.default || loaded)(config);
    const loaded = load(original);
    const done = loaded.then ? loaded.then(apply) : apply(loaded);
    return done && done.then ? done.then(() => finish(config)) : finish(config);
  };
}

// -- behind a program of the repository's own ---------------------------------------------------------------------------

/** Start a command with this file in every process of Node's; its exit code is what the report says. */
function start(words) {
  const own = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "report-")), path.basename(report));
  const options = `${process.env.NODE_OPTIONS || ""} --require ${__filename}`.trim();
  const env = Object.assign({}, process.env, { [BY_SCRIPT]: "1", TEST_REPORT: own, NODE_OPTIONS: options });
  const end = words.lastIndexOf("--");
  const done = require("child_process").spawnSync(words[0], words.slice(1, end), { env, stdio: "inherit" });
  if (!fs.existsSync(own)) process.exit(done.status || 1);
  const whole = merged(fs.readFileSync(own, "utf8").trim().split("\n").map((line) => JSON.parse(line)));
  fs.writeFileSync(report, JSON.stringify(whole));
  process.exit(whole.stats.exitCode);
}

/** The reports of one Karma after another, as that of one. */
function merged(reports) {
  return reports.reduce((all, next) => {
    for (const key of ["success", "failed", "skipped"]) all.stats[key] += next.stats[key];
    all.stats.error = all.stats.error || next.stats.error;
    all.stats.exitCode = Math.max(all.stats.exitCode, next.stats.exitCode);
    return Object.assign(all, { tests: all.tests.concat(next.tests) });
  });
}

/** Let every Karma that this process loads be ours, once its configuration is complete. */
function take() {
  const load = Module._load;
  Module._load = function (request) {
    const own = load.apply(this, arguments);
    if (/(?:^|[\\/])config(?:\.js)?$/.test(request) && own.parseConfig && own.createPatternObject && !own[BY_SCRIPT]) {
      const { parseConfig } = own;
      own[BY_SCRIPT] = true;
      own.parseConfig = function (file) {
        const bundle = file || path.resolve("karma.conf.js");
        const settled = (config) => (ours(config, bundle), config);
        const config = parseConfig.apply(this, arguments);
        return config && config.then ? config.then(settled) : settled(config);
      };
    }
    return own;
  };
}

if (require.main === module) start(process.argv.slice(2));
else if (process.env[BY_SCRIPT]) take();
else module.exports = around(path.resolve(process.env.KARMA_CONFIG));
