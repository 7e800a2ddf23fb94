"""Only one process at a time works on a stage, repository and model."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import factories
import pytest

from pipeline.core.errors import UserError
from pipeline.core.store import Store

REPO = factories.REPO
HOLD = """
import sys
from pathlib import Path
from pipeline.core.names import Repo
from pipeline.core.store import Store
with Store(Path(sys.argv[1])).lock("predict", Repo("acme", "ui"), "provider/m"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "data")


@contextmanager
def held_elsewhere(store: Store) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock of one model."""
    command = [sys.executable, "-c", HOLD, str(store.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.rule("locks")
def test_a_second_run_is_refused_while_one_is_under_way(store: Store) -> None:
    """Two runs of the same stage, repository and model would write the same files; two models may run side by side."""
    with held_elsewhere(store):
        with pytest.raises(UserError, match="predict of acme/ui provider/m is under way") as error, _lock(store):
            pass
        assert "if its process has ended, the lock is already released" in str(error.value)
        with (
            store.lock("predict", REPO, "other"),
            store.lock("evaluate", REPO, "provider/m"),
            store.lock("build", REPO),
        ):
            pass


@pytest.mark.rule("locks")
def test_the_lock_of_a_dead_process_is_free(store: Store) -> None:
    """Nobody has to remove a file after a crash."""
    with held_elsewhere(store) as process:
        process.kill()
        process.wait()
        with _lock(store):
            pass


def test_the_same_process_is_refused_too(store: Store) -> None:
    with _lock(store), pytest.raises(UserError, match="is under way"), _lock(store):
        pass
    with _lock(store):
        pass


def test_an_error_inside_frees_the_lock(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), _lock(store):
        raise ZeroDivisionError
    with _lock(store):
        pass


def _lock(store: Store):
    return store.lock("predict", REPO, "provider/m")
