"""Where in the files: related elements, then edit locations."""

from __future__ import annotations

import pytest
from magentless.causes import Cause, Ended
from magentless.places import Finder

TSX = "src/IconButton.tsx"
PATHS = (TSX, "src/theme.css")


@pytest.fixture
def finder(checkout, make_session):
    def make(reply: str) -> Finder:
        return Finder(make_session(checkout, lambda step, prompt: reply), PATHS)

    return make


def test_elements_are_shown_with_their_lines_and_named_back(finder):
    one = finder(f"```\n{TSX}\nIconButton\n```")
    assert one.related() == {TSX: [(3, 7)]}
    ((question, messages),) = one._session.model.asked
    assert (
        f"### {TSX} (7 lines)\nIconButton (lines 3-7): export const IconButton = ({{ icon, label }}) => ("
        in messages[0]["content"]
    )
    assert question.step == "elements"


def test_edit_locations_are_asked_for_in_numbered_code(finder):
    one = finder(f"```\n{TSX}\nline: 5\nsrc/theme.css\n```")
    assert one.edit_locations({TSX: [(3, 7)]}, 0) == {TSX: [(5, 5)], "src/theme.css": []}
    assert "    5 |     <img src={icon.url} />\n" in one._session.model.asked[0][1][0]["content"]
    assert "import React" not in one._session.model.asked[0][1][0]["content"]


def test_a_reply_that_names_no_file_leaves_them_all(finder):
    one = finder("The outline is gone.")
    assert one.related() == one.edit_locations(one.everywhere, 1) == dict.fromkeys(PATHS, ())


def test_no_room_is_an_end(checkout, make_session, make_settings):
    session = make_session(checkout, settings=make_settings("[context]\ndefault = 100\n"))
    with pytest.raises(Ended) as end:
        Finder(session, PATHS).related()
    assert end.value.cause == Cause.CONTEXT_OVERFLOW
