"""After a kill at any moment, the next run ends with the same files as an undisturbed one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from collecting import TOKEN, files, tables
from factories import REPO
from github_double import GitHubDouble
from histories import History

from pipeline.core.store import Store

pytestmark = pytest.mark.long

TESTS = Path(__file__).parents[1]


def kill_everywhere(source: str, path: str, folder: Path, **environment: str) -> list[str]:
    """Run the tries of killed.py and assert that the files are the same; returns the names of those that were
    killed."""
    program = [sys.executable, str(TESTS / "collect" / "killed.py"), source, path, str(folder)]
    where = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    done = subprocess.run(
        program, env={**os.environ, "PYTHONPATH": where, **environment}, check=True, capture_output=True, text=True
    )
    good = Store(folder / "undisturbed" / "data")
    names = [line.split() for line in done.stdout.splitlines()]
    for name, *_ in names:
        store = Store(folder / name / "data")
        assert files(store) == files(good), name
        assert tables(store) == tables(good), name
    return [name for name, *alive in names if not alive]


def kinds(died: list[str]) -> dict[str, int | bool]:
    """How many were killed at a rename, and whether any was at another moment; their number depends on the machine's
    load."""
    return {
        "renaming": sum(name.startswith("renaming") for name in died),
        "moment": any(name.startswith("moment") for name in died),
    }


@pytest.mark.rule("resume")
def test_killed_while_asking_github(github: GitHubDouble, tmp_path: Path) -> None:
    github.world.generate(str(REPO), pulls=300, seed=10, evidence=0.1)
    died = kill_everywhere("github", "", tmp_path, GITHUB_API_URL=github.url, GITHUB_TOKEN=TOKEN)
    assert kinds(died) == {"renaming": 7, "moment": True}


@pytest.mark.rule("resume")
def test_killed_while_reading_a_clone(tmp_path: Path) -> None:
    history = History(tmp_path / "clone")
    history.commit("first", {"src/Menu.tsx": "0\n"})
    for number in range(1, 25):
        history.commit(f"Aria (#{number})", {"src/Menu.tsx": f"{number}\n", "src/Menu.test.tsx": f"{number}\n"})
    died = kill_everywhere("git", str(history.folder), tmp_path / "tries")
    assert kinds(died) == {"renaming": 7, "moment": True}
