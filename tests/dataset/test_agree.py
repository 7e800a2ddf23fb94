"""`dataset agree`: our transitions compared with a foreign benchmark's, and a class for every difference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from factories import FIX_PATCH, REPO, TEST_PATCH, make_candidate, make_instance
from histories import History
from tiny_library import QUALIFIED, Bench, instance_id

from pipeline.collect.sources import Options, open_source
from pipeline.collect.stage import collect_from
from pipeline.core.errors import UserError
from pipeline.core.records import Rejection
from pipeline.core.store import Store, write_records
from pipeline.dataset import forms
from pipeline.dataset.agree import Agreement, agree, totals
from pipeline.dataset.cli import command

FILES = {
    "package.json": "{}",
    "src/Menu.test.tsx": "it('opens')",
    "src/Tabs.test.tsx": "it('turns to the next')\nit(`has ${count} tabs`)",
}
TESTS = {
    "src/Menu.test.tsx > Menu > has a name": "PFP",
    "src/Menu.test.tsx > Menu > opens": "PPP",
    "src/Menu.test.tsx > Menu > closes": "FFF",
    "src/Menu.test.tsx > Bar > closes": "PFP",
    "src/Menu.test.tsx > Menu > waits": "SSS",
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Collected from a clone whose base has the files."""
    store, history = Store(tmp_path / "data"), History(tmp_path / "clone")
    base = history.commit("first", FILES)
    source = open_source("dataset", REPO, Options(foreign(tmp_path, base), clone=history.folder))
    collect_from(store, REPO, source, problems=[])
    return store


def foreign(folder: Path, base: str = "b" * 40, fixed: Any = (), kept: Any = ()) -> Path:
    """A benchmark with one record, with these lists of tests."""
    path = folder / "theirs.jsonl"
    record = {"repo": str(REPO), "instance_id": REPO.instance_id(1), "base_commit": base, "patch": FIX_PATCH}
    record |= {"test_patch": TEST_PATCH, "problem_statement": "Menu", "FAIL_TO_PASS": [*fixed], "PASS_TO_PASS": [*kept]}
    path.write_text(json.dumps(record) + "\n{\n")
    return path


def compared(store: Store, fixed: Any = (), kept: Any = (), **instance: Any) -> Agreement:
    clone = History.__new__(History)
    clone.folder = store.root.parent / "clone"
    base = clone.git("rev-parse", "HEAD")
    made = make_instance(1, **{"tests": TESTS, "base": {"label": "", "ref": "", "sha": base}} | instance)
    write_records(store.dataset(REPO), [made])
    ((comparison,), problems) = agree(store, REPO, foreign(store.root.parent, base, fixed, kept))
    assert len(problems) == 1, "the broken record is told"
    return comparison


@pytest.mark.rule("foreign-benchmarks")
def test_equal_lists_agree(store: Store) -> None:
    comparison = compared(store, ["Menu.has a name", "Bar closes"], ["Menu opens"])
    assert (comparison.word, comparison.listed, comparison.same, comparison.differences) == ("agrees", 3, 3, ())


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.parametrize("kept", [[], ["src/Tabs.test.tsx"]], ids=["no tests", "only tests that are not run here"])
def test_without_a_test_to_compare_nothing_agrees(store: Store, kept: list[str]) -> None:
    """Such a record counted as full agreement."""
    tests = {"src/Menu.test.tsx > Menu > opens": "PPP"}
    comparison = compared(store, [], kept, tests=tests)
    assert (comparison.word, comparison.same, comparison.differences) == ("nothing to compare", 0, ())
    whole = totals([comparison, compared(store, ["Menu.has a name", "Bar.closes"])])
    assert (whole.qualified, whole.agree, whole.explained, whole.nothing) == (2, 1, 0, 1)
    compared(store, [], kept, tests=tests)
    words = ["agree", str(REPO), "--path", str(store.root.parent / "theirs.jsonl"), "--data", str(store.root)]
    shown = CliRunner().invoke(command, words)
    assert shown.exit_code == 0
    assert "0 agree in every test, 0 differ and are explained, 1 have nothing to compare" in shown.stdout


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.parametrize(
    ("fixed", "kept", "name", "kind"),
    [
        ([], ["Menu.closes"], "Menu.closes", "environment"),
        ([], ["waits"], "waits", "environment"),
        (["closes"], [], "closes", "theirs_too_wide"),
        ([], ["Menu.shakes"], "Menu.shakes", "flaky"),
        (["turns to the next"], [], "turns to the next", "theirs_too_wide"),
        (["has 3 tabs"], [], "has 3 tabs", "theirs_too_wide"),
        (["Menu.opens"], [], "Menu.opens", "unexplained"),
        (["Menu.has a name"], ["Bar.closes"], "Bar.closes", "unexplained"),
        (["Menu.sings well"], [], "Menu.sings well", "unexplained"),
        (["Menu.has a name"], [], "src/Menu.test.tsx > Bar > closes", "theirs_too_narrow"),
        (["PASS ./src/Tabs.test.tsx (5.1 s)"], [], "PASS ./src/Tabs.test.tsx (5.1 s)", "theirs_too_wide"),
    ],
)
def test_every_difference_has_a_class(store: Store, fixed: list[str], kept: list[str], name: str, kind: str) -> None:
    quarantine = {"src/Menu.test.tsx > Menu > shakes": {"run": {"PASSED": 1, "FAILED": 2}}}
    comparison = compared(store, fixed, kept, quarantine=quarantine)
    assert {each.test: each.kind for each in comparison.differences}[name] == kind
    assert comparison.word == ("unexplained" if kind == "unexplained" else "explained")


@pytest.mark.rule("foreign-benchmarks")
def test_a_list_of_files_is_compared_by_file(store: Store) -> None:
    """A file counts as failed if one of its tests fails, and all its tests are listed."""
    fine = {name: letters for name, letters in TESTS.items() if letters in ("PFP", "PPP")}
    assert compared(store, ["src/Menu.test.tsx"], tests=fine).word == "agrees"
    assert compared(store, ["PASS ./src/Menu.test.tsx (5.1 s)"], tests=fine).word == "agrees"
    comparison = compared(store, ["src/Menu.test.tsx"])
    assert [each.kind for each in comparison.differences] == ["theirs_too_wide"], "one test fails here throughout"


@pytest.mark.rule("foreign-benchmarks")
def test_tests_that_are_not_run_here_are_counted_apart(store: Store) -> None:
    """Their list has the whole suite; tests of untouched files are not run here."""
    comparison = compared(
        store, ["Menu.has a name", "Bar.closes"], ["src/Tabs.test.tsx", "turns to the next", "Menu.opens"]
    )
    assert (comparison.word, comparison.same, comparison.not_run) == ("agrees", 3, 2)


@pytest.mark.rule("foreign-benchmarks")
def test_an_instance_that_was_not_built_has_its_reason(store: Store) -> None:
    """The result says why; nothing of it counts as agreed or explained."""
    folder = store.qualification(REPO)
    write_records(store.raw(REPO) / "candidates.jsonl", [make_candidate(1)])
    rejection = Rejection(instance_id=REPO.instance_id(1), stage="build", reason="dependency_gone", detail="x@1\nlog")
    write_records(folder / "rejections.jsonl", [rejection])
    ((comparison,), _) = agree(store, REPO, foreign(store.root.parent, fixed=["a"]))
    assert (comparison.outcome, comparison.differences[0].kind) == ("rejected: dependency_gone", "not_built")
    assert comparison.word == "not built"
    assert comparison.differences[0].evidence == "x@1"
    whole = totals([comparison])
    assert (whole.instances, whole.qualified, whole.agree, whole.explained) == (1, 0, 0, 0)


@pytest.mark.rule("foreign-benchmarks")
def test_a_rejected_candidate_is_compared_where_it_ran(tiny: Bench, tmp_path: Path) -> None:
    """Its stored runs have the results of its tests."""
    bench = tiny.copy(tmp_path)
    record = {"repo": str(REPO), "instance_id": instance_id("card"), "base_commit": bench.candidate("card").base.sha}
    record |= {"patch": FIX_PATCH, "test_patch": TEST_PATCH, "problem_statement": "Card", "FAIL_TO_PASS": ["works"]}
    path = tmp_path / "theirs.jsonl"
    path.write_text(json.dumps(record))
    ((comparison,), _) = agree(bench.store, REPO, path)
    assert comparison.outcome == "rejected: gold_does_not_fix"
    assert [(each.test, each.ours) for each in comparison.differences] == [("works", "PPP")]


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.parametrize("form", ["swe-bench", "multi-swe-bench"])
def test_our_own_export_agrees_with_itself(tiny: Bench, tmp_path: Path, form: str) -> None:
    path = tmp_path / "ours.jsonl"
    path.write_bytes(forms.lines(form, [tiny.instance(name) for name in QUALIFIED]))
    (compared, problems) = agree(tiny.store, REPO, path)
    assert problems == []
    assert {comparison.word for comparison in compared} == {"agrees"} and len(compared) == len(QUALIFIED)


@pytest.mark.rule("foreign-benchmarks")
def test_for_people_and_for_programs(store: Store) -> None:
    compared(store, ["Menu.has a name", "Bar.closes"], ["Menu.closes"])
    words = ["agree", str(REPO), "--path", str(store.root.parent / "theirs.jsonl"), "--data", str(store.root)]
    shown, plain = (CliRunner().invoke(command, [*words, *more]) for more in ([], ["--json"]))
    assert shown.exit_code == plain.exit_code == 0
    assert "1 of 1 qualify; of these 0 agree in every test, 1 differ and are explained" in shown.stdout
    assert "theirs.jsonl:2" in shown.stderr
    found = json.loads(plain.stdout)
    assert (found["totals"]["explained"], found["totals"]["classes"]) == (1, {"environment": 1})
    assert found["instances"][0]["differences"][0]["evidence"]
    compared(store, ["Menu.opens"])
    assert CliRunner().invoke(command, words).exit_code == 1


@pytest.mark.rule("bad-input")
def test_a_benchmark_without_the_repository(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    with pytest.raises(UserError, match="no record of acme/ui"):
        agree(store, REPO, path)
