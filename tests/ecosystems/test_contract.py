"""The contract of every folder of `runners/` and `managers/`: what it must contain, and what it declares as missing.

The fixtures of a new folder are found by its name. `runners/<name>/`: `project/`, `outputs/VERSION.report` and `.log`
(made by make.sh from its `make.sh`), `expected.toml`. `managers/<name>/VERSION/LOCKFILE`, made by make.sh.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import trees

from pipeline.build import faults
from pipeline.core.records import Edit, Status
from pipeline.ecosystems import all_managers, all_parsers, all_runners, edits, locks, manager, parser, runner
from pipeline.ecosystems.protection import is_manifest, is_protected
from pipeline.ecosystems.reports import EVERYWHERE, Report, ReportError

HERE = Path(__file__).parent
RUNNERS, MANAGERS = sorted(all_runners()), sorted(all_managers())
OUTPUTS = sorted((path.parts[-3], path.stem) for path in HERE.glob("runners/*/outputs/*.report"))
HOOKS = sorted((path.parts[-3], path.stem) for path in HERE.glob("runners/*/outputs-hooks/*.report"))
LOCKS = sorted(path for path in HERE.glob("managers/*/*/*") if path.parent.name[0].isdigit())
LOCK_IDS = [f"{path.parts[-3]}-{path.parts[-2]}" for path in LOCKS]
REGISTRY = "https://registry.example.org/"
#: what a folder may lack, in the words that verdicts use
ASSURANCES = {"negative_control", "announced_report", "test_files", "updated_snapshots", "documents"}


def expected(name: str) -> dict[str, Any]:
    """The results of a runner's project, and other facts about its fixtures."""
    path = HERE / "runners" / name / "expected.toml"
    assert path.exists(), f"{name} has no fixtures: {path} says what its project's tests must say"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def output(name: str, version: str, kind: str = "report") -> bytes:
    return (HERE / "runners" / name / "outputs" / f"{version}.{kind}").read_bytes()


def parsed(name: str, version: str) -> Report:
    return parser(expected(name)["parser"]).read(output(name, version), "/repo")


# -- runners: mandatory ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", RUNNERS)
def test_a_runner_is_recognized(name: str) -> None:
    """By what scripts call, by the dependencies in package.json, or by what tests import."""
    own = runner(name)
    assert own.programs and (own.packages or own.imports)
    assert bool(own.entries) == bool(own.packages)
    asked = {own.packages[0]: "^99.0.0"} if own.packages else {}
    script = {} if own.packages else {"test": f"{own.programs[0]} --test"}
    found = trees.read(trees.tree(devDependencies=asked, scripts=script))
    assert (found.runner, found.parser) == (name, own.parser)


@pytest.mark.parametrize("name", RUNNERS)
def test_a_runner_gets_the_path_of_its_report(name: str) -> None:
    """And every row of its options leads to an existing parser."""
    own = runner(name)
    words = own.merged("")
    assert "{report}" in " ".join((*words.words, *words.env.values()))
    assert {own.parser, *(row.parser for row in own.words if row.parser)} <= own.parsers.keys()
    assert set(own.flags).isdisjoint(own.keep)
    assert ("{reporter}" in " ".join(words.words)) == bool(own.parsers[words.parser].reporter)


@pytest.mark.rule("protected-files")
@pytest.mark.parametrize("name", RUNNERS)
def test_a_runners_configuration_is_protected(name: str) -> None:
    """A candidate must not decide how it is tested: everything that the table calls configuration is protected."""
    named, own = expected(name)["configuration"], runner(name)
    assert named or own.configuration == "^$", "expected.toml names its configuration files"
    for path in named:
        assert re.search(own.configuration, path), f"{path} is not found as its configuration"
        assert is_protected(path) and is_protected(f"packages/ui/{path}"), f"{path} is not protected"


@pytest.mark.parametrize("name", RUNNERS)
def test_a_runner_has_fixtures_of_every_era(name: str) -> None:
    assert expected(name)["versions"], "real outputs are the reader's proof: runners/make.sh makes them"
    assert {version for runner_name, version in OUTPUTS if runner_name == name} == set(expected(name)["versions"])


@pytest.mark.trap("same-name-collapses")
@pytest.mark.parametrize(("name", "version"), OUTPUTS)
def test_reports_of_every_version_give_the_same_results(name: str, version: str) -> None:
    """Tests are named by file and full name: the same over twelve major versions, and the second of two equal names is
    told apart."""
    wanted, report = expected(name), parsed(name, version)
    lacking = wanted["tests"].keys() - report.tests.keys()
    assert lacking <= set(wanted.get("may_lack", ()))
    assert report.tests == {test: Status(said) for test, said in wanted["tests"].items() if test not in lacking}
    assert [file for file, status in sorted(report.suites.items()) if status is Status.FAILED] == wanted["broken"]
    assert not report.success


@pytest.mark.parametrize("name", RUNNERS)
def test_every_runner_has_fixtures_with_failing_hooks(name: str) -> None:
    wanted_hooks = expected(name)["hooks"]
    assert wanted_hooks["versions"] and wanted_hooks["broken"]
    assert {version for runner_name, version in HOOKS if runner_name == name} == set(wanted_hooks["versions"])


@pytest.mark.rule("hooks")
@pytest.mark.trap("hook-failure-passes")
@pytest.mark.parametrize(("name", "version"), HOOKS)
def test_a_failing_hook_has_the_same_result_with_every_runner(name: str, version: str) -> None:
    """A suite with a failing `afterAll` counted as passed, and a failing `beforeAll` was FAILED with one runner and
    SKIPPED with another. Here, each one makes its file FAILED, beside the runner's results for the test cases."""
    wanted_hooks = expected(name)["hooks"]
    text = (HERE / "runners" / name / "outputs-hooks" / f"{version}.report").read_bytes()
    report = parser(expected(name)["parser"]).read(text, "/repo")
    told = wanted_hooks.get("told", {}).get(version, [])
    wanted = told if version in wanted_hooks["untold"] else wanted_hooks["broken"]
    assert sorted(file for file, status in report.suites.items() if status is Status.FAILED) == wanted
    assert not report.success
    cases = [(test.partition(" > ")[0], test, status) for test, status in report.tests.items() if "/" in test]
    assert bool(cases) == ("test_files" not in runner(name).lacks())
    for file, test, status in cases:
        if file in wanted and "-each" in file:
            continue  # its report does not name the hook: the file has failed
        if "-each" in file and "Menu" in test:
            assert status is Status.FAILED, f"{test}: a hook of each test is that test's failure"
        elif "before-all" not in file and name != "playwright" or "Tabs" in test and "-file" not in file:
            assert status is Status.PASSED, f"{test}: it stays what was reported"


@pytest.mark.rule("hooks")
@pytest.mark.parametrize(
    ("rows", "tests", "bundle"),
    [
        ([("opens", "passed"), ('"after each" hook for "opens"', "failed")], {"Menu > opens": "FAILED"}, "PASSED"),
        ([('"before each" hook for "opens"', "failed"), ('"after each" hook for "opens"', "failed")], {}, "FAILED"),
        ([("opens", "passed"), ('"after all" hook: tidy for "opens"', "failed")], {"Menu > opens": "PASSED"}, "FAILED"),
        ([('"before all" hook', "failed")], {}, "FAILED"),
        ([('says "after all" hook', "failed")], {'Menu > says "after all" hook': "FAILED"}, "PASSED"),
    ],
)
def test_a_failing_mocha_hook_in_karma_is_no_test(
    rows: list[tuple[str, str]], tests: dict[str, str], bundle: str
) -> None:
    """Its name exists only while it fails, so the fix seemed to remove a test."""
    statuses = [status for _, status in rows]
    stats = {"success": statuses.count("passed"), "failed": statuses.count("failed"), "skipped": 0, "error": False}
    tests_of_bundle = [{"path": ["Menu", title], "status": status, "said": ""} for title, status in rows]
    text = json.dumps({"bundle": "/repo/karma.conf.js", "stats": stats | {"exitCode": 1}, "tests": tests_of_bundle})
    report = parser("karma-json").read(text.encode(), "/repo")
    assert report.tests == {name: Status(status) for name, status in tests.items()}
    assert report.suites == {"karma.conf.js": Status(bundle)}


@pytest.mark.rule("hooks")
def test_a_failing_hook_of_all_files_names_no_file() -> None:
    """Jasmine's hooks outside every group, and Mocha's hooks in a required file."""
    jasmine = {"tests": [], "defined": 0, "overallStatus": "failed", "hooks": [""]}
    hook = {"file": "", "path": ['"after all" hook'], "hook": True, "status": "failed"}
    mocha = {"stats": {"passes": 0, "failures": 1, "pending": 0}, "broken": [], "tests": [hook]}
    for name, report in {"jasmine-json": jasmine, "mocha-json": mocha}.items():
        assert parser(name).read(json.dumps(report).encode(), "/repo").suites == {EVERYWHERE: Status.FAILED}


@pytest.mark.rule("snapshot-only")
@pytest.mark.parametrize(("name", "version"), OUTPUTS)
def test_snapshot_failures_are_recognized_in_every_version(name: str, version: str) -> None:
    assert parsed(name, version).by_snapshot == set(expected(name)["by_snapshot"])
    assert bool(expected(name)["by_snapshot"]) == ("updated_snapshots" not in runner(name).lacks())


@pytest.mark.rule("tampered")
@pytest.mark.parametrize(("name", "version"), OUTPUTS)
def test_a_runner_announces_its_report_or_lacks_this(name: str, version: str) -> None:
    own, log = parser(expected(name)["parser"]), output(name, version, "log")
    assert own.announced(log, "/scratch/report")
    assert own.announced(log, "/scratch/another") is ("announced_report" in own.lacks())


@pytest.mark.trap("printed-passed")
@pytest.mark.rule("parser-audits-itself")
@pytest.mark.parametrize("name", RUNNERS)
def test_a_report_must_add_up(name: str) -> None:
    """Every parser checks itself: what it read equals the runner's own totals."""
    assert expected(name)["forged"], "expected.toml tells how a report is forged"
    for row in expected(name)["forged"]:
        text = output(name, row["version"]).decode()
        assert row["honest"] in text
        with pytest.raises(ReportError):
            parser(expected(name)["parser"]).read(text.replace(row["honest"], row["faked"]).encode(), "/repo")


@pytest.mark.parametrize("name", sorted(all_parsers()))
@pytest.mark.parametrize(
    "text", [b"", b"PASS src/a.test.js", b"\xff", b"[]", b"{}", b'{"testResults": 1}', b"[" * 100_000]
)
def test_a_malformed_report_is_refused(name: str, text: bytes) -> None:
    """A candidate could write anything there: every broken report gives the same error."""
    with pytest.raises(ReportError):
        parser(name).read(text, "/repo")


@pytest.mark.trap("bought-fault")
@pytest.mark.parametrize("name", RUNNERS)
def test_forged_numbers_in_a_report_are_refused(name: str) -> None:
    """A number of five thousand digits was an error of ours: the patch was "not evaluated", and so left the count."""
    version = expected(name)["versions"][-1]
    text = output(name, version).decode()
    for wrong in ("9" * 5000, "1e999", "null", "[[]]", '{"a": 1}', '"\\ud800"'):
        forged = re.sub(r"(?<=[ :])\d+(?=[,\s}])", lambda _, wrong=wrong: wrong, text)
        with pytest.raises(ReportError):
            parser(expected(name)["parser"]).read(forged.encode(), "/repo")


# -- runners: optional, and said where it lacks ---------------------------------------------------------------------
@pytest.mark.rule("lower-assurance")
@pytest.mark.parametrize("name", sorted(all_parsers()))
def test_missing_safeguards_of_a_parser_are_listed(name: str) -> None:
    """What a parser does provide is complete: the file names that it reports, and a control for test files."""
    own, lacks = parser(name), parser(name).lacks()
    assert set(lacks) <= ASSURANCES and len(set(lacks)) == len(lacks)
    assert runner(own.runner).lacks(name) == lacks
    named = [file for file in (own.reporter, *(own.documents.files if own.documents else ())) if file]
    assert all(own.file(file).is_file() for file in named)
    if own.control:
        assert {"$title", "$matchers"} <= set(re.findall(r"\$\w+", own.control_text()))
        assert own.decides_run()[2:4] == (str(own.control), own.control_text())
    if own.snapshots:
        assert own.snapshot_form().read("") == {} and own.snapshots.update.startswith("--")
    if own.documents:
        assert {hook_file for hook_file, _ in own.hook_files("")} == set(own.documents.files)
        assert own.documents.node_options or own.documents.words


@pytest.mark.rule("lower-assurance")
@pytest.mark.parametrize(
    ("name", "version", "lacks"),
    [
        ("jest", "29.7.0", ()),
        ("jest", "20.0.4", ("negative_control", "documents")),
        ("vitest", "1.0.0", ()),
        ("node", "20", ("negative_control", "updated_snapshots", "documents")),
        ("karma", "6.0.0", ("negative_control", "test_files", "updated_snapshots", "documents")),
        ("wtr", "0.18.0", ("updated_snapshots", "documents")),
        ("playwright", "1.40.0", ("negative_control", "announced_report", "updated_snapshots", "documents")),
    ],
)
def test_missing_safeguards_depend_on_the_version(name: str, version: str, lacks: tuple[str, ...]) -> None:
    assert runner(name).lacks(runner(name).merged(version).parser) == lacks


# -- managers -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", MANAGERS)
def test_a_manager_has_its_own_lock_files(name: str) -> None:
    """And an install sees them, together with the files that configure it."""
    own = manager(name)
    assert own.locks and {path.parts[-3] for path in LOCKS} >= {name}, "real lock files: managers/make.sh makes them"
    assert all(locks.manager_of(path) is own for path in own.locks), "another manager claims it"
    assert all(is_manifest(path) and is_protected(path) for path in (*own.locks, *own.settings))


@pytest.mark.parametrize("name", MANAGERS)
def test_a_manager_can_be_installed_and_install_exactly(name: str) -> None:
    own = manager(name)
    for row in own.install:
        exact = [word for word in row.words if word in own.thaw or word.startswith("--before=")]
        assert exact, f"{' '.join(row.words)} may change what is locked"
        scripts = "--ignore-scripts" in row.words or any("SCRIPTS" in variable for variable in row.env)
        assert scripts, f"{' '.join(row.words)} runs install scripts"
    assert all(own.package_for("1.0.0", architecture) for architecture in ("x64", "arm64"))


@pytest.mark.parametrize("name", MANAGERS)
def test_faults_of_a_manager_are_in_the_table(name: str) -> None:
    """Patterns for an unknown row, and rows after an unknown one, would never be used."""
    own, known = manager(name), {fault.name for fault in faults.table()}
    assert {*own.faults, *(row["after"] for row in own.fault)} <= known
    assert own.blame or not own.package, "what says that its registry failed"


@pytest.mark.parametrize("path", LOCKS, ids=LOCK_IDS)
def test_a_real_lock_file_is_read(path: Path) -> None:
    """Its manager is found, with the version that its format implies, and its packages with their dependents."""
    text, own = path.read_text(encoding="utf-8"), manager(path.parts[-3])
    manifest = json.loads((HERE / "managers" / "project" / "package.json").read_text(encoding="utf-8"))
    manifest["devDependencies"]["jest"] = "^29.7.0"
    found = trees.read(trees.of({"package.json": json.dumps(manifest), path.name: text}), node="22")
    assert (found.manager, found.evidence["manager"]) == (own.name, path.name)
    if found.manager_version:
        assert found.manager_version.partition(".")[0] == path.parent.name.partition(".")[0]
    packages = {
        package.name: package.version for package in locks.locked(path.name, text) if package.name != "is-number"
    }
    assert packages == {"@types/estree": "1.0.5", "is-odd": "3.0.1"}
    numbers = {package.version for package in locks.locked(path.name, text) if package.name == "is-number"}
    assert numbers == {"7.0.0", "6.0.0"}
    assert locks.version(path.name, text, "is-number", "^7.0.0") == "7.0.0"
    assert locks.version(path.name, text, "gone", "^1.0.0") == ""


@pytest.mark.parametrize("path", LOCKS, ids=LOCK_IDS)
def test_entries_of_a_real_lock_file_can_be_changed(path: Path) -> None:
    """In the lock file, or where the manager overrides it; nothing else changes."""
    text, own = path.read_text(encoding="utf-8"), manager(path.parts[-3])
    edit = Edit(kind="pin", name="is-number", old="6.0.0", new="5.0.0")
    manifest = (HERE / "managers" / "project" / "package.json").read_bytes()
    after = edits.apply([edit], {"package.json": manifest, path.name: text.encode()}, lambda: REGISTRY)
    told = json.loads(after["package.json"])
    numbers = {
        package.version for package in locks.locked(path.name, after[path.name].decode()) if package.name == "is-number"
    }
    overruled = any("5.0.0" in json.dumps(told.get(key, "")) for key in ("overrides", "resolutions", own.name))
    assert numbers == {"7.0.0", "5.0.0"} or overruled
    assert told["dependencies"] == {"is-number": "^7.0.0"}


@pytest.mark.parametrize("path", LOCKS, ids=LOCK_IDS)
def test_a_malformed_lock_file_has_no_packages(path: Path) -> None:
    """A commit may have anything there."""
    for text in ("", "{", "[]", '{"packages": 1}', "\0", '{"packages": {"a": [1]}}'):
        assert locks.locked(path.name, text) == []
        assert locks.version(path.name, text, "a", "1") == ""
        assert locks.pin(path.name, text, "a", "1", "2", REGISTRY) is not None
