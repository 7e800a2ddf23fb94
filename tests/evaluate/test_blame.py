"""Telling a failing machine from a patch that only makes it look so."""

from __future__ import annotations

from pathlib import Path

import factories
import pytest

from pipeline.core.errors import InfrastructureError
from pipeline.evaluate import blame
from pipeline.execution.runs import Plan
from pipeline.sandbox.base import Completed, Limit
from pipeline.sandbox.scripted import ScriptedSandbox


class Failing:
    """Fails the given number of times with this cause; then it succeeds."""

    def __init__(self, times: int, cause: str = "engine") -> None:
        self.times, self.cause = times, cause

    def __call__(self) -> str:
        self.times -= 1
        if self.times >= 0:
            raise InfrastructureError("no", cause=self.cause)
        return "a run"


ERROR = InfrastructureError("the engine starts no command", cause="engine")


@pytest.mark.trap("bought-fault")
@pytest.mark.rule("not-evaluated-is-evidence")
def test_a_failure_under_one_patch_alone_is_blamed_on_the_patch() -> None:
    """A patch that exhausted the memory in the background let our own commands fail. It was "not evaluated", and so
    left the count."""
    assert blame.settled(ERROR, Failing(1), lambda: True) is None
    assert blame.settled(ERROR, Failing(0), lambda: True) == "a run"


@pytest.mark.invariant(4)
@pytest.mark.rule("not-evaluated-is-evidence")
def test_a_failure_without_the_patch_is_blamed_on_the_machine() -> None:
    """Whether the check fails before the last try or after it."""
    with pytest.raises(InfrastructureError, match="starts no command"):
        blame.settled(ERROR, Failing(0), lambda: False)
    answers = iter([True, False])
    with pytest.raises(InfrastructureError, match="no"):
        blame.settled(ERROR, Failing(1), lambda: next(answers))
    for cause in ("registry", "stopped", "worker"):
        with pytest.raises(InfrastructureError):
            blame.settled(InfrastructureError("no", cause=cause), Failing(0), lambda: True)
        with pytest.raises(InfrastructureError):
            blame.settled(ERROR, Failing(1, cause), lambda: True)


@pytest.mark.parametrize(
    ("code", "limit", "serves"), [(1, None, True), (0, None, False), (126, None, False), (1, "disk", False)]
)
def test_a_machine_works_if_a_command_ends_as_expected(
    tmp_path: Path, code: int, limit: Limit | None, serves: bool
) -> None:
    sandbox = ScriptedSandbox(tmp_path, lambda argv, files: Completed(code, b"", 0, limit))
    plan = Plan(sandbox, "image", factories.make_environment(), ())
    assert blame.serves(plan) is serves
    assert sandbox.commands == [("false",)]


def test_a_machine_without_workspaces_does_not_work(tmp_path: Path) -> None:
    def fail(argv: tuple[str, ...], files: dict[str, bytes]) -> Completed:
        raise InfrastructureError("the disk is full", cause="disk")

    assert not blame.serves(Plan(ScriptedSandbox(tmp_path, fail), "image", factories.make_environment(), ()))
