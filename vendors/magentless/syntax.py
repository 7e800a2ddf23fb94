"""What a file means apart from its form: its syntax tree without comments, white space, quotes and trailing commas.

Grammars: TSX for JavaScript and its relatives (a superset of JSX), TypeScript, CSS. Other files are compared as text
with white space collapsed, and are never found to have errors (SCSS and Less are not CSS to a CSS grammar).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import tree_sitter_css
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser, Tree

# grammar, extensions
GRAMMARS = (
    (tree_sitter_typescript.language_tsx, ("tsx", "jsx", "js", "mjs", "cjs")),
    (tree_sitter_typescript.language_typescript, ("ts", "mts", "cts")),
    (tree_sitter_css.language, ("css",)),
)
FORM = {"comment", "js_comment", "html_comment", ";", '"', "'"}
CLOSING = {")", "]", "}", ">"}


def fingerprint(path: str, text: str) -> str:
    """A string that two texts share when they differ in form and comments only."""
    tree = _tree(path, text)
    return "\0".join(_meaning(tree.root_node)) if tree else collapsed(text)


def errors(path: str, text: str) -> int:
    """Number of places that are no syntax: what the grammar cannot read, and JSX closed under another name."""
    tree = _tree(path, text)
    return sum(map(_is_wrong, _nodes(tree.root_node))) if tree else 0


def collapsed(text: str) -> str:
    """The text with each run of white space as one blank."""
    return " ".join(text.split())


@cache
def _parsers() -> dict[str, Parser]:
    return {extension: Parser(Language(grammar())) for grammar, names in GRAMMARS for extension in names}


def _tree(path: str, text: str) -> Tree | None:
    parser = _parsers().get(path.rpartition(".")[2].lower())
    return parser.parse(text.encode()) if parser else None


def _nodes(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(node.children)


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
