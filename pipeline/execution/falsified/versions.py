"""Two versions of a test file: which tests contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pipeline.execution.falsified.nodes import full_title, is_inside, is_test, parsed, walk
from pipeline.execution.falsified.scripts import Gold, assertions_of

if TYPE_CHECKING:
    from tree_sitter import Node


def contradicted(path: str, former: str, gold: str) -> frozenset[str]:
    """The tests (`group > title`) that differ in values that exclude each other, and in nothing else that they run."""
    before, now = _masked(path, former), _masked(path, gold)
    if before.pop("", None) != now.pop("", None):
        return frozenset()
    return frozenset(name for name in before.keys() & now.keys() if before[name] == now[name])


def _masked(path: str, text: str) -> dict[str, str]:
    """The tests of a file by title, and under the empty title everything else, without imports and exclusive values."""
    source = text.encode()
    root = parsed(path, source)
    only = [assertion.only for assertion in assertions_of(root, Gold()) if assertion.only is not None]
    tests = [node for node in walk(root) if node.type == "call_expression" and is_test(node)]
    imports = [node for node in root.named_children if node.type == "import_statement"]
    masked = {"": re.sub(r"[\0;\s]+", " ", _without(source, root, [*tests, *imports])).strip()}
    for test in tests:
        if (name := full_title(test)) in masked:
            masked[name] += " twice"
        elif name:
            masked[name] = _without(source, test, [node for node in only if is_inside(node, test)])
    return masked


def _without(source: bytes, node: Node, omitted: Iterable[Node]) -> str:
    """The text of a node with normalized blanks and a mark in place of the omitted nodes."""
    position, parts = node.start_byte, []
    for inner in sorted(omitted, key=lambda inner: inner.start_byte):
        if inner.start_byte >= position:
            parts.append(source[position : inner.start_byte])
            position = inner.end_byte
    parts.append(source[position : node.end_byte])
    return "\0".join(" ".join(part.decode(errors="replace").split()) for part in parts)
