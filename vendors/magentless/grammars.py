"""Which grammar reads which file, and the syntax trees of a file.

TSX reads JavaScript and its relatives, of which it is a superset. Less is read by the grammar of CSS and Vue by that of
HTML, which is right about where things are and may be wrong about details: such grammars, and that of SCSS, are not
`strict`, so that what they cannot read is no error. Scripts and styles inside HTML, Vue and Svelte are trees of their
own. There is no grammar for MDX and JSON.
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

# grammar: module, its function, and whether what it cannot read is an error
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
# grammars of files with other languages inside
PAGES = ("html", "svelte")
# node whose text is of another language, its grammar unless `lang` says otherwise
INSIDE = {"script_element": TSX, "style_element": CSS}
LANGUAGES = {b"ts": TYPESCRIPT, b"tsx": TSX, b"scss": "scss", b"less": "less"}


class SyntaxTree(NamedTuple):
    """A tree, its grammar, and the line of the file at which it begins."""

    root: Node
    grammar: str
    line: int

    @property
    def strict(self) -> bool:
        """Whether what the grammar cannot read is an error."""
        return GRAMMARS[self.grammar][2]


def trees(path: str, text: str) -> list[SyntaxTree]:
    """The tree of a file, and those of the scripts and styles in it; none where there is no grammar."""
    grammar = EXTENSIONS.get(path.rpartition(".")[2].lower())
    if grammar is None:
        return []
    tree = _parsed(grammar, text.encode(), 0)
    return [tree, *_inner(tree)]


def matches(tree: SyntaxTree, query: str) -> list[dict[str, list[Node]]]:
    """What a query of `queries/` captures, match by match."""
    return [captured for _, captured in QueryCursor(_query(tree.grammar, query)).matches(tree.root)]


def nodes(root: Node) -> Iterator[Node]:
    """All nodes of a tree, each before those inside it, in the order of the text."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(node.children))


def _inner(tree: SyntaxTree) -> Iterator[SyntaxTree]:
    """The scripts and styles that are inside."""
    for found in matches(tree, "inside") if tree.grammar in PAGES else ():
        (element,), (text,) = found["element"], found["text"]
        said = (LANGUAGES.get(node.text or b"") for node in found.get("value", ()))
        grammar = next(filter(None, said), INSIDE[element.type])
        yield _parsed(grammar, text.text or b"", text.start_point.row)


def _parsed(grammar: str, text: bytes, line: int) -> SyntaxTree:
    """A parser serves one thread, so each text has its own."""
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
    """What tree-sitter takes from grammars made before its release 0.22, which give an address."""
    ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
    ctypes.pythonapi.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return ctypes.pythonapi.PyCapsule_New(address, b"tree_sitter.Language", None)
