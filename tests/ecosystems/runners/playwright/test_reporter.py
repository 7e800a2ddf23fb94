"""The reporter: when it is loaded, the programs of packages are on the path."""

from __future__ import annotations

import os
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

REPORTER = files("pipeline.ecosystems.runners").joinpath("playwright", "reporter.cjs")
#: what Playwright does: it loads its reporters, and then starts the server by a shell
LOADS = "require(process.argv[1]); console.log(require('child_process').execSync('serve').toString())"


@pytest.mark.parametrize(
    ("programs", "said"),
    [(["packages/ui", "."], "packages/ui"), (["."], "."), (["packages"], "packages"), (["packages/kit", "."], ".")],
)
def test_a_server_finds_the_programs_of_packages(tmp_path: Path, programs: list[str], said: str) -> None:
    """A configuration starts its server by the name of a program, which only scripts found. The nearest one counts."""
    for folder in programs:
        program = tmp_path / folder / "node_modules/.bin/serve"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\necho {folder}\n")
        program.chmod(0o755)
    home = tmp_path / "packages/ui"
    home.mkdir(parents=True, exist_ok=True)
    words = ["node", "-e", LOADS, str(REPORTER)]
    done = subprocess.run(words, cwd=home, capture_output=True, text=True)
    assert done.stdout.strip() == said, done.stderr


def test_the_path_keeps_what_was_on_it(tmp_path: Path) -> None:
    words = ["node", "-e", "require(process.argv[1]); console.log(process.env.PATH)", str(REPORTER)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True)
    assert done.stdout.decode().strip().endswith(f":{os.environ['PATH']}")
