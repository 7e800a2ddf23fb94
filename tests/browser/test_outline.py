"""The outline of an accessibility tree, from results in the form of Chromium's DevTools; no browser is needed."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from pipeline.browser.outline import DEFAULTS, STOP, outline

Row = dict[str, Any]


class Tree:
    """Builds both results of the protocol, the accessibility tree and the document, with the same node numbers."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.rows: list[Row] = []
        self.document: Row = {"backendNodeId": 0, "children": []}

    def node(self, role: str, name: str = "", *children: int, ignored: bool = False, **more: Any) -> int:
        """Add a node, children first; returns its number. `attributes` are its element's, `states` its properties."""
        number = next(self._numbers)
        attributes, states = more.pop("attributes", {}), more.pop("states", [])
        row: Row = {"nodeId": str(number), "backendDOMNodeId": number, "ignored": ignored, "properties": states}
        row |= {"role": {"value": role}, "name": {"value": name}, "childIds": [str(child) for child in children]}
        row |= {field: {"value": value} for field, value in more.items()}
        self.rows.append(row)
        flat = [text for pair in attributes.items() for text in pair]
        self.document["children"].append({"backendNodeId": number, "attributes": flat})
        return number

    def text(self, text: str) -> int:
        return self.node("StaticText", text)

    def lines(self, *children: int) -> list[str]:
        """The outline of a page with these nodes."""
        self.node("RootWebArea", "", *children)
        return outline(self.rows[::-1], self.document).splitlines()


def state(name: str, value: Any, type: str = "boolean") -> Row:
    return {"name": name, "value": {"type": type, "value": value}}


def refers(name: str, *nodes: int) -> Row:
    return {"name": name, "value": {"type": "nodeList", "relatedNodes": [{"backendDOMNodeId": node} for node in nodes]}}


@pytest.fixture
def tree() -> Tree:
    return Tree()


def test_a_node_is_a_role_with_its_name_and_states(tree: Tree) -> None:
    button = tree.node("button", "Save", states=[state("pressed", True), state("disabled", True)])
    assert tree.lines(button) == ["button 'Save' disabled=True pressed=True"]


def test_children_are_indented(tree: Tree) -> None:
    item = tree.node("listitem", "", tree.text("One"))
    assert tree.lines(tree.node("list", "Steps", item)) == ["list 'Steps'", "  listitem", "    text: One"]


def test_a_wrapper_without_information_is_left_out(tree: Tree) -> None:
    """Classes and additional `div`s make no difference to any user."""
    plain = Tree()
    assert plain.lines(plain.text("One")) == ["text: One"]
    assert tree.lines(tree.node("generic", "", tree.node("none", "", tree.text("One")))) == ["text: One"]


@pytest.mark.parametrize("role", ["generic", "LabelText", "none"])
def test_a_wrapper_with_a_name_is_shown(tree: Tree, role: str) -> None:
    assert tree.lines(tree.node(role, "Tools")) == [f"{role} 'Tools'"]


def test_ignored_nodes_have_no_role(tree: Tree) -> None:
    hidden = tree.node("button", "Save", tree.text("Save"), ignored=True, states=[state("hidden", True)])
    assert tree.lines(hidden) == ["none 'Save'", "  text: Save"]


def test_adjacent_texts_are_joined(tree: Tree) -> None:
    """How a text is split over elements makes no difference, but the element it is in does."""
    paragraph = tree.node("paragraph", "", tree.text("Save "), tree.text("all"))
    assert tree.lines(tree.text("a"), tree.text("b"), paragraph, tree.text("c")) == [
        "text: ab",
        "paragraph",
        "  text: Save all",
        "text: c",
    ]


@pytest.mark.parametrize("text", ["a\n  b", " a \t b "])
def test_white_space_is_collapsed(tree: Tree, text: str) -> None:
    assert tree.lines(tree.node("heading", text)) == ["heading 'a b'"]


def test_decorative_parts_are_left_out(tree: Tree) -> None:
    box = tree.node("InlineTextBox", "One")
    assert tree.lines(tree.node("StaticText", "One", box), tree.node("ListMarker", "1.")) == ["text: One"]


@pytest.mark.parametrize("role", ["Video", "Audio"])
def test_the_browsers_own_controls_are_left_out(tree: Tree, role: str) -> None:
    """They vary with the size of the window."""
    assert tree.lines(tree.node(role, "Tour", tree.node("button", "play"))) == [f"{role} 'Tour'"]


def test_a_reference_is_written_as_its_target(tree: Tree) -> None:
    panel = tree.node("tabpanel", "First", attributes={"id": "x"})
    tab = tree.node("tab", "One", states=[refers("controls", panel)], attributes={"aria-controls": "x"})
    assert tree.lines(tab, panel) == ["tab 'One' controls -> tabpanel 'First'", "tabpanel 'First'"]


def test_a_target_without_a_name_is_described_by_its_text(tree: Tree) -> None:
    panel = tree.node("tabpanel", "", tree.node("paragraph", "", tree.text("Hello"), tree.text(" you")))
    assert tree.lines(tree.node("tab", "One", states=[refers("controls", panel)]))[0] == (
        "tab 'One' controls -> tabpanel 'Hello you'"
    )


def test_a_hidden_target_is_marked_as_hidden(tree: Tree) -> None:
    gone = tree.node("generic", ignored=True)
    assert tree.lines(tree.node("button", "Open", states=[refers("details", gone, 99)])) == [
        "button 'Open' details -> what is hidden, what is hidden"
    ]


@pytest.mark.parametrize(
    ("attributes", "shown"),
    [
        ({"aria-controls": "nobody"}, " aria-controls -> outside"),
        ({"aria-controls": "here"}, ""),
        ({"aria-labelledby": "here nobody"}, " aria-labelledby -> outside"),
        ({"aria-owns": ""}, ""),
        ({"for": "nobody"}, " for -> outside"),
    ],
)
def test_a_reference_to_a_missing_target_is_marked(tree: Tree, attributes: dict[str, str], shown: str) -> None:
    target = tree.node("region", "Here", attributes={"id": "here"})
    button = tree.node("button", "Open", attributes=attributes)
    assert tree.lines(button, target)[0] == f"button 'Open'{shown}"


@pytest.mark.parametrize(
    ("attribute", "value", "shown"),
    [
        ("lang", "de", True),
        ("autocomplete", "email", True),
        ("scope", "col", True),
        ("aria-busy", "true", True),
        ("aria-level", "2", True),
        ("class", "big", False),
        ("id", "x", False),
        ("data-test", "x", False),
        ("aria-label", "Save", False),
        ("aria-hidden", "true", False),
        *((name, value, False) for name, value in DEFAULTS.items()),
    ],
)
def test_attributes_that_the_tree_may_omit_are_added(tree: Tree, attribute: str, value: str, shown: bool) -> None:
    """An attribute that the role does not allow is not in the tree, but removing it may be the whole fix."""
    (line,) = tree.lines(tree.node("button", "Save", attributes={attribute: value}))
    assert line == "button 'Save'" + (f" {attribute}={value}" if shown else "")


@pytest.mark.parametrize("name", ["focused", "settable", "editable", "labelledby", "describedby"])
def test_states_that_depend_on_the_surrounding_page_are_left_out(tree: Tree, name: str) -> None:
    assert tree.lines(tree.node("textbox", "Name", states=[state(name, True)])) == ["textbox 'Name'"]


def test_descriptions_and_values_are_shown(tree: Tree) -> None:
    field = tree.node("textbox", "Name", description="as in your passport", value="Ada")
    assert tree.lines(field) == ["textbox 'Name' description='as in your passport' value='Ada'"]


def test_tab_stops_follow_in_their_order(tree: Tree) -> None:
    first = tree.node("button", "A", attributes={STOP: "2"})
    second = tree.node("link", "B", attributes={STOP: "10"})
    third = tree.node("link", "C", attributes={STOP: "1"})
    stops = [line for line in tree.lines(first, second, third) if line.startswith("tab stop")]
    assert stops == ["tab stop 1: link 'C'", "tab stop 2: button 'A'", "tab stop 10: link 'B'"]


def test_an_empty_page_has_an_empty_outline(tree: Tree) -> None:
    assert tree.lines() == []


def test_a_deeply_nested_page_has_an_outline(tree: Tree) -> None:
    inner = tree.text("deep")
    for _ in range(3000):
        inner = tree.node("generic", "", inner)
    for _ in range(3000):
        tree.document = {"backendNodeId": 0, "children": [tree.document]}
    assert tree.lines(tree.node("group", "g", inner)) == ["group 'g'", "  text: deep"]
