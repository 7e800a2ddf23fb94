"""Two versions of a test file: gold's, with the values that the former one expects in place of gold's.

A value is replaced if both versions of a test are equal except for values that exclude each other. Everything else
stays gold's: other tests, imports, and the set-up of tests. So code that passes gold's version fails here, at the first
of these values that is checked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from pipeline.execution.falsified import values
from pipeline.execution.falsified.nodes import full_title, is_inside, is_nested, is_test, parsed, walk
from pipeline.execution.falsified.scripts import PLAIN, Gold, assertions_of
from pipeline.execution.falsified.values import Falsified

if TYPE_CHECKING:
    from tree_sitter import Node

_CONSTANT = frozenset({*PLAIN, "string_fragment", "escape_sequence", "property_identifier"})
#: nodes that are constant if their parts are
_COMPOUND = frozenset({"array", "object", "pair", "template_string", "parenthesized_expression", "unary_expression"})


class _Expected(NamedTuple):
    """A value that excludes any other, and whether a failure prints it and the other one."""

    node: Node
    prints: bool


class _Test(NamedTuple):
    """A test, its text without its exclusive values, and these values."""

    node: Node
    masked: str
    values: tuple[_Expected, ...]


def former(path: str, before: str, gold: str) -> Falsified:
    """Gold's version of a script with the former version's values."""
    earlier, now = _tests(path, before.encode()), _tests(path, gold.encode())
    changes: list[tuple[int, int, bytes]] = []
    tests, telling, nested = set[str](), set[str](), set[str]()
    for title in earlier.keys() & now.keys():
        if earlier[title].masked == now[title].masked:
            pairs = list(_differing(earlier[title].values, now[title].values))
            changes += ((own.node.start_byte, own.node.end_byte, other.node.text or b"") for other, own in pairs)
            tests |= {title} if pairs else set()
            telling |= {title} if pairs and all(map(_is_printed, pairs)) else set()
            nested |= {title} if pairs and all(is_nested(own.node, now[title].node) for _, own in pairs) else set()
    text = values.replaced(gold.encode(), changes).decode()
    return Falsified(text, telling=frozenset(telling), tests=frozenset(tests), nested=frozenset(nested))


def _differing(before: Iterable[_Expected], now: Iterable[_Expected]) -> Iterator[tuple[_Expected, _Expected]]:
    """The pairs of constants that differ. Computed values may depend on the code under test, so they are left out."""
    for other, own in zip(before, now, strict=True):
        if other.node.text != own.node.text and _is_constant(other.node) and _is_constant(own.node):
            yield other, own


def _is_printed(pair: tuple[_Expected, _Expected]) -> bool:
    return all(value.prints and value.node.type in PLAIN for value in pair)


def _is_constant(node: Node) -> bool:
    return node.type in _CONSTANT or node.type in _COMPOUND and all(map(_is_constant, node.named_children))


def _tests(path: str, source: bytes) -> Mapping[str, _Test]:
    """The tests of a file by title (`group > title`), without those that share one or whose title is computed."""
    root = parsed(path, source)
    assertions = assertions_of(root, Gold())
    exclusive = [_Expected(assertion.only, assertion.prints) for assertion in assertions if assertion.only is not None]
    exclusive.sort(key=lambda value: value.node.start_byte)
    found: dict[str, list[_Test]] = {}
    for node in walk(root):
        if node.type == "call_expression" and is_test(node) and (title := full_title(node)):
            expected = [value for value in exclusive if is_inside(value.node, node)]
            masked = _without(source, node, [value.node for value in expected])
            found.setdefault(title, []).append(_Test(node, masked, tuple(expected)))
    return {title: tests[0] for title, tests in found.items() if len(tests) == 1}


def _without(source: bytes, node: Node, omitted: Collection[Node]) -> str:
    """The text of a node with normalized blanks and a mark in place of the omitted nodes."""
    position, parts = node.start_byte, []
    for inner in omitted:
        parts.append(source[position : inner.start_byte])
        position = inner.end_byte
    parts.append(source[position : node.end_byte])
    return "\0".join(" ".join(part.decode(errors="replace").split()) for part in parts)
