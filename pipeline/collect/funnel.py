"""The funnel: every pull request ends as a candidate or as a rejection with its reason.

The order is the thesis's (docs/thesis.md; docs/rules.md, Mining): source and test changes, then reverts, bots and
version bumps, issues, evidence, and patches. Paths come with the pull request, so no issues are fetched for those
without source or test changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from pipeline.collect.evidence import evidence
from pipeline.collect.kinds import KINDS
from pipeline.collect.links import Link, linked, resolve, unresolved
from pipeline.collect.patterns import Patterns
from pipeline.collect.sources import Merged, Source, Unavailable, readable, require_usable
from pipeline.core.patches import is_picture, paths
from pipeline.core.records import Candidate, Evidence, Funnel, Issue, Rejection

#: the closed list of reasons, in the order of the funnel -> what it means to a person
REASONS = {
    "no_source_changes": "it changes tests only",
    "no_test_changes": "it changes no test file, so nothing can tell whether a patch is right",
    "revert": "it reverts another pull request",
    "bot": "a program opened it",
    "bump": "it only changes versions, of dependencies or its own",
    "no_a11y_evidence": "no accessibility pattern matches its title, body or labels, or those of its issues",
    "base_missing": "its base commit, its merge commit or one of their files is missing",
    "not_utf8": "a text file in its diff, or the name of a file, is not UTF-8",
    "unsafe_path": "it changes a file with an unsafe path, which leaves the folder or is git's own",
    "too_large": "GitHub does not give such a large diff; a clone does",
    "binary": "its diff leaves out the content of a binary file; a clone has it",
    "spread": "its merge commit holds only a part of it (it was rebased onto the branch commit by commit)",
    "excluded": "somebody excluded it (a11y-bench decide REPO --list)",
}
#: reasons that can pass: the clone may get what it lacks, and has what GitHub does not give
PASSING = ("base_missing", "too_large", "binary")
#: reasons that are checked before a pull request counts as one with tests
_UNTESTED = ("no_source_changes", "no_test_changes")


class Sifted(NamedTuple):
    """A pull request with its outcome, and what led to it."""

    merged: Merged
    outcome: Candidate | Rejection
    links: tuple[Link, ...] = ()
    issues: tuple[Issue, ...] = ()
    evidence: tuple[Evidence, ...] = ()


def sift(source: Source, pulls: Sequence[Merged], patterns: Patterns, chosen: Collection[int] = ()) -> Iterator[Sifted]:
    """Decide on a page of pull requests; those in `chosen` are taken whatever the filters say.

    The issues of the whole page are fetched at once, and all its texts are searched at once.
    """
    tested = []
    for merged in pulls:
        reason = _reason(merged, patterns)
        if reason and merged.pull.number not in chosen:
            yield Sifted(merged, _reject(merged, reason, "; ".join(merged.files[:5])))
        else:
            tested.append(merged)
    related = list(_related(source, tested, patterns))
    matches_of_each = evidence([(merged.pull, issues) for merged, _, issues in related], patterns)
    for (merged, links, issues), matches in zip(related, matches_of_each, strict=True):
        filters = _filters(merged, patterns) | {"no_a11y_evidence": bool(matches)}
        outcome = _decide(source, merged, issues, matches, filters, merged.pull.number in chosen)
        yield Sifted(merged, outcome, links, issues, matches)


def _related(
    source: Source, pulls: Sequence[Merged], patterns: Patterns
) -> Iterator[tuple[Merged, tuple[Link, ...], tuple[Issue, ...]]]:
    """Each pull request with its links and its issues."""
    unresolved_links = [unresolved(merged, patterns) for merged in pulls]
    numbers = sorted({number for references in unresolved_links for number in references.numbers})
    answers = source.issues(numbers) if numbers else {}
    for merged, references in zip(pulls, unresolved_links, strict=True):
        links = tuple(resolve(references, answers))
        yield merged, links, linked(merged, links, answers)


def _reason(merged: Merged, patterns: Patterns) -> str:
    """The first of these filters that it does not pass; empty for none. It has lines but no files if GitHub cannot list
    its files."""
    if not merged.files and (merged.added or merged.removed):
        return "too_large"
    return next((reason for reason, passed in _filters(merged, patterns).items() if not passed), "")


def _filters(merged: Merged, patterns: Patterns) -> dict[str, bool]:
    """The filters that need no issues: reason -> whether the pull request passes."""
    sources = [path for path in merged.files if not patterns.tests(path)]
    kinds = {reason: merged.chosen or not is_kind(merged.pull, sources) for reason, is_kind in KINDS.items()}
    return _path_filters(merged, patterns) | kinds


def _path_filters(merged: Merged, patterns: Patterns) -> dict[str, bool]:
    """The filters of paths. If the source gives the patches, they decide which files are tests. Pictures are none,
    unless the pull request was chosen for them."""
    if merged.patches:
        tests, has_sources = paths(merged.patches.test), bool(merged.patches.fix)
    else:
        tests = list(filter(patterns.tests, merged.files))
        has_sources = len(tests) < len(merged.files)
    return {
        "no_source_changes": has_sources,
        "no_test_changes": any(merged.chosen or not is_picture(path) for path in tests),
    }


def _decide(
    source: Source,
    merged: Merged,
    issues: tuple[Issue, ...],
    matches: tuple[Evidence, ...],
    filters: dict[str, bool],
    chosen: bool,
) -> Candidate | Rejection:
    if not (matches or chosen or merged.chosen):
        return _reject(merged, "no_a11y_evidence", "; ".join(merged.files[:5]), issues)
    try:
        patches = source.patches(merged)
        require_usable(patches)
    except Unavailable as error:
        return _reject(merged, error.reason, error.detail, issues)
    return Candidate(
        **merged.pull.model_dump(exclude={"resolved_issues", "base"}),
        base=merged.pull.base.model_copy(update={"sha": patches.base}),
        resolved_issues=issues,
        fix_patch=patches.fix,
        test_patch=patches.test,
        a11y_reason=matches,
        statement_source="issue" if issues else "pull_request",
        chosen_by_hand=chosen,
        filters=filters,
    )


def _reject(merged: Merged, reason: str, detail: str, issues: Iterable[Issue] = ()) -> Rejection:
    numbers = tuple(issue.number for issue in issues)
    name, shown = merged.pull.instance_id, readable(detail)
    return Rejection(instance_id=name, stage="collect", reason=reason, detail=shown, issues=numbers)


def counts(repo: str, outcomes: Iterable[Candidate | Rejection]) -> Funnel:
    """The repository's row of the thesis's table 4.1."""
    row = dict.fromkeys(("total", "tests", "a11y", "issues", "sample", "without_issue"), 0)
    for outcome in outcomes:
        for column in _columns(outcome):
            row[column] += 1
    return Funnel(repo=repo, **row)


def _columns(outcome: Candidate | Rejection) -> Iterator[str]:
    """The columns of table 4.1 that count this outcome."""
    yield "total"
    if isinstance(outcome, Rejection):
        yield from () if outcome.reason in _UNTESTED else ("tests", "issues") if outcome.issues else ("tests",)
        return
    if outcome.fix_patch and outcome.test_patch:
        yield "tests"
    if any(not match.field.startswith("issue ") for match in outcome.a11y_reason):
        yield "a11y"
    yield from ("issues", "sample") if outcome.resolved_issues else ("without_issue",)
