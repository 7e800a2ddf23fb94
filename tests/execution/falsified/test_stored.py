"""False expected output in snapshots and golden files: what is changed, and what is left alone."""

from __future__ import annotations

import json

import pytest

from pipeline.execution.falsified import Falsified, falsify

SNAP = "src/__snapshots__/Menu.test.tsx.snap"
SNAPSHOTS = """// Jest Snapshot v1

exports[`Menu opens 1`] = `
<nav
  role="menu"
/>
`;

exports[`Menu closes 1`] = `"it\\`s \\${closed}"`;
"""


@pytest.mark.rule("falsified")
def test_stored_snapshots() -> None:
    """One letter changes in each snapshot with a line from gold; keys and escape sequences are left alone."""
    found = falsify(SNAP, SNAPSHOTS, [5, 9])
    assert found[1:4] == (2, 2, 0)
    assert list(changed(SNAPSHOTS, found)) == [5, 9]
    assert "exports[`Menu closes 1`]" in found.text and "\\`" in found.text and "\\${" in found.text


@pytest.mark.rule("falsified")
def test_a_snapshot_that_only_loses_lines() -> None:
    """If gold adds no line to a snapshot, a remaining line is changed; other snapshots are left alone."""
    found = falsify(SNAP, SNAPSHOTS, [], [4, 5])
    assert list(changed(SNAPSHOTS, found).values()) == ['  role="menu"'] and found[1:3] == (1, 1)
    assert falsify("a.snap", SNAPSHOTS, [], [7, 8]).text == SNAPSHOTS, "a whole snapshot is gone"


@pytest.mark.rule("falsified")
def test_the_first_line_of_a_snapshot_with_several() -> None:
    assert changed(SNAPSHOTS, falsify(SNAP, SNAPSHOTS, [4, 5, 9], first=True)) == {4: "<nav"}


@pytest.mark.rule("falsified")
def test_a_fixture_that_nests_too_deep_is_text() -> None:
    found = falsify("tests/deep.test", "[" * 100_000 + "\n\n-----\n\nmore\n", [1])
    assert found[1:4] == falsify("tests/flat.test", "flat text\n\n-----\n\nmore\n", [1])[1:4]


FIXTURE = """var text = "bold";

-----

[
  ["keyword", "var"],
  ["string", "\\"bold\\""]
]

-----

A comment, which is not compared.
"""


@pytest.mark.rule("falsified")
def test_expected_tokens_in_a_section_of_a_fixture() -> None:
    """The input and the comment are left alone; the expected output remains valid JSON with another word in it."""
    found = falsify("tests/js/string.test", FIXTURE, range(1, 15))
    assert list(changed(FIXTURE, found)) == [7] and found[1:] == (1, 1, 0, set(), None, set())
    assert json.loads(found.text.split("-----")[1])[1][1] != '"bold"'


@pytest.mark.rule("falsified")
def test_the_first_expected_token_of_several() -> None:
    found = falsify("tests/js/string.test", FIXTURE, range(1, 15), first=True)
    assert list(changed(FIXTURE, found)) == [6]
    assert falsify("tests/js/string.test", FIXTURE, [7], first=True).text == FIXTURE, "just one is gold's"


@pytest.mark.rule("falsified")
@pytest.mark.parametrize("path", ["test/bash.expect.txt", "fixtures/expected/bash.html", "test/golden/bash.txt"])
def test_files_that_are_named_for_expected_output(path: str) -> None:
    """One letter changes in gold's last line; entities and blank lines are left alone."""
    text = '<b class="hljs-tag">&lt;a&gt;</b>\nrest\n\n'
    found = falsify(path, text, [1, 3])
    assert list(changed(text, found)) == [1] and found[1:3] == (1, 1)
    assert "&lt;" in found.text and "&gt;" in found.text


@pytest.mark.rule("falsified")
def test_a_golden_file_that_only_loses_lines() -> None:
    assert list(changed("a\nb\nc\n", falsify("x.expected", "a\nb\nc\n", [], [2]))) == [2]


@pytest.mark.rule("falsified")
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("test/markup/bash.txt", "the input\n"),
        ("tests/notes.test", "input\n-----\nno JSON\n"),
        ("tests/data.json", '["the input"]\n'),
        ("tests/unexpected.md", "not named for it\n"),
        ("x.expected", "--\n\n"),
    ],
)
def test_input_and_files_of_unknown_use_stay(path: str, text: str) -> None:
    assert falsify(path, text, range(1, 9)).text == text


def changed(before: str, found: Falsified) -> dict[int, str]:
    """The original text of the changed lines, by line number; asserts that no line was added or removed."""
    pairs = zip(before.split("\n"), found.text.split("\n"), strict=True)
    return {number: line for number, (line, other) in enumerate(pairs, 1) if line != other}
