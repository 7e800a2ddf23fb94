"""What all sandboxes share: exit codes, what is refused, and whether a sandbox works at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.core.errors import InfrastructureError
from pipeline.sandbox.base import (
    ABILITIES,
    DEFAULT,
    Completed,
    InstallFailed,
    Limits,
    exit_code,
    refused,
    serves,
    stopped,
    workspace_gone,
)


@pytest.mark.parametrize(
    ("reported", "code"),
    [
        (0, 0),
        (1, 1),
        (127, 127),
        (128, 128),
        (129, -1),
        (137, -9),
        (143, -15),
        (191, -63),
        (192, 192),
        (255, 255),
        (-9, -9),
    ],
)
def test_exit_codes_of_signals_are_normalized(reported: int, code: int) -> None:
    """A shell and an engine add 128, Python negates: a verdict must not depend on who reports it."""
    assert exit_code(reported) == code


@pytest.mark.parametrize("ability", ABILITIES)
def test_a_missing_ability_is_refused_with_an_alternative(ability: Any) -> None:
    error = refused("local", ability)
    assert ABILITIES[ability] in str(error) and "--sandbox docker" in str(error.hint)


def test_a_failed_install_carries_the_end_of_its_log() -> None:
    error = InstallFailed("npm ci failed", "npm ERR! 404")
    assert (str(error), error.log) == ("npm ci failed", "npm ERR! 404")
    assert not isinstance(error, InfrastructureError)


@pytest.mark.parametrize(("error", "cause"), [(workspace_gone(), "workspace_gone"), (stopped(), "stopped")])
def test_a_lost_workspace_has_a_cause_of_the_machine(error: InfrastructureError, cause: str) -> None:
    assert error.cause == cause


def test_the_default_limits_are_the_documented_ones() -> None:
    """docs/design.md has them in its table of limits."""
    assert Limits(1800, 4 * 2**30, 2, 1024, 64 * 2**20, 8 * 2**30) == DEFAULT


def sandbox(answer: Completed | Exception) -> Any:
    """A sandbox whose workspaces answer every command this way."""

    def run(_: list[str]) -> Completed:
        if isinstance(answer, Exception):
            raise answer
        return answer

    @contextmanager
    def opened(*_: Any, **__: Any) -> Iterator[Any]:
        yield SimpleNamespace(run=run)

    return SimpleNamespace(open=opened)


@pytest.mark.parametrize(
    ("answer", "serves_it"),
    [
        (Completed(1, b"", 0.1), True),
        (Completed(0, b"", 0.1), False),
        (Completed(126, b"no such program", 0.1), False),
        (Completed(1, b"", 0.1, "disk"), False),
        (Completed(-9, b"", 0.1, "memory"), False),
        (InfrastructureError("gone", cause="engine"), False),
    ],
    ids=["as it should", "success of `false`", "not started", "full", "killed", "no engine"],
)
def test_commands_that_can_run_are_recognized(answer: Completed | Exception, serves_it: bool) -> None:
    """This decides whether a patch or the machine is to blame, so `false` must fail, and for no other reason."""
    assert serves(sandbox(answer), "image", DEFAULT) is serves_it


def test_other_errors_are_faults_of_our_own() -> None:
    with pytest.raises(ZeroDivisionError):
        serves(sandbox(ZeroDivisionError()), "image", DEFAULT)
