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
        "File: src/menu/Menu.jsx\n- path: pages/[id].vue",
        "src/menu/Menu.jsx:12-20\n`pages/[id].vue`.",
        "src/menu/Menu.jsx;\n| pages/[id].vue | the page |",
        "src/menu/Menu.jsx, pages/[id].vue",
        '["src/menu/Menu.jsx","pages/[id].vue"]',
        '```json\n{"files": ["src/menu/Menu.jsx", "pages/[id].vue"]}\n```',
        '```json\n[\n  "src/menu/Menu.jsx",\n  "pages/[id].vue"\n]\n```',
        '[{"path": "src/menu/Menu.jsx", "line": 3}, {"path": "pages/[id].vue"}]',
        "Here:\n```\nsrc/menu/Menu.jsx\npages/[id].vue\n",
    ],
)
def test_paths_are_read_in_the_forms_that_models_give_them(reply):
    assert named(reply, PATHS) == (["src/menu/Menu.jsx", "pages/[id].vue"], [])


@pytest.mark.parametrize(
    "line",
    [
        *(
            "In src/Button.tsx the label is missing.",
            "File src/Button.tsx is fine",
            "I read src/Button.tsx, src/theme.scss",
        ),
        *("For example, src/Button.tsx", "See src/Button.tsx", "For src/Button.tsx, no change is needed"),
    ],
)
def test_a_path_in_a_sentence_is_not_named(line):
    assert named(line, PATHS) == ([], [])


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
        ("lines: 3, 5-7", [(3, 3), (5, 7)]),
        ("line 3, line 5 and 7", [(3, 3), (5, 5), (7, 7)]),
        ("line: 12 (add label)", [(12, 12)]),
        ("12 (add label)", [(12, 12)]),
        ("Lines 12–15: add aria", [(12, 15)]),
        ("L12-L15", [(12, 15)]),
        ('"lines": [3, 5],', [(3, 3), (5, 5)]),
        ("Menu.onKeyDown()", [(20, 30)]),
        ("`Menu` (component)", [(10, 60)]),
        ("- `Menu`: has no role", [(10, 60)]),
        ("3 items", []),
        ("2-3 files need it", []),
        ("line 3.5", []),
        ("lines of Menu", []),
        ("The Menu has no role", []),
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


@pytest.mark.parametrize("path", ["/src/m.tsx", "a/src/m.tsx", "m.tsx", "File: src/m.tsx", "`m.tsx` (the menu)"])
def test_the_path_of_places_is_read_like_that_of_a_file(path):
    assert places(f"{path}\nline: 3", {"src/m.tsx": MENU}, {"src/m.tsx": 70}) == {"src/m.tsx": [(3, 3)]}


@pytest.mark.parametrize(
    ("line", "spans"),
    [
        ("m.tsx line: 12", [(12, 12)]),
        ("m.tsx:12-20", [(12, 20)]),
        ("m.tsx (lines 3-5)", [(3, 5)]),
        ("m.tsx: Menu.onKeyDown", [(20, 30)]),
        ("| m.tsx | 12-20 |", [(12, 20)]),
        ('{"path": "m.tsx", "lines": "3-5"}', [(3, 5)]),
        ("### m.tsx (70 lines)", []),
        ("m.tsx - has 3 faults", []),
    ],
)
def test_a_place_may_be_on_the_line_of_the_path(line, spans):
    assert places(line, {"m.tsx": MENU}, {"m.tsx": 70}) == {"m.tsx": spans}


@pytest.mark.parametrize(
    ("label", "lines"), [("File: b/n.tsx", {"b/n.tsx": [(9, 9)]}), ("In b/n.tsx nothing has to change.", {})]
)
def test_lines_below_a_label_are_not_those_of_the_file_before(label, lines):
    reply = f"```\nm.tsx\nline: 3\n{label}\nline: 9\n```"
    assert places(reply, {"m.tsx": MENU, "b/n.tsx": []}, {"m.tsx": 70, "b/n.tsx": 70}) == {"m.tsx": [(3, 3)]} | lines


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
