"""What the viewer of stage 00 shows of a candidate: one record, joined with ratings and metadata by `instance_id`."""

from __future__ import annotations

import io
from collections.abc import Iterator

from unidiff import PatchSet, UnidiffParseError

from pipeline.core.names import is_of_commit
from pipeline.core.patches import sections
from pipeline.core.records import Candidate, Evidence, Issue, Record, Versioned

_SITE = "https://github.com"


class Change(Record):
    """One file of a patch; the numbers of lines are unknown (None) for binary files."""

    path: str
    test: bool
    added: int | None = None
    removed: int | None = None


class Entry(Versioned):
    """A candidate as a person rates it."""

    instance_id: str
    repo: str
    number: int
    url: str
    title: str
    body: str
    author: str
    labels: tuple[str, ...]
    merged_at: str
    base_sha: str
    merge_sha: str
    issues: tuple[Issue, ...]
    a11y_reason: tuple[Evidence, ...]
    statement_source: str
    chosen_by_hand: bool
    files: tuple[Change, ...]
    fix_patch: str
    test_patch: str


def entry(candidate: Candidate) -> Entry:
    """A candidate's line of `triage.jsonl`."""
    copied = ("number", "title", "body", "author", "labels", "merged_at", "merge_sha", "a11y_reason")
    patches = ("statement_source", "chosen_by_hand", "fix_patch", "test_patch")
    return Entry(
        instance_id=candidate.instance_id,
        repo=str(candidate.repository),
        url=_url(candidate),
        base_sha=candidate.base.sha,
        issues=candidate.resolved_issues,
        files=(*_changes(candidate.fix_patch, test=False), *_changes(candidate.test_patch, test=True)),
        **{name: getattr(candidate, name) for name in (*copied, *patches)},
    )


def _url(candidate: Candidate) -> str:
    path = f"commit/{candidate.merge_sha}" if is_of_commit(candidate.number) else f"pull/{candidate.number}"
    return f"{_SITE}/{candidate.repository}/{path}"


def _changes(patch: str, *, test: bool) -> Iterator[Change]:
    """The files of a patch with their numbers of lines, without those that unidiff cannot parse."""
    for path, part in sections(patch):
        try:
            parsed = list(PatchSet(io.StringIO(part, newline="\n")))
        except UnidiffParseError:
            parsed = []
        counted = [{"added": file.added, "removed": file.removed} for file in parsed if not file.is_binary_file]
        yield Change(path=path, test=test, **(counted[0] if counted else {}))
