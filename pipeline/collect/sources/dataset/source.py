"""The source `dataset`: the records of one repository in a foreign benchmark, in the forms that `reading` knows.

Such a record was chosen by the benchmark's makers: it is taken whatever the filters say, and keeps what they would have
said. With a clone, which has the base commits, the pull request's own text, author and merge commit come from its
history. Patches and base commits are the record's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from pipeline.collect.history import pull_requests
from pipeline.collect.sources import Merged, Options, Page, Patches, Unavailable
from pipeline.collect.sources.clone import paged, pick
from pipeline.collect.sources.dataset.reading import Row, read
from pipeline.core.errors import UserError
from pipeline.core.git import Clone, has_commit, open_clone
from pipeline.core.names import Repo
from pipeline.core.records import Issue

#: what a clone's history says of a pull request, where the record's own form does not
_TOLD = ("title", "body", "author", "merge_sha", "merged_at")


def open_source(repo: Repo, options: Options) -> DatasetSource:
    """Raises UserError for a file that is not there or holds nothing of the repository, and for what is no clone."""
    if options.path is None:
        raise UserError("no such file", hint="--path takes a file of records or a folder of tasks for this source")
    clone = open_clone(options.clone) if options.clone else None
    return DatasetSource(repo, options.path, clone, filtered=options.filtered)


class DatasetSource:
    """The records of one repository; `problems` are those that cannot be read."""

    def __init__(self, repo: Repo, path: Path, clone: Clone | None = None, filtered: bool = False) -> None:
        self.repo, self.path, self.clone, self.filtered = repo, path, clone, filtered
        found = list(read(path, repo))
        self.problems = [one for one in found if isinstance(one, UserError)]
        self.rows = [one for one in found if isinstance(one, Row)]
        if not self.rows:
            raise next(iter(self.problems), UserError(f"it has no record of {repo}", path=path))

    def describe(self) -> dict[str, str]:
        return {"kind": "dataset", "file": self.path.resolve().name}

    def pages(self, after: str) -> Iterator[Page]:
        return paged(self._all())

    def named(self, numbers: Sequence[int]) -> list[Merged]:
        return pick(self._all(), numbers)

    def issues(self, numbers: Sequence[int]) -> dict[int, Issue | str]:
        """None but those that the records bring with them."""
        return {}

    def patches(self, merged: Merged) -> Patches:
        assert merged.patches
        if self.clone and not has_commit(self.clone, merged.patches.base):
            raise Unavailable("base_missing", merged.patches.base)
        return merged.patches

    def status(self) -> str:
        return ""

    def close(self) -> None:
        if self.clone:
            self.clone.close()

    def _all(self) -> Iterator[Merged]:
        seen: set[int] = set()
        for row in self.rows:
            if row.record.number not in seen:  # the first one counts, as `pick` and the files have each number once
                seen.add(row.record.number)
                yield self._completed(row.record.merged(), row.record.says)._replace(chosen=not self.filtered)

    def _completed(self, merged: Merged, says: Collection[str]) -> Merged:
        """With what the clone's history says of the pull request that has this number and changes these files."""
        pull, there = merged.pull, self._history.get(merged.pull.number)
        told = {"origin": self.path.resolve().name}
        if there and set(merged.files) <= set(there.files):
            told |= {name: getattr(there.pull, name) for name in _TOLD if name not in says or not getattr(pull, name)}
        return merged._replace(pull=pull.model_copy(update=told))

    @cached_property
    def _history(self) -> dict[int, Merged]:
        """The clone's merged pull requests by number."""
        return {one.pull.number: one for one in pull_requests(self.clone, self.repo)} if self.clone else {}
