"""Objects of a repository by their names, all from one `git cat-file` per thread: a process takes longer than a file.

Reads the repository that it is given, which is one of ours (objects.py). Writes nothing. Does not cover what git alone
works out: differences, searches, ancestors.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from weakref import WeakValueDictionary

#: of a mode: what kind of entry it is, and whether its file may be executed
_KIND, _EXECUTABLE = 0o170000, 0o100
#: trees of which the entries are kept: most of one commit's are the next one's, too
_KEPT = 4_000


class Object(NamedTuple):
    """An object: its own name, its kind (`blob`, `tree`, `commit`, `tag`), and its content."""

    name: str
    kind: str
    data: bytes


class Row(NamedTuple):
    """An entry of a tree: its mode and kind as `git ls-tree` writes them, the name of its object, and its own."""

    mode: str
    kind: str
    name: str
    part: str


class Reader:
    """Reads one repository. Threads may share it, and a forked process may go on with it."""

    def __init__(self, git_dir: str, environment: Mapping[str, str]) -> None:
        self._command = ("git", f"--git-dir={git_dir}", "cat-file", "--batch")
        self._environment = dict(environment)
        self._own = threading.local()
        self._rows: dict[str, tuple[Row, ...]] = {}

    def read(self, name: str) -> Object | None:
        """The object that a name stands for (`SHA`, `SHA^{tree}`, `SHA:path`); None where it is not there.

        Raises OSError where git cannot be started.
        """
        if "\n" in name or "\0" in name:
            return None
        process: _Process | None = getattr(self._own, "process", None)
        if process is None or process.of != os.getpid():
            process = self._own.process = _Process(self._command, self._environment)
        try:
            return process.ask(name.encode(errors="surrogateescape"))
        except (BrokenPipeError, EOFError):  # git ended, over an object that is broken
            self._own.process = None
            return None

    def files(self, tree: str) -> Iterator[tuple[str, Row]]:
        """The path and the entry of every file below a tree, in git's order. Raises KeyError for a tree that is not
        there."""
        for row in self._entries(tree):
            if row.kind == "tree":
                yield from ((f"{row.part}/{path}", one) for path, one in self.files(row.name))
            else:
                yield row.part, row

    def _entries(self, tree: str) -> tuple[Row, ...]:
        if rows := self._rows.get(tree):
            return rows
        found = self.read(tree)
        if found is None or found.kind != "tree":
            raise KeyError(tree)
        if len(self._rows) >= _KEPT:
            self._rows.clear()
        self._rows[tree] = rows = tuple(_parsed(found.data, len(found.name) // 2))
        return rows


_readers: WeakValueDictionary[str, Reader] = WeakValueDictionary()


def reader_of(git_dir: str, environment: Mapping[str, str]) -> Reader:
    """The reader of a repository, one for all who have it open: GitPython lets go of nothing for a while."""
    return _readers.setdefault(git_dir, Reader(git_dir, environment))


class _Process:
    """One `git cat-file`. It is ended with this object, in the process that started it."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.of = os.getpid()
        self._popen = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def ask(self, name: bytes) -> Object | None:
        """Raises BrokenPipeError or EOFError where git has ended."""
        given, told = self._popen.stdin, self._popen.stdout
        assert given and told
        given.write(name + b"\n")
        given.flush()
        header = told.readline()
        if header.endswith((b" missing\n", b" ambiguous\n")):
            return None
        if not header.endswith(b"\n"):
            raise EOFError
        own, kind, size = header.decode().split()
        data = told.read(int(size) + 1)
        if len(data) <= int(size):
            raise EOFError
        return Object(own, kind, data[:-1])

    def __del__(self) -> None:
        if getattr(self, "_popen", None) is None or self.of != os.getpid():
            return
        self._popen.kill()
        self._popen.communicate()


def _parsed(data: bytes, length: int) -> Iterator[Row]:
    place = 0
    while place < len(data):
        space, end = data.index(b" ", place), data.index(b"\0", place)
        mode, part = int(data[place:space], 8), data[space + 1 : end].decode(errors="surrogateescape")
        place = end + 1 + length
        yield Row(*_told(mode), data[end + 1 : place].hex(), part)


def _told(mode: int) -> tuple[str, str]:
    """A mode and the kind of its object, as git writes them whoever wrote the tree."""
    match mode & _KIND:
        case 0o100000:
            return ("100755" if mode & _EXECUTABLE else "100644"), "blob"
        case 0o120000:
            return "120000", "blob"
        case 0o040000:
            return "040000", "tree"
    return "160000", "commit"
