"""A real git repository for a generated one: its merged pull requests as squash commits on main.

Writes the clone (bare), and then the pull requests' base, merge commit and files, as git reports them. Some change a
binary file, rename a file or delete one, so patches of every kind occur.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import run
from typing import TYPE_CHECKING

from histories import git

from github_double.records import File, Pull

if TYPE_CHECKING:
    from github_double.world import Repository

CHANGES = {"A": "ADDED", "M": "MODIFIED", "D": "DELETED", "R": "RENAMED", "T": "CHANGED"}
PICTURE = bytes(range(256))


def commit_pulls(repository: Repository, numbers: Sequence[int]) -> None:
    """Commit these pull requests, oldest first, on top of the clone's history."""
    folder = repository.clone
    if not folder.exists():
        folder.mkdir(parents=True)
        git(folder, "init", "-q", "--bare", "-b", "main")
        _import(folder, b"".join(_commit("first commit", "M 100644 inline README.md\n", b"# Read me\n")))
    paths = set(git(folder, "ls-tree", "-r", "--name-only", "main").splitlines())
    for number in numbers:
        base = git(folder, "rev-parse", "main")
        pull = repository.get(number)
        _import(folder, b"".join(_stream(pull, base, paths)))
        merge = git(folder, "rev-parse", "main")
        files = tuple(changed_files(folder, base, merge))
        repository.change(number, updated_at=pull.updated_at, base=base, merge=merge, files=files)


def changed_files(folder: Path, base: str, merge: str) -> Iterator[File]:
    """The files between two commits as GitHub lists them, renames found."""
    command = "-c", "core.quotePath=false", "diff-tree", "-r", "-M", base, merge
    statuses, counts = (git(folder, *command, form).splitlines() for form in ("--name-status", "--numstat"))
    for status, count in zip(statuses, counts, strict=True):
        letter, *names = status.split("\t")
        added, deleted = (0 if number == "-" else int(number) for number in count.split("\t")[:2])
        yield File(names[-1], CHANGES[letter[0]], added, deleted, names[0] if len(names) == 2 else "")


def _import(folder: Path, stream: bytes) -> None:
    run(["git", "fast-import", "--quiet"], cwd=folder, input=stream, check=True, capture_output=True)


def _stream(pull: Pull, base: str, paths: set[str]) -> Iterator[bytes]:
    """The commit of a pull request: its files, and additional changes depending on its number."""
    body = pull.body.replace("\r\n", "\n")
    message = f"{pull.title} (#{pull.number})\n\n{body}"
    yield from _commit(message, f"from {base}\n")
    for file in pull.files:
        paths.add(file.path)
        yield from _file(file.path, "".join(f"{pull.number}: line {n}\n" for n in range(file.additions)).encode())
    untouched = sorted(paths - {file.path for file in pull.files} - {"README.md"})
    if pull.number % 3 == 0:
        paths.add("docs/picture.png")
        yield from _file("docs/picture.png", PICTURE + str(pull.number).encode())
    elif untouched and pull.number % 3 == 1:
        yield f"R {untouched[0]} src/moved/{pull.number}.tsx\n".encode()
        paths -= {untouched[0]}
        paths.add(f"src/moved/{pull.number}.tsx")
    elif untouched:
        yield f"D {untouched[-1]}\n".encode()
        paths -= {untouched[-1]}


def _commit(message: str, *rest: str | bytes) -> Iterator[bytes]:
    """The head of a commit; a last part in bytes is the content of the file before it."""
    text = message.encode()
    yield b"commit refs/heads/main\ncommitter ann <ann@example.org> 1704067200 +0000\n"
    yield b"data %d\n%b\n" % (len(text), text)
    for part in rest:
        yield part.encode() if isinstance(part, str) else b"data %d\n%b\n" % (len(part), part)


def _file(path: str, content: bytes) -> Iterator[bytes]:
    yield f"M 100644 inline {path}\n".encode()
    yield b"data %d\n%b\n" % (len(content), content)
