"""What is learned, and for whom: facts about a package for everyone who needs it, everything else for the same era."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from build.test_fault_table import INSTALL, RUN
from factories import make_environment

from pipeline.build.learned import Memory, era_of, hypothesis_step, lessons, recall
from pipeline.build.reasons import Rejected
from pipeline.build.repair import Repair, Step, repaired
from pipeline.build.situation import Situation
from pipeline.core.records import Edit, Environment

ASKING = Situation({"package.json": b'{"devDependencies": {"is-number": "7.0.99"}}'}, lambda name: ["7.0.0"])
OTHER = Situation({"package.json": b'{"devDependencies": {"is-number": "6.0.0"}}'}, lambda name: ["7.0.0"])


def steps(fault: str, environment: Environment) -> tuple[Step, ...]:
    """The steps of a repair of this one fault."""
    stage, log = next(
        (stage, log) for stage, rows in (("install", INSTALL), ("run", RUN)) for f, _, log in rows if f == fault
    )
    ends = [Rejected("no_report", "", log=log, stage=stage)]

    def attempt(state: Repair) -> tuple[Step, ...]:
        if ends:
            raise ends.pop()
        return state.steps

    return repaired(Repair(environment), ASKING, attempt, lambda name, data: None)


def recalled(path: Path, situation: Situation = ASKING, **fields: Any) -> tuple[str, ...]:
    """The faults whose remedies a neighbor starts with, by name; the file is read again."""
    again = recall(Memory(path).rows, make_environment(**fields), situation)
    return tuple(step.finding.fault.name for step in again.steps)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "learned.jsonl"


def test_a_lesson_about_a_package_applies_to_all_who_need_it(path: Path) -> None:
    Memory(path).learn(lessons(make_environment(), steps("version-gone", make_environment())))
    assert recalled(path) == ("version-gone",)
    assert recalled(path, node="22.0.0", runner_version="30.0.0") == ("version-gone",)
    assert recalled(path, OTHER) == ()


def test_other_lessons_apply_to_the_same_era(path: Path) -> None:
    Memory(path).learn(lessons(make_environment(), steps("peer-rules", make_environment())))
    assert recalled(path, OTHER, node="20.1.0", runner_version="^29.1.0") == ("peer-rules",)
    assert recalled(path, node="22.0.0") == recalled(path, runner_version="30.0.0") == ()


@pytest.mark.parametrize("fault", ["lock-file-outdated", "old-hashes"])
def test_cheap_remedies_are_not_learned(path: Path, fault: str) -> None:
    start = make_environment()
    Memory(path).learn(lessons(start, steps(fault, start)))
    assert not path.exists()


def test_lessons_are_stored_once(path: Path) -> None:
    memory, start = Memory(path), make_environment()
    for _ in range(2):
        memory.learn(lessons(start, steps("peer-rules", start)))
        memory.learn(lessons(start, steps("version-gone", start)))
    assert [row.fault for row in Memory(path).rows] == ["peer-rules", "version-gone"]


def test_a_recalled_repair_equals_the_original_one(path: Path) -> None:
    """So the environment, and with it the image, equals the one that the first candidate found by trying."""
    start = make_environment()
    taken = steps("version-gone", start)
    Memory(path).learn(lessons(start, taken))
    again = recall(Memory(path).rows, start, ASKING)
    assert again.steps == taken
    assert again.deviations == ["is-number 7.0.99 is gone from the registry: is-number 7.0.0 in place of 7.0.99; "
                                "npm install in place of npm ci"]  # fmt: skip


def test_an_era_is_identified_by_major_versions() -> None:
    assert era_of(make_environment(node="18", manager="yarn", manager_version="1.22.22", runner_version="^26.5.0")) == (
        "node 18, yarn 1, jest 26"
    )


# -- a base that was sick --------------------------------------------------------------------------------------------
@pytest.mark.rule("base-is-well")
def test_the_next_candidate_starts_in_the_environment_that_worked() -> None:
    """The same inferred environment would be as unhealthy; if the tests run differently, nothing is known."""
    before = make_environment(test=("node", "{entry}", "{files}"), test_env={})
    after = before.model_copy(
        update={"test": ("node", "{entry}", "--config", "x.js", "{files}"), "evidence": {"a": "b"}}
    )
    rows = lessons(before, [hypothesis_step("observed", "by its script", before, after)])
    neighbor = before.model_copy(update={"edits": (Edit(kind="drop", name="gone"),)})
    known = recall(rows, neighbor, Situation({}, lambda name: []))
    assert (known.environment.test, known.environment.edits) == (after.test, neighbor.edits)
    assert known.deviations == ["the base was sick in the environment as read: by its script"]
    for other in ({"folder": "packages/ui"}, {"runner_version": "1.0.0"}, {"node": "8"}):
        changed = before.model_copy(update=other)
        assert recall(rows, changed, Situation({}, lambda name: [])).environment == changed
