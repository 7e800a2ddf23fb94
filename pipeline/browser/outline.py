"""The browser's own accessibility tree as lines of text: what assistive technologies get, and nothing else.

Elements without information (wrappers without a name or state) are left out, adjacent texts are joined, and references
are written as their targets, never as ids. Attributes that assistive technologies use and the tree lacks are added from
the document. Pure functions over the results of CDP's `Accessibility.getFullAXTree` and `DOM.getDocument`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: roles that only group or name something; left out unless they have a name, a value or a state
NEUTRAL = {"generic", "none", "RootWebArea", "LabelText"}
#: roles that are only parts of how a text is drawn
DRAWN = {"InlineTextBox", "ListMarker"}
#: elements whose parts are the browser's own and vary with its layout
OPAQUE = {"Video", "Audio"}
#: properties that depend on the surrounding page, or that only automation uses
TRANSIENT = {"focused", "settable", "root", "hiddenRoot", "editable"}
#: where a name and a description come from: the outline has the name and the description themselves
SOURCES = {"labelledby", "describedby"}
#: attributes that assistive technologies use and the tree lacks (WCAG 1.3.1, 1.3.5, 3.1.2)
NOT_IN_TREE = {"lang", "autocomplete", "accesskey", "scope", "controls"}
#: ARIA attributes that the tree shows completely: as names, as descriptions, or by leaving the element out
IN_TREE = {
    "aria-label",
    "aria-labelledby",
    "aria-description",
    "aria-describedby",
    "aria-roledescription",
    "aria-hidden",
}
#: values of the other ARIA attributes that mean the same as no attribute. The tree omits attributes that an element's
#: role does not allow, and removing such an attribute may be all that a fix does
DEFAULTS = {
    **dict.fromkeys(("aria-disabled", "aria-busy", "aria-invalid", "aria-required", "aria-readonly"), "false"),
    **dict.fromkeys(("aria-multiselectable", "aria-multiline", "aria-modal", "aria-haspopup", "aria-current"), "false"),
    **dict.fromkeys(("aria-sort", "aria-autocomplete"), "none"),
    "aria-live": "off",
}
#: attributes that refer to other elements
REFERENCES = (
    *("aria-activedescendant", "aria-controls", "aria-describedby", "aria-details", "aria-errormessage"),
    *("aria-flowto", "aria-labelledby", "aria-owns", "for", "list"),
)
STOP = "data-a11y-bench-stop"

Row = Mapping[str, Any]


def outline(tree: Sequence[Row], document: Row) -> str:
    """The tree, indented, and below it the tab stops in order."""
    return "\n".join(_Outline(tree, document).lines())


class _Outline:
    def __init__(self, tree: Sequence[Row], document: Row) -> None:
        self.rows = {row["nodeId"]: row for row in tree}
        self.root = tree[0]
        self.shown = {row["backendDOMNodeId"]: row for row in tree if "backendDOMNodeId" in row}
        self.attributes = dict(_attributes(document))
        self.ids = {attributes["id"] for attributes in self.attributes.values() if "id" in attributes}

    def lines(self) -> Iterator[str]:
        yield from _joined_texts(self._below(self.root, 0))
        stops = {int(attributes[STOP]): node for node, attributes in self.attributes.items() if STOP in attributes}
        yield from (f"tab stop {number}: {self._described(node)}" for number, node in sorted(stops.items()))

    def _below(self, row: Row, depth: int) -> Iterator[str]:
        pending = [(child, depth) for child in reversed(self._children(row))]
        while pending:  # a document may be nested more deeply than functions may call each other
            child, indent = pending.pop()
            line = self._line(child)
            if line:
                yield "  " * indent + line
            pending += [(below, indent + bool(line)) for below in reversed(self._children(child))]

    def _children(self, row: Row) -> list[Row]:
        if _role(row) in OPAQUE:
            return []
        children = [self.rows[name] for name in row.get("childIds", ()) if name in self.rows]
        return [child for child in children if _role(child) not in DRAWN]

    def _line(self, row: Row) -> str:
        """A node as one line; empty if there is nothing to say about it."""
        role = _role(row)
        if role == "StaticText":
            return f"text: {_value(row, 'name')}"
        states = [] if row["ignored"] else sorted(self._states(row))
        states += self._extra_attributes(row.get("backendDOMNodeId"))
        words = [repr(_value(row, "name").strip())] if _value(row, "name").strip() else []
        words += [f"{field}={_value(row, field)!r}" for field in ("description", "value") if _value(row, field)]
        return " ".join([role, *words, *states]) if states or words or role not in NEUTRAL else ""

    def _states(self, row: Row) -> Iterator[str]:
        for entry in row.get("properties", ()):
            name, value = entry["name"], entry["value"]
            if name in TRANSIENT | SOURCES:
                continue
            if "relatedNodes" in value:
                targets = (self._described(node["backendDOMNodeId"]) for node in value["relatedNodes"])
                yield f"{name} -> {', '.join(targets)}"
            elif value["type"] not in ("idref", "idrefList"):
                yield f"{name}={value.get('value')}"

    def _extra_attributes(self, node: int | None) -> list[str]:
        attributes = {} if node is None else self.attributes.get(node, {})
        extra = [f"{name}={value}" for name, value in sorted(attributes.items()) if _adds_to_tree(name, value)]
        return extra + [f"{name} -> outside" for name in REFERENCES if self._points_outside(attributes.get(name, ""))]

    def _points_outside(self, reference: str) -> bool:
        """Whether the target of a reference is not shown: it is in another part of the page, or does not exist."""
        return reference not in self.ids and not self.ids.issuperset(reference.split())

    def _described(self, node: int) -> str:
        """An element by its role and its name or text; never by id or class."""
        row = self.shown.get(node)
        if row is None or (row["ignored"] and not row.get("childIds")):
            return "what is hidden"
        name = _value(row, "name").strip() or " ".join(self._text(row))
        return f"{_role(row)} {name!r}"

    def _text(self, row: Row) -> Iterator[str]:
        pending = [row]
        while pending:
            part = pending.pop()
            if _role(part) == "StaticText":
                yield _value(part, "name").strip()
            pending += [self.rows[name] for name in reversed(part.get("childIds", ())) if name in self.rows]


def _attributes(node: Row) -> Iterator[tuple[int, dict[str, str]]]:
    """Each element's attributes, by the node number that both results share."""
    pending = [node]
    while pending:
        element = pending.pop()
        flat = element.get("attributes", [])
        yield element["backendNodeId"], dict(zip(flat[::2], flat[1::2], strict=True))
        pending += reversed(element.get("children", ()))


def _adds_to_tree(name: str, value: str) -> bool:
    """Whether an attribute has information that the tree may omit."""
    is_other = name.startswith("aria-") and name not in IN_TREE and name not in REFERENCES
    return (is_other and value != DEFAULTS.get(name)) or name in NOT_IN_TREE


def _role(row: Row) -> str:
    return "none" if row["ignored"] else str(row.get("role", {}).get("value", "none"))


def _value(row: Row, field: str) -> str:
    value = row.get(field, {}).get("value", "")
    return re.sub(r"\s+", " ", str(value))


def _joined_texts(lines: Iterator[str]) -> Iterator[str]:
    """Adjacent texts of the same depth, joined: how a text is split over elements makes no difference to users."""
    pending = ""
    for line in lines:
        indent, mark, text = line.partition("text: ")
        if pending and mark and not indent.strip() and pending.startswith(f"{indent}text: "):
            pending += text
            continue
        if pending:
            yield pending.rstrip()
        pending = line if mark and not indent.strip() else ""
        if not pending:
            yield line
    if pending:
        yield pending.rstrip()
