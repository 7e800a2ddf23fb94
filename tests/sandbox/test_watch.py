"""A batch whose sandbox is gone ends soon, and says why."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.work import Settled, Tell, silent
from pipeline.sandbox.scripted import ScriptedSandbox
from pipeline.sandbox.watch import Watch


class Unit(NamedTuple):
    """A unit that fails for this cause."""

    name: str
    cause: str = "engine"
    affinity: str = ""

    def perform(self, _tell: Tell) -> str:
        raise InfrastructureError("the connection was refused", cause=self.cause)

    def failed(self, error: Exception) -> str:
        return f"{getattr(error, 'cause', '')}: {error}"


class Engine(ScriptedSandbox):
    """A sandbox that is gone from the start, or stays; it counts how often it was checked."""

    checks, is_gone = 0, True

    def check(self) -> None:
        self.checks += 1
        if self.is_gone:
            raise UserError("no engine", hint="start it")


def fates(watch: Watch, cause: str = "engine") -> list[str]:
    """How three units end if each is admitted after the one before has ended."""
    results = []
    for number in range(3):
        admitted = watch.admit(Unit(str(number), cause))
        result = admitted.result if isinstance(admitted, Settled) else attempted(admitted)
        watch.heed(result)
        results.append(result)
    return results


def attempted(unit: Unit) -> str:
    try:
        return unit.perform(silent)
    except InfrastructureError as error:
        return unit.failed(error)


def test_nothing_more_is_started_without_a_sandbox(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sandbox = Engine(tmp_path)
    assert fates(Watch(sandbox)) == ["engine: the connection was refused", *["engine: not started: no engine"] * 2]
    assert capsys.readouterr().err.count("no engine\n  start it\n  then run the same command again") == 1
    assert sandbox.checks == 1


@pytest.mark.parametrize("is_watched", [True, False])
def test_work_goes_on_if_the_sandbox_answers(tmp_path: Path, is_watched: bool) -> None:
    """So it does without a sandbox: agents on this machine need none."""
    sandbox = Engine(tmp_path)
    sandbox.is_gone = False
    assert fates(Watch(sandbox if is_watched else None)) == ["engine: the connection was refused"] * 3


def test_other_failures_say_nothing_about_a_sandbox(tmp_path: Path) -> None:
    sandbox = Engine(tmp_path)
    assert fates(Watch(sandbox), "registry") == ["registry: the connection was refused"] * 3
    assert sandbox.checks == 0
