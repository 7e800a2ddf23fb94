"""What a file means apart from its form: its syntax tree without comments, white space, quotes and trailing commas.

Files without a grammar are compared as text with white space collapsed, and so are those that a grammar which is not
strict cannot read; neither is ever found to have errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from magentless.grammars import nodes, trees

FORM = {"comment", "js_comment", "html_comment", "raw_text", ";", '"', "'"}
CLOSING = {")", "]", "}", ">"}


def fingerprint(path: str, text: str) -> str:
    """A string that two texts share when they differ in form and comments only."""
    found = trees(path, text)
    if not found or any(tree.root.has_error and not tree.strict for tree in found):
        return collapsed(text)
    return "\0".join(word for tree in found for word in _meaning(tree.root))


def errors(path: str, text: str) -> int:
    """Number of places that are no syntax: what the grammar cannot read, and JSX closed under another name."""
    return sum(_is_wrong(node) for tree in trees(path, text) if tree.strict for node in nodes(tree.root))


def collapsed(text: str) -> str:
    """The text with each run of white space as one blank."""
    return " ".join(text.split())


def _is_wrong(node: Node) -> bool:
    if node.type == "jsx_element":
        return _tag(node, "open_tag") != _tag(node, "close_tag")
    return node.is_error or node.is_missing


def _tag(element: Node, field: str) -> bytes | None:
    tag = element.child_by_field_name(field)
    name = tag and tag.child_by_field_name("name")
    return name.text if name else None


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
    """The children that mean something, last first."""
    return [child for child in reversed(children) if not _is_form(child)]


def _is_form(node: Node) -> bool:
    if node.type == "jsx_text":
        return not (node.text or b"").strip()
    if node.type == "jsx_expression":
        return all(child.type in FORM for child in node.named_children)
    if node.type == ",":
        return node.next_sibling is not None and node.next_sibling.type in CLOSING
    return node.type in FORM
