"""Nodes of test files in JavaScript and TypeScript: tests, groups, and where a node is among them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_PLAIN = re.compile(r"\.[cm]?ts$")
#: calls whose last function is a test, and calls that group tests
_TESTS = frozenset({"it", "test", "specify", "fit", "xit", "xtest"})
_GROUPS = frozenset({"describe", "context", "suite", "fdescribe"})
_EXPECTS = frozenset({"expect", "should", "chai.expect", "expect.soft", "expect.poll"})
#: calls that retry a function until it passes: any value may occur in between
_POLLING = re.compile(r"^(?:wait\w*|eventually|retry|poll|toPass)$")
#: functions that call what they are given while the test waits
_CALLING = re.compile(r"^(?:wait\w*|act|step|eventually|retry|poll)$")
#: what may keep a part of a function from running
_BRANCHES = frozenset(
    {"if_statement", "ternary_expression", "switch_statement", "catch_clause", "for_statement", "for_in_statement"}
    | {"while_statement", "do_statement"}
)
#: how code uses a runner: functions, and functions of objects
_USED = frozenset({"expect", "describe", "beforeEach", "afterEach", "beforeAll", "afterAll"})
_USED_OF = re.compile(r"^(?:jest|vi)\.(?:fn|mock|spyOn|use)")
_MARKUP = re.compile(r"\.(?:vue|svelte)$")
_SCRIPTS = re.compile(r"<script\b[^>]*>(.*?)</script>", re.DOTALL)
FUNCTIONS = frozenset(
    {"arrow_function", "function_expression", "function", "method_definition", "function_declaration"}
)


def parsed(path: str, source: bytes) -> Node:
    import tree_sitter_typescript
    from tree_sitter import Language, Parser

    grammar = tree_sitter_typescript.language_typescript if _PLAIN.search(path) else tree_sitter_typescript.language_tsx
    return Parser(Language(grammar())).parse(source).root_node


def walk(root: Node) -> Iterator[Node]:
    """All named nodes, in the order of the text."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.named_children))


def text_of(node: Node | None) -> str:
    return node.text.decode(errors="replace") if node is not None and node.text else ""


def is_expect(call: Node) -> bool:
    function = call.child_by_field_name("function")
    return function is not None and text_of(function) in _EXPECTS


def is_test(call: Node) -> bool:
    """Whether a call defines a test: `it(…)`, `test.skip(…)`, `it.each(…)(…)`."""
    function = call.child_by_field_name("function")
    while function is not None and function.type in ("member_expression", "call_expression"):
        function = function.child_by_field_name("object") or function.child_by_field_name("function")
    arguments = call.child_by_field_name("arguments")
    named = function is not None and text_of(function) in _TESTS
    return named and arguments is not None and any(child.type in FUNCTIONS for child in arguments.named_children)


def block_of(node: Node) -> Node | None:
    """The block that an expectation belongs to: the test around it, else the outermost function."""
    outermost = None
    for above in ancestors(node):
        if above.type == "call_expression" and is_test(above):
            return above
        if above.type in FUNCTIONS and not _is_group(above):
            outermost = above
    return outermost


def is_nested(node: Node, test: Node | None) -> bool:
    """Whether an expectation may be left out although its test passes: it is in a branch, a loop or a function that
    other code may not call, or in no test at all."""
    for above in ancestors(node):
        if above == test:
            return not is_test(above)
        if above.type in _BRANCHES or (above.type in FUNCTIONS and not _is_called(above, test)):
            return True
    return True


def _is_called(function: Node, test: Node | None) -> bool:
    """Whether a function runs for certain: it is the test's own, or awaited."""
    call = function.parent.parent if function.parent is not None and function.parent.type == "arguments" else None
    return call is not None and (call == test or bool(_CALLING.match(callee(call))))


def uses_runner(path: str, text: str) -> bool:
    """Whether a file calls functions of a runner, other than its own functions of these names. Comments and texts do
    not count."""
    parts = _SCRIPTS.findall(text) if _MARKUP.search(path) else [text]
    return any(map(_calls_runner, (parsed(path, part.encode()) for part in parts)))


def _calls_runner(root: Node) -> bool:
    used, own = set[str](), set[str]()
    for node in walk(root):
        if node.type == "call_expression":
            name = text_of(node.child_by_field_name("function"))
            used |= {name} if name in _USED or _USED_OF.match(name) else set()
        elif node.type in FUNCTIONS or (node.type == "variable_declarator" and _is_made(node)):
            own.add(text_of(node.child_by_field_name("name")))
    return bool(used - own)


def _is_made(declarator: Node) -> bool:
    """Whether a variable has a function that is written here."""
    value = declarator.child_by_field_name("value")
    return value is not None and value.type in FUNCTIONS


def ancestors(node: Node) -> Iterator[Node]:
    """The nodes around one, from the inside out."""
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def _is_group(function: Node) -> bool:
    """Whether a function is the body of a group of tests."""
    call = function.parent.parent if function.parent is not None and function.parent.type == "arguments" else None
    return call is not None and text_of(call.child_by_field_name("function")).split(".")[0] in _GROUPS


def is_polled(node: Node) -> bool:
    """Whether an expectation is retried until it passes."""
    return any(
        above.type == "call_expression" and (_POLLING.match(callee(above)) or ".poll(" in text_of(above)[:12])
        for above in ancestors(node)
    )


def is_awaited(top: Node, words: Collection[Node]) -> bool:
    """Whether an expectation waits by itself."""
    settled = any(text_of(word) in ("resolves", "rejects") for word in words)
    return not settled and top.parent is not None and top.parent.type == "await_expression"


def callee(call: Node) -> str:
    """The last name of the called function; empty if the node is not a call."""
    function = call.child_by_field_name("function") if call.type == "call_expression" else None
    if function is None:
        return ""
    return text_of(function.child_by_field_name("property") if function.type == "member_expression" else function)


def within(node: Node, lines: Collection[int]) -> set[int]:
    """The lines strictly inside a node: its first and last line may be shared with others."""
    return {number for number in lines if node.start_point.row + 1 < number < node.end_point.row + 1}


def covers(node: Node, lines: Collection[int]) -> bool:
    return any(row + 1 in lines for row in range(node.start_point.row, node.end_point.row + 1))


def is_inside(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def full_title(test: Node) -> str:
    """`group > title`; empty if one of them is computed."""
    titles: list[str] = []
    node: Node | None = test
    while node is not None:
        if node.type == "call_expression" and (is_test(node) or text_of(node).startswith(tuple(_GROUPS))):
            arguments = node.child_by_field_name("arguments")
            title = arguments.named_children[0] if arguments is not None and arguments.named_children else None
            plain = (
                title is not None
                and title.type in ("string", "template_string")
                and not (
                    title.type == "template_string"
                    and any(child.type == "template_substitution" for child in title.children)
                )
            )
            if not plain or "\\" in text_of(title) or ".each" in text_of(node.child_by_field_name("function")):
                return ""
            titles.append(text_of(title)[1:-1])
        node = node.parent
    return " > ".join(reversed(titles))
