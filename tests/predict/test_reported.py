"""What agents report about themselves: none of it can end a step or blame the machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from predict.conftest import Job

from pipeline.core.store import Unit, read_json
from pipeline.predict import regression, reported
from pipeline.predict.request import AgentResult, Answer, Failure
from pipeline.predict.runtime import save

MakeJob = Callable[[str], Job]
BROKEN = [b"", b"no JSON", b"[]", b"3", b"null", b"\xff", b"[" * 100_000, b'{"outcome": 3}', b'{"outcome": "\\n"}']


@pytest.mark.invariant(7)
@pytest.mark.trap("bought-fault")
@pytest.mark.parametrize("data", BROKEN)
def test_invalid_metadata_are_ignored(data: bytes) -> None:
    assert "outcome" not in reported.metadata(data)
    assert reported.error(data) == ("provider", "")
    answer = AgentResult({"patch.diff": b"", "metadata.json": data}).answer()
    assert isinstance(answer, Failure) and answer.cause == "agent_error"


def test_half_a_character_is_replaced() -> None:
    """Records cannot hold it: writing the run's files would fail for all answers."""
    assert reported.metadata(b'{"steps": "\\ud83d"}') == {"steps": "?"}
    assert reported.error(b'{"message": "\\ude00"}') == ("provider", "?")


def test_fields_of_another_form_are_left_out() -> None:
    """An analysis reads them, and used to end at the first value that is no number."""
    good = {"outcome": "Submitted", "funnel": {"read": 2}, "sets": [{"located": ["a.ts"]}], "steps": 4}
    assert reported.metadata(json.dumps(good).encode()) == good
    bad = {"funnel": {"read": "two"}, "sets": [{"located": 3}], "outcome": ["x"], "steps": 4}
    assert reported.metadata(json.dumps(bad).encode()) == {"steps": 4}
    assert reported.metadata(b'{"sets": ["a"], "funnel": []}') == {}


@pytest.mark.invariant(7)
@pytest.mark.parametrize(
    "fields",
    [
        {"funnel": {"read": 10**400}},
        {"funnel": {"read": -1}},
        {"funnel": {"read": True}},
        {"funnel": {"$\\x$": 1}},
        {"funnel": {"\x1b[2J": 1}},
        {"samples": 5},
        {"samples": [{"number": 10**400, "reached": "edited"}]},
    ],
)
def test_values_that_would_break_the_analysis_are_ignored(fields: dict[str, Any]) -> None:
    assert reported.metadata(json.dumps(fields).encode()) == {}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"cause": "rate_limit", "message": "429"}', ("rate_limit", "429")),
        (b'{"cause": {"a": 1}, "message": ["x"]}', ("provider", "['x']")),
        (None, ("provider", "")),
    ],
)
def test_a_cause_is_a_single_word(data: bytes | None, expected: tuple[str, str]) -> None:
    assert reported.error(data) == expected


@pytest.mark.invariant(4)
@pytest.mark.trap("bought-fault")
def test_only_a_trusted_agent_can_report_unusable_input() -> None:
    left = AgentResult({"patch.diff": b"", "agent.log": b"magentless: field 'samples.set'\n"}, 2)
    assert left.answer() == Failure("bad_input", "the agent cannot use its input: magentless: field 'samples.set'")
    answer = left.answer(believed=False)
    assert isinstance(answer, Failure) and answer.cause == "agent_error"


@pytest.mark.invariant(4)
@pytest.mark.trap("bought-fault")
def test_only_a_trusted_agent_can_report_a_providers_failure() -> None:
    """An agent that runs a model's commands may end in whatever way that model likes."""
    files = {"error.json": b'{"cause": "rate_limit"}', "patch.diff": b"", "metadata.json": b'{"outcome": "DONE"}'}
    left = AgentResult(files, code=75)
    assert left.answer() == Failure("rate_limit", "")
    answer = left.answer(believed=False)
    assert isinstance(answer, Failure) and answer.cause == "agent_error"
    assert left.answer("provider_500", believed=False) == Failure(
        "provider_500", "the agent was left without an answer"
    )
    assert AgentResult(files).answer(believed=False) == Answer("", "DONE")


@pytest.mark.invariant(7)
@pytest.mark.parametrize("name", reported.NAMES)
def test_a_folder_in_place_of_a_file_is_a_failure_of_the_agent(job: MakeJob, name: str) -> None:
    code = f"(out / '{name}' / 'deep').mkdir(parents=True)\n(out / '{name}' / 'deep' / 'file').write_text('x')\n"
    for end in ("sys.exit(75)", "sys.exit(0)"):
        made = job(code + end)
        assert not made.is_answered
        assert read_json(made.done().folder / "error.json")["cause"] in ("provider", "agent_error")


@pytest.mark.invariant(7)
def test_a_broken_report_on_the_provider_is_a_providers_failure(job: MakeJob) -> None:
    for text in ("{", "[]", '{"message": 3}'):
        unit = job(f"(out / 'error.json').write_text({text!r})\nsys.exit(75)").done()
        assert read_json(unit.folder / "error.json")["cause"] == "provider"


@pytest.mark.invariant(7)
def test_invalid_proposals_are_left_out(job: MakeJob) -> None:
    """A folder, bytes that are no text, and names that only look like numbers."""
    code = """
    (out / "proposals" / "1.diff").mkdir(parents=True)
    (out / "proposals" / "1.diff" / "x").write_text("x")
    (out / "proposals" / "2.diff").write_bytes(bytes([255]))
    (out / "proposals" / "\\u00b2.diff").write_text("no number")
    """
    made = job("\n".join(line.strip() for line in code.splitlines()) + "\nanswer('a patch')")
    made.done()
    assert regression._proposals(made.run, made.instance) == [b"a patch"]


def test_files_of_any_name_are_kept(job: MakeJob, tmp_path: Path) -> None:
    made = job("answer('a patch')")
    files = {"patch.diff": b"a patch", "metadata.json": b'{"outcome": "DONE"}', "sub/error.json": b"x"}
    save(made.run, made.instance, AgentResult(files))
    unit: Unit = made.run.unit(made.instance)
    assert (unit.folder / "sub" / "error.json").read_bytes() == b"x" and made.is_answered
