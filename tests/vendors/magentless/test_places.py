"""Places in files: related elements, then edit locations."""

from __future__ import annotations

import pytest
from magentless.causes import Cause, Ended
from magentless.checkout import Checkout
from magentless.places import Finder

from .conftest import BUTTON

TSX = "src/IconButton.tsx"
PATHS = (TSX, "src/theme.css")


@pytest.fixture
def finder(checkout, make_session):
    def make(reply: str) -> Finder:
        return Finder(make_session(checkout, lambda step, prompt: reply), PATHS)

    return make


def test_elements_are_shown_with_their_lines_and_named_back(finder):
    found = finder(f"```\n{TSX}\nIconButton\n```")
    assert found.related() == {TSX: [(3, 7)]}
    ((question, messages),) = found._session.model.asked
    assert (
        f"### {TSX} (7 lines)\nIconButton (lines 3-7): export const IconButton = ({{ icon, label }}) => ("
        in messages[0]["content"]
    )
    assert question.step == "elements"


def elements_prompt(checkout, make_session, settings, paths=PATHS) -> str:
    session = make_session(checkout, settings=settings)
    Finder(session, paths).related()
    return session.model.asked[0][1][0]["content"]


def test_the_text_of_the_first_files_follows_their_elements(checkout, make_session, make_settings):
    """Agentless makes skeletons of Python files only, and shows the text of others."""
    outline = "### src/theme.css (3 lines)\n.icon (lines 1-3): .icon {"
    text = "\n[text]\n.icon {\n  outline: none;\n}\n"
    assert f"{BUTTON}\n\n{outline}{text}" in elements_prompt(checkout, make_session, make_settings())
    prompt = elements_prompt(checkout, make_session, make_settings("[files]\nwith_text = 1\n"))
    assert BUTTON in prompt and outline in prompt and text not in prompt
    assert "[text]\n" not in elements_prompt(checkout, make_session, make_settings("[files]\nwith_text = 0\n"))


def test_a_long_file_is_shown_by_its_elements_alone(checkout, make_session, make_settings):
    prompt = elements_prompt(checkout, make_session, make_settings("[files]\nwhole_file_lines = 4\n"))
    assert "IconButton (lines 3-7)" in prompt and BUTTON not in prompt and "outline: none" in prompt


def test_no_text_pushes_out_the_elements_of_another_file(make_checkout, make_session, make_settings):
    """In a small context: first the elements of every file, then the texts in order."""
    long = "export const Long = () => null;\n" + "// a word\n" * 300
    checkout = Checkout(make_checkout({"a.ts": long, "b.ts": "export const B = () => null;\n"}))
    settings = make_settings("[context]\ndefault = 2700\n")
    prompt = elements_prompt(checkout, make_session, settings, ("a.ts", "b.ts"))
    assert "### a.ts (301 lines)\nLong" in prompt and "// a word" not in prompt
    assert prompt.count("export const B") == 2, "the elements, and the text, for which there is room"


def test_edit_locations_are_asked_for_in_numbered_code(finder):
    found = finder(f"```\n{TSX}\nline: 5\nsrc/theme.css\n```")
    assert found.edit_locations({TSX: [(3, 7)]}, 0) == {TSX: [(5, 5)], "src/theme.css": []}
    assert "    5 |     <img src={icon.url} />\n" in found._session.model.asked[0][1][0]["content"]
    assert "import React" not in found._session.model.asked[0][1][0]["content"]


def test_a_reply_that_names_no_file_leaves_them_all(finder):
    found = finder("The outline is gone.")
    assert found.related() == found.edit_locations(found.everywhere, 1) == dict.fromkeys(PATHS, ())


def test_no_room_is_an_end(checkout, make_session, make_settings):
    session = make_session(checkout, settings=make_settings("[context]\ndefault = 100\n"))
    with pytest.raises(Ended) as end:
        Finder(session, PATHS).related()
    assert end.value.cause == Cause.CONTEXT_OVERFLOW
