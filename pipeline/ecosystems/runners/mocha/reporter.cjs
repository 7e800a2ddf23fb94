// Prints Mocha's own `spec` output, and reports the same tests as JSON with their files and groups, which no built-in
// reporter has in all versions. A file that cannot be loaded fails alone; Mocha would end without results for the
// others.
//
// If a repository configures Mocha in a script of its own, that script is started instead:
// `node reporter.cjs COMMAND… -- FILES…`. Every Mocha that it loads then runs these files and reports here.
"use strict";
const fs = require("fs");
const Module = require("module");
const os = require("os");
const path = require("path");
const FILES = "A11Y_MOCHA_FILES";
const { realpathSync } = fs; // code that tests load may replace it

if (require.main === module) start(process.argv.slice(2));
else if (process.env[FILES]) take(JSON.parse(process.env[FILES]));
else module.exports = reporting(require(require.resolve("mocha", { paths: [process.cwd()] })));

/** Start a command with this file loaded into every Node process. The exit code follows from the report. */
function start(words) {
  const end = words.lastIndexOf("--");
  const report = process.env.TEST_REPORT;
  const own = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "report-")), path.basename(report));
  const env = Object.assign({}, process.env, {
    [FILES]: JSON.stringify(words.slice(end + 1).map((name) => path.resolve(name))),
    TEST_REPORT: own,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS || ""} --require ${__filename}`.trim(),
  });
  const done = require("child_process").spawnSync(words[0], words.slice(1, end), { env, stdio: "inherit" });
  const failed = fs.existsSync(own) && JSON.parse(fs.readFileSync(own, "utf8"));
  if (failed) fs.appendFileSync(report, fs.readFileSync(own));
  process.exit(failed ? Number(failed.stats.failures + failed.broken.length > 0) : done.status || 1);
}

/** Make every Mocha that this process loads run these files and no others. */
function take(files) {
  const load = Module._load;
  Module._load = function () {
    const own = load.apply(this, arguments);
    const type = typeof own === "function" && own.prototype && own.prototype.addFile && own.prototype.run;
    if (type && !own.prototype[FILES]) {
      const { run } = own.prototype;
      const reporter = reporting(own);
      const chosen = (mocha) => Object.assign(mocha, { files: files.filter(fs.existsSync) });
      const replaced = own.prototype.loadFiles;
      const later = own.prototype.loadFilesAsync;
      own.prototype[FILES] = true;
      own.prototype.loadFiles = function (done) {
        return replaced.call(chosen(this), done);
      };
      own.prototype.loadFilesAsync = function (options) {
        return later.call(chosen(this), options);
      };
      own.prototype.run = function (done) {
        this.reporter(reporter);
        return run.call(this.files.length ? this : chosen(this), done);
      };
    }
    return own;
  };
}

function reporting(Mocha) {
  const titles = (test) => (test.parent && !test.parent.root ? titles(test.parent) : []).concat(test.title);
  // groups that were defined while a hook ran, with the hook's file; Mocha gives them the file that was loaded last
  const late = new Map();
  const file = (test) =>
    late.get(test) || (test.parent && !test.parent.root && file(test.parent)) || test.file || "";
  // The report is a pipe, to which Node before 12 can only append; with a script of the repository, it is a file.
  const write = process.env[FILES] ? fs.writeFileSync : fs.appendFileSync;
  const broken = [];

  function failed(name, error) {
    console.error(error);
    broken.push(realpathSync(name));
  }

  // A hook outside all groups belongs to the root, which has no file.
  function owned(suite, name) {
    for (const kind of ["_beforeAll", "_afterAll"])
      for (const hook of (suite && suite[kind]) || []) hook.file = hook.file || realpathSync(name);
  }

  // all tests run: before Mocha 6, no argument overrides a configuration that stops at the first failure
  function unbail(suite) {
    suite.bail(false);
    suite.suites.forEach(unbail);
  }

  const { loadFiles, loadFilesAsync } = Mocha.prototype;

  Mocha.prototype.loadFiles = function (done) {
    for (const name of this.files)
      try {
        loadFiles.call(Object.assign(Object.create(this), { files: [name] }));
        owned(this.suite, name);
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
        owned(this.suite, name);
      } catch (error) {
        failed(name, error);
      }
  };

  return class extends Mocha.reporters.Spec {
    constructor(runner, options) {
      super(runner, options);
      const report = process.env.TEST_REPORT;
      const tests = [];
      const root = runner.suite;
      unbail(root);
      const { addSuite } = root;
      root.addSuite = function (group) {
        const hook = runner.currentRunnable; // none yet for groups that Mocha's `delay` waits for
        if (hook) late.set(group, file(hook));
        return addSuite.apply(this, arguments);
      };
      const testOf = ({ ctx, title }) => (/^"(before|after) each"/.test(title) && ctx && ctx.currentTest) || null;
      const keep = (status) => (test, error) => {
        const hook = test.type === "hook";
        const owner = hook ? testOf(test) : null; // the test for which a hook of each test failed
        const message = error ? String(error.message) : undefined;
        const subject = owner || test;
        tests.push({ file: file(subject), path: titles(subject), hook: hook && !owner, each: !!owner, status, said: message });
      };
      runner.on("pass", keep("passed"));
      runner.on("pending", keep("pending"));
      runner.on("fail", keep("failed"));
      runner.on("end", () => {
        runner.failures += broken.length;
        write(report, JSON.stringify({ stats: this.stats, tests, broken }));
        // on a line of its own, since output that is still buffered may end in the middle of a line
        fs.writeSync(1, `\nTest results written to: ${report}\n`);
      });
    }
  };
}
