// Web Test Runner with the repository's own configuration, once, in one Chromium, and its tests as JSON. The browser is
// that of CHROME_BIN, else the first on the path. The configuration's own launcher of a Chromium stays, with this browser;
// where it has none, the runner's own launcher of Chrome takes its place. Groups are left out, since the files to run are
// named, but the page of the first group that has one stays.
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

// a page says of a test that never ran what it says of one that failed, but names no error
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
    // on a line of its own: what the stream of the run still holds may end in the middle of one
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
