"""The output of the `dataset` commands: tables for people, and the same as JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from pipeline.dataset import present
from pipeline.dataset.agree import Agreement
from pipeline.dataset.agree import Difference as Disagreement
from pipeline.dataset.check import Finding
from pipeline.dataset.examine import MEANINGS
from pipeline.dataset.rebuild import DIGESTS, Difference
from pipeline.dataset.stats import TOTAL
from pipeline.dataset.stress import Stress

NAME = "acme__ui-1"


class Printed:
    """The output since the last call."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    @property
    def text(self) -> str:
        return " ".join(self._capsys.readouterr().out.replace("│", " ").split())

    @property
    def json(self) -> Any:
        return json.loads(self._capsys.readouterr().out)


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Printed:
    monkeypatch.setenv("COLUMNS", "240")
    return Printed(capsys)


# -- dataset check -----------------------------------------------------------------------------------------------------
def test_every_check_is_listed_with_its_count(printed: Printed) -> None:
    check = next(iter(MEANINGS))
    present.findings([Finding(NAME, check, "it is wrong")] * 2, (), as_json=False)
    text = printed.text
    assert all(name in text for name in MEANINGS)
    assert "Problems" in text and text.count("it is wrong") == 2


def test_a_dataset_without_problems_has_no_table_of_them(printed: Printed) -> None:
    present.findings([], (), as_json=False)
    assert "Problems" not in printed.text


def test_checks_that_were_not_made_are_not_listed(printed: Printed) -> None:
    left_out, *made = MEANINGS
    present.findings([], [left_out], as_json=True)
    assert printed.json == {"wrong": dict.fromkeys(made, 0), "findings": []}


def test_findings_as_json(printed: Printed) -> None:
    check = next(iter(MEANINGS))
    present.findings([Finding(NAME, check, "why")], (), as_json=True)
    found = printed.json
    assert found["findings"] == [{"instance": NAME, "check": check, "detail": "why"}] and found["wrong"][check] == 1


# -- dataset check --stress --------------------------------------------------------------------------------------------
def test_flips_are_summed_by_level(printed: Printed) -> None:
    results = [
        Stress(NAME, 1, 10, 0, 0, {}),
        Stress("acme__ui-2", 1, 10, 1, 0, {"Menu > opens": 1}),
        Stress(NAME, 8, 10, 2, 1, {"timeout": 2}),
    ]
    present.stressed(results, as_json=False)
    text = printed.text
    assert "1 flip in 20 runs of 2 instances at 1 job" in text
    assert "2 flips in 10 runs of 1 instance at 8 jobs" in text
    assert "What flipped" in text and "Menu > opens" in text


def test_stress_without_flips_has_no_table_of_causes(printed: Printed) -> None:
    present.stressed([Stress(NAME, 1, 10, 0, 0, {})], as_json=False)
    assert "What flipped" not in printed.text
    present.stressed([Stress(NAME, 1, 10, 0, 0, {})], as_json=True)
    assert printed.json == [
        {"instance": NAME, "jobs": 1, "repeats": 10, "flips": 0, "not_evaluated": 0, "blame": {}},
    ]


# -- dataset rebuild ---------------------------------------------------------------------------------------------------
def test_a_list_that_was_rebuilt_exactly(printed: Printed) -> None:
    present.differences([], 3, as_json=False)
    assert printed.text == "3 of 3 instances match the list"


def test_differences_in_digests_alone_are_counted_apart(printed: Printed) -> None:
    """The digest of an environment changes whenever the inference does; results do not."""
    digest = next(iter(DIGESTS))
    found = [
        Difference(NAME, digest, "a", "b"),
        Difference("acme__ui-2", digest, "a", "b"),
        Difference("acme__ui-2", "tests", "PFP", "PPP"),
    ]
    present.differences(found, 3, as_json=False)
    text = printed.text
    assert "1 of 3 instances match the list" in text and "in 1 of the others, only digests" in text


@pytest.mark.parametrize("as_json", [True, False])
def test_every_difference_is_shown(printed: Printed, as_json: bool) -> None:
    present.differences([Difference(NAME, "tests", "PFP", "PPP")], 1, as_json=as_json)
    if as_json:
        assert printed.json == [{"instance": NAME, "fact": "tests", "listed": "PFP", "rebuilt": "PPP"}]
    else:
        text = printed.text
        assert "PFP" in text and "0 of 1 instances match the list" in text and "only digests" not in text


# -- dataset agree -----------------------------------------------------------------------------------------------------
def disagreement(kind: str) -> Disagreement:
    return Disagreement(NAME, "Menu > opens", "f2p", "p2p", kind, "why")


@pytest.mark.parametrize(
    ("kinds", "word"),
    [
        ((), "agrees"),
        (("flaky", "environment"), "explained"),
        (("flaky", "unexplained"), "unexplained"),
        (("ours_wrong",), "unexplained"),
        (("not_built", "unexplained"), "not built"),
    ],
)
def test_the_agreement_of_an_instance_is_one_word(printed: Printed, kinds: tuple[str, ...], word: str) -> None:
    compared = [Agreement(NAME, "qualified", 9, 8, 1, tuple(map(disagreement, kinds)))]
    present.agreement(compared, [], as_json=True)
    (row,) = printed.json["instances"]
    assert row["word"] == word and [difference["kind"] for difference in row["differences"]] == list(kinds)


def test_agreement_ends_in_one_sentence(printed: Printed) -> None:
    compared = [
        Agreement(NAME, "qualified", 9, 9, 0, ()),
        Agreement("acme__ui-2", "qualified", 3, 2, 0, (disagreement("flaky"), disagreement("flaky"))),
        Agreement("acme__ui-3", "no_fix_transition", 3, 0, 0, (disagreement("not_built"),)),
    ]
    present.agreement(compared, [], as_json=False)
    text = printed.text
    assert text.endswith("2 of 3 qualify; of these 1 agree in every test, 1 differ and are explained")
    assert "flaky 2" in text and "Classes" in text


def test_records_that_could_not_be_read_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    present.agreement([], [ValueError("line 3 is broken")], as_json=False)
    assert "left out: line 3 is broken" in capsys.readouterr().err


# -- dataset stats -----------------------------------------------------------------------------------------------------
NUMBERS = {
    TOTAL: {("instances", "all"): 3, ("tests", "f2p"): 2.5},
    "acme/ui": {("instances", "all"): 2},
    "acme/forms": {("instances", "all"): 1, ("tests", "f2p"): 2.5},
}


def test_statistics_as_a_table_have_a_column_for_each_repository(printed: Printed) -> None:
    present.numbers(NUMBERS, "table")
    text = printed.text
    assert "acme/ui" in text and "acme/forms" in text and "instances" in text


def test_with_one_repository_only_the_total_is_shown(printed: Printed) -> None:
    present.numbers({name: NUMBERS[name] for name in (TOTAL, "acme/forms")}, "table")
    assert "acme/forms" not in printed.text


def test_statistics_as_csv(capsys: pytest.CaptureFixture[str]) -> None:
    present.numbers(NUMBERS, "csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows[0] == {"repo": TOTAL, "group": "instances", "name": "all", "value": "3"}
    assert len(rows) == sum(map(len, NUMBERS.values()))


def test_statistics_as_json_are_nested(printed: Printed) -> None:
    present.numbers(NUMBERS, "json")
    assert printed.json["acme/forms"] == {"instances": {"all": 1}, "tests": {"f2p": 2.5}}
