"""The browser's own accessibility tree as lines of text: what assistive technologies are told, and nothing else.

Elements that say nothing (wrappers without a name or state) vanish, neighbouring texts become one, and references are
written as what they lead to, never as an id. Attributes that assistive technologies use and the tree does not show are
added from the document. Pure functions over the answers of CDP's `Accessibility.getFullAXTree` and `DOM.getDocument`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: roles of what only groups or names something; they are left out unless something is said of them
NEUTRAL = {"generic", "none", "RootWebArea", "LabelText"}
#: parts of how a text is drawn
DRAWN = {"InlineTextBox", "ListMarker"}
#: elements whose parts are the browser's own, and come and go with its layout
OPAQUE = {"Video", "Audio"}
#: properties that depend on the page around, or that only automation uses
PASSING = {"focused", "settable", "root", "hiddenRoot", "editable"}
#: where a name and a description are from: they themselves are told
SOURCES = {"labelledby", "describedby"}
#: attributes that assistive technologies use and the tree does not show (WCAG 1.3.1, 1.3.5, 3.1.2)
UNTOLD = {"lang", "autocomplete", "accesskey", "scope", "controls"}
#: of ARIA's those that are told in full: as names, as descriptions, by being hidden
TOLD = {"aria-label", "aria-labelledby", "aria-description", "aria-describedby", "aria-roledescription", "aria-hidden"}
#: the values of ARIA's others that are as good as none; the tree leaves out what an element's role does not allow,
#: and to take that away may be all that a fix does
NONE = {
    **dict.fromkeys(("aria-disabled", "aria-busy", "aria-invalid", "aria-required", "aria-readonly"), "false"),
    **dict.fromkeys(("aria-multiselectable", "aria-multiline", "aria-modal", "aria-haspopup", "aria-current"), "false"),
    **dict.fromkeys(("aria-sort", "aria-autocomplete"), "none"),
    "aria-live": "off",
}
#: attributes that name other elements
REFERENCES = (
    *("aria-activedescendant", "aria-controls", "aria-describedby", "aria-details", "aria-errormessage"),
    *("aria-flowto", "aria-labelledby", "aria-owns", "for", "list"),
)
STOP = "data-a11y-bench-stop"

Row = Mapping[str, Any]


def outline(tree: Sequence[Row], document: Row) -> str:
    """The tree, indented, and below it the tab stops in their order."""
    return "\n".join(_Outline(tree, document).lines())


class _Outline:
    def __init__(self, tree: Sequence[Row], document: Row) -> None:
        self.rows = {row["nodeId"]: row for row in tree}
        self.root = tree[0]
        self.shown = {row["backendDOMNodeId"]: row for row in tree if "backendDOMNodeId" in row}
        self.attributes = dict(_attributes(document))
        self.ids = {found["id"] for found in self.attributes.values() if "id" in found}

    def lines(self) -> Iterator[str]:
        yield from _texts_joined(self._below(self.root, 0))
        stops = {int(found[STOP]): node for node, found in self.attributes.items() if STOP in found}
        yield from (f"tab stop {place}: {self._called(node)}" for place, node in sorted(stops.items()))

    def _below(self, row: Row, depth: int) -> Iterator[str]:
        for name in () if _role(row) in OPAQUE else row.get("childIds", ()):
            child = self.rows.get(name)
            if child is not None and _role(child) not in DRAWN:
                yield from self._lines(child, depth)

    def _lines(self, row: Row, depth: int) -> Iterator[str]:
        line = self._line(row)
        if line:
            yield "  " * depth + line
        yield from self._below(row, depth + bool(line))

    def _line(self, row: Row) -> str:
        """A node in one line, empty when nothing is said of it."""
        role = _role(row)
        if role == "StaticText":
            return f"text: {_word(row, 'name')}"
        states = [] if row["ignored"] else sorted(self._states(row))
        states += self._untold(row.get("backendDOMNodeId"))
        words = [repr(_word(row, "name").strip())] if _word(row, "name").strip() else []
        words += [f"{field}={_word(row, field)!r}" for field in ("description", "value") if _word(row, field)]
        return " ".join([role, *words, *states]) if states or words or role not in NEUTRAL else ""

    def _states(self, row: Row) -> Iterator[str]:
        for found in row.get("properties", ()):
            name, value = found["name"], found["value"]
            if name in PASSING | SOURCES:
                continue
            if "relatedNodes" in value:
                yield f"{name} -> {', '.join(self._called(one['backendDOMNodeId']) for one in value['relatedNodes'])}"
            elif value["type"] not in ("idref", "idrefList"):
                yield f"{name}={value.get('value')}"

    def _untold(self, node: int | None) -> list[str]:
        found = {} if node is None else self.attributes.get(node, {})
        told = [f"{name}={value}" for name, value in sorted(found.items()) if _is_told_here(name, value)]
        return told + [f"{name} -> outside" for name in REFERENCES if self._leads_out(found.get(name, ""))]

    def _leads_out(self, reference: str) -> bool:
        """Whether what it leads to is not shown: another part of the page, or a mistake."""
        return reference not in self.ids and not self.ids.issuperset(reference.split())

    def _called(self, node: int) -> str:
        """An element by role and name, or by the text in it; ids and classes are no names."""
        row = self.shown.get(node)
        if row is None or (row["ignored"] and not row.get("childIds")):
            return "what is hidden"
        name = _word(row, "name").strip() or " ".join(self._text(row))
        return f"{_role(row)} {name!r}"

    def _text(self, row: Row) -> Iterator[str]:
        if _role(row) == "StaticText":
            yield _word(row, "name").strip()
        for name in row.get("childIds", ()):
            yield from self._text(self.rows[name]) if name in self.rows else ()


def _attributes(node: Row) -> Iterator[tuple[int, dict[str, str]]]:
    """Each element's attributes, by the number that both answers give it."""
    flat = node.get("attributes", [])
    yield node["backendNodeId"], dict(zip(flat[::2], flat[1::2], strict=True))
    for child in node.get("children", ()):
        yield from _attributes(child)


def _is_told_here(name: str, value: str) -> bool:
    """Whether an attribute says something that the tree may leave out."""
    others = name.startswith("aria-") and name not in TOLD and name not in REFERENCES
    return (others and value != NONE.get(name)) or name in UNTOLD


def _role(row: Row) -> str:
    return "none" if row["ignored"] else str(row.get("role", {}).get("value", "none"))


def _word(row: Row, field: str) -> str:
    value = row.get(field, {}).get("value", "")
    return re.sub(r"\s+", " ", str(value))


def _texts_joined(lines: Iterator[str]) -> Iterator[str]:
    """Neighbouring texts of one depth as one: how a text is split over elements is not told to anybody."""
    held = ""
    for line in lines:
        indent, mark, text = line.partition("text: ")
        if held and mark and not indent.strip() and held.startswith(f"{indent}text: "):
            held += text
            continue
        if held:
            yield held.rstrip()
        held = line if mark and not indent.strip() else ""
        if not held:
            yield line
    if held:
        yield held.rstrip()
