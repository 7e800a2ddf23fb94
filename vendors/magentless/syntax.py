"""What a file means apart from its form: its syntax tree without comments, white space, quotes and trailing commas.

Grammars: TSX for JavaScript and its relatives (a superset of JSX), TypeScript, CSS. Other files are compared as text
with white space collapsed, and are never found to have errors (SCSS and Less are not CSS to a CSS grammar).
"""

from __future__ import annotations

from collections.abc import Iterator
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
    """Number of places that the grammar of the file's type cannot read."""
    tree = _tree(path, text)
    return sum(node.is_error or node.is_missing for node in _nodes(tree.root_node)) if tree else 0


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
    """The nodes with an error in or below them."""
    pending = [root] if root.has_error else []
    while pending:
        node = pending.pop()
        yield node
        pending.extend(child for child in node.children if child.has_error)


def _meaning(root: Node) -> Iterator[str]:
    """The tree in preorder: brackets around inner nodes, the text of leaves."""
    pending: list[Node | str] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            yield node
        elif node.type == "parenthesized_expression":
            pending.extend(reversed(node.named_children))
        elif node.child_count:
            yield f"({node.type}"
            pending.extend([")", *reversed([child for child in node.children if not _is_form(child)])])
        else:
            yield collapsed((node.text or b"").decode())


def _is_form(node: Node) -> bool:
    if node.type == "jsx_text":
        return not (node.text or b"").strip()
    if node.type == "jsx_expression":
        return all(child.type in FORM for child in node.named_children)
    if node.type == ",":
        return node.next_sibling is not None and node.next_sibling.type in CLOSING
    return node.type in FORM
