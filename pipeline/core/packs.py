"""Git objects by content, for machines without a clone: the objects of a unit's commits, none sent twice.

A pack holds the commits that a request names with all their files. Of earlier history it holds the commit objects only,
so that history can be walked. Objects that the clone lacks are missing in the copy too. The copy is in the cache
(`cache.py`), safe to delete, and complete for the commits listed in it. Does not cover later history, which no unit
needs.
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
#: the file of a copy that lists the commits it holds completely
_WHOLE = "whole-commits"


def commits_named(clone: Path, data: bytes) -> tuple[str, ...]:
    """The commits of a clone whose names occur in the data, in order."""
    names = sorted(set(_SHA.findall(data)))
    output = _git(_ours(clone), "cat-file", "--batch-check", stdin=_lines(names))
    return tuple(line.split()[0].decode() for line in output.splitlines() if line.split()[1:2] == [b"commit"])


def pack(clone: Path, commits: Iterable[str], without: Iterable[str] = ()) -> bytes:
    """A pack of these commits, without the objects of commits that the copy has. Raises CalledProcessError."""
    ours = _ours(clone)
    wanted = _objects(ours, commits) - _objects(ours, without)
    output = _git(ours, "cat-file", "--batch-check", stdin=_lines(wanted))
    present = [line.split()[0] for line in output.splitlines() if not line.endswith(b" missing")]
    return _git(ours, "pack-objects", "--stdout", "--delta-base-offset", "-q", stdin=_lines(present))


def copy_of(key: str) -> Path:
    """The folder of the copy of the clone with this key on this machine."""
    return cache_root() / "objects" / f"{key}.git"


def held(copy: Path) -> tuple[str, ...]:
    """The commits that a copy holds completely."""
    path = copy / _WHOLE
    return tuple(path.read_text().split()) if path.exists() else ()


def add(copy: Path, data: bytes, commits: Iterable[str]) -> None:
    """Add a pack to a copy, which is made if needed. Raises CalledProcessError if the pack is broken."""
    with lock(copy.with_suffix(".lock")):
        if not (copy / "HEAD").exists():
            subprocess.run(
                ["git", "init", "-q", "--bare", str(copy)], check=True, capture_output=True, env=_environment()
            )
        _git(copy, "index-pack", "--stdin", stdin=data)
        whole = sorted({*held(copy), *commits})
        write_bytes(copy / "HEAD", f"{whole[0]}\n".encode())
        write_bytes(copy / _WHOLE, _lines(commit.encode() for commit in whole))


def _ours(clone: Path) -> Path:
    """Our repository through which a clone is read."""
    return Path(opened_clone(str(clone)).git_dir)


def _objects(clone: Path, commits: Iterable[str]) -> set[bytes]:
    """The commits with their trees and files, and all earlier commits."""
    names = list(commits)
    if not names:
        return set()
    reachable = _git(clone, "rev-list", "--objects", "--no-walk", "--missing=allow-any", "--no-object-names", *names)
    return {*reachable.split(), *_git(clone, "rev-list", *names).split()}


def _lines(names: Iterable[bytes]) -> bytes:
    return b"".join(name + b"\n" for name in names)


def _git(clone: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    command = ["git", f"--git-dir={clone}", *arguments]
    return subprocess.run(command, input=stdin, check=True, capture_output=True, env=_environment()).stdout


def _environment() -> dict[str, str]:
    return {**{name: value for name, value in os.environ.items() if not name.startswith("GIT_")}, **CLEAN}
