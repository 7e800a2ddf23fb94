"""From a test run to an audit: which documents are kept, where they are audited, and why there may be no audit. No real
runner is started."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import factories
import pytest

from pipeline.core.errors import InfrastructureError
from pipeline.ecosystems import parser
from pipeline.evaluate.assess.axe.audit import Audit, doubt, run_audited
from pipeline.execution.runs import Plan
from pipeline.sandbox.base import Completed
from pipeline.sandbox.scripted import ScriptedSandbox

JSDOM = b"/repo/node_modules/jsdom/lib/api.js"
SHOWN = {"file": "/repo/src/a.test.js", "names": ["Avatar", "shows"], "html": "<img>\u2028"}
NAME = "src/a.test.js > Avatar > shows"
FOUND = {"rule": "image-alt", "criteria": ["1.1.1"], "element": "img", "tests": [NAME]}


class Runner:
    """A fake Jest that passes one test and whose hook keeps `captured`; then axe-core, which finds one violation."""

    def __init__(self, folder: Path, **how: Any) -> None:
        self.how = {"captured": json.dumps(SHOWN).encode(), "jsdom": JSDOM, "announce": True, "code": 0} | how
        self.audited: dict[str, bytes] = {}
        self.sandbox = ScriptedSandbox(folder, self.respond)
        environment = factories.make_environment(parser=self.how.get("parser", "jest-json"))
        self.plan = Plan(self.sandbox, "image", environment, None)

    def respond(self, argv: tuple[str, ...], files: dict[str, bytes]) -> Completed:
        if argv[0] == "npx":
            return self.test(argv, files)
        if argv[0] == "node":
            self.audited = dict(files)
            files[f"{argv[2]}/result.json"] = json.dumps([FOUND]).encode()
            return Completed(self.how["code"], b"axe is not defined", 1)
        return factories.own_command(argv)

    def test(self, argv: tuple[str, ...], files: dict[str, bytes]) -> Completed:
        hook = next(path for path in files if path.endswith("/documents.cjs"))
        for name, kept in (("captured.jsonl", "captured"), ("jsdom", "jsdom")):
            if self.how[kept] is not None:
                files[hook.replace("documents.cjs", name)] = self.how[kept]
        report = next(word for word in argv if word.startswith("--outputFile=")).partition("=")[2]
        case = {"title": "shows", "ancestorTitles": ["Avatar"], "status": "passed", "failureMessages": []}
        suite = {"name": "/repo/src/a.test.js", "status": "passed", "assertionResults": [case]}
        counts = {"numPassedTests": 1, "numFailedTests": 0, "numPendingTests": 0}
        files[report] = json.dumps({"success": True, **counts, "testResults": [suite]}).encode()
        announcement = f"Test results written to: {report}" if self.how["announce"] else ""
        return Completed(0, announcement.encode(), 1, self.how.get("limit"))

    def audit(self) -> Audit:
        return run_audited(self.plan, "", "", "")


@pytest.fixture
def runner(tmp_path: Path) -> Callable[..., Runner]:
    return lambda **how: Runner(tmp_path, **how)


def test_documents_are_audited_in_a_workspace_that_the_tests_never_saw(runner):
    """Whatever a candidate's code does to axe-core, to the audit or to jsdom while it runs is gone by then."""
    made = runner()
    audit = made.audit()
    assert [violation.model_dump(mode="json") for violation in audit.violations] == [FOUND]
    assert (audit.rendered, audit.passed, audit.silence) == ((NAME,), (NAME,), "")
    assert sorted(path.rpartition("/")[2] for path in made.audited) == [
        "audit.cjs",
        "axe.js",
        "documents.jsonl",
        "page.js",
    ]
    assert json.loads(made.audited["/scratch/axe/documents.jsonl"]) == {"test": NAME, "html": SHOWN["html"]}


@pytest.mark.rule("not-audited-is-said")
@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"captured": None, "jsdom": None}, "the tests render no document, or none that the hook sees"),
        ({"captured": b'{"file": 1}'}, "what the hook wrote was changed"),
        ({"jsdom": b"/repo/src/jsdom.js"}, "the tests' documents do not come from jsdom"),
        ({"limit": "time"}, "the tests ended without a result: timeout"),
        ({"announce": False}, "the tests ended without a result: the runner ended without announcing its report"),
        ({"code": 1}, "axe-core could not audit the documents: axe is not defined"),
        ({"parser": "karma-json"}, "there is no hook for jest 29.7.0"),
    ],
    ids=["nothing", "changed", "other-dom", "limit", "fault", "axe", "runner"],
)
def test_a_missing_audit_has_a_reason(runner, how, reason):
    """Never an audit without findings: that would be the best possible result."""
    assert runner(**how).audit() == Audit(silence=reason)


@pytest.mark.invariant(4)
def test_want_of_memory_is_the_machines(runner):
    with pytest.raises(InfrastructureError, match="out of memory"):
        runner(limit="memory").audit()


@pytest.mark.rule("not-audited-is-said")
@pytest.mark.parametrize(
    ("rendered", "passed", "doubtful"),
    [((NAME,), (NAME,), False), ((), (), False), ((), (NAME,), True), ((), (NAME.replace(" > sh", " sh"),), True)],
    ids=["rendered", "failed", "kept-away", "kept-away-from-jasmine"],
)
def test_a_test_that_passes_has_its_document(rendered, passed, doubtful):
    """Otherwise a patch that removes documents would have fewer violations."""
    gold = Audit(rendered=(NAME,), passed=(NAME,))
    reason = f"a test that passes has no document, but has one with gold: {NAME}" if doubtful else ""
    assert doubt(gold, Audit(rendered=rendered, passed=passed)) == reason


def test_hooks_keep_the_rest_of_a_command():
    environment = factories.make_environment(test_env={"NODE_OPTIONS": "--no-warnings", "A": "b"})
    jest, vitest = (parser(name).documents.apply_to(environment, "/hook") for name in ("jest-json", "vitest-json"))
    assert jest.test_env == {"NODE_OPTIONS": "--no-warnings --require /hook/documents.cjs", "A": "b"}
    assert vitest.test == (*environment.test, "--config=/hook/vitest.config.mjs")


def test_vitest_keeps_the_repositorys_own_configuration():
    written = dict(parser("vitest-json").hook_files("/repo/vitest.config.mts"))
    assert b'from "/repo/vitest.config.mts"' in written["vitest.config.mjs"]
    assert b'from "data:text/javascript,' in dict(parser("vitest-json").hook_files(""))["vitest.config.mjs"]
