"""What a command on a server means by its exit code. Here, `ssh` runs it on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.core.errors import A11yBenchError, UserError
from pipeline.remote.host import Host


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    """Its `uv run` prints a message and ends with the exit code that the last argument names."""
    folder = tmp_path / ".local/bin"  # where commands there look for programs first
    folder.mkdir(parents=True)
    for name, ending in {"ssh": 'exec sh -c "$1"', "uv": 'echo "error: 2 conflicts" >&2\nexit "$1"'}.items():
        (folder / name).write_text(f"#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\n{ending}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return Host("server", str(tmp_path))


@pytest.mark.rule("bad-input")
def test_input_that_the_program_there_refuses_is_refused_here(host: Host) -> None:
    """A conflict in a push ended with exit code 1."""
    with pytest.raises(UserError, match="on server: error: 2 conflicts"):
        host.bench("remote", "merge", "2")


@pytest.mark.parametrize(
    "fails",
    [lambda host: host.bench("1"), lambda host: host.run("exit 2")],
    ids=["another exit code", "another program"],
)
def test_other_failures_there_are_no_bad_input(host: Host, fails: Callable[[Host], str]) -> None:
    with pytest.raises(A11yBenchError, match=r"on server \(exit code [12]\)") as error:
        fails(host)
    assert not isinstance(error.value, UserError)
