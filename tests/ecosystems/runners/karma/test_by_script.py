"""A program that starts Karma itself is started with our reporter: every Karma in it uses our settings along with the
program's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from by_script import REPORT, started

from pipeline.core.records import Status
from pipeline.ecosystems import parser

#: as much of Karma as the reporter uses: a configuration, and a server that reports one test
CONFIG = """
class Config { set(more) { Object.assign(this, more); } }
exports.createPatternObject = () => ({});
exports.parseConfig = (file, options, { promiseConfig } = {}) => {
  const config = new Config();
  config.set(options);
  return promiseConfig ? Promise.resolve(config) : config;
};
"""
SERVER = """
exports.config = require("./config");
exports.Server = class extends require("events") {
  constructor(config, done) { super(); Object.assign(this, { config, done }); }
  start() {
    const { plugins, reporters, browsers, singleRun } = this.config;
    if (!singleRun || browsers.join() !== "A11yBench" || !reporters.includes("a11y-bench")) return this.done(9);
    const Reporter = plugins.pop()["reporter:a11y-bench"][1], lacks = Reporter.$inject.join() !== "emitter";
    this.on("browser_process_failure", () => reporter.onRunComplete([], { success: 0, failed: 0, exitCode: 1 }));
    const reporter = new Reporter(lacks ? null : this), { title } = this.config;
    if (title === "starts no browser") return this.emit("browser_process_failure"), this.done(1);
    if (title === "does not compile") return reporter.onRunComplete([], { exitCode: 1 }), this.done(1);
    const success = title !== "fails";
    reporter.onSpecComplete({}, { suite: [], description: title, success });
    const exitCode = Number(!success);
    const results = { success: 1 - exitCode, failed: exitCode, error: false, exitCode };
    reporter.onRunComplete([{ lastResult: { skipped: 0 } }], results);
    this.done(0);
  }
};
"""
PROGRAM = """
const karma = require("karma");
const options = (title) => ({ title, browsers: ["Firefox"], reporters: ["progress"], singleRun: false });
const run = (config, next) => new karma.Server(config, next).start();
const both = ([title, ...others]) =>
  title && karma.config.parseConfig("karma.conf.js", options(title), { promiseConfig: true })
    .then((config) => run(config, () => both(others)));
both(process.argv.slice(2));
"""
FILES = {"node_modules/karma/lib/config.js": CONFIG, "node_modules/karma/lib/index.js": SERVER, "ng.js": PROGRAM,
         "node_modules/karma/package.json": '{"main": "lib/index.js"}'}  # fmt: skip


def run(folder: Path, *words: str) -> tuple[int, dict[str, Any] | None]:
    """The exit code of the program with the reporter, and what was reported."""
    done, report = started(folder, "karma-json", FILES, words, ["src/a.spec.ts"]), folder / REPORT
    return done.returncode, json.loads(report.read_text()) if report.exists() else None


@pytest.mark.parametrize(
    ("titles", "tests", "code"),
    [
        (["opens"], {"opens": Status.PASSED}, 0),
        (["fails", "opens"], {"fails": Status.FAILED, "opens": Status.PASSED}, 1),
    ],
)
def test_every_karma_that_a_program_starts_uses_our_reporter(
    tmp_path: Path, titles: list[str], tests: dict[str, Status], code: int
) -> None:
    """The program's own browsers and reporters are not used; several runs are joined in one report."""
    exit_code, report = run(tmp_path, "ng.js", *titles)
    assert report is not None and exit_code == code
    read = parser("karma-json").read(json.dumps(report).encode(), str(tmp_path))
    assert read.tests == tests
    assert read.suites == {"karma.conf.js": Status.PASSED}


def test_a_bundle_that_does_not_compile_is_a_file_that_could_not_run(tmp_path: Path) -> None:
    """Angular ends the run before a browser starts: with the test patch alone, new tests name what does not exist."""
    exit_code, report = run(tmp_path, "ng.js", "does not compile")
    read = parser("karma-json").read(json.dumps(report).encode(), str(tmp_path))
    assert (exit_code, read.tests, read.suites) == (1, {}, {"karma.conf.js": Status.FAILED})


def test_a_browser_that_does_not_start_leaves_no_report(tmp_path: Path) -> None:
    """The machine may be to blame."""
    assert run(tmp_path, "ng.js", "starts no browser") == (1, None)


def test_a_program_that_starts_no_karma_fails(tmp_path: Path) -> None:
    assert run(tmp_path, "-e", "0") == (1, None)
