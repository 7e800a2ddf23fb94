// Runs Web Test Runner once with the repository's own configuration in one Chromium, and reports its tests as JSON. The
// browser is CHROME_BIN, or else the first on the path. The configuration's own Chromium launcher is kept, with this
// browser; if it has none, the runner's own Chrome launcher is used. Groups are left out, since the files to run are
// named, but the page of the first group that has one is kept.
import fs from "fs";
import { createRequire } from "module";
import path from "path";
import { pathToFileURL } from "url";

const report = process.env.TEST_REPORT;
const original = process.env.WTR_CONFIG;
const PATIENCE = 300000;
// two seconds are too short for a machine under load
const TIMEOUT = 60000;

const folders = process.env.PATH.split(path.delimiter);
const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const programs = names.flatMap((name) => folders.map((folder) => path.join(folder, name)));
const chromium = process.env.CHROME_BIN || programs.find((program) => fs.existsSync(program));

// a page reports a test that never ran like one that failed, but without an error
const statusOf = (test) => (test.skipped ? "pending" : test.passed ? "passed" : test.error ? "failed" : "");

function testsOf(suite, titles = []) {
  const own = (suite.tests || []).map((test) => ({
    path: [...titles, test.name],
    status: statusOf(test),
    said: test.error && String(test.error.message),
  }));
  return [...own, ...(suite.suites || []).flatMap((inner) => testsOf(inner, [...titles, inner.name]))];
}

function fileOf({ testFile, errors, passed, testResults }) {
  const tests = testResults ? testsOf(testResults).filter((test) => test.status) : [];
  return { file: testFile, broken: !testResults || errors.length > 0, passed, tests };
}

const reporter = {
  onTestRunFinished({ sessions }) {
    const files = [...sessions].map(fileOf).sort((one, other) => (one.file < other.file ? -1 : 1));
    const stats = { passed: 0, failed: 0, pending: 0, broken: 0 };
    for (const { broken, tests } of files) {
      stats.broken += Number(broken);
      for (const { status } of tests) stats[status] += 1;
    }
    fs.writeFileSync(report, JSON.stringify({ stats, files }));
    // on a line of its own, since output that is still buffered may end in the middle of a line
    fs.writeSync(1, `\nTest results written to: ${report}\n`);
  },
};

function inOurs(launcher) {
  const { args = [], ...options } = launcher.launchOptions || {};
  launcher.launchOptions = { ...options, headless: true, executablePath: chromium, args: [...args, "--no-sandbox"] };
  return launcher;
}

const isChromium = ({ type, product }) => type === "puppeteer" || (type === "playwright" && product === "chromium");

const runner = createRequire(createRequire(path.resolve("package.json")).resolve("@web/test-runner"));
const own = original ? (await import(pathToFileURL(path.resolve(original)).href)).default : {};
const page = (own.groups || []).find((group) => group.testRunnerHtml);
const launcher = (own.browsers || []).find(isChromium) || runner("@web/test-runner-chrome").chromeLauncher();
const { path: framework, config } = own.testFramework || {};

export default {
  ...(page && { testRunnerHtml: page.testRunnerHtml }),
  ...own,
  groups: undefined,
  browsers: [inOurs(launcher)],
  reporters: [runner("@web/test-runner").defaultReporter({ reportTestProgress: false }), reporter],
  testFramework: framework ? own.testFramework : { config: { timeout: TIMEOUT, ...config } },
  browserStartTimeout: PATIENCE,
  testsStartTimeout: PATIENCE,
  testsFinishTimeout: PATIENCE,
  coverage: false,
  watch: false,
  open: false,
};
