"""The diff of a pull request as GitHub's REST gives it: from the clone, or made up from the list of files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from github_double.records import File, Pull

if TYPE_CHECKING:
    from github_double.world import Repository

#: a diff of more files is refused (GitHub's documented limit)
MOST_FILES = 300


def diff(repository: Repository, pull: Pull, *, binary: bool = False) -> bytes:
    """The unified diff, renames found; without `binary` a binary file is one line that says so."""
    if repository.clone is None or pull.merge is None:
        return "".join(line for file in pull.files for line in _section(file)).encode()
    options = ["-M", "--no-color", "--no-ext-diff", *["--binary"] * binary]
    return run_git(repository.clone, "diff", *options, f"{pull.base}...{pull.merge}")


def run_git(clone: Path, *arguments: str) -> bytes:
    """What git prints, to the byte. Raises CalledProcessError."""
    isolated = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(["git", *arguments], cwd=clone, env=isolated, check=True, capture_output=True).stdout


def _section(file: File) -> Iterator[str]:
    """One file's part; its lines are made up, their numbers are the file's."""
    before = "/dev/null" if file.change == "ADDED" else f"a/{file.previous or file.path}"
    after = "/dev/null" if file.change == "DELETED" else f"b/{file.path}"
    yield f"diff --git a/{file.previous or file.path} b/{file.path}\n"
    if file.change in ("ADDED", "DELETED"):
        yield f"{'new' if file.change == 'ADDED' else 'deleted'} file mode 100644\n"
    if file.previous:
        yield f"rename from {file.previous}\nrename to {file.path}\n"
    if file.additions or file.deletions:
        yield f"--- {before}\n+++ {after}\n"
        yield f"@@ -{_range(file.deletions)} +{_range(file.additions)} @@\n"
        yield from (f"-old line {index}\n" for index in range(file.deletions))
        yield from (f"+new line {index}\n" for index in range(file.additions))


def _range(lines: int) -> str:
    return f"1,{lines}" if lines else "0,0"
