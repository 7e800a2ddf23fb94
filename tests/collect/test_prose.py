"""The part of a text that a person wrote: the rest is blanked out, so that length and positions stay."""

from __future__ import annotations

import random

import pytest

from pipeline.collect.prose import filled, prose, unquoted

#: what is blanked out by `prose`: in each text, `no` must be gone and `yes` must remain
HIDDEN = {
    "a comment": "yes <!-- no --> yes",
    "a comment of several lines": "yes\n<!--\nno\n\nno -->yes",
    "a comment that does not end": "yes <!-- no\n\nno",
    "a fence": "yes\n```tsx\nno\n```\nyes",
    "a fence of tildes": "yes\n~~~\nno\n```\nno\n~~~\nyes",
    "a fence that does not end": "yes\n```\nno\n\nno",
    "a longer fence": "yes\n````\n```\nno\n```\nno\n````\nyes",
    "a fence of lines that end as on Windows": "yes\r\n```\r\nno\r\n```\r\nyes\r\n",
    "code in a line": "yes `no` yes",
    "code with backticks in it": "yes ``no ` no`` yes",
    "code of two lines": "yes `no\nno` yes",
    "code as HTML": "yes <code>no</code> <pre lang='x'>\nno\n</pre> yes",
    "indented code": "yes\n\n    no\n\n    no\nyes",
    "code by a tab": "yes\n\n\tno\n\nyes",
    "a quotation": "yes\n> no\n>> no\n\nyes",
    "a quotation as HTML": "yes <blockquote>no\nno</blockquote> yes",
    "a fence in a comment": "yes <!--\n```\nno\n--> yes\n\nyes",
    "a fence in an element": "<pre>\n```\nno\n</pre> yes",
    "a fence in a list": "yes\n- ```js\n  no\n\n  no\n  ```\n- yes",
    "a comment in a fence": "```\n<!-- no\n```\nyes",
    "a comment in code": "yes `<!-- no` yes --> yes",
    "a comment in a quotation": "yes\n> no <!-- no\n\nyes",
    "a comment in an unticked box": "- [ ] no <!-- no\nno --> no\n\nyes",
    "an element in a comment": "<!-- <code> no --> yes </code> yes",
    "code that begins a line": "```no``` yes\n\nyes",
    "an unticked box": "yes\n- [ ] no\n* [ ] no\n1. [] no\n\nyes",
    "an unticked box of two lines": "- [x] yes\n- [ ] no\n  no\n- [X] yes",
    "an unticked box that goes on without indentation": "- [ ] no\n[no](https://example.org)\n\nyes",
    "an unticked box with a list": "- [ ] no:\n  - no\n    no\n\n  no\n- yes",
    "an unticked box in a list": "- yes\n  - [ ] no\n  - yes\n- yes",
    "a ticked box below an unticked one": "- [ ] no\n  - [x] yes\n  - [ ] no",
    "an unticked box before a heading": "- [ ] no\n## yes",
    "an unticked box before a bold heading": "- [ ] no\n**yes**",
    "an unticked box before a rule": "- [ ] no\n---\nyes",
    "an unticked box before a quotation": "- [ ] no\n> no\n\nyes",
    "an unticked box before a fence": "- [ ] no\n```\nno\n```\nyes",
    "an unticked box before an element": "- [ ] no\n<details>yes</details>",
    "a box without a list": "[ ] no\n[ ] no\n\nyes",
    "a quotation in a list": "- > no\n- yes:\n    > no\n1. - > no",
    "a comment in Markdown": 'yes\n[//]: # (no, no)\n[note]: <> (no\nno)\n[//]: # "no"\nyes',
    "code after a heading": "### yes\n\tno\n\nyes",
    "code after a rule": "yes\n\n***\n    no\nyes\n===\n    no",
}
KEPT = {
    "nothing special": "yes yes",
    "a lone backtick": "yes ` yes\n\nyes ` yes",
    "backticks in two items": "- yes`s\n- yes`s",
    "a backtick before a heading": "yes`s\n## yes`s\n\nyes",
    "an arrow": "yes -> yes => yes > yes",
    "less and more": "yes < 3 yes > 2",
    "a list in a list": "- yes\n\n    - yes\n\n      yes\n",
    "a line that goes on": "yes\n    yes",
    "a ticked box": "- [x] yes",
    "a link": "[yes](#yes) yes",
    "an array": "- yes[ ] yes",
    "a definition": "[yes]: #yes (yes)",
    "lines that end as on Windows": "yes\r\n\r\nyes\r\n",
}


@pytest.mark.rule("prose")
@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
def test_code_comments_and_quotations_are_blanked_out(text: str) -> None:
    found = prose(text)
    assert len(found) == len(text)
    assert "no" not in found
    assert [place for place in range(len(text)) if text.startswith("yes", place)] == [
        place for place in range(len(found)) if found.startswith("yes", place)
    ]
    assert found.count("\n") == text.count("\n")


@pytest.mark.rule("prose")
@pytest.mark.parametrize(
    "text",
    [
        "It`s late\n```\nf(`no`)\n```\nyes `no`",
        "It`s late\n<!-- don`t, no -->\nyes",
        "<!-- Paste logs between\n```\nhere -->\n\nyes\n\n```\nno\n```\n",
    ],
)
def test_an_unclosed_backtick_or_fence_hides_no_other_text(text: str) -> None:
    """A fence in a template's comment hid the rest of the text, including the closed issue."""
    assert "yes" in prose(text) and "no" not in prose(text)


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_prose_is_kept_unchanged(text: str) -> None:
    assert prose(text) == filled(text) == text


@pytest.mark.rule("prose")
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("## Accessibility\n\n## Tests\n\nA lot", ["Tests", "A lot"]),
        ("## Accessibility", []),
        ("## Accessibility\n\nN/A\n\n## Tests\nNone.", []),
        ("## Accessibility\n_No response_\n", []),
        ("## Accessibility\n<!-- screen readers? -->\n- [ ] keyboard\n", []),
        ("**Accessibility**\n\n**Tests**: a lot", ["**Tests**: a lot"]),
        ("Accessibility\n=============\n\nTests\n=====\nA lot", ["Tests", "A lot"]),
        ("Accessibility\r\n=====\r\n\r\nTests\r\n=====\r\nA lot", ["Tests", "A lot"]),
        ("# Accessibility\n\n## Keyboard\n\nArrows work", ["# Accessibility", "## Keyboard", "Arrows work"]),
        ("# Accessibility\n\n## Keyboard\n\n# Tests\nA lot", ["# Tests", "A lot"]),
        ("## Accessibility\n\nNA\n\n# Tests\nA lot", ["Tests"]),
        ("## Accessibility\nn.a.", []),
        ("## Accessibility\n(none)", []),
        ("## Accessibility\n_No changes_", []),
        ("## Accessibility\nTODO", []),
        ("## Accessibility\n1.\n2.", []),
        ("## Accessibility\n❌", []),
        ("## Accessibility\nCo-authored-by: a <a@b>", []),
        ("## Accessibility\nhttps://example.org/report", ["Accessibility"]),
        ("## Accessibility\nNothing is announced", ["Accessibility", "Nothing is announced"]),
        ("## Accessibility\nNo label", ["Accessibility", "No label"]),
        ("Accessibility: N/A\nTests: a lot", ["Tests: a lot"]),
        ("- **Accessibility**: none.\n- Accessibility? no", []),
        ("Accessibility: no label", ["Accessibility: no label"]),
        ("| Accessibility | no |\n| Accessibility | |\n| Tests | yes |", ["| Tests | yes |"]),
        ("| Accessibility | yes |", ["| Accessibility | yes |"]),
        ("* **Accessibility**\n* **Tests**\n  * a lot", ["**Tests**"]),
        ("**Accessibility**\n\n- **Menu**\n  - has a role", ["**Accessibility**", "**Menu**", "has a role"]),
        ("* **Accessibility of menus is better now**", ["Accessibility of menus"]),
        ("<h3>Accessibility</h3>\n\n<h3>Tests</h3>\nA lot", ["Tests", "A lot"]),
        ("<details><summary>Tests</summary>\n</details>", []),
        ("<details>\n<summary>Accessibility</summary>\n</details>", []),
        ("#5 is no heading", ["#5 is no heading"]),
        ("## Accessibility\r\n\r\n## Tests\r\nA lot\r\n", ["Tests", "A lot"]),
    ],
)
def test_empty_headings_are_blanked_out(text: str, kept: list[str]) -> None:
    """Headings of a template are not the words of the person who left them empty."""
    found = filled(text)
    assert len(found) == len(text)
    assert all(part in found for part in kept)
    assert ("Accessibility" in found) is any("Accessibility" in part for part in kept)


def test_addresses_and_trailers_are_blanked_out_for_evidence() -> None:
    """The name of a repository or person is not a word about the change, but a cited guideline is."""
    text = "See [it](https://github.com/acme/a11y/pull/1), https://www.w3.org/TR/wai-aria/.\n\nReviewed-by: a11y"
    text += "\nCo-authored-by: a11y-bot <a11y@example.org>"
    assert filled(text).split() == ["See", "[it](", "),", "https://www.w3.org/TR/wai-aria/."]
    assert prose(text) == text


def test_quotations_in_a_line_are_blanked_out() -> None:
    assert unquoted('Revert "Fix it (#4)", “no” and "open').split() == ["Revert", ",", "and", '"open']


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        "**" + "<pre>" * 20_000,
        "[ ]" + "- [ ] a\n" * 50_000,
        "[//]: # (" * 20_000,
        "a: " + "no " * 100_000 + "x",
        "**" + "\n" * 100_000,
        "\n" + "~" * 100_000,
        "\n## A\n" + "-" * 100_000 + "x",
    ],
)
def test_a_repetitive_text_takes_little_time(text: str) -> None:
    """Each of these texts, as in a tool's report, took more than 20 seconds."""
    assert "yes" in unquoted("yes " + text) and "yes" in filled("yes " + text)


@pytest.mark.parametrize("seed", range(5))
def test_any_text_keeps_its_length_and_lines(seed: int) -> None:
    """For any characters: the same length, the same lines, and nothing new."""
    chance = random.Random(seed)
    pieces = [
        "`",
        "```",
        "~~~",
        "<!--",
        "-->",
        ">",
        "\n",
        "\n\n",
        "    ",
        "\t",
        "- [ ] ",
        "# ",
        "**",
        "a",
        "é☃",
        '"',
        "<code>",
    ]
    for _ in range(300):
        text = "".join(chance.choices(pieces, k=30))
        for seen in (prose(text), filled(text), unquoted(text)):
            assert len(seen) == len(text)
            assert all(seen_letter in (letter, " ") for seen_letter, letter in zip(seen, text, strict=True))
            assert seen.count("\n") == text.count("\n")
