"""The source `dataset`: the records of one repository in a foreign benchmark, in the forms that `reading` knows.

The benchmark's makers chose these records, so they are taken whatever the filters say; the filters' results are stored.
With a clone, which has the base commits, the pull request's own text, author and merge commit come from its history.
Patches and base commits are those of the record; contents of binary files that a patch lacks come from files of the
record or from the clone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from pipeline.collect.history import pull_requests
from pipeline.collect.sources import Merged, Options, Page, Patches, Unavailable
from pipeline.collect.sources.clone import paged, pick
from pipeline.collect.sources.dataset.binaries import completed
from pipeline.collect.sources.dataset.reading import Row, read
from pipeline.core.errors import UserError
from pipeline.core.git import Clone, has_commit, open_clone
from pipeline.core.names import Repo
from pipeline.core.records import Issue

#: fields that are taken from a clone's history if the record's form lacks them
_FROM_HISTORY = ("title", "body", "author", "merge_sha", "merged_at")


def open_source(repo: Repo, options: Options) -> DatasetSource:
    """Raises UserError for a missing file, a file without records of the repository, and a folder that is not a
    clone."""
    if options.path is None:
        raise UserError("no such file", hint="--path takes a file of records or a folder of tasks for this source")
    clone = open_clone(options.clone) if options.clone else None
    return DatasetSource(repo, options.path, clone, filtered=options.filtered)


class DatasetSource:
    """The records of one repository; `problems` are those that cannot be read."""

    def __init__(self, repo: Repo, path: Path, clone: Clone | None = None, filtered: bool = False) -> None:
        self.repo, self.path, self.clone, self.filtered = repo, path, clone, filtered
        records = list(read(path, repo))
        self.problems = [record for record in records if isinstance(record, UserError)]
        self.rows = [record for record in records if isinstance(record, Row)]
        if not self.rows:
            raise next(iter(self.problems), UserError(f"it has no record of {repo}", path=path))

    def describe(self) -> dict[str, str]:
        return {"kind": "dataset", "file": self.path.resolve().name}

    def pages(self, after: str) -> Iterator[Page]:
        return paged(self._all())

    def named(self, numbers: Sequence[int]) -> list[Merged]:
        return pick(self._all(), numbers)

    def issues(self, numbers: Sequence[int]) -> dict[int, Issue | str]:
        """None, since the records contain their issues."""
        return {}

    def patches(self, merged: Merged) -> Patches:
        assert merged.patches
        base, fix, test = merged.patches
        clone = self.clone
        if clone:
            base = _resolved(clone, base)
        files = next(row.record.test_files for row in self.rows if row.record.number == merged.pull.number)

        def contents(path: str, name: str) -> Iterator[bytes | None]:
            yield files.get(path)
            found = (clone.reader.read(place) for place in (f"{base}:{path}", name)) if clone else ()
            yield from (blob.data for blob in found if blob and blob.kind == "blob")

        return Patches(base, completed(fix, contents), completed(test, contents))

    def status(self) -> str:
        return ""

    def close(self) -> None:
        if self.clone:
            self.clone.close()

    def _all(self) -> Iterator[Merged]:
        for row in self.rows:
            yield self._completed(row.record.merged(), row.record.own_fields)._replace(chosen=not self.filtered)

    def _completed(self, merged: Merged, own_fields: Collection[str]) -> Merged:
        """The same under the repository's name, and with fields from the clone's history if the pull request of this
        number there has all its files."""
        pull, match = merged.pull, self._history.get(merged.pull.number)
        fields = {"org": self.repo.org, "repo": self.repo.repo, "origin": self.path.resolve().name}
        if match and set(merged.files) <= set(match.files):
            missing = (name for name in _FROM_HISTORY if name not in own_fields or not getattr(pull, name))
            fields |= {name: getattr(match.pull, name) for name in missing}
        return merged._replace(pull=pull.model_copy(update=fields))

    @cached_property
    def _history(self) -> dict[int, Merged]:
        """The clone's merged pull requests by number."""
        return {merged.pull.number: merged for merged in pull_requests(self.clone, self.repo)} if self.clone else {}


def _resolved(clone: Clone, base: str) -> str:
    """The whole hash of a base commit. Raises Unavailable if the clone lacks it or its tree."""
    commit = clone.reader.read(f"{base}^{{commit}}")
    if commit is None or not has_commit(clone, commit.name):
        raise Unavailable("base_missing", base)
    return commit.name
