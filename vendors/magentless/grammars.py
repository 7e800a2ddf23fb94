"""Which grammar parses which file, and the syntax trees of a file.

The grammar of TSX parses JavaScript and its relatives. Less is parsed by the grammar of CSS, and Vue by that of HTML:
these find the right places, but may be wrong about details. They, and the grammar of SCSS, are not `strict`, so what
they cannot parse is not an error. Scripts and styles inside HTML, Vue and Svelte are separate trees. MDX and JSON have
no grammar.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from tree_sitter import Language, Node, Parser, Query, QueryCursor

QUERIES = Path(__file__).with_name("queries")

TSX, TYPESCRIPT, CSS = "tsx", "typescript", "css"

# grammar: module, its function, and whether what it cannot parse is an error
GRAMMARS = {
    TSX: ("tree_sitter_typescript", "language_tsx", True),
    TYPESCRIPT: ("tree_sitter_typescript", "language_typescript", True),
    CSS: ("tree_sitter_css", "language", True),
    "less": ("tree_sitter_css", "language", False),
    "scss": ("tree_sitter_scss", "language", False),
    "html": ("tree_sitter_html", "language", False),
    "svelte": ("tree_sitter_svelte", "language", False),
}
# extension, grammar
EXTENSIONS = {
    **dict.fromkeys(("tsx", "jsx", "js", "mjs", "cjs"), TSX),
    **dict.fromkeys(("ts", "mts", "cts"), TYPESCRIPT),
    **dict.fromkeys(("html", "htm", "vue"), "html"),
    **{name: name for name in (CSS, "less", "scss", "svelte")},
}
# grammars of files that contain other languages
PAGES = ("html", "svelte")
# node that contains another language, and its grammar unless `lang` names one
INSIDE = {"script_element": TSX, "style_element": CSS}
LANGUAGES = {b"ts": TYPESCRIPT, b"tsx": TSX, b"scss": "scss", b"less": "less"}


class SyntaxTree(NamedTuple):
    """A tree, its grammar, and the line of the file at which it begins."""

    root: Node
    grammar: str
    line: int

    @property
    def strict(self) -> bool:
        """Whether what the grammar cannot parse is an error."""
        return GRAMMARS[self.grammar][2]


def trees(path: str, text: str) -> list[SyntaxTree]:
    """The tree of a file, and those of the scripts and styles in it; none without a grammar."""
    grammar = EXTENSIONS.get(path.rpartition(".")[2].lower())
    if grammar is None:
        return []
    tree = _parsed(grammar, text.encode(), 0)
    return [tree, *_inner(tree)]


def matches(tree: SyntaxTree, query: str) -> list[dict[str, list[Node]]]:
    """The captures of a query of `queries/`, by match."""
    return [captured for _, captured in QueryCursor(_query(tree.grammar, query)).matches(tree.root)]


def nodes(root: Node) -> Iterator[Node]:
    """All nodes of a tree in the order of the text, parents before children."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(node.children))


def _inner(tree: SyntaxTree) -> Iterator[SyntaxTree]:
    """The scripts and styles inside a file."""
    for found in matches(tree, "inside") if tree.grammar in PAGES else ():
        (element,), (text,) = found["element"], found["text"]
        named = (LANGUAGES.get(node.text or b"") for node in found.get("value", ()))
        grammar = next(filter(None, named), INSIDE[element.type])
        yield _parsed(grammar, text.text or b"", text.start_point.row)


def _parsed(grammar: str, text: bytes, line: int) -> SyntaxTree:
    """The tree of a text. Each text gets its own parser, since a parser serves only one thread."""
    return SyntaxTree(Parser(_language(grammar)).parse(text).root_node, grammar, line)


@cache
def _query(grammar: str, name: str) -> Query:
    return Query(_language(grammar), (QUERIES / f"{name}.scm").read_text(encoding="utf-8"))


@cache
def _language(grammar: str) -> Language:
    module, function, _ = GRAMMARS[grammar]
    found = getattr(import_module(module), function)()
    return Language(_capsule(found) if isinstance(found, int) else found)


def _capsule(address: int) -> object:
    """The capsule that tree-sitter needs, for grammars made before its release 0.22, which give an address."""
    ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
    ctypes.pythonapi.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return ctypes.pythonapi.PyCapsule_New(address, b"tree_sitter.Language", None)
