// Runs Web Test Runner once with the repository's own configuration in one Chromium, and reports its tests as JSON. The
// browser is CHROME_BIN, or else the first on the path. The configuration's own Chromium launcher is kept, with this
// browser; if it has none, the runner's own Chrome launcher is used. Groups are left out, since the files to run are
// named, but the page of the first group that has one is kept.
//
// A repository may compile its tests in TypeScript first and run the results, which lack what is appended to a test.
// So if tests in TypeScript are run, what no plugin of the repository makes JavaScript is compiled here, by the
// repository's own compiler: tests, and sources of which there is no compiled file.
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

const repository = createRequire(path.resolve("package.json"));
const runner = createRequire(repository.resolve("@web/test-runner"));
const own = original ? (await import(pathToFileURL(path.resolve(original)).href)).default : {};
const page = (own.groups || []).find((group) => group.testRunnerHtml);
const launcher = (own.browsers || []).find(isChromium) || runner("@web/test-runner-chrome").chromeLauncher();
const { path: framework, config } = own.testFramework || {};

function compiler() {
  try {
    return repository("typescript");
  } catch (error) {
    return null; // it has another one, or none
  }
}

const TYPED = /\.tsx?$/;
const OUTSIDE = /^\/__wds-outside-root__\/(\d+)(?=\/)/;
const typescript = process.argv.some((word) => TYPED.test(word)) ? compiler() : null;
let root = process.cwd();

function pathOf(url) {
  const [outside = "", levels = "0"] = OUTSIDE.exec(url) || [];
  return path.join(root, "../".repeat(Number(levels)), decodeURIComponent(url.slice(outside.length)));
}

function sourceOf(file) {
  const sources = [".ts", ".tsx"].map((end) => file.replace(/\.js$/, "") + end);
  const isMissing = /^(?:\.js)?$/.test(path.extname(file)) && !fs.existsSync(file);
  return isMissing ? sources.find((source) => fs.existsSync(source)) : undefined;
}

function compiled(file, text) {
  const found = typescript.findConfigFile(path.dirname(file), typescript.sys.fileExists);
  const json = found ? typescript.readConfigFile(found, typescript.sys.readFile).config : {};
  const host = { ...typescript.sys, readDirectory: () => [] }; // the other files of the project do not matter
  const { options } = typescript.parseJsonConfigFileContent(json, host, path.dirname(found || file));
  const target = Math.max(options.target || 0, typescript.ScriptTarget.ES2017);
  const compilerOptions = { ...options, target, module: typescript.ModuleKind.ESNext, sourceMap: false };
  return typescript.transpileModule(text, { compilerOptions, fileName: file }).outputText;
}

const typed = {
  name: "typed",
  serverStart({ config: settings }) {
    root = settings.rootDir;
  },
  serve({ path: url }) {
    const source = sourceOf(pathOf(url));
    return source ? { body: compiled(source, fs.readFileSync(source, "utf8")), type: "js" } : undefined;
  },
  transform({ path: url, body, response }) {
    if (!TYPED.test(url) || /javascript/.test(response.type)) return undefined;
    return { body: compiled(pathOf(url), String(body)), headers: { "content-type": "application/javascript" } };
  },
};

export default {
  ...(page && { testRunnerHtml: page.testRunnerHtml }),
  ...own,
  groups: undefined,
  ...(typescript && { plugins: [...(own.plugins || []), typed] }),
  browsers: [inOurs(launcher)],
  reporters: [runner("@web/test-runner").defaultReporter({ reportTestProgress: false }), reporter],
  testFramework: framework ? own.testFramework : { config: { timeout: TIMEOUT, ...config, bail: false } },
  browserStartTimeout: PATIENCE,
  testsStartTimeout: PATIENCE,
  testsFinishTimeout: PATIENCE,
  coverage: false,
  watch: false,
  open: false,
};
