"""References to issues, and words about accessibility in texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from factories import make_pull_request

from pipeline.collect.evidence import evidence
from pipeline.collect.patterns import Patterns, load_patterns, shipped
from pipeline.collect.references import references
from pipeline.core.errors import UserError
from pipeline.core.names import commit_number
from pipeline.core.records import Evidence, Issue, PullRequest


def refer(text: str, number: int = 99, title: str = "") -> list[int]:
    return list(references(make_pull_request(number, title=title, body=text)).here)


def look(pull: PullRequest, issues: Sequence[Issue] = (), patterns: Patterns | None = None) -> tuple[Evidence, ...]:
    """The evidence of one pull request."""
    (found,) = evidence([(pull, issues)], patterns)
    return found


def fields(title: str = "", body: str = "", labels: tuple[str, ...] = (), issues: tuple[Issue, ...] = ()) -> set[str]:
    return {one.field for one in look(make_pull_request(title=title, body=body, labels=labels), issues)}


@pytest.mark.trap("one-issue-per-keyword")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fixes #10 and Fixes #11", [10, 11]),
        ("Fixes #10, #11", [10, 11]),
        ("closes: #3\nResolves #4", [3, 4]),
        ("fixed for #5", [5]),
        ("Fixes 16", [16]),
        ("Fixes #10 and 11", [10, 11]),
        ("Fixes issues 10 and 11", [10, 11]),
        ("see also issue 7, PR #8", [8, 7]),
        ("#1 #1 #1", [1]),
        ("", []),
        ("no number here, #x", []),
    ],
)
def test_every_reference_counts(text: str, expected: list[int]) -> None:
    """`dict(findall)` keeps one issue per keyword: only 11 of "Fixes #10 and Fixes #11"."""
    assert sorted(refer(text)) == sorted(expected)


@pytest.mark.trap("references-by-url")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://github.com/acme/ui/issues/12", [12]),
        ("Fixes https://github.com/Acme/UI/issues/12.", [12]),
        ("https://github.com/acme/ui/pull/13/files#diff-99", [13]),
        ("(http://www.github.com/acme/ui/issues/14#issuecomment-777)", [14]),
        ("github.com/acme/ui/issues/15", [15]),
        ("fixes acme/ui#16", [16]),
        ("https://github.com/other/lib/issues/12", []),
        ("see www.github.com/other/lib/issues/12", []),
        ("see github.com/other/lib/pull/12", []),
        ("fixes other/lib#12", []),
        ("fixes my-acme/ui#12", []),
        ("https://gitlab.com/acme/ui/issues/12", []),
        ("https://www.w3.org/TR/wcag/#12", []),
        ("Fixes [#10](https://github.com/other/ui/issues/10)", []),
        ("Fixes [#10](https://issues.example.com/10), like [bug 11](/foo#10)", []),
        ('Fixes <a href="https://github.com/other/ui/issues/10">#10</a>', []),
        ('<a class="issue" href="https://github.com/acme/ui/issues/12"><b>#10</b></a>', [12]),
        ("[#10 and #11](https://github.com/acme/ui/issues/12)", [12]),
        ("[demo](/foo#10) and a/b#10", []),
        ("Merge pull request #10 from acme/fix/server#11/menu", [10]),
        ("Merge branch 'fix/server#11' into main, see #10", [10]),
        ("other/lib#1 and #2, https://github.com/other/lib/issues/3 and acme/ui#4", [2, 4]),
    ],
)
def test_references_by_address(text: str, expected: list[int]) -> None:
    """Other collectors miss URLs and `owner/repo#12`, or take another repository's number for this one's."""
    assert sorted(refer(text)) == expected


@pytest.mark.trap("link-in-a-comment")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<!-- Closes #123 -->\nFixes #10", [10]),
        ("Write `Fixes #123`.\n```\ncloses #124\n```\nFixes #10", [10]),
        ("> Fixes #123\n\nFixes #10", [10]),
        ('Like "Fixes #123"; fixes #10', [10]),
        ("- [ ] Closes #123\n- [x] Closes #10", [10]),
        ("The text is #336699 now, fixes #10", [10]),
        ("color: #333; background: #1234; fixes #10", [10]),
        ("from #333 to #777, on #fff, #000 and #333abc; fixes #10", [10]),
        ("#999999 on #123456, see #10", [10]),
        ("Fix the contrast of colors #12", [12]),
        ("Fixes #123 and #345", [123, 345]),
        ("Related: #123, issues: #124, #125 and #126", [123, 124, 125, 126]),
        ("Fixes #123; fixes #124", [123, 124]),
        ("Moved from #123, see #124 for colours", [124, 123]),
        ("Fixes #10,#11", [10, 11]),
        ("like #123; unlike #124", [123, 124]),
        ("border: 1px solid #333; fixes #10", [10]),
        ("Fixes #767", [767]),
        ("fixes 3 bugs", []),
        ("Fixes 2 of 3 problems, closes 50% of them, resolved 1.5 issues", []),
        ("bug 2 of 3, PR 1/2", []),
        ("#777 and #555 are grays of the palette", []),
        ("Contrast of #777 on white is 4.48:1, fixes #10", [10]),
        ("#777 -> #555, #10 -> #12", [10, 12]),
        ("change #777 to #555", []),
        ("Text (#333) on white", []),
        ("--color-text: #333; outline: 2px solid #345", []),
        ("fix focus outline #123", [123]),
        ("see the outline (#123)", [123]),
        ("like #123 on mobile, #124 to be sure", [123, 124]),
        ("Fixes 16.", [16]),
        ("Fixes 16 - Menu", [16]),
        ("It works (closes 16).", [16]),
        ("Fixes 16 and 17 tests", []),
        ("Fix 404 in charts", []),
        ("Fix 301", []),
        ("Fixes in 2024: fixed 2024", []),
        ("Diagnostic fix 2", []),
        ("Fix 5.x timeout, fix 24:XX time, fix 16:9 ratio", []),
        ("RTL fixes for 7-25, fixes: 5180.sfnt.pdf", []),
        ("Fixes 595 in other/lib", []),
        ("Fix 13 or more items", []),
        ("Fix 13 **bugs**, fix bug 14\u00a0times", []),
        ("a prefix 12, suffixes 13", []),
        ("GH-10", [10]),
        ("Fixes gh-10", [10]),
        ("&#39; &#8217;", []),
        ("#10px, #11th, #12-a", []),
        ("Fixes:\n1. Focus order\n2. Tab order", []),
        ("Fixes\r\n\r\n  1) Focus order\r\n  2) Tab order", []),
        ("Fixes:\n#1. Focus order\n#2) Tab order", []),
        ("See\n#123. Or so it seems", [123]),
        ("Fixes\n12\nor 13", [12]),
        ("Fixes 12. And 13) too", [12]),
        ("Fixed 2024-01-05, closed 2024/1/5, resolved #2024-1-5", []),
        ("Fixes #12-13", [12]),
    ],
)
def test_comments_code_quotations_and_colors_are_no_references(text: str, expected: list[int]) -> None:
    """Template comments, code, quotations, colors and counts were taken for the task's issue."""
    assert refer(text, number=400) == expected


@pytest.mark.rule("closing-links")
@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("Fixes #10", (10,)),
        ("See #10", ()),
        ("<!-- Paste between\n```\nhere -->\nCloses #10", (10,)),
        ("Closes #10, #11 and #12; like #13", (10, 11, 12)),
        ("Resolves: #10 & #11, see #12", (10, 11)),
        ("Fixes https://github.com/acme/ui/issues/10, acme/ui#11", (10, 11)),
        ("closes issue 10", (10,)),
        ("Closes [#10](https://github.com/acme/ui/issues/10)", (10,)),
        ("fixes GH-10", (10,)),
        ("Fixes other/lib#10 and #11", (11,)),
        ("discloses #10, prefix #11", ()),
        ("**Fixes** #10", (10,)),
        ("**Fixes:** #10", (10,)),
        ("*Closes*: **#10**, **#11** and #12", (10, 11, 12)),
        ("**Resolves #10**", (10,)),
        ("_fixes_ #10", (10,)),
        ("my_fix #10, fix_me #11, fix-#12", ()),
        ("Fixes [#10](https://github.com/acme/ui/issues/10), [#11](https://github.com/acme/ui/issues/11)", (10, 11)),
        ("Fixes [the menu](https://github.com/acme/ui/issues/10)", (10,)),
        ("Closes [this issue](https://github.com/acme/ui/issues/10) and #11", (10, 11)),
        ("[Fixes #10](https://github.com/acme/ui/issues/10)", (10,)),
        ("Fixes #[10](https://github.com/acme/ui/issues/10)", (10,)),
        ('Fixes <a href="https://github.com/acme/ui/issues/10">the menu</a>', (10,)),
        ("Fixes #10 #11", (10, 11)),
        ("Fixes #10 and 11", (10, 11)),
        ("Fixes issues 10 and 11", (10, 11)),
        ("Fixes GitHub issue #10, closes ticket #11", (10, 11)),
        ("Fixes:\n- #10 in menus\n- #11\n\nSee\n- #12", (10, 11)),
        ("Fixes #10 in menus\n- #11", (10,)),
        ("Fixes - #10", (10,)),
        ("| Fixed tickets | #10, #11 |\n| See | #12 |", (10, 11)),
        ("* a11y fixes (#10)\n\n* Button to close ([#11](https://github.com/acme/ui/pull/11))", ()),
        ("* Menu fix, closes #10 (#11)", (10,)),
        ("This fixes (#10) and more", (10,)),
        ("Revert fix for #10, add a TODO to fix issue #11, does not close #12", ()),
        ("Fixes #10\r\nCloses: #11\r\n\r\nSee #12", (10, 11)),
        ("fixes\u00a0#10", (10,)),
        (
            "Fixes https://github.com/acme/ui/issues/10#issuecomment-1, and https://github.com/acme/ui/issues/11/",
            (10, 11),
        ),
        ("Fixes https://github.com/acme/ui/issues/10?tab=1 & acme/UI#11.", (10, 11)),
    ],
)
def test_a_keyword_closes_all_references_of_its_list(text: str, closed: tuple[int, ...]) -> None:
    """A keyword closes the reference after it, and all others in the same list."""
    assert references(make_pull_request(99, title="", body=text)).closed == closed


@pytest.mark.rule("closing-links")
def test_the_number_that_ends_a_title_is_not_closed() -> None:
    """It is the number of a pull request that was merged before, on another branch."""
    found = references(make_pull_request(99, title="Menu fix (#10)", body="Fixes (#11)"))
    assert (found.here, found.closed) == ((11, 10), (11,))


@pytest.mark.parametrize(
    ("number", "expected"), [(400, ()), (commit_number("f" * 13), (234567,))], ids=["pull request", "commit"]
)
def test_large_numbers_are_colors(number: int, expected: tuple[int, ...]) -> None:
    """Numbers of commits are larger than any color. They do not show how many issues there are, but a keyword does."""
    body = "Links are now #336699, not #33669980. Fixes #234567"
    assert references(make_pull_request(number, title="", body=body)).here == expected


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", ["[#1](", "#1 and ", "a #123 ", "a/b#1/", "<a href=", "<a>", "-/"])
def test_a_repetitive_text_is_read_in_little_time(text: str) -> None:
    """Lines of a megabyte took up to a minute, since each reference was looked for in all of its line."""
    assert 5 in references(make_pull_request(99, title="", body="see #5\n" + text * 10_000 + "x" * 3_000_000)).here


@pytest.mark.rule("closing-links")
def test_references_to_other_repositories_can_be_closing() -> None:
    body = "Fixes #10 and other/lib#11, like other/lib#12. Closes https://github.com/other/app/issues/13"
    found = references(make_pull_request(99, title="", body=body))
    assert found.elsewhere == ("other/lib#11", "other/app#13", "other/lib#12")
    assert found.closed_elsewhere == ("other/lib#11", "other/app#13")


def test_a_pull_request_does_not_refer_to_itself() -> None:
    assert refer("Fixes #10, see #12", number=12) == [10]
    assert refer("", title="Backport of #9") == [9]


def test_closed_issues_come_first() -> None:
    """The first issue of a task is its main one."""
    assert refer("Like #1, see #2.\n\nFixes #3") == [3, 2, 1]
    assert refer("Like #1 and #3, see #2.\n\nFixes #3. More on #3") == [3, 2, 1]


@pytest.mark.rule("evidence")
def test_evidence_has_field_pattern_text_and_position() -> None:
    found = look(make_pull_request(title="Menu: ARIA", body="", labels=()))
    assert found == (Evidence(field="title", pattern=r"\baria\b", text="ARIA", place=6),)


@pytest.mark.rule("prose")
@pytest.mark.parametrize(
    "body",
    [
        "## Accessibility\n\n## Tests\n\nA lot",
        "- [ ] I tried it with a screen reader",
        "<!-- Did you check the color contrast ratio? -->",
        "```\nfocus trap\n```",
        "> missing alt text",
        "Uses React Aria and @react-aria/focus.",
    ],
)
def test_template_text_is_no_evidence(body: str) -> None:
    """Nor are code, quotations, and libraries that merely have such a name."""
    assert fields(title="Rename", body=body) == set()


def test_evidence_after_blanked_text_keeps_its_position() -> None:
    body = "<!-- a11y -->\nThe `Menu` has a focus trap"
    (found,) = {(one.text, one.place) for one in look(make_pull_request(title="", body=body, labels=()))}
    assert found == ("focus trap", body.index("focus trap"))


@pytest.mark.rule("seed-patterns")
def test_the_thesiss_patterns_are_kept() -> None:
    """`--patterns seed`: words about accessibility, references to issues, and names of test files."""
    thesis, pull = load_patterns(Path("seed")), make_pull_request(title="Fix the focus of Menu", body="", labels=())
    assert look(pull) and not look(pull, (), thesis)
    assert look(make_pull_request(title="Improve accessibility", labels=()), (), thesis)
    assert [shipped().tests(path) for path in ("src/Menu-test.js", "src/Menu.test.js")] == [True, True]
    assert [thesis.tests(path) for path in ("src/Menu-test.js", "src/Menu.test.js")] == [False, True]


@pytest.mark.rule("evidence")
def test_every_match_is_kept() -> None:
    """Raters are shown everything that convinced the filter."""
    issue = Issue(number=5, title="a11y", body="No keyboard support", labels=("accessibility",))
    pull = make_pull_request(title="aria", body="Improve accessibility, missing alt text", labels=("a11y",))
    places = [(one.field, one.text, one.place) for one in look(pull, [issue])]
    assert {
        ("title", "aria", 0),
        ("body", "Improve accessibility", 0),
        ("body", "missing alt text", 23),
        ("label", "a11y", 0),
        ("issue 5 title", "a11y", 0),
        ("issue 5 body", "keyboard support", 3),
        ("issue 5 label", "accessibility", 0),
    } <= set(places)
    order = [field for field, *_ in places]
    assert order.index("body") < order.index("label") < order.index("issue 5 title")


@pytest.mark.rule("evidence")
def test_evidence_on_a_page_is_kept_apart() -> None:
    """No match spans two texts, and an issue that two pull requests share is evidence for both."""
    issue = Issue(number=5, title=" trap", body="aria label for", labels=("wcag", "bug", "a11y"))
    half = make_pull_request(title="focus ", body="focus ", labels=("focus-",))
    pulls = (half, make_pull_request(title="trap, aria", body="trap\nfocus trap", labels=("trap", "aria")), half)
    page = [(pull, issues) for pull in pulls for issues in ((), (issue,), (Issue(number=6, title="ARIA"), issue))]
    found = evidence(page)
    assert found == [look(pull, issues) for pull, issues in page]
    assert [[one.field for one in each] for each in found[:2]] == [[], ["issue 5 body", *["issue 5 label"] * 2]]
    assert evidence([]) == []


@pytest.mark.rule("label-patterns")
def test_label_patterns_hold_for_labels_and_titles() -> None:
    """A clone has no labels; the bare word `aria` counts in a title but not in a body."""
    assert fields(title="aria") == {"title"}
    assert fields(labels=("aria",)) == {"label"}
    assert fields(body="aria") == set()
    assert fields(issues=(Issue(number=5, title="wcag"),)) == {"issue 5 title"}


@pytest.mark.rule("text-patterns")
@pytest.mark.parametrize(
    "text", ["color contrast ratio", "screen reader support", "focus trap", "WCAG 2.1", "Keyboard navigation"]
)
def test_text_patterns_hold_for_titles_and_bodies(text: str) -> None:
    assert fields(title=text) >= {"title"}
    assert fields(body=text) == {"body"}


@pytest.mark.parametrize(
    "text", ["Bump malaria to 2.0", "variable names", "label printer", "contrast of opinions", "tabular"]
)
def test_similar_words_are_no_evidence(text: str) -> None:
    assert fields(title=text, body=text) == set()


@pytest.mark.trap("references-by-url")
def test_references_elsewhere_are_kept_apart() -> None:
    """They are dropped with a reason: not taken for this repository's, and not forgotten."""
    text = "Fixes other/lib#1, https://github.com/other/lib/issues/2 and acme/ui#3, again other/lib#1"
    found = references(make_pull_request(99, title="", body=text))
    assert (found.here, found.elsewhere) == ((3,), ("other/lib#1", "other/lib#2"))


@pytest.mark.trap("references-by-url")
def test_references_to_another_name_of_the_repository_are_its_own() -> None:
    text = "Fixes Acme/Design#1, https://github.com/acme/design/issues/2, acme/ui#3 and other/design#4"
    found = references(make_pull_request(99, title="", body=text), names=("acme/design",))
    assert (found.closed, found.closed_elsewhere) == ((1, 2, 3), ("other/design#4",))


@pytest.mark.parametrize("text", ["#0", "#99999999999999", "#" + "9" * 5000])
def test_impossible_issue_numbers_are_no_references(text: str) -> None:
    assert refer(text) == []


GOOD = """
[a11y]
text = ['\\bfokus\\b']
label = []
[issue_ref]
text = ['gh-(\\d+)']
"""


def test_patterns_can_be_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "patterns.toml"
    path.write_text(GOOD, encoding="utf-8")
    patterns = load_patterns(path)
    pull = make_pull_request(99, title="Fokus, aria", body="gh-7, fixes #8", labels=())
    assert [one.text for one in look(pull, (), patterns)] == ["Fokus"]
    assert references(pull, patterns).here == (7,)


def test_a_pattern_may_have_a_group_for_each_form(tmp_path: Path) -> None:
    """The last group that matched contains the number; the other groups are empty."""
    path = tmp_path / "patterns.toml"
    path.write_text(GOOD.replace("gh-(\\d+)", "gh-(\\d+)|issue (\\d+)( again)?"), encoding="utf-8")
    pull = make_pull_request(99, title="", body="gh-7, issue 8", labels=())
    assert references(pull, load_patterns(path)).here == (7, 8)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("fokus", "fok(us", r"patterns\.toml:3: field 'a11y\.text\[0\]': .* is not a regular expression: missing \)"),
        ("(\\d+)", "\\d+", r"field 'issue_ref\.text\[0\]': .* has no group for the number"),
        ("label = []", "label = 7", r"field 'a11y\.label': not a list of expressions"),
        ("fokus", "a{99999999999}", r"a11y\.text\[0\]': .* is not a regular expression: the repetition number is too"),
        ("label = []", "label = [7]", r"field 'a11y\.label\[0\]': 7 is not a regular expression"),
        ("[issue_ref]", "[issue_refs]", r"patterns\.toml:5: field 'issue_refs': there is no such table"),
        ("[issue_ref]\ntext", "[issue_ref]\nother", r"field 'issue_ref\.other': there is no such field"),
        ("[issue_ref]\ntext = ['gh-(\\d+)']", "[issue_ref]", r"field 'issue_ref\.text': not a list"),
        ("[a11y]", "test_files = 7\n[a11y]", r"field 'test_files': there is no such table"),
        ("[a11y]", "[a11y", r"patterns\.toml:2: invalid TOML"),
    ],
)
def test_a_bad_pattern_file_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    """The error names file and field, since expressions are corrected by hand."""
    path = tmp_path / "patterns.toml"
    path.write_text(GOOD.replace(old, new), encoding="utf-8")
    with pytest.raises(UserError, match=says):
        load_patterns(path)


def test_a_missing_pattern_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        load_patterns(tmp_path / "patterns.toml")
