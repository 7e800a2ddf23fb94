"""The funnel: every pull request ends as a candidate or as a rejection with its reason.

The order is the thesis's (docs/thesis.md): source and test changes (paths come with the pull request, so no issue is
fetched where they are missing), pull requests that are no person's work, issues, evidence, and last the patches
(docs/rules.md, Mining).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from pipeline.collect.evidence import evidence
from pipeline.collect.kinds import KINDS
from pipeline.collect.links import Link, linked, resolve, wanted
from pipeline.collect.patterns import Patterns
from pipeline.collect.sources import Merged, Source, Unavailable
from pipeline.core.records import Candidate, Evidence, Funnel, Issue, Rejection

#: the closed list of reasons, in the order of the funnel -> what it means to a person
REASONS = {
    "no_source_changes": "it changes tests only",
    "no_test_changes": "it changes no test file, so nothing can tell whether a patch is right",
    "revert": "it takes back another one",
    "bot": "a program opened it",
    "bump": "it moves versions: of dependencies, or its own",
    "no_a11y_evidence": "no accessibility pattern matches its title, body or labels, or those of its issues",
    "base_missing": "its base commit, its merge commit or one of their files is missing",
    "not_utf8": "a text file in its diff is not UTF-8",
    "unsafe_path": "it changes a file that may stand on no disk (its path leaves the folder, or is git's own)",
    "too_large": "GitHub does not give so large a diff; a clone does",
    "binary": "GitHub leaves out the content of its binary files; a clone has it",
    "spread": "its merge commit does not hold all of it (rebased onto the branch commit by commit)",
    "excluded": "somebody took it out (a11y-bench decide REPO --list)",
}
#: reasons that come before a pull request counts as one with tests
_UNTESTED = ("no_source_changes", "no_test_changes")


class Sifted(NamedTuple):
    """What became of a pull request, and why."""

    merged: Merged
    outcome: Candidate | Rejection
    links: tuple[Link, ...] = ()
    issues: tuple[Issue, ...] = ()
    evidence: tuple[Evidence, ...] = ()


def sift(source: Source, pulls: Sequence[Merged], patterns: Patterns, chosen: Collection[int] = ()) -> Iterator[Sifted]:
    """Decide on a page of pull requests; `chosen` numbers are taken whatever the filters say.

    The issues of the whole page are asked for at once, and all its texts are searched at once.
    """
    tested = []
    for one in pulls:
        reason = next((reason for reason, passed in _filters(one, patterns).items() if not passed), "")
        if reason and one.pull.number not in chosen:
            yield Sifted(one, _reject(one, reason, "; ".join(one.files[:5])))
        else:
            tested.append(one)
    related = list(_related(source, tested, patterns))
    found = evidence([(one.pull, issues) for one, _, issues in related], patterns)
    for (one, links, issues), each in zip(related, found, strict=True):
        filters = _filters(one, patterns) | {"no_a11y_evidence": bool(each)}
        outcome = _decide(source, one, issues, each, filters, one.pull.number in chosen)
        yield Sifted(one, outcome, links, issues, each)


def _related(
    source: Source, pulls: Sequence[Merged], patterns: Patterns
) -> Iterator[tuple[Merged, tuple[Link, ...], tuple[Issue, ...]]]:
    """Each pull request with its links and its issues."""
    asked = [wanted(one, patterns) for one in pulls]
    numbers = sorted({number for each in asked for number in each.numbers})
    found = source.issues(numbers) if numbers else {}
    for one, each in zip(pulls, asked, strict=True):
        links = tuple(resolve(each, found))
        yield one, links, linked(one, links, found)


def _filters(merged: Merged, patterns: Patterns) -> dict[str, bool]:
    """What the filters say of a pull request before its issues are known: reason -> whether it passes."""
    kinds = {reason: merged.chosen or not told(merged.pull) for reason, told in KINDS.items()}
    return _path_filters(merged, patterns) | kinds


def _path_filters(merged: Merged, patterns: Patterns) -> dict[str, bool]:
    """What the paths say; a source that brings the test patch along has said which files are tests."""
    if merged.patches:
        return {"no_source_changes": bool(merged.patches.fix), "no_test_changes": bool(merged.patches.test)}
    tests = sum(map(patterns.tests, merged.files))
    return {"no_source_changes": tests < len(merged.files), "no_test_changes": bool(tests)}


def _decide(
    source: Source,
    merged: Merged,
    issues: tuple[Issue, ...],
    found: tuple[Evidence, ...],
    filters: dict[str, bool],
    chosen: bool,
) -> Candidate | Rejection:
    if not (found or chosen or merged.chosen):
        return _reject(merged, "no_a11y_evidence", "; ".join(merged.files[:5]), issues)
    try:
        patches = source.patches(merged)
    except Unavailable as error:
        return _reject(merged, error.reason, error.detail, issues)
    return Candidate(
        **merged.pull.model_dump(exclude={"resolved_issues", "base"}),
        base=merged.pull.base.model_copy(update={"sha": patches.base}),
        resolved_issues=issues,
        fix_patch=patches.fix,
        test_patch=patches.test,
        a11y_reason=found,
        statement_source="issue" if issues else "pull_request",
        chosen_by_hand=chosen,
        filters=filters,
    )


def _reject(merged: Merged, reason: str, detail: str, issues: Iterable[Issue] = ()) -> Rejection:
    numbers = tuple(issue.number for issue in issues)
    return Rejection(instance_id=merged.pull.instance_id, stage="collect", reason=reason, detail=detail, issues=numbers)


def counts(repo: str, outcomes: Iterable[Candidate | Rejection]) -> Funnel:
    """The repository's row of the thesis's table 4.1."""
    row = dict.fromkeys(("total", "tests", "a11y", "issues", "sample", "without_issue"), 0)
    for one in outcomes:
        for column in _columns(one):
            row[column] += 1
    return Funnel(repo=repo, **row)


def _columns(one: Candidate | Rejection) -> Iterator[str]:
    """The columns of table 4.1 that count this one."""
    yield "total"
    if isinstance(one, Rejection):
        yield from () if one.reason in _UNTESTED else ("tests", "issues") if one.issues else ("tests",)
        return
    if one.fix_patch and one.test_patch:
        yield "tests"
    if any(not each.field.startswith("issue ") for each in one.a11y_reason):
        yield "a11y"
    yield from ("issues", "sample") if one.resolved_issues else ("without_issue",)
