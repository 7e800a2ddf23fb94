"""Changes to the text of snapshots that keep accessibility (harmless) or break it (harmful).

The way a change is made determines its class, not what the comparison says about it. Reads pretty-format's form only,
where every tag and attribute begins a line. Hidden parts (`aria-hidden`, `hidden`, `inert`) are left alone, since no
user perceives them. Does not cover what styles hide.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import NamedTuple

#: elements in which a wrapper has no meaning, and those within a line of text
PARENTS = {
    "", "DocumentFragment", "body", "div", "section", "main", "header", "footer", "nav", "form", "article", "aside",
}  # fmt: skip
INLINE = {"a", "span", "button", "input", "svg", "img", "select", "textarea", "label", "b", "em", "strong"}
BLOCKS = PARENTS - {"", "DocumentFragment", "body"} | {"p", "h1", "h2", "h3", "ul"}
NATIVE_STOPS = {"button", "input", "select", "textarea"}
#: roles that an element has by default
IMPLICIT = {
    ("button", "button"), ("a", "link"), ("img", "img"), ("nav", "navigation"), ("ul", "list"), ("li", "listitem"),
    ("main", "main"), ("header", "banner"), ("table", "table"), ("form", "form"), ("section", "region"),
    ("article", "article"), ("footer", "contentinfo"), ("tr", "row"), ("ol", "list"), ("dialog", "dialog"),
}  # fmt: skip
LIVE_ROLES = {"status", "alert", "log"}
STATES = {
    "aria-expanded", "aria-checked", "aria-selected", "aria-pressed", "aria-disabled", "aria-invalid", "aria-required",
    "aria-busy", "aria-current", "aria-modal", "aria-multiselectable", "disabled", "checked", "required", "readonly",
}  # fmt: skip
#: types of fields that can be read-only
TYPED = {"", "text", "search", "url", "tel", "email", "password", "date", "number"}
#: default values: removing them breaks nothing
DEFAULTS = {"aria-disabled": "false", "aria-invalid": "false", "aria-busy": "false", "aria-required": "false"}

_OPEN = re.compile(r"^( *)<([A-Za-z][\w.:-]*)(/?>|)$")
_ATTRIBUTE = re.compile(r'^ *([^\s=<>"]+)="(.*)"$')


@dataclass
class Element:
    """An element, as numbers of lines: the first and the last one (`>` or `/>`) of its opening tag, and its last."""

    tag: str
    indent: str
    first: int
    opened: int = 0
    last: int = 0
    parent: Element | None = None
    attributes: dict[str, tuple[int, str]] = field(default_factory=dict)

    def value(self, name: str) -> str:
        return self.attributes.get(name, (0, ""))[1]

    @property
    def hidden(self) -> bool:
        here = not {"hidden", "inert"}.isdisjoint(self.attributes) or self.value("type") == "hidden"
        return here or self.value("aria-hidden") == "true" or (self.parent is not None and self.parent.hidden)


def elements(lines: Sequence[str]) -> list[Element]:
    """Every element of a snapshot."""
    found: list[Element] = []
    open_now: list[Element] = []
    opening: Element | None = None
    for number, line in enumerate(lines):
        if opening is None and (match := _OPEN.match(line)):
            opening = Element(match[2], match[1], number, parent=open_now[-1] if open_now else None)
            found.append(opening)
            line = f"{match[1]}{match[3]}"
        if opening is not None and line.strip() in (">", "/>"):
            opening.opened = opening.last = number
            open_now += [opening] if line.strip() == ">" else []
            opening = None
        elif opening is not None and (match := _ATTRIBUTE.match(line)):
            opening.attributes[match[1]] = (number, match[2])
        elif open_now and line.strip() == f"</{open_now[-1].tag}>":
            open_now.pop().last = number
    return found


# -- harmless ----------------------------------------------------------------------------------------------------------
def renamed_class(lines: Sequence[str]) -> Iterator[str]:
    """Every class gets another name, in the markup and in the styles."""
    names = {name for element in elements(lines) for name in element.value("class").split()}
    if names:
        known = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
        text = re.sub(rf"(?<=\.)({known})(?![\w-])", r"renamed-\1", "\n".join(lines))
        yield re.sub(r'(?m)(?<= class=").+(?="$)', lambda match: re.sub(r"(\S+)", r"renamed-\1", match[0]), text)


def extra_wrapper(lines: Sequence[str]) -> Iterator[str]:
    """A `div` around one element, or a `span` if it is within a line."""
    for element in elements(lines):
        if element.tag in BLOCKS | INLINE and (element.parent.tag if element.parent else "") in PARENTS:
            tag = "span" if element.tag in INLINE else "div"
            inner = [f"  {line}" for line in lines[element.first : element.last + 1]]
            around = [f"{element.indent}<{tag}>", *inner, f"{element.indent}</{tag}>"]
            yield "\n".join([*lines[: element.first], *around, *lines[element.last + 1 :]])


def data_attribute(lines: Sequence[str]) -> Iterator[str]:
    for element in elements(lines):
        if element.tag != "DocumentFragment":
            yield _with_attribute(lines, element, 'data-mutation="1"')


def _with_attribute(lines: Sequence[str], one: Element, attribute: str) -> str:
    opening = [f"{one.indent}<{one.tag}", f"{one.indent}  {attribute}"]
    alone = one.first == one.opened
    ending = [f"{one.indent}{'/>' if lines[one.first].endswith('/>') else '>'}"] if alone else []
    return "\n".join([*lines[: one.first], *opening, *ending, *lines[one.first + 1 :]])


# -- harmful -----------------------------------------------------------------------------------------------------------
def _dropped(lines: Sequence[str], drops: Callable[[Element, str, str, str], bool]) -> Iterator[str]:
    """Without one of the attributes for which `drops(element, name, value, the whole text)` is true."""
    text = "\n".join(lines)
    for element in elements(lines):
        for name, (number, value) in element.attributes.items():
            if not element.hidden and drops(element, name, value, text):
                yield "\n".join([*lines[:number], *lines[number + 1 :]])


def _leads(value: str, text: str) -> bool:
    return all(f'id="{name}"' in text for name in value.split())


def dropped_label(lines: Sequence[str]) -> Iterator[str]:
    def is_label(one: Element, name: str, value: str, text: str) -> bool:
        direct = name == "aria-label" or (name == "alt" and one.tag == "img")
        refers = name in ("aria-labelledby", "for") and _leads(value, text)
        return bool(value.strip()) and (direct or (refers and not (name == "for" and _wraps(one, value, lines))))

    return _dropped(lines, is_label)


def _wraps(label: Element, field: str, lines: Sequence[str]) -> bool:
    """Whether a label contains its field, which is then labeled without a reference, too."""
    return any(f'id="{field}"' in line for line in lines[label.first : label.last])


def dropped_role(lines: Sequence[str]) -> Iterator[str]:
    def is_role(one: Element, name: str, value: str, text: str) -> bool:
        is_announced = value not in ("none", "presentation", "group", "generic", "") and value not in LIVE_ROLES
        return name == "role" and is_announced and (one.tag, value) not in IMPLICIT

    return _dropped(lines, is_role)


def dropped_state(lines: Sequence[str]) -> Iterator[str]:
    def is_state(one: Element, name: str, value: str, text: str) -> bool:
        is_stated = name.startswith("aria-") or one.tag in NATIVE_STOPS
        doubled = name.removeprefix("aria-") != name and name.removeprefix("aria-") in one.attributes
        idle = name == "readonly" and one.value("type") not in TYPED
        return name in STATES and is_stated and not doubled and not idle and value != DEFAULTS.get(name)

    return _dropped(lines, is_state)


def dropped_live_region(lines: Sequence[str]) -> Iterator[str]:
    def is_live(one: Element, name: str, value: str, text: str) -> bool:
        return (name == "aria-live" and value != "off") or (name == "role" and value in LIVE_ROLES)

    return _dropped(lines, is_live)


def dropped_description(lines: Sequence[str]) -> Iterator[str]:
    return _dropped(lines, lambda element, name, value, text: name == "aria-describedby" and _leads(value, text))


def dropped_tab_stop(lines: Sequence[str]) -> Iterator[str]:
    """A native element is removed from the tab order; an element with a `tabindex` of its own loses it."""
    for element in elements(lines):
        if element.hidden or "disabled" in element.attributes:
            continue
        native = element.tag in NATIVE_STOPS or (element.tag == "a" and "href" in element.attributes)
        if native and "tabindex" not in element.attributes:
            yield _with_attribute(lines, element, 'tabindex="-1"')
        elif not native and element.value("tabindex") == "0":
            number = element.attributes["tabindex"][0]
            yield "\n".join([*lines[:number], *lines[number + 1 :]])


def button_to_div(lines: Sequence[str]) -> Iterator[str]:
    for element in elements(lines):
        if element.tag == "button" and not element.hidden and "role" not in element.attributes:
            changed = list(lines)
            for number in {element.first, element.last}:
                changed[number] = re.sub(r"(?<=[</])button", "div", changed[number])
            yield "\n".join(changed)


class Kind(NamedTuple):
    """A class of changes; `apply` yields all its changes to a snapshot's lines."""

    name: str
    harmful: bool
    apply: Callable[[Sequence[str]], Iterator[str]]


KINDS = (
    Kind("renamed class", False, renamed_class),
    Kind("extra wrapper", False, extra_wrapper),
    Kind("added data attribute", False, data_attribute),
    Kind("dropped label", True, dropped_label),
    Kind("dropped role", True, dropped_role),
    Kind("dropped state", True, dropped_state),
    Kind("dropped live region", True, dropped_live_region),
    Kind("dropped description", True, dropped_description),
    Kind("dropped tab stop", True, dropped_tab_stop),
    Kind("button turned into div", True, button_to_div),
)


class Mutation(NamedTuple):
    kind: Kind
    key: str
    before: str
    after: str


def mutations(snapshots: Mapping[str, str], each: int, seed: int = 0) -> Iterator[Mutation]:
    """Up to `each` changes of every class, from as many snapshots as possible; the same for the same seed."""
    dice = random.Random(seed)
    for kind in KINDS:
        made = [
            [Mutation(kind, key, text, after) for after in kind.apply(text.split("\n"))]
            for key, text in snapshots.items()
        ]
        made = [dice.sample(some, len(some)) for some in dice.sample(made, len(made)) if some]
        yield from [mutation for mutation in chain.from_iterable(zip_longest(*made)) if mutation][:each]
