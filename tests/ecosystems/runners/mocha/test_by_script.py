"""A script that loads Mocha itself is started with our reporter: it runs our files, with the script's own set-up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from by_script import REPORT, started

#: as much of Mocha as the reporter uses
MOCHA = """
const { EventEmitter } = require("events");
let current;
class Mocha {
  constructor() { this.files = []; }
  addFile(file) { this.files.push(file); return this; }
  reporter(type) { this.type = type; return this; }
  loadFiles() { this.files.forEach((file) => require((current = file))); }
  run(done) {
    const tests = [];
    const root = { root: true, groups: [], suites: [], bail() {}, addSuite(group) { this.groups.push(group); } };
    global.test = (title, body) => tests.push({ title, body, parent: root, file: current });
    global.delayed = (body) => { root.delayed = body; };
    global.hook = (body) => { root.hook = { body, parent: root, file: current }; };
    global.group = (title) => {
      const own = { title, parent: root };
      root.addSuite(own);
      own.file = current;
      return (title, body) => tests.push({ title, body, parent: own, file: current });
    };
    this.loadFiles();
    const runner = Object.assign(new EventEmitter(), { failures: 0, suite: root });
    const stats = { passes: 0, pending: 0, failures: 0 };
    new this.type(runner, {}).stats = stats;
    if (root.delayed) root.delayed();
    runner.currentRunnable = root.hook;
    if (root.hook) root.hook.body();
    for (const one of tests)
      try {
        one.body();
        stats.passes++;
        runner.emit("pass", one);
      } catch (error) {
        stats.failures++;
        runner.emit("fail", one, error);
      }
    runner.emit("end");
    done(stats.failures);
  }
}
Mocha.reporters = { Spec: class {} };
module.exports = Mocha;
"""
TASK = """
global.window = { ready: true };
const Mocha = require("mocha");
new Mocha().addFile(__dirname + "/other.js").run(() => process.exit(7));
"""
FILES = {
    "node_modules/mocha/index.js": MOCHA,
    "task.js": TASK,
    "passes.js": 'test("has a window", () => { if (!window.ready) throw new Error(); });',
    "fails.js": 'test("fails", () => { throw new Error(); });',
    "broken.js": 'require("./gone");',
    "late.js": 'hook(() => group("defined late")("has a file", () => {}));',
    "delayed.js": 'delayed(() => group("defined late")("has a file", () => {}));',
    "other.js": 'throw new Error("not asked for");',
}


@pytest.mark.parametrize(
    ("files", "tests", "broken", "code"),
    [
        (["passes.js"], ["passed"], 0, 0),
        (["passes.js", "fails.js"], ["passed", "failed"], 0, 1),
        (["broken.js", "passes.js"], ["passed"], 1, 1),
        (["passes.js", "gone.js"], ["passed"], 0, 0),
    ],
)
def test_the_given_files_run_as_the_script_would(
    tmp_path: Path, files: list[str], tests: list[str], broken: int, code: int
) -> None:
    """The script's own exit code says nothing about the tests; ours agrees with the report, as the parser requires."""
    done = started(tmp_path, "mocha-json", FILES, ["task.js"], files)
    report = json.loads((tmp_path / REPORT).read_text())
    assert [test["status"] for test in report["tests"]] == tests, done.stderr
    assert (len(report["broken"]), done.returncode) == (broken, code)
    assert any(
        line.startswith("Test results written to: ") and line.endswith(f"/{REPORT}")
        for line in done.stdout.splitlines()
    )


def test_a_test_that_a_hook_defines_belongs_to_the_file_of_the_hook(tmp_path: Path) -> None:
    """Mocha gives it the file that was loaded last, which need not exist in each state of the repository: then the
    same test had two names."""
    started(tmp_path, "mocha-json", FILES, ["task.js"], ["late.js", "passes.js"])
    tests = json.loads((tmp_path / REPORT).read_text())["tests"]
    assert [(Path(test["file"]).name, test["path"]) for test in tests] == [
        ("passes.js", ["has a window"]),
        ("late.js", ["defined late", "has a file"]),
    ]


def test_groups_that_are_defined_before_anything_runs_keep_their_file(tmp_path: Path) -> None:
    """With `delay`, the reporter exists before the groups do."""
    done = started(tmp_path, "mocha-json", FILES, ["task.js"], ["delayed.js"])
    assert done.returncode == 0, done.stderr
    (test,) = json.loads((tmp_path / REPORT).read_text())["tests"]
    assert (Path(test["file"]).name, test["path"]) == ("delayed.js", ["defined late", "has a file"])


def test_a_command_that_reaches_no_mocha_fails(tmp_path: Path) -> None:
    assert started(tmp_path, "mocha-json", {}, ["-e", "0"], ["a.js"]).returncode == 1
