"""Multi-SWE-bench's own classes on our export: they load it and agree with us, but for the traps they fall into."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import pytest
from factories import make_instance
from second_opinion import ours, theirs
from tiny_library import QUALIFIED, Bench

TRIPLES = ["".join(letters) for letters in product("PFSN", repeat=3)]
#: a test that is fixed, beside which another one may spoil the instance
FIXED = {"fixed": "PFP"}

#: a test of this kind alone makes an instance, for them
NEVER_FAILED = {"PSP", "PNP", "FSP", "FNP", "SSP", "SNP", "NSP", "NNP"}
#: a test of this kind beside one that is fixed does no harm, for them
LOST = {
    "PPS", "PPN", "PFF", "PFS", "PFN",
    "FPS", "FPN", "FSF", "FNF",
    "SPS", "SPN", "SFF", "SFS", "SFN", "SSF", "SNF",
    "NPS", "NPN", "NFF", "NFS", "NFN", "NSF", "NNF",
}  # fmt: skip


class Opinion(NamedTuple):
    ours: dict[str, Any]
    theirs: dict[str, Any]

    @property
    def differ(self) -> bool:
        return self.ours["valid"] != self.theirs["valid"]


@pytest.fixture(scope="module")
def opinions() -> list[Opinion]:
    """Both opinions on every triple alone, then on every triple beside a test that is fixed."""
    instances = [make_instance(tests={"a": letters} | beside) for beside in ({}, FIXED) for letters in TRIPLES]
    return list(map(Opinion, map(ours, instances), theirs(instances)))


@pytest.fixture
def alone(opinions: list[Opinion]) -> dict[str, Opinion]:
    return dict(zip(TRIPLES, opinions, strict=False))


@pytest.fixture
def beside(opinions: list[Opinion]) -> dict[str, Opinion]:
    return dict(zip(TRIPLES, opinions[len(TRIPLES) :], strict=True))


@pytest.mark.rule("second-opinion")
@pytest.mark.trap("n2n2p-qualifies")
def test_a_test_that_never_failed_is_enough_for_them(alone: dict[str, Opinion]) -> None:
    """Their published rule asks for one that fails and then passes; their code for one that did not pass."""
    assert {letters for letters, comparison in alone.items() if comparison.differ} == NEVER_FAILED
    assert all(alone[letters].theirs["valid"] for letters in NEVER_FAILED)


@pytest.mark.rule("second-opinion")
@pytest.mark.trap("lost-test-is-fine")
def test_a_test_that_the_fix_loses_is_fine_for_them(beside: dict[str, Opinion]) -> None:
    """Gone or skipped with the fix, or failing with and without it: they look at PASSED -> FAILED only."""
    assert {letters for letters, comparison in beside.items() if comparison.differ} == LOST
    assert all(beside[letters].theirs["valid"] for letters in LOST)


@pytest.mark.rule("second-opinion")
def test_where_both_call_it_valid_the_classes_are_the_same(opinions: list[Opinion]) -> None:
    agreed = [opinion for opinion in opinions if opinion.ours["valid"]]
    assert len(agreed) > 30
    assert [comparison for comparison in agreed if comparison.ours != comparison.theirs] == []


@pytest.mark.rule("second-opinion")
def test_they_agree_on_what_was_built(tiny: Bench) -> None:
    """Suites that could not run, snapshots, and quarantined tests, which are in no result."""
    instances = [tiny.instance(name) for name in QUALIFIED]
    assert theirs(instances) == [ours(instance) for instance in instances]
    assert all(ours(instance)["valid"] for instance in instances)
