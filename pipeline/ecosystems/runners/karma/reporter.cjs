// Runs Karma once with the repository's own configuration in a headless Chromium, and reports its tests as JSON. The
// browser is CHROME_BIN, or else the first on the path. Our own launcher starts it with the flags that the
// configuration has for a Chrome. If the browser does not start, there is no report. Tests run in the order of the
// files: in a random order, the numbers of equal names would change. Written for Karma 1 and later; only Karma 6 and
// later waits for a configuration that is a promise.
//
// If a repository starts Karma in a program of its own, such as Angular's `ng test`, that program is started instead:
// `node reporter.cjs COMMAND… -- FILES…`. Every Karma that it starts then gets our launcher and reporter, and keeps the
// program's configuration. The files are ignored: there is one bundle.
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

// the flags of Karma's own Chrome launcher (karma-chrome-launcher), which may not be installed
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=9222", "--enable-automation", "--no-first-run"].concat(
  ["no-default-browser-check", "disable-default-apps", "disable-popup-blocking", "disable-translate"].map((flag) => `--${flag}`),
  ["disable-background-timer-throttling", "disable-renderer-backgrounding"].map((flag) => `--${flag}`),
);
const PATIENCE = 300000;
// the most characters of a failed test's message
const SAID = 2000;
// plugins that choose browsers themselves, or distribute tests among several
const CHOOSERS = ["detectBrowsers", "parallel"];

// tests run in a fixed order, and all of them run
const JASMINE = { random: false, stopOnSpecFailure: false, failFast: false };
const MOCHA = { bail: false };

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

// A run ends without browsers if the bundle could not be made, as when a test does not compile, or if a browser did not
// start. Karma ends the run as soon as it hears of the latter, so we listen before it.
const reporter = (bundle) => {
  function Reporter(emitter) {
    const tests = [];
    let isLost = false;
    emitter.prependListener("browser_process_failure", () => (isLost = true));
    this.onSpecComplete = (browser, result) =>
      tests.push({
        path: result.suite.concat(result.description),
        status: result.skipped ? "pending" : result.success ? "passed" : "failed",
        said: (result.log || []).join("\n").slice(0, SAID),
      });
    this.onRunComplete = (browsers, { success = 0, failed = 0, error = false, exitCode }) => {
      if (!browsers.length && isLost) return;
      let skipped = 0; // Karma's own totals contain it only since version 6
      browsers.forEach(({ lastResult }) => (skipped += lastResult.skipped || 0));
      const stats = { success, failed, skipped, error: Boolean(error) || !browsers.length, exitCode };
      const text = JSON.stringify({ bundle, stats, tests });
      // a program may start Karma several times
      if (process.env[BY_SCRIPT]) fs.appendFileSync(report, `${text}\n`);
      else fs.writeFileSync(report, text);
      // on a line of its own, since output that is still buffered may end in the middle of a line
      fs.writeSync(1, `\nTest results written to: ${report}\n`);
    };
  }
  Reporter.$inject = ["emitter"];
  return Reporter;
};

function ours(config, bundle) {
  if (BROWSER) process.env.CHROME_BIN = BROWSER; // configurations may set it to a browser that was never downloaded
  const client = config.client || {};
  config.set({
    frameworks: (config.frameworks || []).filter((name) => !CHOOSERS.includes(name)),
    plugins: (config.plugins || ["karma-*"]).concat({
      "reporter:a11y-bench": ["type", reporter(bundle)],
      "launcher:A11yBench": ["type", launcher(flags(config))],
    }),
    reporters: ["dots", "a11y-bench"],
    browsers: ["A11yBench"],
    client: Object.assign({}, client, {
      jasmine: Object.assign({}, client.jasmine, JASMINE),
      mocha: Object.assign({}, client.mocha, MOCHA),
    }),
    captureTimeout: PATIENCE,
    browserNoActivityTimeout: PATIENCE,
    autoWatch: false,
    singleRun: true,
  });
}

// Load the configuration as Karma itself does: TypeScript by ts-node, an ES module by `import`.
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
    config.set({ autoWatch: false, singleRun: true }); // configurations may read these
    const apply = (loaded) => (loaded.default || loaded)(config);
    const loaded = load(original);
    const done = loaded.then ? loaded.then(apply) : apply(loaded);
    return done && done.then ? done.then(() => finish(config)) : finish(config);
  };
}

// -- with a program of the repository's own ----------------------------------------------------------------------------

/** Start a command with this file loaded into every Node process. The exit code follows from the report. */
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

/** Merge the reports of several runs of Karma into one. */
function merged(reports) {
  return reports.reduce((all, next) => {
    for (const key of ["success", "failed", "skipped"]) all.stats[key] += next.stats[key];
    all.stats.error = all.stats.error || next.stats.error;
    all.stats.exitCode = Math.max(all.stats.exitCode, next.stats.exitCode);
    return Object.assign(all, { tests: all.tests.concat(next.tests) });
  });
}

/** Give every Karma that this process loads our launcher and reporter, once its configuration is complete. */
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
