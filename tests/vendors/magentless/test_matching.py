"""Where the searched lines are found, and the resulting file."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from magentless.causes import Ended
from magentless.edits import Edit
from magentless.matching import WAYS, apply_edit, find, occurs

#: lines that differ from others only in white space, and lines that do not
LINES = st.sampled_from(["", " ", "a", "  a", "a ", "a  b", "a b", "\ta", "b", "é", "a\x0cb"])
ENDS = st.sampled_from(["\n", "\r\n"])
TEXT = "<ul>\n  <li>\n    one\n  </li>\n</ul>\n"


def applied(text: str, search: str, replace: str) -> tuple[str, str]:
    return apply_edit(text, Edit("a.tsx", tuple(search.splitlines()), tuple(replace.splitlines())))[:2]


@pytest.mark.parametrize(
    ("search", "new"),
    [
        (("", "two"), ("", "2")),
        (("two", "", " "), ("2", "", "")),
        (("", "two", ""), ("2",)),
        (("two", ""), ("2", "", "")),
    ],
)
def test_blank_lines_around_the_searched_lines_are_left_out(search, new):
    """Models often leave a blank line before a mark. The file has none there; further ones of REPLACE are meant."""
    applied = apply_edit("one\ntwo\nthree\n", Edit("a.ts", search, new))
    blank = "\n" if search == ("two", "") else ""
    assert (applied.text, applied.way) == (f"one\n2\n{blank}three\n", "exact, without blank lines")
    kept = apply_edit("\ntwo\n\n \n\n", Edit("a.ts", search, new))
    assert kept.way in ("exact", "whitespace"), "blank lines that the file has are replaced, too"


@pytest.mark.parametrize(
    ("search", "replace", "expected", "way"),
    [
        ("    one", "    two", TEXT.replace("one", "two"), "exact"),
        ("  <li>\t\n    one  ", "  <li>\n    two", TEXT.replace("one", "two"), "whitespace"),
        ("<li>\n  one\n</li>", "<li>\n  two\n</li>", TEXT.replace("one", "two"), "indentation"),
        ("<li>\n  one", '<li role="option">\n  one', TEXT.replace("<li>", '<li role="option">'), "indentation"),
    ],
)
def test_the_strictest_way_that_finds_the_lines_decides(search, replace, expected, way):
    assert applied(TEXT, search, replace) == (expected, way)


@pytest.mark.trap("deletion-and-new-file")
def test_a_pure_deletion():
    """In MagentLess a pure deletion never matches."""
    assert applied(TEXT, "    one", "")[0] == TEXT.replace("    one\n", "")


@pytest.mark.trap("interval-at-line-1")
def test_an_edit_of_the_first_line_adds_no_blank_line():
    """In MagentLess, an interval that starts at line 1 adds a blank line, even if nothing matched."""
    assert applied(TEXT, "<ul>", "<ol>")[0] == TEXT.replace("<ul>", "<ol>")
    with pytest.raises(Ended, match="SEARCH_MISMATCH"):
        applied(TEXT, "<dl>", "<ol>")


@pytest.mark.parametrize(
    ("search", "way"), [("  a = b;", "exact"), ("  a  =\tb; ", "whitespace"), ("a  = b;", "indentation")]
)
def test_how_an_edit_matched_is_recorded(search, way):
    assert applied("{\n  a = b;\n}\n", search, "")[1] == way


def test_lines_that_occur_twice_are_refused():
    with pytest.raises(Ended, match="2 times"):
        applied("a\nb\na\n", "a", "c")


def test_lines_longer_than_the_file_are_refused():
    with pytest.raises(Ended, match="do not occur"):
        applied("a\n", "a\nb", "c")


@pytest.mark.parametrize(
    ("text", "search", "replace", "expected"),
    [
        ("a\r\nb\r\n", "b", "c\nd", "a\r\nc\r\nd\r\n"),
        ("a\nb", "b", "c\nd", "a\nc\nd"),
        ("a\r\nb", "b", "c\nd", "a\r\nc\r\nd"),
        ("a\nb", "a", "c", "c\nb"),
        ("a\r\nb\nc\n", "b", "d\ne", "a\r\nd\ne\nc\n"),
        ("a\nb\r\nc\n", "b", "d\ne", "a\nd\r\ne\r\nc\n"),
        ("a", "a", "", ""),
        ("a\u2028b\nc\n", "c", "d", "a\u2028b\nd\n"),
    ],
)
def test_line_ends_stay_as_the_file_has_them(text, search, replace, expected):
    assert applied(text, search, replace)[0] == expected


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ([1, 1, 0, 0], "x\nb\na\nc\n"),
        ([0, 0, 1, 1], "a\nb\nx\nc\n"),
        ([0, 1, 0, 1], None),
        ([1, 0, 1, 0], None),
        ([], None),
    ],
    ids=["first", "second", "neither", "both", "unknown"],
)
def test_lines_are_looked_for_in_what_was_shown_first(shown, expected):
    """Another occurrence that the model could not see is no reason to refuse the edit."""
    edit = Edit("a.tsx", ("a",), ("x",))
    if expected:
        assert apply_edit("a\nb\na\nc\n", edit, [bool(text) for text in shown]).text == expected
    else:
        with pytest.raises(Ended, match="2 times"):
            apply_edit("a\nb\na\nc\n", edit, [bool(text) for text in shown])


def test_a_looser_match_in_what_was_shown_comes_before_an_exact_one_elsewhere():
    done = apply_edit("  a\nb\na\n", Edit("a.tsx", ("a",), ("x",)), [True, True, False])
    assert (done.text, done.way) == ("  x\nb\na\n", "indentation")


def test_what_an_edit_wrote_is_known_to_the_next():
    done = apply_edit("a\nb\n", Edit("a.tsx", ("a",), ("x", "y")), [True, False])
    assert list(done.shown) == [True, True, False]


@pytest.mark.parametrize(
    ("search", "replace", "way"),
    [
        ("    3 |     one", "    3 |     two", "exact, without line numbers"),
        ("3: one", "two", "indentation, without line numbers"),
        ("3.     one", "    two", "exact, without line numbers"),
        ("3\t    one", "    two", "exact, without line numbers"),
        ("L3:     one", "    two", "exact, without line numbers"),
        ("\n3 |     one", "\n    two", "exact, without blank lines, without line numbers"),
    ],
)
def test_copied_line_numbers_are_left_out_where_they_do_not_occur(search, replace, way):
    assert applied(TEXT, search, replace) == (TEXT.replace("one", "two"), way)


@pytest.mark.parametrize(("search", "expected"), [("a", True), ("  a\n", True), ("7: b", True), ("c", False)])
def test_lines_occur_also_more_than_once(search, expected):
    assert occurs(["a", "b", "a"], Edit("a.tsx", tuple(search.split("\n")), ())) is expected


def test_numbers_that_are_the_files_own_stay():
    assert applied("1: a\n2: b\n", "1: a", "1: c") == ("1: c\n2: b\n", "exact")


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(st.lists(LINES, min_size=1, max_size=6), st.data())
def test_only_the_lines_that_were_searched_change(lines: list[str], data: st.DataObject) -> None:
    """Whatever the lines contain: the lines before and after stay, byte for byte, and so does a missing newline at the
    end."""
    end, is_ended = data.draw(ENDS), data.draw(st.booleans())
    start = data.draw(st.integers(0, len(lines) - 1))
    stop = data.draw(st.integers(start + 1, len(lines)))
    replace = data.draw(st.lists(LINES, max_size=3))
    assume(any(line.strip() for line in lines[start:stop]))
    text = end.join(lines) + (end if is_ended else "")
    assume((is_ended or lines[-1]) and (end in text or end == "\n"))
    edit = Edit("a.tsx", tuple(lines[start:stop]), tuple(replace))
    try:
        changed = apply_edit(text, edit)
    except Ended as error:
        assert "occur" in str(error) and lines.count(lines[start]) > 1
        return
    assert changed.way == "exact"
    wanted = [*lines[:start], *replace, *lines[stop:]]
    is_open = not is_ended and (stop < len(lines) or bool(replace))
    assert changed.text == "".join(line + end for line in wanted).removesuffix(end if is_open else "")


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.lists(LINES, max_size=8), st.lists(LINES, min_size=1, max_size=3), st.lists(st.booleans(), max_size=8))
def test_a_match_is_the_only_one_of_its_way(lines: list[str], search: list[str], seen: list[bool]) -> None:
    """If several places match, the edit is refused: a guess might change the wrong one."""
    shown = [*seen, *[False] * len(lines)][: len(lines)]
    try:
        found = find(lines, Edit("a.tsx", tuple(search), ()), shown)
    except Ended:
        return
    same, search = dict(WAYS)[found.way.partition(",")[0]], list(found.edit.search)
    fits = [
        start
        for start in range(len(lines) - len(search) + 1)
        if [*map(same, lines[start : start + len(search)])] == [*map(same, search)]
    ]
    visible = [start for start in fits if all(shown[start : start + len(search)])]
    assert found.start in fits and (visible == [found.start] or fits == [found.start])
