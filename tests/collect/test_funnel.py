"""The funnel: every pull request ends as a candidate, or with a reason from a closed list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from factories import REPO, make_candidate, make_rejection
from histories import Content, History

from pipeline.collect.funnel import REASONS, Sifted, counts, sift
from pipeline.collect.patterns import shipped
from pipeline.collect.sources import Merged
from pipeline.collect.sources.clone import CloneSource
from pipeline.core.records import Candidate, Evidence, Issue, Rejection

SOURCE, TEST = {"src/Menu.tsx": "two\n"}, {"src/Menu.test.tsx": "test\n"}
ISSUE = Issue(number=10, title="Menu has no name", body="Nobody can tell what it is.")
#: the filters' results that each candidate keeps, in order
FILTERS = ("no_source_changes", "no_test_changes", "revert", "bot", "bump", "no_a11y_evidence")


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "clone")
    made.commit("first", {"src/Menu.tsx": "one\n"})
    return made


def last(history: History, message: str, files: dict[str, Content], *, chosen: bool = False) -> Candidate | Rejection:
    """The result for a pull request with this message and these files."""
    history.commit(message, files)
    return decide(history, chosen=chosen).outcome


def decide(history: History, *, chosen: bool = False, issue: Issue = ISSUE, **changes: Any) -> Sifted:
    """The result for the newest pull request, after `changes` to the source's record of it."""
    source = CloneSource(REPO, history.folder)
    source.texts = {issue.number: issue}
    newest = next(source.pages("")).pulls[0]._replace(**changes)
    return next(sift(source, [newest], shipped(), {newest.pull.number} if chosen else ()))


def newest(history: History) -> Merged:
    return next(CloneSource(REPO, history.folder).pages("")).pulls[0]


@pytest.mark.rule("funnel")
def test_a_candidate_has_both_patches_and_evidence(history: History) -> None:
    found = last(history, "Add aria-label (#12)", SOURCE | TEST)
    assert isinstance(found, Candidate)
    assert "src/Menu.tsx" in found.fix_patch and "Menu.test.tsx" not in found.fix_patch
    assert "src/Menu.test.tsx" in found.test_patch and "Menu.tsx" not in found.test_patch
    assert found.a11y_reason and not found.chosen_by_hand
    assert found.filters == dict.fromkeys(FILTERS, True)


@pytest.mark.rule("funnel")
@pytest.mark.rule("screenshots-are-no-tests")
@pytest.mark.parametrize(
    ("message", "files", "reason", "detail"),
    [
        ("Test aria (#1)", TEST, "no_source_changes", "src/Menu.test.tsx"),
        ("Add aria (#1)", SOURCE, "no_test_changes", "src/Menu.tsx"),
        (
            "Add aria (#1)",
            SOURCE | {"e2e/__screenshots__/a.png": b"\x89"},
            "no_test_changes",
            "e2e/__screenshots__/a.png",
        ),
        ("Add a name (#1)", SOURCE | TEST, "no_a11y_evidence", "src/Menu.test.tsx; src/Menu.tsx"),
        ("Aria (#1)", TEST | {"src/Menu.tsx": b"caf\xe9\n"}, "not_utf8", "byte 0xe9"),
        ("Nothing (#1)", {}, "no_source_changes", ""),
        ('Revert "Add aria (#7)" (#1)', SOURCE | TEST, "revert", "src/Menu.test.tsx"),
        ("Take aria back (#1)\n\nThis reverts commit 0123456789.", SOURCE | TEST, "revert", "src/Menu.test.tsx"),
        ("Bump react-aria from 3.1.0 to 3.2.0 (#1)", TEST | {"yarn.lock": "2"}, "bump", "yarn.lock"),
        ("chore(deps): update the aria tests (#1)", TEST | {"package.json": "{}"}, "bump", "package.json"),
    ],
)
def test_every_rejection_has_its_reason(
    history: History, message: str, files: dict[str, Content], reason: str, detail: str
) -> None:
    found = last(history, message, files)
    assert isinstance(found, Rejection)
    assert (found.instance_id, found.stage, found.reason) == ("acme__ui-1", "collect", reason)
    assert reason in REASONS
    assert detail in found.detail


@pytest.mark.invariant(7)
def test_content_missing_in_the_clone_is_a_rejection_reason(history: History) -> None:
    """A clone may lack single files or a commit; one broken pull request never stops a batch."""
    history.commit("Aria (#1)", SOURCE | TEST)
    history.lose("HEAD~1", "src/Menu.tsx")
    found = decide(history).outcome
    assert isinstance(found, Rejection)
    assert found.reason == "base_missing"
    assert "unable to read" in found.detail


@pytest.mark.invariant(7)
def test_a_base_missing_in_the_clone_is_a_rejection_reason(history: History) -> None:
    history.commit("Aria (#1)", SOURCE | TEST)
    pull = newest(history).pull
    gone = pull.model_copy(update={"base": pull.base.model_copy(update={"sha": "0" * 40})})
    found = decide(history, pull=gone).outcome
    assert isinstance(found, Rejection)
    assert (found.reason, found.detail) == ("base_missing", "0" * 40)


@pytest.mark.rule("chosen-by-hand")
def test_a_pull_request_chosen_by_hand_records_the_filters_decision(history: History) -> None:
    """`--pr N` takes it whatever the filters decide, and records their decision, so that tables can leave it out."""
    found = last(history, "Rename (#1)", SOURCE, chosen=True)
    assert isinstance(found, Candidate)
    assert found.chosen_by_hand
    assert found.filters == dict.fromkeys(FILTERS, True) | {"no_test_changes": False, "no_a11y_evidence": False}
    assert (found.test_patch, found.a11y_reason) == ("", ())


@pytest.mark.rule("statement-source")
def test_the_statement_is_the_issue_if_its_text_is_known(history: History) -> None:
    """A number without a text is no issue: the pull request's own text is used, and marked as such."""
    linked = last(history, "Aria (#1)\n\nFixes #10", SOURCE | TEST)
    assert isinstance(linked, Candidate)
    assert (linked.statement_source, linked.resolved_issues) == ("issue", (ISSUE,))
    own = last(history, "Aria again (#2)\n\nFixes #11", {"src/Menu.tsx": "3\n", "src/Menu.test.tsx": "3\n"})
    assert isinstance(own, Candidate)
    assert (own.statement_source, own.resolved_issues) == ("pull_request", ())


def test_evidence_in_the_issue_is_enough(history: History) -> None:
    found = last(history, "Name the menu (#1)\n\nFixes #10", SOURCE | TEST)
    assert isinstance(found, Rejection)
    issue = ISSUE.model_copy(update={"title": "a11y: menu has no name"})
    found = decide(history, issue=issue).outcome
    assert isinstance(found, Candidate)
    assert {evidence.field for evidence in found.a11y_reason} == {"issue 10 title"}


@pytest.mark.rule("table-4.1")
def test_counts_add_up() -> None:
    """Everything that was looked at is a candidate or a rejection; the Sample stage counts candidates with an issue."""
    in_issue = Evidence(field="issue 1 title", pattern="a11y", text="a11y", place=0)
    candidates = [
        make_candidate(1),
        make_candidate(2, resolved_issues=(), statement_source="pull_request"),
        make_candidate(3, a11y_reason=(in_issue,)),
    ]
    rejections = [
        make_rejection(number, stage="collect", reason=reason, issues=(7,) if reason == "no_a11y_evidence" else ())
        for number, reason in enumerate(REASONS, 4)
    ]
    row = counts("acme/ui", [*candidates, *rejections])
    assert row.total == len(candidates) + len(rejections) == 3 + len(REASONS)
    assert row.tests == row.total - 2
    assert row.sample + row.without_issue == len(candidates)
    assert (row.a11y, row.sample, row.issues) == (2, 2, 3)


def test_counts_of_an_empty_collection_are_zero() -> None:
    assert set(counts("acme/ui", []).model_dump(exclude={"repo"}).values()) == {0}


class NoNetwork(CloneSource):
    """A source that must not be asked for issues."""

    def issues(self, numbers: Any) -> Any:
        raise AssertionError(f"asked for {numbers}")


@pytest.mark.rule("funnel")
def test_issues_are_not_requested_without_tests(history: History) -> None:
    """The thesis's order: paths come with the pull request, issues cost requests."""
    history.commit("Aria (#1)\n\nFixes #10", SOURCE)
    source = NoNetwork(REPO, history.folder)
    (decision,) = sift(source, next(source.pages("")).pulls, shipped())
    assert decision.outcome.reason == "no_test_changes"


@pytest.mark.rule("linked-issues")
def test_every_reference_is_kept_with_its_state(history: History) -> None:
    """GitHub's own links are listed beside those in texts; references that lead nowhere are dropped with a reason."""
    history.commit("Aria (#1)\n\nFixes #10, #11 and other/lib#12. See other/lib#13", SOURCE | TEST)
    found = decide(history, closing=(10,), closing_elsewhere=("other/app#3",))
    assert {(link.reference, link.origin, link.state) for link in found.links} == {
        ("#10", "keyword", "issue"),
        ("#11", "keyword", "unknown"),
        ("other/lib#12", "keyword", "elsewhere"),
        ("other/lib#13", "text", "elsewhere"),
        ("#10", "closing", "issue"),
        ("other/app#3", "closing", "elsewhere"),
    }
    assert found.outcome.resolved_issues == (ISSUE,)


@pytest.mark.rule("closing-links")
@pytest.mark.parametrize(
    ("body", "closing_elsewhere", "expected"),
    [
        ("Like #11. Fixes #10", (), [10]),
        ("Related to #11", (), [11]),
        ("Like #11, see #10", (), [10, 11]),
        ("Fixes #9. Related to #11", (), []),
        ("Closes other/lib#10. Similar to #10, #11", (), []),
        ("Closes https://github.com/other/lib/issues/10, like #11", (), []),
        ("Fixes other/lib#10 and #10. Like #11", (), [10]),
        ("See other/lib#10 and #11", (), [11]),
        ("Similar to #11", ("other/app#3",), []),
    ],
)
def test_the_statement_consists_of_closed_issues(
    history: History, body: str, closing_elsewhere: tuple[str, ...], expected: list[int]
) -> None:
    """A merely mentioned issue is no task, even if the closed one is unknown or in another repository."""
    history.commit(f"Aria (#1)\n\n{body}", SOURCE | TEST)
    source = CloneSource(REPO, history.folder)
    source.texts = {10: ISSUE, 11: Issue(number=11, title="Something else")}
    pulls = [merged._replace(closing_elsewhere=closing_elsewhere) for merged in next(source.pages("")).pulls]
    (found,) = sift(source, pulls, shipped())
    assert [issue.number for issue in found.outcome.resolved_issues] == expected
    assert found.outcome.statement_source == ("issue" if expected else "pull_request")


def test_an_issue_that_only_github_links_counts(history: History) -> None:
    history.commit("Aria (#1)", SOURCE | TEST)
    assert decide(history, closing=(10,)).outcome.resolved_issues == (ISSUE,)


def test_an_update_that_changes_code_is_a_candidate(history: History) -> None:
    assert isinstance(last(history, "fix(deps): find the aria label again (#1)", SOURCE | TEST), Candidate)
