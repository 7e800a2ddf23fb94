"""Objects of a repository by name, read from one `git cat-file` per thread, since starting a process is slow.

Reads one of our own repositories (objects.py). Writes nothing. Does not cover what git computes: differences, searches,
ancestors.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from weakref import WeakValueDictionary

#: bits of a mode: the kind of an entry, and whether its file is executable
_KIND, _EXECUTABLE = 0o170000, 0o100
#: trees whose entries are cached: one commit shares most of its trees with the next
_KEPT = 4_000
#: folders within folders; the path of what is deeper has more characters than a disk can hold
DEEPEST = 2048


class Object(NamedTuple):
    """An object: its name, its kind (`blob`, `tree`, `commit`, `tag`) and its content."""

    name: str
    kind: str
    data: bytes


class Row(NamedTuple):
    """An entry of a tree: mode and kind as in `git ls-tree`, the name of its object, and its file name (`part`)."""

    mode: str
    kind: str
    name: str
    part: str


class Reader:
    """Reads one repository. It may be shared by threads and used on after a fork."""

    def __init__(self, git_dir: str, environment: Mapping[str, str]) -> None:
        self._command = ("git", f"--git-dir={git_dir}", "cat-file", "--batch")
        self._environment = dict(environment)
        self._local = threading.local()
        self._rows: dict[str, tuple[Row, ...]] = {}

    def read(self, name: str) -> Object | None:
        """The object that a name stands for (`SHA`, `SHA^{tree}`, `SHA:path`), or None if there is none.

        Raises OSError if git cannot be started.
        """
        if "\n" in name or "\0" in name:
            return None
        process: _Process | None = getattr(self._local, "process", None)
        if process is None or process.pid != os.getpid():
            process = self._local.process = _Process(self._command, self._environment)
        try:
            return process.ask(name.encode(errors="surrogateescape"))
        except (BrokenPipeError, EOFError):  # git ended because of a broken object
            self._local.process = None
            return None

    def files(self, tree: str) -> Iterator[tuple[str, Row]]:
        """The path and the entry of every file below a tree, in git's order, and of folders that are too deep.
        Raises KeyError for a missing tree."""
        above = [("", iter(self._entries(tree)))]
        while above:
            folder, rows = above[-1]
            row = next(rows, None)
            if row is None:
                above.pop()
            elif row.kind == "tree" and len(above) < DEEPEST:
                above.append((f"{folder}{row.part}/", iter(self._entries(row.name))))
            else:
                yield f"{folder}{row.part}", row

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
    """The reader of a repository, shared by all clones that are open: GitPython keeps clones alive for a while."""
    return _readers.setdefault(git_dir, Reader(git_dir, environment))


class _Process:
    """One `git cat-file`, which ends with this object in the process that started it."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.pid = os.getpid()
        self._popen = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def ask(self, name: bytes) -> Object | None:
        """Read one object. Raises BrokenPipeError or EOFError if git has ended."""
        stdin, stdout = self._popen.stdin, self._popen.stdout
        assert stdin and stdout
        stdin.write(name + b"\n")
        stdin.flush()
        header = stdout.readline()
        if header.endswith((b" missing\n", b" ambiguous\n")):
            return None
        if not header.endswith(b"\n"):
            raise EOFError
        object_name, kind, size = header.decode().split()
        data = stdout.read(int(size) + 1)
        if len(data) <= int(size):
            raise EOFError
        return Object(object_name, kind, data[:-1])

    def __del__(self) -> None:
        if getattr(self, "_popen", None) is None or self.pid != os.getpid():
            return
        self._popen.kill()
        self._popen.communicate()


def _parsed(data: bytes, length: int) -> Iterator[Row]:
    start = 0
    while start < len(data):
        space, end = data.index(b" ", start), data.index(b"\0", start)
        mode, part = int(data[start:space], 8), data[space + 1 : end].decode(errors="surrogateescape")
        start = end + 1 + length
        yield Row(*_mode_and_kind(mode), data[end + 1 : start].hex(), part)


def _mode_and_kind(mode: int) -> tuple[str, str]:
    """A mode and the kind of its object as git writes them, whichever program wrote the tree."""
    match mode & _KIND:
        case 0o100000:
            return ("100755" if mode & _EXECUTABLE else "100644"), "blob"
        case 0o120000:
            return "120000", "blob"
        case 0o040000:
            return "040000", "tree"
    return "160000", "commit"
