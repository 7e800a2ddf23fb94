"""The source `dataset`: JSON Lines of Multi-SWE-bench or SWE-bench, told apart by their fields.

Such a file holds many repositories: the records of one are taken. What a record does not say stays empty: neither form
has the merge commit (our own export has), SWE-bench has no pull request's text, and the numbers of its issues are
unknown (0); it says when a pull request was opened, which stands in for when it was merged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from pipeline.collect.sources import Merged, Options, Page, Patches
from pipeline.collect.sources.clone import paged, pick
from pipeline.core.errors import UserError
from pipeline.core.names import Repo, parse_instance_id, parse_repo
from pipeline.core.patches import paths
from pipeline.core.records import Base, Issue, PullRequest


class _Text(BaseModel):
    number: int
    title: str
    body: str | None = None


class MultiSweBench(BaseModel):
    """The fields of a Multi-SWE-bench record that a pull request needs; the last two are in our export only."""

    org: str
    repo: str
    number: int
    state: str
    title: str
    body: str | None = None
    base: Base
    resolved_issues: list[_Text]
    fix_patch: str
    test_patch: str
    merge_sha: str = ""
    merged_at: str = ""

    def merged(self) -> Merged | None:
        issues = tuple(Issue(number=one.number, title=one.title, body=one.body or "") for one in self.resolved_issues)
        pull = PullRequest(
            org=self.org,
            repo=self.repo,
            number=self.number,
            title=self.title,
            body=self.body or "",
            base=self.base,
            merge_sha=self.merge_sha,
            merged_at=self.merged_at,
            resolved_issues=issues,
        )
        patches = Patches(self.base.sha, self.fix_patch, self.test_patch)
        return _merged(pull, patches) if self.state != "open" else None


class SweBench(BaseModel):
    """The fields of a SWE-bench record that a pull request needs."""

    instance_id: str
    repo: str
    base_commit: str
    patch: str
    test_patch: str
    problem_statement: str
    created_at: str = ""

    def merged(self) -> Merged:
        repo, (_, number) = parse_repo(self.repo), parse_instance_id(self.instance_id)
        title, _, body = self.problem_statement.strip().partition("\n")
        issue = Issue(number=0, title=title, body=body.strip())
        pull = PullRequest(
            org=repo.org,
            repo=repo.repo,
            number=number,
            title=title,
            base=Base(label="", ref="", sha=self.base_commit),
            merge_sha="",
            merged_at=self.created_at,
            resolved_issues=(issue,),
        )
        return _merged(pull, Patches(self.base_commit, self.patch, self.test_patch))


def _merged(pull: PullRequest, patches: Patches) -> Merged:
    return Merged(pull, (*paths(patches.fix), *paths(patches.test)), patches=patches)


#: a field that only this form has -> the form
FORMS: dict[str, type[MultiSweBench] | type[SweBench]] = {"fix_patch": MultiSweBench, "problem_statement": SweBench}


def open_source(repo: Repo, options: Options) -> DatasetSource:
    """Raises UserError for a file that is not there or holds nothing of the repository."""
    if options.path is None or not options.path.is_file():
        raise UserError("no such file", path=options.path, hint="--path takes a file of JSON Lines for this source")
    return DatasetSource(repo, options.path)


class DatasetSource:
    """The records of one repository in a file of instances."""

    def __init__(self, repo: Repo, path: Path) -> None:
        self.repo, self.path, self.clone = repo, path, None
        if next(self._all(), None) is None:
            raise UserError(f"the file holds nothing of {repo}", path=path)

    def describe(self) -> dict[str, str]:
        return {"kind": "dataset", "file": self.path.name}

    def pages(self, after: str) -> Iterator[Page]:
        return paged(self._all())

    def named(self, numbers: Sequence[int]) -> list[Merged]:
        return pick(self._all(), numbers, self.repo)

    def issues(self, numbers: Sequence[int]) -> dict[int, Issue | str]:
        """None but those that the records bring with them."""
        return {}

    def patches(self, merged: Merged) -> Patches:
        assert merged.patches
        return merged.patches

    def status(self) -> str:
        return ""

    def close(self) -> None:
        """Nothing is open between two reads."""

    def _all(self) -> Iterator[Merged]:
        with self.path.open("rb") as lines:
            rows = (_parse(self.path, number, line) for number, line in enumerate(lines, 1) if line.strip())
            found = (row.merged() for row in rows)
            yield from (one for one in found if one and one.pull.repository == self.repo)


def _parse(path: Path, number: int, line: bytes) -> MultiSweBench | SweBench:
    """One record. Raises UserError with file, line and field."""
    try:
        row: Any = json.loads(line)
        form = next(form for field, form in FORMS.items() if field in row)
        return form.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(
            first["msg"],
            path=path,
            line=number,
            field=".".join(map(str, first["loc"])),
            hint="mend or remove this line",
        ) from None
    except (ValueError, TypeError, StopIteration):
        hint = "each line is a record of Multi-SWE-bench or of SWE-bench"
        raise UserError("no record of a dataset", path=path, line=number, hint=hint) from None
