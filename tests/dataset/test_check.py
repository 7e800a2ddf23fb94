"""Checking a dataset: a real one has no findings, and each check finds the damage that it is for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from factories import REPO
from tiny_library import IMPATIENT, QUALIFIED, Bench, instance_id

from pipeline.core.errors import UserError
from pipeline.core.records import Instance, Outcome
from pipeline.core.store import Store, read_records, write_records
from pipeline.dataset.check import CHECKS, Checked, Finding, check
from pipeline.dataset.examine import MEANINGS, RunOptions, examine
from pipeline.dataset.references import REQUIRED

Change = Callable[[Instance], dict[str, Any]]
GITHUB_TOKEN = "ghp_" + "a1" * 18


#: the damage to `menu` -> the check that finds it, and its message
SPOILED: dict[str, tuple[Change, str, str]] = {
    "other number": (lambda instance: {"number": 99}, "schema", "is not the name of acme/ui#99"),
    "other repository": (lambda instance: {"repo": "other"}, "schema", "is not the name of acme/other#1"),
    "nothing fixed": (
        lambda instance: {"tests": instance.tests | dict.fromkeys(instance.fixed_tests, "PPN")},
        "expectations",
        "do not qualify it: test_lost",
    ),
    "marked in vain": (
        lambda instance: {"tests": instance.tests | {"src/menu.test.js > works": "PPP snapshot"}},
        "expectations",
        "src/menu.test.js > works is not a fixed test, but is marked snapshot",
    ),
    "quarantined and expected": (
        lambda instance: {"quarantine": {"src/menu.test.js > works": {"fix": {"PASSED": 1, "FAILED": 1}}}},
        "expectations",
        "src/menu.test.js > works is quarantined and in a result",
    ),
    "token": (lambda instance: {"body": f"run it with {GITHUB_TOKEN}"}, "secrets", "ghp_a1a1…"),
    "private key": (lambda instance: {"body": "-----BEGIN RSA PRIVATE KEY-----"}, "secrets", "-----BEG…"),
    "no base": (lambda instance: {"base": instance.base.model_copy(update={"sha": "b" * 40})}, "commits", "base bbbb"),
    "no merge": (lambda instance: {"merge_sha": "c" * 40}, "commits", "merge cccc"),
    "other manifests": (
        lambda instance: {"manifests": f"{instance.base.sha}^"},
        "commits",
        "neither those of the base",
    ),
    "other sources": (lambda instance: {"image": "0" * 32}, "digests", "image is 0000"),
    "other install": (
        lambda instance: {"environment": instance.environment.model_copy(update={"node": "8"})},
        "digests",
        "environment_digest is",
    ),
    "does not apply": (
        lambda instance: {"fix_patch": instance.fix_patch.replace("-old", "-other")},
        "patches",
        "the fix patch does not apply: error: patch failed: src/menu.js",
    ),
    "other fix": (
        lambda instance: {"fix_patch": instance.fix_patch.replace("+old", "+ol")},
        "patches",
        "merge commit's tree",
    ),
    "other test": (lambda instance: {"test_patch": ""}, "patches", "merge commit's tree"),
    "no scope": (lambda instance: {"files": ()}, "files", "no test file is run"),
    "other scope": (lambda instance: {"files": ("src/gone.test.js",)}, "files", "src/gone.test.js is neither"),
}  # fmt: skip


@pytest.mark.rule("foreign-benchmarks")
def test_a_foreign_benchmarks_patches_need_not_make_the_merge(tiny: Bench, tmp_path: Path) -> None:
    """Its authors left parts out, on a base of their own; a patch that does not apply is still wrong."""
    bench = tiny.copy(tmp_path)
    own = {"origin": "theirs.jsonl"}
    spoil(bench, lambda instance: own | {"fix_patch": instance.fix_patch.replace("+old", "+ol")})
    assert not [found for found in examine(bench.store, REPO) if found.check == "patches"]
    spoil(bench, lambda instance: own | {"fix_patch": instance.fix_patch.replace("-old", "-other")})
    assert [found.check for found in examine(bench.store, REPO) if found.check == "patches"]


@pytest.fixture
def bench(tiny: Bench, tmp_path: Path) -> Bench:
    return tiny.copy(tmp_path)


def spoil(bench: Bench, change: Change) -> None:
    """Change `menu` in the dataset's file."""
    path = bench.store.dataset(REPO)
    instances = read_records(path, Instance)
    found = next(instance for instance in instances if instance.instance_id == instance_id("menu"))
    changed = found.model_copy(update=change(found))
    write_records(path, [changed if instance is found else instance for instance in instances])


@pytest.mark.rule("dataset-check")
def test_a_built_dataset_has_no_findings(tiny: Bench) -> None:
    assert examine(tiny.store, REPO) == []


@pytest.mark.rule("dataset-check")
@pytest.mark.parametrize("how", SPOILED)
def test_each_corruption_is_found_by_its_check(bench: Bench, how: str) -> None:
    change, name, message = SPOILED[how]
    spoil(bench, change)
    found = examine(bench.store, REPO)
    assert [problem.detail for problem in found if problem.check == name and message in problem.detail], found
    assert {problem.check for problem in found} == {name}


def test_every_check_has_a_test() -> None:
    assert {check for _, check, _ in SPOILED.values()} == {"schema", *(check.name for check in CHECKS)}
    assert list(MEANINGS) == ["schema", *(check.name for check in CHECKS), *REQUIRED]


@pytest.mark.invariant(7)
def test_an_error_in_a_check_is_a_finding(tiny: Bench) -> None:
    """One broken instance never stops a check of hundreds."""
    checked = Checked(tiny.instance("menu").model_copy(update={"base": None}), None)
    found = {problem.check: problem.detail.partition(":")[0] for problem in check(checked)}
    assert found == {"commits": "AttributeError"}


@pytest.mark.rule("dataset-check")
def test_a_broken_line_is_a_finding(bench: Bench) -> None:
    path = bench.store.dataset(REPO)
    path.write_text(path.read_text() + '{"instance_id": 1}\n')
    (found,) = examine(bench.store, REPO)
    assert (found.instance, found.check) == ("acme/ui", "schema")
    assert f"acme__ui.jsonl:{len(QUALIFIED) + 1}: field" in found.detail


@pytest.mark.rule("bad-input")
def test_a_missing_dataset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="acme/ui has no dataset"):
        examine(Store(tmp_path), REPO)


@pytest.mark.invariant(2)
@pytest.mark.rule("dataset-check")
def test_the_references_go_through_the_stages(bench: Bench) -> None:
    """A dataset that fails for oracle or nop is not published."""
    assert examine(bench.store, REPO, RunOptions(bench.sandbox, trust_local=True, patience=IMPATIENT)) == []
    models = {path.parts[-2] for path in bench.store.root.glob("04_evaluation/repair/*/*/*/verdicts.jsonl")}
    assert models == set(REQUIRED)
    assert len(bench.sandbox.opened) == 2 * len(QUALIFIED), "a run and a counter-run each"


@pytest.mark.invariant(2)
@pytest.mark.invariant(4)
def test_a_reference_that_was_not_evaluated_is_wrong(bench: Bench) -> None:
    """A failure of the machine proves nothing."""
    bench.break_image("menu")
    (found,) = examine(bench.store, REPO, RunOptions(bench.sandbox, trust_local=True, patience=IMPATIENT))
    assert found == Finding(instance_id("menu"), "oracle", f"{Outcome.NOT_EVALUATED} engine: the engine is gone")


def test_an_instance_with_findings_is_not_run(bench: Bench) -> None:
    spoil(bench, SPOILED["no base"][0])
    assert {
        problem.check
        for problem in examine(bench.store, REPO, RunOptions(bench.sandbox, trust_local=True, patience=IMPATIENT))
    } == {"commits"}
    assert bench.sandbox.opened == []
