"""The table of transitions: all 64 triples by their properties, then qualification and resolution."""

from __future__ import annotations

import itertools

import pytest

from pipeline.core import verdict
from pipeline.core.records import Status, Triple

LETTERS = {status.value[0]: status for status in Status}
ALL = list(itertools.product("PFSN", repeat=3))


def triple(letters: str) -> Triple:
    """`PFP` is PASSED, FAILED, PASSED."""
    run, test, fix = (LETTERS[letter] for letter in letters)
    return Triple(run=run, test=test, fix=fix)


def rule(letters: str) -> verdict.Rule:
    return verdict.table()[triple(letters)]


def qualify(**tests: str) -> verdict.Qualification:
    return verdict.qualify({name: triple(letters) for name, letters in tests.items()})


def results(**tests: str) -> dict[str, Status]:
    return {name: LETTERS[letter] for name, letter in tests.items()}


@pytest.mark.rule("transitions")
def test_every_triple_has_one_row() -> None:
    """A triple without a row would raise in the middle of a batch."""
    assert set(verdict.table()) == {triple("".join(letters)) for letters in ALL}


@pytest.mark.rule("transitions")
@pytest.mark.parametrize(("run", "test", "fix"), ALL)
def test_each_row_follows_from_the_law(run: str, test: str, fix: str) -> None:
    """The table is long enough for mistakes: each row is derived a second time from the rule in words."""
    row = rule(run + test + fix)
    assert row.must_pass == (fix == "P")
    assert (row.effect == "fixes") == (test == "F" and fix == "P")
    assert (row.effect == "keeps") == (test == "P" and fix == "P")
    assert (row.effect == "appears") == (test in "SN" and fix == "P")
    assert (row.effect == "rejects: regression") == (test == "P" and fix == "F")
    lost = (test == "P" and fix in "SN") or (test == "F" and fix in "SN" and run != "F")
    assert (row.effect == "rejects: test lost") == lost
    never_fixed = fix == "F" and ((test == "F" and run != "F") or (test in "SN" and run in "SN"))
    assert (row.effect == "rejects: gold does not fix it") == never_fixed
    assert (row.effect == "rejects: anomalous") == (fix == "F" and test in "SN" and run in "PF")
    assert row.kind.split("-")[0] in {f"{b.lower()}2{a.lower()}" for b in "PFSN" for a in "PFSN"} or not row.must_pass


@pytest.mark.rule("transitions")
def test_every_rejection_has_a_reason_of_the_closed_list() -> None:
    """A word of the table without a reason would end a qualification with a KeyError."""
    words = {
        row.effect.removeprefix("rejects: ") for row in verdict.table().values() if row.effect.startswith("rejects")
    }
    assert words == set(verdict.REASONS)


@pytest.mark.rule("qualification")
def test_one_fix_without_regression_qualifies() -> None:
    """At least one `fixes`, no `rejects`: the published rule."""
    assert qualify(a="PFP", b="PPP", c="FFF") == verdict.Qualification("", ("a",))
    assert qualify(a="NFP").reason == qualify(a="SFP").reason == ""


@pytest.mark.trap("n2n2p-qualifies")
def test_a_new_test_that_never_failed_does_not_qualify() -> None:
    """NONE, NONE, PASSED alone shows no bug, although Multi-SWE-bench accepts such an instance."""
    assert qualify(new="NNP", old="PPP").reason == "no_fix_transition"
    assert qualify().reason == "no_fix_transition"


@pytest.mark.trap("lost-test-is-fine")
@pytest.mark.parametrize(
    ("letters", "reason"),
    [
        ("PPN", "test_lost"),
        ("PPS", "test_lost"),
        ("PPF", "regression"),
        ("NNF", "gold_does_not_fix"),
        ("PFF", "gold_does_not_fix"),
        ("PSF", "anomalous"),
    ],
)
def test_a_test_that_does_not_survive_the_fix_rejects(letters: str, reason: str) -> None:
    """Multi-SWE-bench accepts p-p-NONE, p-p-SKIP, n-n-FAIL and p-f-f if another test is fixed."""
    assert qualify(fixed="PFP", other=letters) == verdict.Qualification(reason, ("other",))


def test_the_gravest_reason_names_its_tests() -> None:
    found = qualify(a="PPN", b="PPF", c="PPF", d="PFP")
    assert found == verdict.Qualification("regression", ("b", "c"))


def test_a_missing_test_has_the_status_none() -> None:
    found = verdict.transitions(results(a="P"), results(a="F"), results(a="P", b="P"))
    assert found == {"a": triple("PFP"), "b": triple("NNP")}


@pytest.mark.rule("expectation")
def test_kinds_partition_the_expected_tests() -> None:
    """f2p, p2p, s2p and n2p together are the expected tests, without duplicates."""
    triples = {"".join(letters): triple("".join(letters)) for letters in ALL}
    kinds = [verdict.by_kind(triples, kind) for kind in ("p2p", "f2p", "s2p", "n2p")]
    assert sum(map(len, kinds)) == 16
    assert set().union(*kinds) == {name for name in triples if name.endswith("P")}
    assert set(kinds[1]) == set(verdict.fixing(triples)) == {"PFP", "FFP", "SFP", "NFP"}
    assert set(verdict.fixed(triples)) == set().union(*kinds[1:])


@pytest.mark.rule("transition-classes")
@pytest.mark.parametrize("letters", ["".join(letters) for letters in ALL if letters[1] != "P" and letters[2] == "P"])
def test_every_fixed_test_has_its_class(letters: str) -> None:
    """A patch can pass a behavior test in many ways, and a snapshot in exactly one: tables report them apart."""
    tests = {"a": triple(letters)}
    usual = {"N": "new_test", "S": "re_enabled"}.get(letters[0], "behavioural")
    assert verdict.classify(tests, ()) == verdict.classify(tests, {"b"}) == {"a": usual}
    assert verdict.classify(tests, {"a"}) == {"a": "snapshot_only"}


@pytest.mark.rule("quarantine")
def test_disagreeing_repeats_are_counted_and_put_in_quarantine() -> None:
    """A flaky test would occasionally make a correct patch unresolved; NONE counts as a disagreement, too."""
    agreed, unstable = verdict.agree([results(a="P", b="P"), results(a="P", b="F"), results(a="P", b="P", c="P")])
    assert agreed == results(a="P")
    assert unstable == {"b": {"PASSED": 2, "FAILED": 1}, "c": {"NONE": 2, "PASSED": 1}}


def test_one_repeat_agrees_with_itself() -> None:
    assert verdict.agree([results(a="P", b="F")]) == (results(a="P", b="F"), {})


def test_quarantine_is_kept_by_test() -> None:
    counts = {"PASSED": 1, "FAILED": 1}
    found = verdict.quarantine({"run": {"a": counts}, "test": {}, "fix": {"a": counts, "b": counts}})
    assert found == {"a": {"run": counts, "fix": counts}, "b": {"fix": counts}}


@pytest.mark.rule("resolved")
@pytest.mark.parametrize(
    ("run", "resolved"),
    [
        ({"f": "P", "p": "P"}, True),
        ({"f": "P", "p": "P", "extra": "F"}, True),
        ({"f": "P", "p": "F"}, False),
        ({"f": "P", "p": "S"}, False),
        ({"f": "P", "p": "N"}, False),
        ({"f": "P"}, False),
        ({"f": "F", "p": "P"}, False),
        ({"f": "S", "p": "P"}, False),
        ({"p": "P"}, False),
        ({}, False),
    ],
)
def test_a_patch_resolves_only_if_every_expected_test_passes(run: dict[str, str], resolved: bool) -> None:
    """Every expected test passes; a missing or a skipped one does not."""
    assert verdict.resolve(["f"], ["f", "p"], results(**run)).resolved is resolved


def test_a_resolution_names_its_tests() -> None:
    found = verdict.resolve(["f1", "f2"], ["f1", "f2", "p1", "p2"], results(f1="P", f2="F", p1="P"))
    assert found == verdict.Resolution(fixed=("f1",), unfixed={"f2": Status.FAILED}, broken={"p2": Status.NONE})
