"""Where pull requests come from: a name, the module that reads them, and what it reads.

A source is a module with `open_source(repo, options)`, which returns an object with the methods of `Source`. All
sources give the same records, and the funnel does not depend on the kind of source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pipeline.core.errors import A11yBenchError, UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.patches import is_test_file, paths
from pipeline.core.records import Issue, PullRequest
from pipeline.core.trees import UNSAFE_PATH, problem

if TYPE_CHECKING:
    from pipeline.core.git import Clone

#: source -> (module with `open_source`, what it reads)
SOURCES = {
    "git": ("pipeline.collect.sources.clone", "a local clone (--path): no network, no tokens"),
    "github": ("pipeline.collect.github.source", "GitHub (GITHUB_TOKEN); patches from a clone if --path names one"),
    "dataset": (
        "pipeline.collect.sources.dataset.source",
        "records of Multi-SWE-bench or SWE-bench, or folders of tasks (--path); base commits from --clone",
    ),
}


class Patches(NamedTuple):
    """A pull request's change, split: `fix` and `test` applied to the commit `base` give the merge commit's tree."""

    base: str
    fix: str
    test: str


class Merged(NamedTuple):
    """A merged pull request, with the paths that it changes and the issues that GitHub itself links to it.

    Bytes of a path that are not UTF-8 are surrogates, as in Python's names of files. `resolved_issues`, `patches`, the
    bytes of pictures (`assets`), the numbers of added and removed lines (None: unknown) and the `names` of its
    repository (in lower case, if it moved) are set only if the source provides them. One that is `chosen` is taken
    whatever the filters say, since its source contains only what somebody chose.
    """

    pull: PullRequest
    files: tuple[str, ...]
    closing: tuple[int, ...] = ()
    closing_elsewhere: tuple[str, ...] = ()
    updated_at: str = ""
    patches: Patches | None = None
    assets: tuple[bytes, ...] = ()
    chosen: bool = False
    added: int | None = None
    removed: int | None = None
    names: tuple[str, ...] = ()


def readable(text: str) -> str:
    """A path, or a text with paths, that can be stored: bytes that are not UTF-8 become escapes."""
    return text.encode(errors="backslashreplace").decode()


class Page(NamedTuple):
    """Some pull requests, the cursor after them (empty for a source that is always read completely), and the number of
    all pull requests (0: unknown)."""

    pulls: Sequence[Merged]
    cursor: str
    total: int


class Unavailable(A11yBenchError):
    """A pull request's patches are not available; `reason` is one of the funnel's."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(f"{reason}: {detail}")


#: a file of a patch without its content, which git refuses
BINARY = re.compile(r"^Binary files .* differ\r?$", re.MULTILINE)


def require_safe(names: Iterable[str]) -> None:
    """Raise Unavailable for a path that leaves the folder or is git's own."""
    for path in names:
        if reason := problem(path):
            raise Unavailable(UNSAFE_PATH, f"{path!r}: {reason}")


def require_usable(patches: Patches) -> None:
    """Raise Unavailable if the paths of patches are unsafe or no text, or if the content of a file is left out."""
    touched = [*paths(patches.fix), *paths(patches.test)]
    if unreadable := next((path for path in touched if path != readable(path)), ""):
        raise Unavailable("not_utf8", unreadable)
    require_safe(touched)
    if stub := BINARY.search(patches.fix) or BINARY.search(patches.test):
        raise Unavailable("binary", stub[0])


class Options(NamedTuple):
    """The options of sources: a clone or a file, issue texts, and which paths are tests."""

    path: Path | None = None
    issues: Path | None = None
    clone: Path | None = None
    filtered: bool = False
    is_test: Callable[[str], bool] = is_test_file


class Source(Protocol):
    """One repository's merged pull requests."""

    #: the clone that gives the patches, and from which later stages read the sources; None without one
    clone: Clone | None
    #: records that cannot be read
    problems: Sequence[UserError]

    def describe(self) -> dict[str, str]:
        """Its entry in `source.json`, without the clone: `kind`, and what identifies it among others of this kind."""

    def pages(self, after: str) -> Iterator[Page]:
        """All pull requests after a cursor."""

    def named(self, numbers: Sequence[int]) -> list[Merged]:
        """The pull requests with these numbers, as far as they exist and are merged."""

    def issues(self, numbers: Sequence[int]) -> dict[int, Issue | str]:
        """Issues by number, or why a number is none: `pull_request`, `not_found`. Leaves out unknown numbers."""

    def patches(self, merged: Merged) -> Patches:
        """Both patches of a pull request. Raises Unavailable."""

    def status(self) -> str:
        """What remains of the source's limits, in a few words."""

    def close(self) -> None:
        """Close its connections."""


def open_source(name: str, repo: Repo, options: Options) -> Source:
    """The named source. Raises UserError as `require_fitting` does, and what the source itself raises."""
    require_fitting(name, options)
    return import_module(SOURCES[name][0]).open_source(repo, options)


def require_fitting(name: str, options: Options) -> None:
    """Raise UserError for an unknown source, and for an option that is not one of the source's."""
    if name not in SOURCES:
        raise unknown("source", name, list(SOURCES))
    if options.issues and name != "git":
        raise UserError(f"the source {name} brings its own issues", field="--issues", hint="leave it out")
    if options.clone and name != "dataset":
        raise UserError(f"the source {name} takes its clone by --path", field="--clone", hint="leave it out")
    if options.filtered and name != "dataset":
        raise UserError(f"the source {name} is always filtered", field="--filtered", hint="leave it out")
