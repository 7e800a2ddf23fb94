"""The elements of a file: functions, classes, methods, components, types, rules and tags, with their lines.

`queries/` defines them for each language. Names of inner elements follow those of outer ones: `Menu.onKeyDown`, `.menu
:hover`. Rules of style sheets are named by their selectors, tags by name and id. Not covered: what a call creates
(`describe('…', …)`), values inside objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from magentless.grammars import SyntaxTree, matches, trees

LONGEST_NAME = 80
LONGEST_HEAD = 400  # bytes of an element without a name in which a name is searched

# language: the file in `queries/`, and the separator of outer and inner names
LANGUAGES = {
    **dict.fromkeys(("tsx", "typescript"), ("javascript", ".")),
    **dict.fromkeys(("css", "less"), ("css", " ")),
    "scss": ("scss", " "),
    **dict.fromkeys(("html", "svelte"), ("html", " ")),
}


class Element(NamedTuple):
    """An element; `start` and `end` are its first and last lines, from 1."""

    name: str
    start: int
    end: int


def elements(path: str, text: str) -> list[Element]:
    """The elements of a file in the order of their lines; none without a grammar."""
    found = (element for tree in trees(path, text) for element in _of_tree(tree))
    return sorted(dict.fromkeys(found), key=lambda element: (element.start, -element.end))


def _of_tree(tree: SyntaxTree) -> Iterator[Element]:
    """The elements of a tree, outer ones before inner ones."""
    query, joint = LANGUAGES[tree.grammar]
    found = {(match["element"][0].start_byte, -match["element"][0].end_byte): match for match in matches(tree, query)}
    outer: list[tuple[int, str]] = []
    for (start, end), captured in sorted(found.items(), key=lambda item: item[0]):
        while outer and outer[-1][0] <= start:
            outer.pop()
        node = captured["element"][0]
        name = joint.join([*(outer[-1][1:] if outer else ()), _name(node, captured.get("name"))])
        outer.append((-end, name))
        yield Element(name, tree.line + node.start_point.row + 1, tree.line + node.end_point.row + 1)


def _name(node: Node, named: list[Node] | None) -> str:
    if named:
        return _text(named[0])[:LONGEST_NAME]
    head = _text(node)
    return (_tag(head) if head.startswith("<") else head.partition("{")[0].strip())[:LONGEST_NAME]


def _tag(head: str) -> str:
    words = head.partition(">")[0].strip("</").split()
    ids = [word for word in words if word.startswith("id=")]
    return f"<{' '.join([*words[:1], *ids[:1]])}>"


def _text(node: Node) -> str:
    return " ".join((node.text or b"")[:LONGEST_HEAD].decode(errors="replace").split())
