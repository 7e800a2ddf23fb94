"""Candidates whose base may be healthier in another environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from histories import Content
from tiny_library import BUILD, MANIFEST, Bench, Pull, make_library

from pipeline.build.qualify import Settings
from pipeline.core.records import Health, Instance
from pipeline.sandbox.base import Limits
from pipeline.sandbox.images import Installed
from pipeline.sandbox.installation import Installation
from pipeline.sandbox.local.images import LocalImages

pytestmark = pytest.mark.long


@pytest.fixture
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Environments are made without the browser that they ask for."""
    make = LocalImages.environment

    def without_browser(images: LocalImages, spec: Installation, *more: Any) -> Installed:
        return make(images, spec._replace(browser=""), *more)

    monkeypatch.setattr(LocalImages, "environment", without_browser)


#: two packages, whose tests are named relative to their folders; the root has the runner
ROOT = MANIFEST.format('"jest": "file:./jest"').replace('"private"', '"workspaces": ["packages/*"], "private"')
PACKAGE = '{{"name": "{}", "version": "1.0.0", "scripts": {{"test": "jest"}}}}\n'
BASE: dict[str, Content] = {
    "package.json": ROOT,
    "src/made.js": "old\n",
    "packages/ui/package.json": PACKAGE.format("ui"),
    "packages/ui/src/ui.js": "old\n",
    "packages/ui/src/ui.test.js": "needs src/ui.js\nworks | src/ui.js | old\n",
    "packages/kit/package.json": PACKAGE.format("kit"),
    "packages/kit/src/kit.test.js": "needs dist/made.js\nworks | dist/made.js | old\n",
}
PULL = Pull("qualified", None, None, others={
    "packages/ui/src/ui.js": "old new\n",
    "packages/ui/src/ui.test.js": "needs src/ui.js\nworks | src/ui.js | old\nnamed | src/ui.js | new\n",
    "packages/kit/src/kit.test.js": "needs dist/made.js\nworks | dist/made.js | old\nalso | dist/made.js | old\n",
})  # fmt: skip


@pytest.mark.rule("base-is-well")
def test_further_hypotheses_start_from_an_environment_that_is_better(tmp_path: Path) -> None:
    """A build lets the tests of one package load, and the others still have to run in their own package."""
    bench = Bench(tmp_path, make_library(tmp_path, {"menu": PULL}, BASE).folder, tmp_path / "cache")
    bench.collect()
    outcome = bench.build("menu")["menu"]
    assert isinstance(outcome, Instance), outcome
    assert outcome.environment.folder == "packages/ui"
    assert list(outcome.f2p_tests) == ["packages/ui/src/ui.test.js > named"]
    assert outcome.health == Health(files=2, loaded=1, tests=1, passed=1)


WAITS = "breaks waits\n{} dist/made.js\nworks | dist/made.js | old\n"


@pytest.mark.rule("base-is-well")
@pytest.mark.parametrize("says", ["needs", "advises"])
def test_a_run_that_waits_for_a_missing_file_gets_it_prepared(tmp_path: Path, says: str) -> None:
    """Karma waits for a bundle that webpack cannot make, and the log says what webpack misses, or what to run first."""
    waits = WAITS.format(says)
    pull = Pull("qualified", waits + "named | {src} | new\n", waits)
    bench = Bench(tmp_path, make_library(tmp_path, {"menu": pull}, {"src/made.js": "old\n"}).folder, tmp_path / "cache")
    bench.collect()
    outcome = bench.build("menu", settings=Settings(bench.sandbox, repeats=1, limits=Limits(seconds=10)))["menu"]
    assert isinstance(outcome, Instance), outcome
    assert [" ".join(words[-2:]) for words in outcome.environment.prepare] == [". build"]


OLD = """
const { mkdirSync, writeFileSync } = require("fs");
mkdirSync("dist", { recursive: true });
const fits = (process.env.NODE_OPTIONS || "").includes("--openssl-legacy-provider");
if (MAKES) writeFileSync("dist/first.js", "");
if (fits) writeFileSync("dist/made.js", require("fs").readFileSync("src/made.js"));
else { console.error("Error: error:0308010C:digital envelope routines::unsupported"); process.exit(1); }
"""


@pytest.mark.rule("base-is-well")
@pytest.mark.parametrize("makes", ["false", "true"])
def test_a_known_fault_of_a_preparation_is_repaired(tmp_path: Path, makes: str) -> None:
    """A compiler with an outdated hash function failed before the tests, alone or after another file was made, and no
    remedy was tried."""
    needs = "needs dist/made.js\nworks | dist/made.js | old\n"
    pull = Pull("qualified", needs + "named | {src} | new\n", needs)
    manifest = MANIFEST.format('"jest": "file:./jest"').replace(BUILD, "node old.js")
    base: dict[str, Content] = {
        "package.json": manifest, "src/made.js": "old\n", "old.js": OLD.replace("MAKES", makes),
    }  # fmt: skip
    bench = Bench(tmp_path, make_library(tmp_path, {"menu": pull}, base).folder, tmp_path / "cache")
    bench.collect()
    outcome = bench.build("menu", settings=Settings(bench.sandbox, repeats=1))["menu"]
    assert isinstance(outcome, Instance), outcome
    assert outcome.environment.test_env["NODE_OPTIONS"] == "--openssl-legacy-provider"


#: a fake Karma: runs the tests of all files in the folder of its configuration, and reports no file names
KARMA = """
const fs = require("fs");
const path = require("path");
const folder = path.dirname(process.env.KARMA_CONFIG);
const lines = fs.readdirSync(folder).filter((name) => name.includes(".test."))
  .flatMap((name) => fs.readFileSync(path.join(folder, name), "utf8").split("\\n").filter(Boolean));
const tests = lines.map((line) => line.split(" | ")).map(([title, file, text]) => (
  { path: [title], status: fs.readFileSync(file, "utf8").includes(text) ? "passed" : "failed", said: "" }
));
const failed = tests.filter(({ status }) => status === "failed").length;
const stats = { success: tests.length - failed, failed, skipped: 0, error: false, exitCode: failed ? 1 : 0 };
fs.writeFileSync(process.env.TEST_REPORT, JSON.stringify({ bundle: process.env.KARMA_CONFIG, stats, tests }));
console.log(`Test results written to: ${process.env.TEST_REPORT}`);
process.exitCode = stats.exitCode;
"""


@pytest.mark.usefixtures("no_browser")
@pytest.mark.rule("base-is-well")
def test_passing_tests_of_another_project_do_not_decide(tmp_path: Path) -> None:
    """Karma reports no file names. The tests of the project that `test` starts passed, so the base counted as
    healthy."""
    pull = Pull("qualified", "works | {src} | old\nnamed | {src} | new\n")
    scripts = '"scripts": {"test": "karma start icons/karma.conf.js", "test:src": "karma start src/karma.conf.js"}, '
    manifest = MANIFEST.format('"karma": "file:./karma"').replace('"scripts": ', scripts + '"other": ')
    base: dict[str, Content] = {
        "package.json": manifest, "karma/package.json": '{"name": "karma", "version": "6.0.0"}\n',
        "karma/bin/karma": KARMA, "src/karma.conf.js": "", "icons/karma.conf.js": "",
        "icons/icon.test.js": "drawn | package.json | tiny\n",
    }  # fmt: skip
    bench = Bench(tmp_path, make_library(tmp_path, {"menu": pull}, base).folder, tmp_path / "cache")
    bench.collect()
    outcome = bench.build("menu", settings=Settings(bench.sandbox, repeats=1))["menu"]
    assert isinstance(outcome, Instance), outcome
    assert outcome.environment.configuration == "src/karma.conf.js"
    assert list(outcome.f2p_tests) == ["named"]


@pytest.mark.usefixtures("no_browser")
@pytest.mark.rule("base-is-well")
def test_pages_without_their_scripts_do_not_decide(tmp_path: Path) -> None:
    """The server of `jest-puppeteer` had no scripts to serve. Tests of pages without scripts passed, no log named a
    missing file, and gold seemed to fix nothing."""
    before = "plain | {src} | old\nscripted | dist/made.js | old\n"
    pull = Pull("qualified", before + "named | dist/made.js | new\n", before, others={"src/made.js": "old new\n"})
    base: dict[str, Content] = {
        "package.json": MANIFEST.format('"jest": "file:./jest", "jest-puppeteer": "file:./jest-puppeteer"'),
        "jest-puppeteer/package.json": '{"name": "jest-puppeteer", "version": "6.0.0"}\n',
        "jest-puppeteer.config.js": "module.exports = { server: { command: 'node app', port: 3000 } };\n",
        "src/made.js": "old\n",
    }
    bench = Bench(tmp_path, make_library(tmp_path, {"menu": pull}, base).folder, tmp_path / "cache")
    bench.collect()
    outcome = bench.build("menu", settings=Settings(bench.sandbox, repeats=1))["menu"]
    assert isinstance(outcome, Instance), outcome
    assert [" ".join(words[-2:]) for words in outcome.environment.prepare] == [". build"]
    assert list(outcome.f2p_tests) == ["src/menu.test.js > named"]


#: stands in for `patch-package`: makes what a patch would add to a package
PATCHING = """#!/usr/bin/env node
require("fs").mkdirSync("node_modules/kit", { recursive: true });
require("fs").writeFileSync("node_modules/kit/made.js", "");
"""


@pytest.mark.rule("base-is-well")
def test_a_base_that_is_well_may_lack_the_repositorys_patches(tmp_path: Path) -> None:
    """Only gold's tests need the patch of a package: the tests of the base passed, and gold was rejected."""
    pull = Pull("qualified", "needs node_modules/kit/made.js\nworks | {src} | old\nnamed | {src} | new\n")
    base: dict[str, Content] = {
        "package.json": MANIFEST.format('"jest": "file:./jest", "patch-package": "file:./patches/tool"'),
        "patches/kit+1.0.0.patch": "",
        "patches/tool/package.json": '{"name": "patch-package", "version": "8.0.0", "bin": "index.js"}\n',
        "patches/tool/index.js": PATCHING,
    }
    bench = Bench(tmp_path, make_library(tmp_path, {"menu": pull}, base).folder, tmp_path / "cache")
    bench.collect()
    outcome = bench.build("menu", settings=Settings(bench.sandbox, repeats=1))["menu"]
    assert isinstance(outcome, Instance), outcome
    assert "patch-package" in outcome.environment.install[2]
    assert list(outcome.f2p_tests) == ["src/menu.test.js > named"]
