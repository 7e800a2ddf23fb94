"""The vote."""

from __future__ import annotations

import pytest
from magentless.repair import Sample
from magentless.selection import select

from .conftest import BUTTON

ALT = BUTTON.replace("<img src={icon.url} />", "<img src={icon.url} alt={label} />")
ROLE = BUTTON.replace("<img src={icon.url} />", '<img src={icon.url} role="none" />')


def samples(*texts: str, reached: str = "parses") -> list[Sample]:
    return [
        Sample(number, 0, 0.0, reached, files={"src/IconButton.tsx": text}, patch=text.encode())
        for number, text in enumerate(texts)
    ]


@pytest.mark.trap("vote-normalisation")
def test_format_and_comments_vote_together(checkout):
    """MagentLess normalizes Python only, so for TypeScript every formatting is a candidate of its own."""
    same = ALT.replace("    <img", "  {/* named */}\n      <img")
    selected, votes = select(samples(ROLE, ALT, same), checkout)
    assert (selected.number, votes) == (1, [[1, 2], [0]])


def test_a_comment_in_another_file_is_no_other_vote(checkout):
    one, two = samples(ALT, ALT)
    two.files["src/theme.css"] = "/* c */\n" + checkout.text("src/theme.css")
    assert select([one, two], checkout)[1] == [[0, 1]]


def test_a_tie_goes_to_the_earliest(checkout):
    selected, votes = select(samples(ROLE, ALT, ALT, ROLE), checkout)
    assert (selected.number, votes) == (0, [[0, 3], [1, 2]])


def test_what_does_not_parse_has_no_vote(checkout):
    broken = samples(ALT, reached="applied")
    assert select(broken, checkout) == (None, [])
