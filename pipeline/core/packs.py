"""Git objects by content, for machines without a clone: what a unit's commits name, and nothing twice.

A pack holds the commits that a request names with all their files, and only the commit objects of earlier history, so
that it can be walked. What the clone lacks, the copy lacks too. The copy is in the cache (`cache.py`), safe to delete,
and complete for the commits noted in it. Does not cover later history, which no unit needs.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from pipeline.core.cache import cache_root, lock
from pipeline.core.git import CLEAN, opened_clone
from pipeline.core.store import write_bytes

_SHA = re.compile(rb"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")
#: what is noted of a copy: the commits that it holds whole
_WHOLE = "whole-commits"


def commits_named(clone: Path, data: bytes) -> tuple[str, ...]:
    """The commits of a clone whose names stand in some bytes, in order."""
    names = sorted(set(_SHA.findall(data)))
    told = _git(_ours(clone), "cat-file", "--batch-check", given=_lines(names))
    return tuple(line.split()[0].decode() for line in told.splitlines() if line.split()[1:2] == [b"commit"])


def pack(clone: Path, commits: Iterable[str], without: Iterable[str] = ()) -> bytes:
    """A pack of these commits for a copy that holds others whole. Raises CalledProcessError."""
    ours = _ours(clone)
    wanted = _objects(ours, commits) - _objects(ours, without)
    told = _git(ours, "cat-file", "--batch-check", given=_lines(wanted))
    there = [line.split()[0] for line in told.splitlines() if not line.endswith(b" missing")]
    return _git(ours, "pack-objects", "--stdout", "--delta-base-offset", "-q", given=_lines(there))


def copy_of(key: str) -> Path:
    """Where the copy of the clone with this key lies here."""
    return cache_root() / "objects" / f"{key}.git"


def held(copy: Path) -> tuple[str, ...]:
    """The commits that a copy holds whole."""
    path = copy / _WHOLE
    return tuple(path.read_text().split()) if path.exists() else ()


def add(copy: Path, data: bytes, commits: Iterable[str]) -> None:
    """Put a pack into a copy, which is made if it is not there. Raises CalledProcessError where it is broken."""
    with lock(copy.with_suffix(".lock")):
        if not (copy / "HEAD").exists():
            subprocess.run(
                ["git", "init", "-q", "--bare", str(copy)], check=True, capture_output=True, env=_environment()
            )
        _git(copy, "index-pack", "--stdin", given=data)
        whole = sorted({*held(copy), *commits})
        write_bytes(copy / "HEAD", f"{whole[0]}\n".encode())
        write_bytes(copy / _WHOLE, _lines(one.encode() for one in whole))


def _ours(clone: Path) -> Path:
    """The repository of ours in which a clone is read."""
    return Path(opened_clone(str(clone)).git_dir)


def _objects(clone: Path, commits: Iterable[str]) -> set[bytes]:
    """The commits with their trees and files, and all commits before them."""
    named = list(commits)
    if not named:
        return set()
    whole = _git(clone, "rev-list", "--objects", "--no-walk", "--missing=allow-any", "--no-object-names", *named)
    return {*whole.split(), *_git(clone, "rev-list", *named).split()}


def _lines(names: Iterable[bytes]) -> bytes:
    return b"".join(name + b"\n" for name in names)


def _git(clone: Path, *arguments: str, given: bytes = b"") -> bytes:
    command = ["git", f"--git-dir={clone}", *arguments]
    return subprocess.run(command, input=given, check=True, capture_output=True, env=_environment()).stdout


def _environment() -> dict[str, str]:
    return {**{name: value for name, value in os.environ.items() if not name.startswith("GIT_")}, **CLEAN}
