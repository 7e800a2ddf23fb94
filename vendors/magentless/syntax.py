"""The meaning of a file: its syntax tree without comments, white space, quotes and trailing commas.

Files without a grammar are compared as text with collapsed white space, and so are files that a grammar cannot parse
and that is not strict. Neither ever has errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from tree_sitter import Node

from magentless.grammars import TSX, SyntaxTree, matches, nodes, trees

FORM = {"comment", "js_comment", "html_comment", "raw_text", ";", '"', "'"}
CLOSING = {")", "]", "}", ">"}


@lru_cache(maxsize=256)
def fingerprint(path: str, text: str) -> str:
    """A string that two texts share if they differ only in formatting and comments."""
    found = trees(path, text)
    if not found or any(tree.root.has_error and not tree.strict for tree in found):
        return collapsed(text)
    return "\0".join(word for tree in found for word in _meaning(tree.root))


@lru_cache(maxsize=256)
def errors(path: str, text: str) -> int:
    """The number of syntax errors: what the grammar cannot parse, and JSX elements with a different closing tag."""
    return sum(_mistakes(tree) for tree in trees(path, text) if tree.strict)


def collapsed(text: str) -> str:
    """The text with all runs of white space as single blanks."""
    return " ".join(text.split())


def _mistakes(tree: SyntaxTree) -> int:
    unread = sum(node.is_error or node.is_missing for node in nodes(tree.root)) if tree.root.has_error else 0
    tags = matches(tree, "tags") if tree.grammar == TSX else ()
    return unread + sum(_names(tag, "opened") != _names(tag, "closed") for tag in tags)


def _names(captured: dict[str, list[Node]], tag: str) -> list[bytes | None]:
    return [node.text for node in captured.get(tag, ())]


def _meaning(root: Node) -> Iterator[str]:
    """The tree in preorder: brackets around inner nodes, the text of leaves."""
    pending: list[Node | str] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            yield node
        elif node.type == "parenthesized_expression":
            pending.extend(_content(node.named_children))
        elif node.child_count:
            yield f"({node.type}"
            pending.extend([")", *_content(node.children)])
        else:
            yield collapsed((node.text or b"").decode())


def _content(children: Sequence[Node]) -> list[Node]:
    """The children with a meaning, in reverse order."""
    return [child for child in reversed(children) if not _is_form(child)]


def _is_form(node: Node) -> bool:
    if node.type == "jsx_text":
        return not (node.text or b"").strip()
    if node.type == "jsx_expression":
        return all(child.type in FORM for child in node.named_children)
    if node.type == ",":
        return node.next_sibling is not None and node.next_sibling.type in CLOSING
    return node.type in FORM
