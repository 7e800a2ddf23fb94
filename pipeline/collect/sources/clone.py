"""The source `git`: a local clone, with a file of issue texts, which a clone does not have. Needs no network."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import git

from pipeline.collect.history import LOOKED_FOR, pull_requests, without_numbers
from pipeline.collect.sources import Merged, Options, Page, Patches, Unavailable, require_safe
from pipeline.core.console import say
from pipeline.core.errors import UserError
from pipeline.core.git import Clone, diff, has_commit, open_clone
from pipeline.core.names import Repo, is_of_commit
from pipeline.core.patches import is_test_file
from pipeline.core.records import Issue
from pipeline.core.store import each_record, unique


def open_source(repo: Repo, options: Options) -> CloneSource:
    """Raises UserError for a folder that is not a clone, a shallow clone, or a file of issues that cannot be read."""
    if options.path is None:
        raise UserError("no clone is given", hint="add --path CLONE (a local clone), or --source github")
    return CloneSource(repo, options.path, options.issues, options.is_test)


class CloneSource:
    """The merged pull requests of a clone's first-parent history, newest first."""

    def __init__(
        self, repo: Repo, path: Path, issues: Path | None = None, is_test: Callable[[str], bool] = is_test_file
    ) -> None:
        self.repo, self.clone, self.is_test = repo, open_clone(path), is_test
        self.texts = {issue.number: issue for issue in read_issues(issues)}

    problems: Sequence[UserError] = ()

    def describe(self) -> dict[str, str]:
        return {"kind": "git"}

    def pages(self, after: str) -> Iterator[Page]:
        """Always all pull requests, since the clone may have been updated."""
        unnumbered = without_numbers(self.clone)
        if unnumbered:
            notice = f"hardly any of {len(unnumbered)} commits of {self.repo} names a pull request"
            say(f"{notice}, so each of them counts as one. Looked for: {LOOKED_FOR}")
        yield from paged(self._announced(unnumbered))

    def _announced(self, unnumbered: Collection[str]) -> Iterator[Merged]:
        """All pull requests; prints a message if there are none, and how many have the number of a later one."""
        total = repeated = 0
        for total, merged in enumerate(pull_requests(self.clone, self.repo), 1):  # noqa: B007 - counted
            repeated += is_of_commit(merged.pull.number) and merged.pull.merge_sha not in unnumbered
            yield merged
        if repeated:
            say(f"changes of {self.repo} with the number of a later one: {repeated}; each goes by its commit")
        if not total:
            say(f"no merged change in the history of HEAD in {self.clone.place}: its only commits are roots or empty")

    def named(self, numbers: Sequence[int]) -> list[Merged]:
        return pick(pull_requests(self.clone, self.repo), numbers)

    def issues(self, numbers: Sequence[int]) -> dict[int, Issue | str]:
        return {number: self.texts[number] for number in numbers if number in self.texts}

    def patches(self, merged: Merged) -> Patches:
        return clone_patches(self.clone, merged.pull.base.sha, merged.pull.merge_sha, merged.files, self.is_test)

    def status(self) -> str:
        return ""

    def close(self) -> None:
        self.clone.close()


def read_issues(path: Path | None) -> list[Issue]:
    """Issue texts from a file of JSON Lines. Raises UserError with file, line and field, and for two of one number."""
    if path is None:
        return []
    if not path.exists():
        raise UserError("no such file", path=path, hint="--issues takes a JSON Lines file of issues")
    return list(unique(each_record(path, Issue), path, ("number",)))


def paged(pulls: Iterator[Merged], size: int = 500) -> Iterator[Page]:
    """A stream in pages, without cursors or a total."""
    while page := tuple(islice(pulls, size)):
        yield Page(page, "", 0)


def pick(pulls: Iterable[Merged], numbers: Sequence[int]) -> list[Merged]:
    """The pull requests with these numbers, as far as they exist."""
    return [merged for merged in pulls if merged.pull.number in numbers]


def clone_patches(
    clone: Clone, base: str, merge: str, files: Iterable[str], is_test: Callable[[str], bool] = is_test_file
) -> Patches:
    """Both patches from a clone, exact to the byte. Raises Unavailable."""
    if not has_commit(clone, base):
        raise Unavailable("base_missing", base)
    paths = list(files)
    require_safe(paths)
    tests = [path for path in paths if is_test(path)]
    sources = [path for path in paths if not is_test(path)]
    try:
        return Patches(base, diff(clone, base, merge, sources), diff(clone, base, merge, tests))
    except UnicodeDecodeError as error:
        raise Unavailable("not_utf8", str(error)) from None
    except git.GitCommandError as error:
        raise Unavailable("base_missing", str(error.stderr).strip()) from None
