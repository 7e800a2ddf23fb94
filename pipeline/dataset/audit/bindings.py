"""Renaming what a function declares: constants, parameters, and destructured names. Pure.

Names that other code could see are not renamed: those of modules, functions and classes (a component's name is shown in
reports), names that are declared more than once in the function, and names that are used as tags.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pipeline.dataset.audit.code import FUNCTIONS, TAGS, Code, Edit, above, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_SCOPES = (*FUNCTIONS, "generator_function_declaration", "class_static_block")
#: types of nodes that are names
_NAMES = (
    "identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
)
#: values that take their name from the constant
_NAMED = ("arrow_function", "function_expression", "class", "generator_function", "parenthesized_expression")
_NAMING = (*TAGS, "jsx_closing_element")
_PATTERNS = ("object_pattern", "array_pattern", "pair_pattern", "rest_pattern")


def renames(code: Code) -> Iterator[Edit]:
    """The edits that rename a local name which gold declares or uses."""
    for function in code.touched(*_SCOPES):
        if above(function, lambda node: node.type in _SCOPES) is None:
            yield from _in(function, code)


def _in(function: Node, code: Code) -> Iterator[Edit]:
    """The renamings in an outermost function, of names that are declared only once in all of it."""
    uses, declared = defaultdict[bytes, list["Node"]](list), defaultdict[bytes, list["Node"]](list)
    for node in walk(function):
        if node.type in _NAMES:
            uses[text_of(node)].append(node)
            if _is_declared(node):
                declared[text_of(node)].append(node)
    for name, places in declared.items():
        nodes = uses[name]
        free = len(places) == 1 and places[0] == nodes[0] and not name.startswith(b"$") and _is_renamable(places[0])
        changed = any(node.start_point[0] + 1 in code.lines for node in nodes)
        if free and changed and _holds(_scope(places[0]), nodes) and not any(_is_tag(node) for node in nodes):
            new = _unused(name, code.text)
            yield Edit(tuple((node.start_byte, node.end_byte, _written(node, name, new)) for node in nodes))


def _scope(node: Node) -> Node | None:
    """The scope of a declared name."""
    blocks = ("statement_block", "for_statement", "for_in_statement", "switch_body", *_SCOPES)
    return above(node, lambda ancestor: ancestor.type in blocks)


def _holds(scope: Node | None, nodes: list[Node]) -> bool:
    return scope is not None and all(
        scope.start_byte <= node.start_byte and node.end_byte <= scope.end_byte for node in nodes
    )


def _is_declared(node: Node) -> bool:
    """Whether a name is declared here, as anything."""
    if node.type == "shorthand_property_identifier_pattern":
        return True
    parent = node.parent
    if node.type != "identifier" or parent is None:
        return False
    field = _field(parent, node)
    return (
        parent.type in ("array_pattern", "rest_pattern", "formal_parameters", "catch_clause")
        or (parent.type, field)
        in (
            ("variable_declarator", "name"),
            ("required_parameter", "pattern"),
            ("optional_parameter", "pattern"),
            ("arrow_function", "parameter"),
            ("pair_pattern", "value"),
            ("assignment_pattern", "left"),
            ("function_declaration", "name"),
            ("function_expression", "name"),
            ("generator_function_declaration", "name"),
            ("class_declaration", "name"),
        )
        or (parent.type == "for_in_statement" and field == "left")
    )


def _is_renamable(node: Node) -> bool:
    """Whether it is a constant, a variable or a parameter whose value does not take its name from it."""
    parent = node.parent
    if parent is None or parent.type.endswith(("_declaration", "_expression")) or parent.type == "catch_clause":
        return False
    if any(child.type in ("accessibility_modifier", "override_modifier", "readonly") for child in parent.children):
        return False  # a parameter that is also a property
    if parent.type == "variable_declarator":
        value = parent.child_by_field_name("value")
        return value is not None and value.type not in _NAMED
    top = above(
        node, lambda ancestor: ancestor.type not in (*_PATTERNS, "object_assignment_pattern", "assignment_pattern")
    )
    if top is None or top.type in ("assignment_expression", "for_in_statement", "catch_clause"):
        return False
    return top.type in (
        "variable_declarator",
        "required_parameter",
        "optional_parameter",
        "formal_parameters",
        "arrow_function",
    )


def _field(parent: Node, node: Node) -> str:
    for index, child in enumerate(parent.children):
        if child.start_byte == node.start_byte and child.end_byte == node.end_byte:
            return parent.field_name_for_child(index) or ""
    return ""


def _is_tag(node: Node) -> bool:
    return node.parent is not None and node.parent.type in _NAMING


def _written(node: Node, name: bytes, new: bytes) -> bytes:
    """The new name as it is written in a place: a shorthand property keeps the old name as its key."""
    return new if node.type == "identifier" else name + b": " + new


def _unused(name: bytes, text: bytes) -> bytes:
    new = name + b"Value"
    while new in text:
        new += b"2"
    return new
