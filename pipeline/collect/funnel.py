"""The funnel: every pull request that is looked at ends as a candidate or as a rejection with its reason.

The order is the seed's: source changes, test changes, evidence (docs/rules.md, Mining).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import git

from pipeline.collect.evidence import evidence, references
from pipeline.collect.history import Merged
from pipeline.core.git import diff, has_commit
from pipeline.core.patches import is_test_file
from pipeline.core.records import Candidate, Funnel, Issue, Rejection

#: the closed list of reasons, in the order of the funnel -> what it means to a person
REASONS = {
    "no_source_changes": "it changes tests only",
    "no_test_changes": "it changes no test file, so nothing can tell whether a patch is right",
    "no_a11y_evidence": "no accessibility pattern matches its title, body or labels, or those of its issues",
    "base_missing": "the clone lacks its base commit or one of its files",
    "not_utf8": "a text file in its diff is not UTF-8",
}


def sift(
    clone: git.Repo, merged: Merged, issues: Mapping[int, Issue], *, chosen: bool = False
) -> Candidate | Rejection:
    """Decide on one pull request; `chosen` takes it whatever the filters say."""
    linked = tuple(issues[number] for number in references(merged.pull) if number in issues)
    found = evidence(merged.pull, linked)
    tests = [path for path in merged.files if is_test_file(path)]
    sources = [path for path in merged.files if not is_test_file(path)]
    filters = {
        "no_source_changes": bool(sources),
        "no_test_changes": bool(tests),
        "no_a11y_evidence": bool(found),
    }
    failed = next((reason for reason, passed in filters.items() if not passed), None)
    if failed and not chosen:
        return _reject(merged, failed, "; ".join(merged.files[:5]), linked)
    base, merge = merged.pull.base.sha, merged.pull.merge_sha
    if not has_commit(clone, base):
        return _reject(merged, "base_missing", base, linked)
    try:
        fix_patch, test_patch = diff(clone, base, merge, sources), diff(clone, base, merge, tests)
    except UnicodeDecodeError as error:
        return _reject(merged, "not_utf8", str(error), linked)
    except git.GitCommandError as error:
        return _reject(merged, "base_missing", str(error.stderr).strip(), linked)
    return Candidate(
        **merged.pull.model_dump(exclude={"resolved_issues"}),
        resolved_issues=linked,
        fix_patch=fix_patch,
        test_patch=test_patch,
        a11y_reason=found,
        statement_source="issue" if linked else "pull_request",
        chosen_by_hand=chosen,
        filters=filters,
    )


def _reject(merged: Merged, reason: str, detail: str, linked: Iterable[Issue] = ()) -> Rejection:
    numbers = tuple(issue.number for issue in linked)
    return Rejection(instance_id=merged.pull.instance_id, stage="collect", reason=reason, detail=detail, issues=numbers)


def counts(repo: str, candidates: Iterable[Candidate], rejections: Iterable[Rejection]) -> Funnel:
    """The repository's row of the seed's table 4.1."""
    candidates, rejections = list(candidates), list(rejections)
    tested = [one for one in rejections if one.reason not in ("no_source_changes", "no_test_changes")]
    untested = sum(not (one.fix_patch and one.test_patch) for one in candidates)
    with_issue = [c for c in candidates if c.resolved_issues]
    in_pull = [c for c in candidates if any(not e.field.startswith("issue ") for e in c.a11y_reason)]
    return Funnel(
        repo=repo,
        total=len(candidates) + len(rejections),
        tests=len(candidates) - untested + len(tested),
        a11y=len(in_pull),
        issues=len(with_issue) + sum(bool(one.issues) for one in tested),
        sample=len(with_issue),
        without_issue=len(candidates) - len(with_issue),
    )
