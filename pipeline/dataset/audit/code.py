"""A source file as syntax trees, and edits of it. Pure.

Scripts are parsed by the grammars of TypeScript and TSX, which include JavaScript. Templates of Vue, Svelte and HTML
are parsed by the grammar of HTML; the scripts in them are separate trees whose positions are those of the file. Does
not cover styles.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Language, Node

#: grammar -> its module and function
_GRAMMARS = {
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "html": ("tree_sitter_html", "language"),
}
#: extension of a file -> its grammar
_ENDINGS = {
    **dict.fromkeys((".js", ".jsx", ".tsx", ".mjs", ".cjs"), "tsx"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    **dict.fromkeys((".vue", ".svelte", ".html", ".htm"), "html"),
}
#: the attribute that names the language of a script in a page
_LANGUAGES = {b"ts": "typescript", b"tsx": "tsx", b"typescript": "typescript"}
_TAGS = re.compile(rb"(<script\b[^>]*>)(.*?)</script>", re.DOTALL | re.IGNORECASE)
_LANG = re.compile(rb"""\blang\s*=\s*["'](\w+)["']""")
#: types of nodes around gold's lines: the tag of an element, the function
TAGS = ("jsx_opening_element", "jsx_self_closing_element", "start_tag", "self_closing_tag")
FUNCTIONS = ("arrow_function", "function_expression", "function_declaration", "method_definition", "generator_function")
#: types of nodes without an effect at run time: comments and types
_SILENT = {
    "comment",
    "html_comment",
    "type_annotation",
    "type_arguments",
    "type_parameters",
    "interface_declaration",
    "type_alias_declaration",
    "ambient_declaration",
    "function_signature",
    "accessibility_modifier",
    "abstract_method_signature",
    "asserts_annotation",
    "type_predicate_annotation",
}
#: conditions that only development builds meet, and properties that only developers' tools read
_OF_DEVELOPMENT = re.compile(rb"process\.env\.NODE_ENV\s*!==?\s*[\"']production|\b__DEV__\b")
_FOR_DEVELOPERS = re.compile(rb"\.(?:displayName|propTypes)$")


class Edit(NamedTuple):
    """Replacements of parts of a text: start and end in bytes, and the new content. They do not overlap."""

    parts: tuple[tuple[int, int, bytes], ...]

    def on(self, text: bytes) -> bytes:
        """Apply this edit to a text."""
        for start, end, new in sorted(self.parts, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def overlaps(self, other: Edit) -> bool:
        """Whether the two edits overlap."""
        return any(a < end and start < b or a == start for a, b, _ in self.parts for start, end, _ in other.parts)


def replaced(*parts: tuple[Node, bytes]) -> Edit:
    """The edit that replaces some nodes."""
    return Edit(tuple((node.start_byte, node.end_byte, new) for node, new in parts))


def removed(node: Node, text: bytes) -> Edit:
    """The edit that removes a node with the blanks before it, and with its line if nothing else is on it."""
    start = node.start_byte
    while start and text[start - 1 : start] in (b" ", b"\t", b"\n", b"\r"):
        start -= 1
    return Edit(((start, node.end_byte, b""),))


@dataclass(frozen=True)
class Code:
    """A file: its path, its text, the numbers of the lines that gold changed (from 1), and its text in the base."""

    path: str
    text: bytes
    lines: frozenset[int]
    base: bytes = b""

    @cached_property
    def roots(self) -> tuple[Node, ...]:
        """Its syntax trees; none without a grammar for it."""
        return tuple(trees(self.path, self.text))

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All named nodes, parents before children."""
        return tuple(node for root in self.roots for node in walk(root) if node.is_named)

    def touched(self, *types: str) -> Iterator[Node]:
        """The nodes of these types that are at least partly on lines that gold changed."""
        return (node for node in self.nodes if node.type in types and self.is_touched(node))

    def is_touched(self, node: Node) -> bool:
        """Whether a node is at least partly on a line that gold changed."""
        return not self.lines.isdisjoint(range(node.start_point[0] + 1, node.end_point[0] + 2))

    def begins(self, *types: str) -> Iterator[Node]:
        """The nodes of these types that begin on lines that gold changed."""
        return (node for node in self.nodes if node.type in types and node.start_point[0] + 1 in self.lines)

    def adds(self, node: Node) -> bool:
        """Whether gold added a node and did not only move it."""
        return b" ".join(text_of(node).split()) not in self._base_words

    @cached_property
    def _base_words(self) -> bytes:
        return b" ".join(self.base.split())

    def widened(self, around: Collection[str]) -> Code:
        """The same file, with all lines of nodes of these types as changed if gold changed one of them."""
        lines = set(self.lines)
        for root in self.roots:
            for node in walk(root):
                if node.type in around and self.is_touched(node):
                    lines.update(range(node.start_point[0] + 1, node.end_point[0] + 2))
        return Code(self.path, self.text, frozenset(lines), self.base)

    def edited(self, edit: Edit) -> Code | None:
        """The file with an edit; None if that adds syntax errors."""
        result = Code(self.path, edit.on(self.text), self.lines, self.base)
        return result if result.faults <= self.faults else None

    @cached_property
    def faults(self) -> int:
        """The number of syntax errors, and of elements whose start and end tags have different names."""
        return sum(node.is_error or node.is_missing or _is_torn(node) for root in self.roots for node in walk(root))

    @cached_property
    def effective(self) -> tuple[bytes, ...]:
        """Its tokens that have an effect at run time, without comments, types and blanks."""
        return tuple(word for root in self.roots for word in _tokens(root))


def is_code(path: str) -> bool:
    """Whether there is a grammar for this file."""
    return posixpath.splitext(path)[1].lower() in _ENDINGS and not path.endswith(".d.ts")


def trees(path: str, text: bytes) -> Iterator[Node]:
    """The tree of a file, and the trees of the scripts in it, with their positions in the file."""
    grammar = _ENDINGS.get(posixpath.splitext(path)[1].lower())
    if grammar == "html":
        yield _parsed("html", text)
        for script in _TAGS.finditer(text):
            language = _LANG.search(script[1])
            start, end = script.span(2)
            blank = re.sub(rb"[^\n]", b" ", text[:start])
            yield _parsed(_LANGUAGES.get(language[1] if language else b"", "tsx"), blank + text[start:end])
    elif grammar:
        yield _parsed(grammar, text)


def walk(root: Node) -> Iterator[Node]:
    """A node and all nodes inside it, parents before children, in the order of the text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def within(node: Node, types: Collection[str]) -> bool:
    """Whether this node contains one of these types."""
    return any(inner.type in types for inner in walk(node))


def above(node: Node, fits: Callable[[Node], bool]) -> Node | None:
    """The nearest node around this one that fits."""
    parent = node.parent
    while parent is not None and not fits(parent):
        parent = parent.parent
    return parent


def text_of(node: Node | None) -> bytes:
    """The text of a node; empty for None."""
    return (node.text or b"") if node is not None else b""


def plain(node: Node | None) -> bytes | None:
    """The content of a string without escapes and quotes; None for anything else."""
    text = text_of(node)
    if node is None or node.type != "string" or len(text) < 2:
        return None
    inner = text[1:-1]
    return None if re.search(rb"[\\'\"`\n&{}$]", inner) else inner


def _tokens(root: Node) -> Iterator[bytes]:
    whole = text_of(root)
    waiting = [root]
    while waiting:
        node = waiting.pop()
        silent = (_is_type_import, _is_separator, _is_declared_type, _is_for_developers)
        if node.type in _SILENT or any(is_silent(node) for is_silent in silent) or _is_unused(node, whole):
            continue
        if node.children:
            waiting.extend(reversed(node.children))
        elif word := b" ".join(text_of(node).split()):
            yield word


def _is_type_import(node: Node) -> bool:
    return node.type == "import_statement" and any(child.type == "type" for child in node.children)


def _is_declared_type(node: Node) -> bool:
    """Whether it declares React's prop types, which only warn."""
    return node.type == "pair" and bool(
        re.match(rb"(?:React\.)?PropTypes\b", text_of(node.child_by_field_name("value")))
    )


def _is_for_developers(node: Node) -> bool:
    """Whether only developers see what it does: the name or the prop types of a component, or a warning that production
    builds leave out."""
    if node.type == "if_statement" and node.child_by_field_name("alternative") is None:
        return bool(_OF_DEVELOPMENT.search(text_of(node.child_by_field_name("condition"))))
    given = node.named_children[0] if node.type == "expression_statement" and node.named_children else None
    left = given.child_by_field_name("left") if given is not None and given.type == "assignment_expression" else None
    return left is not None and bool(_FOR_DEVELOPERS.search(text_of(left)))


def _is_torn(node: Node) -> bool:
    """Whether the start and end tags of an element have different names, which the grammar accepts."""
    if node.type != "jsx_element":
        return False
    ends = (node.child_by_field_name("open_tag"), node.child_by_field_name("close_tag"))
    first, last = (text_of(end.child_by_field_name("name")) if end is not None else b"" for end in ends)
    return first != last


def _is_unused(node: Node, whole: bytes) -> bool:
    """Whether it is a function of a module, or an imported name, that nothing else in the module mentions."""
    if node.type == "import_specifier":
        name = node.child_by_field_name("alias") or node.child_by_field_name("name")
    elif node.type == "function_declaration" and node.parent is not None and node.parent.type == "program":
        name = node.child_by_field_name("name")
    else:
        return False
    return len(re.findall(rb"(?<![\w$])%s(?![\w$])" % re.escape(text_of(name)), whole)) == 1


def _is_separator(node: Node) -> bool:
    """Whether it is a separator without meaning: a final semicolon, a comma before a bracket or in an import."""
    after = node.next_sibling
    in_import = node.parent is not None and node.parent.type == "named_imports"
    ends = after is not None and after.type in (")", "]", "}")
    return node.type == ";" or node.type == "," and (ends or in_import)


def _parsed(grammar: str, text: bytes) -> Node:
    from tree_sitter import Parser

    return Parser(_language(grammar)).parse(text).root_node


@cache
def _language(grammar: str) -> Language:
    from tree_sitter import Language

    module, function = _GRAMMARS[grammar]
    return Language(getattr(import_module(module), function)())


#: the name of a rule, and the function that gives its edits of a file
Rule = Callable[[Code], Iterator[Edit]]


def edits(rules: Sequence[tuple[str, Rule]], code: Code) -> Iterator[tuple[str, Edit]]:
    """All edits of a file, with the names of their rules."""
    return ((name, edit) for name, rule in rules for edit in rule(code))
