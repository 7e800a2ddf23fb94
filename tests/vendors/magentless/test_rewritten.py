"""Parts of files that a reply rewrites instead of giving edits."""

from __future__ import annotations

import pytest
from magentless.causes import Ended
from magentless.edits import EXAMPLE
from magentless.repair import repair
from magentless.rewritten import pieces, rewritten

from .conftest import BUTTON

TSX, CSS = "src/IconButton.tsx", "src/theme.css"
FIXED = BUTTON.replace("url} />", "url} alt={label} />")
SHOWN = {TSX: [tuple(BUTTON.splitlines())], CSS: [(".icon {", "  outline: none;", "}")]}


def fenced(text: str, info: str = "tsx") -> str:
    return f"```{info}\n{text}```\n"


@pytest.mark.parametrize(
    "reply",
    [
        f"Here it is:\n\n{fenced(FIXED)}",
        f"### {TSX}\n{fenced(FIXED)}",
        f"**{TSX}**\n\n{fenced(FIXED)}Done.",
        fenced(FIXED, f"tsx {TSX}"),
        fenced(f"// {TSX}\n{FIXED}"),
        fenced(f"### ./{TSX}\n{FIXED}"),
        f"### /{TSX}\n{fenced(FIXED)}",
        f"### a/{TSX}\n{fenced(FIXED)}",
        f"### IconButton.tsx\n{fenced(FIXED)}",
        f"**IconButton.tsx**\n{fenced(FIXED)}",
        f"### {TSX}\n```tsx\n{FIXED}",
    ],
)
def test_a_file_that_comes_again_is_taken_as_its_difference(reply, sample, checkout):
    repair(sample, reply, checkout, {TSX: range(7), CSS: range(3)})
    assert sample.edits == [{"path": TSX, "match": "rewritten"}]
    assert (sample.files, sample.reached) == ({TSX: FIXED}, "parses")


def test_a_window_that_comes_again_is_taken_for_its_lines(sample, checkout):
    """If a file was shown in part, the rest stays."""
    window = "".join(FIXED.splitlines(keepends=True)[3:6])
    repair(sample, fenced(window), checkout, {TSX: [0, 3, 4, 5]})
    assert sample.files == {TSX: FIXED}


REST = "".join(FIXED.splitlines(keepends=True)[2:])


@pytest.mark.parametrize(
    "reply",
    [fenced(REST), fenced(f"\n{REST}\n"), fenced(REST.replace("url} alt={label} />", "url} />")) + fenced(REST)],
    ids=["an excerpt", "blank lines around it", "before and after"],
)
def test_an_excerpt_deletes_nothing_above_or_below_it(reply, sample, checkout):
    """A model may rewrite the component without its imports."""
    repair(sample, reply, checkout, {TSX: range(7), CSS: range(3)})
    assert sample.files == {TSX: FIXED}


def test_an_excerpt_ends_where_its_piece_goes_on():
    lines = [f"line {number};" for number in range(10)]
    block = [*lines[2:5], "new;", *lines[5:9]]
    (edit,) = rewritten(fenced("\n".join(block) + "\n"), {"a.ts": [tuple(lines)]})
    assert (edit.search, edit.replace) == (tuple(lines[2:9]), tuple(block))


@pytest.mark.parametrize("place", [0, 9])
def test_a_first_or_last_line_can_be_replaced(place):
    lines = tuple(f"line {number};" for number in range(10))
    block = tuple("new;" if number == place else line for number, line in enumerate(lines))
    (edit,) = rewritten(fenced("\n".join(block) + "\n"), {"a.ts": [lines]})
    assert (edit.search, edit.replace) == (lines, block)


@pytest.mark.parametrize(
    "reply",
    [
        fenced("<img src={icon.url} alt={label} />\n"),
        fenced(BUTTON),
        fenced("".join(BUTTON.splitlines(keepends=True)[2:])),
        f"### src/Other.tsx\n{fenced(FIXED)}",
        f"### {EXAMPLE}\n{fenced(FIXED)}",
        fenced("import React from 'react';\n\n// ... rest of the file\n"),
        fenced(FIXED.replace("  <button", "  // existing code\n  <button")),
        f"{FIXED}",
        "```tsx\n" + FIXED.removesuffix(");\n"),
        "```tsx\n" + FIXED + "I added the label.",
        fenced(f"<<<<<<< SEARCH\n{BUTTON}=======\n{BUTTON}>>>>>>> REPLACE\n"),
        fenced(f"<<<<<<<\n{BUTTON}=======\n{BUTTON}>>>>>>>\n"),
        fenced(f"------- SEARCH\n{BUTTON}=======\n{FIXED}+++++++ REPLACE\n"),
        fenced("".join(f"-{line}+{line}" if "url" in line else line for line in FIXED.splitlines(True)), "diff"),
    ],
    ids=[
        "a snippet",
        "as it was",
        "an excerpt as it was",
        "another file",
        "the example",
        "left out",
        "left out inside",
        "no fence",
        "cut",
        "not closed before the text",
        "an edit that changes nothing",
        "an edit without words that changes nothing",
        "an edit in another form",
        "a diff without its blanks",
    ],
)
def test_what_is_not_plainly_a_piece_is_none(reply, sample, checkout):
    """A patch once contained the marks of an edit that changed nothing."""
    with pytest.raises(Ended, match="NO_EDITS"):
        repair(sample, reply, checkout, {TSX: range(7), CSS: range(3)})


def test_a_spread_is_nothing_left_out():
    before = ("const a = {", "  b,", "  c,", "};")
    (edit,) = rewritten(fenced("const a = {\n  ...rest,\n  b,\n  c,\n};\n"), {"a.ts": [before]})
    assert edit.replace[1] == "  ...rest,"


OUTLINE = f"### {CSS}\n<<<<<<< SEARCH\n  outline: none;\n=======\n  outline: auto;\n>>>>>>> REPLACE\n"


@pytest.mark.parametrize("reply", [fenced(FIXED) + OUTLINE, f"{OUTLINE}### {TSX}\n{fenced(FIXED)}"])
def test_a_reply_may_have_edits_of_one_file_and_all_of_another(reply, sample, checkout):
    """The file given as a whole was left out, so that a part of the change took part in the vote."""
    repair(sample, reply, checkout, {TSX: range(7), CSS: range(3)})
    assert sample.edits == [{"path": CSS, "match": "exact"}, {"path": TSX, "match": "rewritten"}]
    assert sample.files[TSX] == FIXED


@pytest.mark.parametrize(
    "code",
    [fenced("<img src={icon.url} alt={label} />\n"), fenced(f"// ... imports\n{REST}"), f"```tsx\n{REST[:-3]}"],
    ids=["a snippet", "left out", "cut"],
)
def test_edits_beside_other_code_for_a_file_are_only_a_part(code, sample, checkout):
    with pytest.raises(Ended, match="NO_EDITS.*IconButton"):
        repair(sample, f"{OUTLINE}### {TSX}\n{code}", checkout, {TSX: range(7), CSS: range(3)})


@pytest.mark.parametrize(
    "code",
    [
        f"### {TSX}\n{fenced('  ...' + chr(10) + '<img src={icon.url} />' + chr(10))}",
        f"### {CSS}\n{fenced('outline: auto;' + chr(10), 'css')}",
        f"Use it:\n{fenced('<IconButton icon={icon} />' + chr(10))}",
    ],
    ids=["a quotation", "the result of the edit", "an example"],
)
def test_code_that_is_no_change_may_be_beside_edits(code, sample, checkout):
    repair(sample, f"{code}{OUTLINE}", checkout, {TSX: range(7), CSS: range(3)})
    assert sample.edits == [{"path": CSS, "match": "exact"}]


def test_edits_of_a_file_come_before_its_whole_text(sample, checkout):
    shown = fenced(".icon {\n  outline: auto;\n  color: red;\n}\n", "css")
    repair(sample, f"{shown}{OUTLINE}Then it is:\n{shown}", checkout, {TSX: range(7), CSS: range(3)})
    assert sample.edits == [{"path": CSS, "match": "exact"}]


def test_pieces_are_the_runs_that_were_shown():
    assert pieces("abcdef", [0, 1, 4]) == [("a", "b"), ("e",)]
