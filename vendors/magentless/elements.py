"""The elements of a file: functions, classes, methods, components, types, rules and tags, with their lines.

The names of inner elements stand behind those of the outer ones: `Menu.onKeyDown`, `.menu :hover`. Rules of style
sheets are named by their selectors, tags by their name and id. Not covered: what a call makes (`describe('…', …)`),
values inside objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from magentless.grammars import TSX, TYPESCRIPT, SyntaxTree, trees

LONGEST_NAME = 80
DEEPEST_TAG = 3  # tags inside tags
FUNCTIONS = {"arrow_function", "function_expression", "class", "generator_function"}

# node, the field or child that names it
NAMED = {
    **dict.fromkeys(
        (
            *("function_declaration", "generator_function_declaration", "class_declaration", "method_definition"),
            *("abstract_class_declaration", "interface_declaration", "type_alias_declaration", "enum_declaration"),
            *("variable_declarator", "public_field_definition"),
        ),
        "name",
    ),
    "rule_set": "selectors",
    "media_statement": "",
    "at_rule": "",
    "mixin_statement": "identifier",
    "keyframes_statement": "keyframes_name",
    "element": "",
    "script_element": "",
    "style_element": "",
}
TAGS = {"element", "script_element", "style_element"}
VALUES = {"variable_declarator", "public_field_definition"}
TOP = {"program", "export_statement", "lexical_declaration", "variable_declaration", "namespace"}


class Element(NamedTuple):
    """One element; `start` and `end` are its first and last line, from 1."""

    name: str
    start: int
    end: int


def elements(path: str, text: str) -> list[Element]:
    """The elements of a file in the order of their lines; none where there is no grammar."""
    found = (element for tree in trees(path, text) for element in _of_tree(tree))
    return sorted(dict.fromkeys(found), key=lambda element: (element.start, -element.end))


def _of_tree(tree: SyntaxTree) -> Iterator[Element]:
    joint = "." if tree.grammar in (TSX, TYPESCRIPT) else " "
    pending: list[tuple[Node, str, int]] = [(tree.root, "", 0)]
    while pending:
        node, outer, depth = pending.pop()
        name = _name(node, depth)
        if name:
            outer = f"{outer}{joint}{name}" if outer else name
            yield Element(outer, tree.line + node.start_point.row + 1, tree.line + node.end_point.row + 1)
        pending.extend((child, outer, depth + (node.type == "element")) for child in node.children)


def _name(node: Node, depth: int) -> str:
    if node.type in VALUES and not _is_kept(node):
        return ""
    if node.type in TAGS:
        return _tag(node) if depth < DEEPEST_TAG else ""
    if node.type == "export_statement" and node.child_by_field_name("value"):
        return "default"
    if node.type not in NAMED:
        return ""
    return _text(_namer(node) or node).partition("{")[0].strip()[:LONGEST_NAME]


def _namer(node: Node) -> Node | None:
    kind = NAMED[node.type]
    named = kind and node.child_by_field_name(kind)
    return named or next((child for child in node.children if child.type == kind), None)


def _is_kept(node: Node) -> bool:
    """A value is an element at the top of a file, and further in when it is a function."""
    value, place = node.child_by_field_name("value"), node.parent
    while place and place.type in TOP and place.parent:
        place = place.parent
    return place is None or place.type in TOP or (value is not None and _is_function(value))


def _is_function(value: Node) -> bool:
    """A function, or a call that is given one: `useCallback(() => …)`."""
    given = value.child_by_field_name("arguments") if value.type == "call_expression" else None
    return value.type in FUNCTIONS or any(child.type in FUNCTIONS for child in (given.children if given else ()))


def _tag(node: Node) -> str:
    opening = next((child for child in node.children if child.type.endswith("tag")), None)
    words = _text(opening).strip("</>").split() if opening else []
    name = words[0] if words else "tag"
    ids = [word for word in words if word.startswith("id=")]
    return f"<{' '.join([name, *ids[:1]])}>"[:LONGEST_NAME]


def _text(node: Node) -> str:
    return " ".join((node.text or b"").decode(errors="replace").split())
