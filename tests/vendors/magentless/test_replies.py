"""The places that replies to localization name."""

from __future__ import annotations

import pytest
from magentless.elements import Element
from magentless.replies import named, places

PATHS = ["src/Button.tsx", "src/menu/Menu.jsx", "src/theme.scss", "pages/[id].vue"]
MENU = [Element("Menu", 10, 60), Element("Menu.onKeyDown", 20, 30), Element(".menu :hover", 5, 6)]


@pytest.mark.parametrize(
    "reply",
    [
        "Here:\n```\nsrc/menu/Menu.jsx\npages/[id].vue\n```\nsrc/Button.tsx is fine.",
        "~~~text\n- `src/menu/Menu.jsx`\n- **pages/[id].vue**\n~~~",
        "1. `./src/menu/Menu.jsx`: the menu\n2. pages/[id].vue\n",
        "```\nsrc/menu/Menu.jsx - has no role\nsrc/menu/Menu.jsx\n### pages/[id].vue\n```",
        "- [src/menu/Menu.jsx](src/menu/Menu.jsx): the menu\n- <file>pages/[id].vue</file>",
        "a/src/menu/Menu.jsx\nb/pages/[id].vue",
    ],
)
def test_paths_are_read_in_the_forms_that_models_give_them(reply):
    assert named(reply, PATHS) == (["src/menu/Menu.jsx", "pages/[id].vue"], [])


def test_folders_may_end_in_a_slash_and_a_block_may_be_empty():
    assert named("```\nsrc/tokens/\n```", {"src/tokens"}) == (["src/tokens"], [])
    assert named("All may matter.\n```\n```\n", {"src/tokens"}) == ([], [])


@pytest.mark.trap("eval-on-path")
def test_a_path_is_never_evaluated(tmp_path):
    """MagentLess evaluates a model's paths as Python code, on the host."""
    marker = tmp_path / "evaluated"
    known, foreign = named(f"```\n__import__('pathlib').Path('{marker}').touch()\n```", PATHS)
    assert (known, len(foreign), marker.exists()) == ([], 1, False)


@pytest.mark.parametrize(
    ("line", "spans"),
    [
        ("Menu.onKeyDown", [(20, 30)]),
        ("- function: onKeyDown", [(20, 30)]),
        ("`Menu` (lines 10-60)", [(10, 60)]),
        (".menu :hover", [(5, 6)]),
        ("line: 12", [(12, 12)]),
        ("lines 12 - 400", [(12, 70)]),
        ("71", []),
        ("line " + "1" * 5000, []),
        ("12-" + "1" * 5000, []),
        ("\u0663", []),
        ("0-3", []),
        ("30-20", []),
        ("somewhere else", []),
    ],
)
def test_places_are_elements_or_lines_of_the_file(line, spans):
    assert places(f"```\nm.tsx\n{line}\n```", {"m.tsx": MENU}, {"m.tsx": 70}) == {"m.tsx": spans}


@pytest.mark.trap("empty-interval")
def test_a_named_file_may_have_no_locations():
    """In MagentLess, an empty list of intervals crashes the run."""
    found = places("```\nm.tsx\nother.tsx\nline: 3\n```", {"m.tsx": MENU}, {"m.tsx": 70})
    assert found == {"m.tsx": [(3, 3)]}
    assert places("```\nm.tsx\n```", {"m.tsx": []}, {"m.tsx": 0}) == {"m.tsx": []}
    assert places("line: 3", {"m.tsx": MENU}, {"m.tsx": 70}) == {}


def test_lines_below_an_unknown_path_are_ignored():
    """They would be taken for lines of the file before."""
    reply = "```\nm.tsx\nline: 3\nsrc/imagined.css\nline: 9\n```"
    assert places(reply, {"m.tsx": MENU}, {"m.tsx": 70}) == {"m.tsx": [(3, 3)]}


def test_an_element_is_read_as_it_was_listed():
    assert places("m.tsx\nMenu (lines 10-60): function Menu() {", {"m.tsx": MENU}, {"m.tsx": 70}) == {
        "m.tsx": [(10, 60)]
    }


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("Menu.jsx", ["src/menu/Menu.jsx"]),
        ("src/Menu.jsx", ["src/menu/Menu.jsx"]),
        ("theme.scss:", ["src/theme.scss"]),
        ("index.ts", []),
        ("lib/index.ts", []),
        ("menu", []),
        ("src/Imagined.tsx", []),
    ],
)
def test_a_file_name_in_another_folder_matches_if_it_is_unique(line, meant):
    assert named(f"```\n{line}\n```", [*PATHS, "a/index.ts", "b/index.ts"])[0] == meant
