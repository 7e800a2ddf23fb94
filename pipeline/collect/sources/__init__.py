"""Where pull requests come from: a name, the module that reads them, and what it reads.

A source is a module with `open_source(repo, options)`; what it gives back has the methods of `Source`. All sources give
the same records, and the funnel does not know which one it drinks from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pipeline.core.errors import A11yBenchError, UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.patches import is_test_file
from pipeline.core.records import Issue, PullRequest

if TYPE_CHECKING:
    from pipeline.core.git import Clone

#: source -> (module with `open_source`, what it reads)
SOURCES = {
    "git": ("pipeline.collect.sources.clone", "a local clone (--path): no network, no tokens"),
    "github": ("pipeline.collect.github.source", "GitHub (GITHUB_TOKEN); patches from a clone when --path names one"),
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

    Its `resolved_issues` and `patches` are there where the source brings them along, as are the bytes of its pictures
    (`assets`); so are the numbers of the lines that it adds and removes (None: unknown). One that is `chosen` is taken
    whatever the filters say: its source holds only what somebody chose.
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


class Page(NamedTuple):
    """Some pull requests, the cursor after them (empty: a source that is always read whole), and how many there are
    (0: unknown)."""

    pulls: Sequence[Merged]
    cursor: str
    total: int


class Unavailable(A11yBenchError):
    """A pull request's patches cannot be had; `reason` is one of the funnel's."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(f"{reason}: {detail}")


class Options(NamedTuple):
    """What a source may be told: a clone or a file, issue texts, and which paths are tests."""

    path: Path | None = None
    issues: Path | None = None
    clone: Path | None = None
    filtered: bool = False
    is_test: Callable[[str], bool] = is_test_file


class Source(Protocol):
    """One repository's merged pull requests."""

    #: where the patches come from and later stages read the sources, None where there is no clone
    clone: Clone | None
    #: what there is and cannot be read
    problems: Sequence[UserError]

    def describe(self) -> dict[str, str]:
        """What `source.json` says of it, without the clone: `kind` and what tells it from others of the kind."""

    def pages(self, after: str) -> Iterator[Page]:
        """All pull requests after a cursor."""

    def named(self, numbers: Sequence[int]) -> list[Merged]:
        """These pull requests, as far as they are there and merged."""

    def issues(self, numbers: Sequence[int]) -> dict[int, Issue | str]:
        """Issues by number, or why a number is none: `pull_request`, `not_found`. Others are unknown to the source."""

    def patches(self, merged: Merged) -> Patches:
        """Both patches of a pull request. Raises Unavailable."""

    def status(self) -> str:
        """What is left of the source's limits, in a few words."""

    def close(self) -> None:
        """Let go of connections."""


def open_source(name: str, repo: Repo, options: Options) -> Source:
    """The named source. Raises UserError for a name that is not in the table, and what the source itself raises."""
    if name not in SOURCES:
        raise unknown("source", name, list(SOURCES))
    if options.issues and name != "git":
        raise UserError(f"the source {name} brings its own issues", field="--issues", hint="leave it out")
    if options.clone and name != "dataset":
        raise UserError(f"the source {name} takes its clone by --path", field="--clone", hint="leave it out")
    if options.filtered and name != "dataset":
        raise UserError(f"the source {name} is always filtered", field="--filtered", hint="leave it out")
    return import_module(SOURCES[name][0]).open_source(repo, options)
