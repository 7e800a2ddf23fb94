"""A real Jasmine in the local sandbox: inferred, installed and run, with controls whose expectations must fail.

A failing expectation in Jasmine does not throw, it is recorded: in one test, a failing matcher would hide another that
always passes. So each matcher has a test of its own.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest

from pipeline.build.infer import Tree, infer
from pipeline.core.records import Status
from pipeline.ecosystems.installation import installation
from pipeline.ecosystems.reports import EVERYWHERE
from pipeline.execution.runs import Plan, run_gold, run_patch
from pipeline.sandbox.local.sandbox import LocalSandbox

SPEC = "spec/menu.spec.js"
FILES = {
    "package.json": json.dumps({"devDependencies": {"jasmine": "5.1.0"}, "scripts": {"test": "jasmine"}}),
    ".gitignore": "node_modules\n",
    "src/menu.js": "module.exports = () => 'menu';\n",
    "src/spare.js": "\n",
    SPEC: """\
const menu = require("../src/menu.js");
require("../src/spare.js");
describe("Menu", () => {
  it("has a name", () => expect(menu()).toContain("menu"));
  it("is one", () => expect(menu()).toEqual("menu"));
})
""",
}
#: what a candidate could add to the code under test to make every test pass, or the expectations of a single matcher
DEAF = {
    "all": "global.expect = () => new Proxy({}, { get: () => () => {} });",
    "one matcher": "beforeAll(() => jasmine.addMatchers({ toEqual: () => ({ compare: () => ({ pass: true }) }) }));",
}


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plan]:
    folder = tmp_path_factory.mktemp("jasmine")
    for path, text in FILES.items():
        (folder / "checkout" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "checkout" / path).write_text(text, encoding="utf-8")
    (folder / "manifests").mkdir()
    (folder / "manifests" / "package.json").write_text(FILES["package.json"], encoding="utf-8")
    identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    for arguments in (("init", "-q"), ("add", "."), (*identity, "commit", "-q", "-m", "base")):
        subprocess.run(["git", "-C", folder / "checkout", *arguments], check=True)
    environment = infer(Tree(FILES, FILES.get), "2026-01-01", [SPEC])
    assert (environment.runner, environment.parser) == ("jasmine", "jasmine-json")
    sandbox = LocalSandbox(folder / "cache")
    sandbox.images.environment(installation(environment), "environment", folder / "manifests", print)
    sandbox.images.instance("environment", "image", folder / "checkout")
    yield Plan(sandbox, "image", environment, (SPEC,))


def patch(line: str) -> str:
    return (
        f"diff --git a/src/spare.js b/src/spare.js\n--- a/src/spare.js\n+++ b/src/spare.js\n@@ -1 +1 @@\n-\n+{line}\n"
    )


@pytest.mark.engine("npm")
def test_only_the_selected_files_run(plan: Plan) -> None:
    run = run_gold(plan, [])
    assert (run.end, run.faults, run.code) == ("ran", (), 0)
    assert run.results == {f"{SPEC} > Menu > has a name": Status.PASSED, f"{SPEC} > Menu > is one": Status.PASSED}


@pytest.mark.engine("npm")
@pytest.mark.rule("negative-control")
def test_an_honest_run_reports_no_controls(plan: Plan) -> None:
    run = run_patch(plan, patch("// honest"), "", "", [SPEC])
    assert (run.end, run.faults) == ("ran", ())
    assert run.results == {f"{SPEC} > Menu > has a name": Status.PASSED, f"{SPEC} > Menu > is one": Status.PASSED}
    assert all(
        name in run.report.decode() for name in (run.control.titles[SPEC], '"toContain"', '"toEqual"', '"fails"')
    )


@pytest.mark.engine("npm")
@pytest.mark.trap("hook-failure-passes")
@pytest.mark.parametrize("controls", [(), (SPEC,)], ids=["alone", "beside a control"])
def test_a_failing_hook_outside_every_group_is_one_of_all_files(plan: Plan, controls: tuple[str, ...]) -> None:
    """All tests pass, and Jasmine names neither a group nor a file."""
    run = run_patch(plan, patch('afterAll(() => { throw new Error("late"); });'), "", "", controls)
    assert (run.end, run.faults) == ("ran", ()) and run.suites[EVERYWHERE] is Status.FAILED
    assert {status for name, status in run.results.items() if " > " in name} == {Status.PASSED}


@pytest.mark.engine("npm")
@pytest.mark.rule("negative-control")
@pytest.mark.rule("tampered")
@pytest.mark.parametrize("way", DEAF)
def test_a_run_whose_matchers_cannot_fail_is_detected(plan: Plan, way: str) -> None:
    run = run_patch(plan, patch(DEAF[way]), "", "", [SPEC])
    assert run.faults == (f"the negative control of {SPEC} did not fail",)
