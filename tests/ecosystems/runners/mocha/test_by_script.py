"""A script that loads Mocha itself is started with our reporter: it runs our files, with the script's own set-up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from by_script import REPORT, started

#: as much of Mocha as the reporter uses
MOCHA = """
const { EventEmitter } = require("events");
class Mocha {
  constructor() { this.files = []; }
  addFile(file) { this.files.push(file); return this; }
  reporter(type) { this.type = type; return this; }
  loadFiles() { this.files.forEach((file) => require(file)); }
  run(done) {
    const tests = [];
    global.test = (title, body) => tests.push({ title, body, file: this.current });
    this.loadFiles();
    const runner = Object.assign(new EventEmitter(), { failures: 0 });
    const stats = { tests: tests.length, passes: 0, pending: 0, failures: 0 };
    new this.type(runner, {}).stats = stats;
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


def test_a_command_that_reaches_no_mocha_fails(tmp_path: Path) -> None:
    assert started(tmp_path, "mocha-json", {}, ["-e", "0"], ["a.js"]).returncode == 1
