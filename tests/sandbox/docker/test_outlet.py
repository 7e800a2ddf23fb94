"""The way out of a container: the output arrives as it was written, and nothing inside can change it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sandbox.conftest import Bench

from pipeline.sandbox.base import Limits, Workspace

pytestmark = pytest.mark.engine

NAME = "report-0.json"


@pytest.fixture
def workspace(docker_bench: Bench) -> Iterator[Workspace]:
    with docker_bench.sandbox.open(docker_bench.instance, limits=Limits(output=500_000)) as workspace:
        yield workspace


def write(workspace: Workspace, script: str) -> bytes | None:
    """The output of a script that gets the outlet's path as its first argument."""
    outlet = workspace.outlet(NAME)
    assert outlet is not None
    workspace.run(["sh", "-c", script, "sh", outlet.path])
    return outlet.drain()


@pytest.mark.rule("report-leaves-at-once")
def test_a_large_report_is_read_completely(workspace: Workspace) -> None:
    assert (
        write(workspace, 'head -c 400000 /dev/zero | tr "\\0" x > "$1"; echo end > "$1"') == b"x" * 400_000 + b"end\n"
    )


@pytest.mark.rule("report-leaves-at-once")
@pytest.mark.parametrize(
    "script",
    [
        'cat "$1"',
        'rm -f "$1"',
        'mv "$1" "$1.old"',
        'echo other > "$(dirname "$1")/other"',
        'truncate -s 0 "$1"',
        "pkill cat",
    ],
)
def test_a_report_cannot_be_changed_afterwards(workspace: Workspace, script: str) -> None:
    """No command can find it any more, and no file replaces the pipe."""
    assert write(workspace, f'echo first > "$1"; {script}; echo second > "$1"') == b"first\nsecond\n"


def test_an_unwritten_report_is_none(workspace: Workspace) -> None:
    assert write(workspace, "true") is None


def test_a_report_that_is_too_large_is_none(workspace: Workspace) -> None:
    """Its writer is not blocked for ever."""
    assert write(workspace, 'head -c 700000 /dev/zero > "$1"') is None
