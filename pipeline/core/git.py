"""Reading clones with GitPython: diffs, files and checkouts of single commits.

A clone is never changed, and nothing in it runs: commands read its objects through our own repository (objects.py), and
every tree is checked first (trees.py). The host's git configuration is ignored too, so the same commit gives the
same bytes on every machine. Does not cover fetching.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import git

from pipeline.core import objects
from pipeline.core.errors import UserError
from pipeline.core.reader import reader_of
from pipeline.core.trees import MOST_FILES, check_tree

#: settings that decide what git writes and starts; they override those of any repository
_SETTINGS = {
    "core.attributesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "protocol.allow": "never",
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.quotePath": "false",
    "gc.auto": "0",
}
#: no host configuration, no prompts, one identity and one date: a checkout's commit depends on its tree alone
CLEAN = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
    **{f"GIT_CONFIG_KEY_{index}": key for index, key in enumerate(_SETTINGS)},
    **{f"GIT_CONFIG_VALUE_{index}": value for index, value in enumerate(_SETTINGS.values())},
    "GIT_CONFIG_PARAMETERS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_DIFF_OPTS": "",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_AUTHOR_NAME": "a11y-bench",
    "GIT_AUTHOR_EMAIL": "a11y-bench@localhost",
    "GIT_AUTHOR_DATE": "2000-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "a11y-bench",
    "GIT_COMMITTER_EMAIL": "a11y-bench@localhost",
    "GIT_COMMITTER_DATE": "2000-01-01T00:00:00Z",
}


#: the time of a commit in seconds, and its time zone as an offset of hours and minutes
_COMMITTED = re.compile(rb"^committer .*> (\d+) ([+-])(\d\d)(\d\d)$", re.MULTILINE)
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
#: how many paths one command of git gets: a system limits the length of all arguments
_AT_ONCE = 2000
#: the earliest time of a file in a checkout (the start of 2000); the latest is eight years later
_LONG_AGO = 946_684_800
#: names that a checkout's commit has besides `main`: those of default branches, by which configurations ask git what
#: has changed
_DEFAULTS = ("refs/heads/master", *(f"refs/remotes/origin/{name}" for name in ("main", "master", "develop")))
#: git compares only what a copy of a file keeps: its size, and its time to the second
_BY_TIME_AND_SIZE = "[core]\n\tcheckStat = minimal\n\ttrustctime = false\n"
#: the mode of a link
_LINK = "120000"


class Clone(git.Repo):
    """A clone, read through a repository of our own. `place` is the clone's own git folder."""

    def __init__(self, ours: Path, place: Path, config: Path) -> None:
        super().__init__(ours)
        self.place, self._config = place, config
        # commands see no files, so a checkout and its attributes cannot influence them
        no_files = {"GIT_WORK_TREE": str(ours), "GIT_INDEX_FILE": f"{ours}/no-index"}
        self.git = git.Git(str(ours))
        self.git.update_environment(**CLEAN, **no_files)
        self.git.set_persistent_git_options(git_dir=str(ours))
        self.reader = reader_of(str(ours), _environment())

    @property
    def remote_url(self) -> str:
        """The address that the clone was made from, empty for none."""
        options = ("--file", str(self._config)) if self._config.is_file() else ()
        return str(self.git.config(*options, "--get", "remote.origin.url", with_exceptions=False))


def open_clone(path: Path) -> Clone:
    """The clone at `path`, bare or not. Raises UserError if there is none, or if it has no history."""
    folders = objects.locate(path)
    if folders is None:
        raise UserError("not a git clone", path=path, hint="clone the repository and name its folder with --path")
    if folders.is_shallow:
        raise UserError("a shallow clone has no history to mine", path=path, hint="git fetch --unshallow")
    git_dir = folders.git.absolute()
    clone = Clone(objects.our_repository(git_dir, folders), git_dir, folders.config)
    require_commit(clone, "HEAD")
    return clone


@cache
def opened_clone(path: str) -> Clone:
    """The clone at a path, opened once in each process. Raises UserError as `open_clone` does."""
    return open_clone(Path(path))


def has_commit(clone: Clone, sha: str) -> bool:
    """Whether the clone has the commit and its tree."""
    return tree_name(clone, sha) is not None


def tree_name(clone: Clone, sha: str) -> str | None:
    """The name of a commit's tree, None where the clone lacks it."""
    found = clone.reader.read(f"{sha}^{{tree}}")
    return found.name if found else None


#: what helps if a clone lacks something
_FETCH = "fetch it (git fetch --all), or collect from another clone (just collect-run)"


def require_commit(clone: Clone, sha: str) -> None:
    """Raise UserError if the clone lacks a commit."""
    if not has_commit(clone, sha):
        raise _no_commit(clone, sha)


def _no_commit(clone: Clone, sha: str) -> UserError:
    return UserError(f"the clone has no commit {sha}", path=clone.place, hint=_FETCH)


def changed_files(clone: Clone, base: str, head: str) -> list[str]:
    """Paths that differ between two commits, a rename as both of its paths."""
    names = clone.git.diff("--name-only", "-z", "--no-renames", base, head)
    return [name for name in names.split("\0") if name]


def ancestors(clone: Clone, sha: str, number: int) -> list[str]:
    """A commit and its ancestors along first parents, up to the next merge: at most `number` of them."""
    rows = clone.git.rev_list("--first-parent", "--parents", f"--max-count={max(number, 1)}", sha).splitlines()
    commits = [sha]
    for row in rows:
        _, *parents = row.split()
        if parents and (len(commits) == 1 or len(parents) == 1):
            commits.append(parents[0])
        if len(parents) != 1:
            break
    return commits


def line_counts(clone: Clone, base: str, head: str) -> tuple[int, int]:
    """Lines added and removed between two commits, counted as GitHub does: of a renamed file, only changed lines."""
    output = clone.git.diff_tree("-r", "-M", "--numstat", "--no-ext-diff", base, head)
    counts = [row.split("\t")[:2] for row in output.split("\n") if row]
    added, removed = (sum(int(row[side]) for row in counts if row[side].isdigit()) for side in (0, 1))
    return added, removed


def diff(clone: Clone, base: str, head: str, paths: list[str]) -> str:
    """The patch from `base` to `head` on `paths`, exact to the byte: binary files, modes and missing newlines too.

    Raises UnicodeDecodeError when a text file in it is not UTF-8, and git.GitCommandError when a blob is missing.
    """
    words = ["--binary", "--full-index", "--no-renames", "--no-color", base, head, "--"]
    exact = {"stdout_as_string": False, "strip_newline_in_stdout": False}
    literal = [f":(literal){path}" for path in paths]
    parts = (literal[start : start + _AT_ONCE] for start in range(0, len(literal), _AT_ONCE))
    return b"".join(bytes(clone.git.diff_tree(*words, *part, **exact)) for part in parts).decode("utf-8")


def committed(clone: Clone, sha: str) -> str:
    """The date of a commit (ISO) in its own time zone; empty if it has none. Raises UserError if it is missing."""
    commit = clone.reader.read(f"{sha}^{{commit}}")
    if commit is None:
        raise _no_commit(clone, sha)
    match = _COMMITTED.search(commit.data)
    if match is None:
        return ""
    seconds, sign, hours, minutes = (match[1], match[2], match[3], match[4])
    east = timedelta(hours=int(sign + hours), minutes=int(sign + minutes))
    return (datetime(1970, 1, 1) + timedelta(seconds=int(seconds)) + east).date().isoformat()  # noqa: DTZ001


def writers(clone: Clone, paths: Iterable[str]) -> list[tuple[str, str]]:
    """The commits of the clone's branch that added or changed one of these files, with their dates (ISO)."""
    words = ["--no-merges", "--diff-filter=AM", "--format=%H %cs", "HEAD", "--"]
    rows = clone.git.log(*words, *(f":(literal){path}" for path in paths)).splitlines()
    return [(sha, day) for sha, day in map(str.split, rows)]


def show(clone: Clone, sha: str, path: str) -> str | None:
    """A file's text at a commit, or None if there is no such file."""
    found = clone.reader.read(f"{sha}:{path}")
    return found.data.decode(errors="surrogateescape") if found and found.kind == "blob" else None


def list_files(clone: Clone, sha: str) -> list[str]:
    """Every path of a commit's tree. Raises UnsafeTree, like all functions that read a tree."""
    return [entry.path for entry in tree(clone, sha)]


class Entry(NamedTuple):
    """A file or link of a tree (`kind` is `blob`), or a submodule (`commit`): its path, mode and object name."""

    path: str
    mode: str
    kind: str
    name: str


def tree(clone: Clone, sha: str) -> tuple[Entry, ...]:
    """All entries of a commit's tree, checked. Raises UnsafeTree."""
    return (_cached_tree if _COMMIT.fullmatch(sha) else _tree)(clone, sha)


def _tree(clone: Clone, sha: str) -> tuple[Entry, ...]:
    root = tree_name(clone, sha)
    if root is None:
        raise _no_commit(clone, sha)
    try:
        rows = islice(clone.reader.files(root), MOST_FILES + 1)
        entries = tuple(Entry(path, row.mode, row.kind, row.name) for path, row in rows)
    except KeyError as error:
        message = f"the clone lacks a folder of the commit {sha}: {error}"
        raise UserError(message, path=clone.place, hint=_FETCH) from None
    links = {entry.path: entry.name for entry in entries if entry.mode == _LINK}
    check_tree(sha, [entry.path for entry in entries], dict(_contents(clone, links)) if links else {})
    return entries


#: a commit's tree never changes and is often read again
_cached_tree = lru_cache(maxsize=16)(_tree)


def missing_files(clone: Clone, sha: str) -> list[str]:
    """The paths of a commit whose content the clone lacks: some copies leave out the largest files."""
    return list((_cached_missing if _COMMIT.fullmatch(sha) else _missing)(clone, sha))


def _missing(clone: Clone, sha: str) -> tuple[str, ...]:
    blobs = _blobs(clone, sha)
    output = _cat_file(clone, "--batch-check", blobs.values()).decode()
    lacking = {line.split()[0] for line in output.splitlines() if line.endswith(" missing")}
    return tuple(path for path, blob in blobs.items() if blob in lacking)


#: needed for every verdict; assumes that nobody completes a clone while a process reads it
_cached_missing = lru_cache(maxsize=256)(_missing)


def read_blobs(clone: Clone, sha: str, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """The files of a commit whose paths are wanted.

    Raises UserError for a file whose content the clone lacks.
    """
    blobs = {path: blob for path, blob in _blobs(clone, sha).items() if wanted(path)}
    for path, content in _contents(clone, blobs):
        if content is None:
            message = f"the clone lacks the content of {path} ({blobs[path]})"
            raise UserError(message, path=clone.place, hint=_FETCH)
        yield path, content


def read_contents(clone: Clone, sha: str, paths: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
    """Those of these paths that a commit has, with content; None for content that the clone lacks."""
    blobs = _blobs(clone, sha)
    return _contents(clone, {path: blobs[path] for path in paths if path in blobs})


def _contents(clone: Clone, blobs: Mapping[str, str]) -> Iterator[tuple[str, bytes | None]]:
    """Path -> content."""
    for path, blob in blobs.items():
        found = clone.reader.read(blob)
        yield path, found.data if found else None


def _blobs(clone: Clone, sha: str) -> dict[str, str]:
    """Path -> the name of its blob."""
    return {entry.path: entry.name for entry in tree(clone, sha) if entry.kind == "blob"}


def _cat_file(clone: Clone, mode: str, blobs: Iterable[str]) -> bytes:
    command = ["git", f"--git-dir={clone.git_dir}", "cat-file", mode]
    names = "".join(f"{blob}\n" for blob in blobs).encode()
    return subprocess.run(command, input=names, check=True, env=_environment(), capture_output=True).stdout


def checkout(clone: Clone, sha: str, target: Path) -> None:
    """Write the tree of `sha` to the new folder `target` as a repository of one commit, without history or remotes.
    Names of default branches (`origin/main`) mean this commit, too, for configurations that ask git what changed.

    Files whose content the clone lacks are left out (`missing_files`). A file's time is in the past and derived from
    its content. Git therefore notices every later write without reading copies again, and a cache that relies on times
    never confuses the files of two commits. Raises UnsafeTree.
    """
    require_commit(clone, sha)
    entries = tree(clone, sha)
    target.mkdir(parents=True)
    with TemporaryDirectory() as folder:
        environment = _environment() | {"GIT_INDEX_FILE": f"{folder}/index"}
        plumbing = ["git", f"--git-dir={clone.git_dir}", f"--work-tree={target}"]
        subprocess.run([*plumbing, "read-tree", sha], check=True, env=environment, capture_output=True)
        # exits with 1 if a blob is missing, but writes all the others
        subprocess.run([*plumbing, "checkout-index", "-a", "-q"], cwd=target, env=environment, capture_output=True)
    for entry in entries:
        seconds = _LONG_AGO + int(entry.name[:7], 16)
        with suppress(FileNotFoundError):
            os.utime(target / entry.path, (seconds, seconds), follow_symlinks=False)
    commit_all(target)
    with (target / ".git" / "config").open("a", encoding="utf-8") as config:
        config.write(_BY_TIME_AND_SIZE)


def commit_all(folder: Path) -> str:
    """Make a folder a repository with one commit of all its files, including ignored ones; returns the commit. It has
    the names of _DEFAULTS as well."""
    for arguments in (
        ["init", "-q", "-b", "main", "--template="],
        ["add", "-A", "-f"],
        ["commit", "-q", "--allow-empty", "--no-verify", "-m", "base"],
    ):
        subprocess.run(["git", *arguments], cwd=folder, check=True, env=_environment(), capture_output=True)
    names = "".join(f"create {name} HEAD\n" for name in _DEFAULTS).encode()
    naming = ["git", "update-ref", "--stdin"]
    subprocess.run(naming, cwd=folder, check=True, env=_environment(), input=names, capture_output=True)
    shutil.rmtree(folder / ".git" / "logs", ignore_errors=True)
    (folder / ".git" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "info" / "exclude").write_text("node_modules\n")
    return git.Repo(folder).head.commit.hexsha


def _environment() -> dict[str, str]:
    """The host's environment without variables of git: a hook of another repository may have started this program."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | CLEAN
