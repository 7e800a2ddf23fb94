"""Edits that remove what gold changed for accessibility, or a part of it, at places that gold changed. Pure.

Each makes one mistake that a hurried patch could make. Leaving out hunks of gold is the module `hunks`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pipeline.dataset.audit.code import Code, Edit, Rule, above, plain, removed, replaced, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

#: attributes with an effect on assistive technologies or the keyboard
_A11Y = re.compile(
    rb"^(?::|v-bind:)?(?:aria-[a-z]+|aria[A-Z]\w+|role|tab-?index|alt|html-?for|for|title|lang|scope|headers|hidden|inert"
    rb"|disabled|required|a11y\w*)$",
    re.IGNORECASE,
)
_STATES = re.compile(
    rb"^(?::|v-bind:)?aria-(?:expanded|pressed|checked|selected|hidden|disabled|invalid|busy|modal|required|readonly"
    rb"|multiselectable|current|atomic|haspopup)$"
)
_REFERENCES = re.compile(
    rb"^(?::|v-bind:)?(?:aria-(?:labelledby|describedby|controls|owns|activedescendant|details|errormessage|flowto)"
    rb"|html-?for|for)$",
    re.IGNORECASE,
)
_NAMES = re.compile(rb"^(?::|v-bind:)?(?:aria-(?:label|roledescription|valuetext|placeholder)|alt|title|a11yTitle)$")
_HANDLER = re.compile(rb"^(?:on[A-Z]\w*|@[\w:.-]+|v-on:[\w:.-]+|on:[\w|]+)$")
_HANDLER_NAME = re.compile(rb"^_?(?:on|handle)[A-Z]\w*$")
#: attributes that only change how something looks, or what tools find it by
_LOOK = re.compile(
    rb"^:?(?:class|className|style|css|sx|key|ref|data-.*|size|color|pad|margin|round|background|plain)$"
)
#: operator -> its replacements, which mean something else
_OPERATORS = {
    b"===": b"!==", b"!==": b"===", b"==": b"!=", b"!=": b"==", b"&&": b"||", b"||": b"&&", b"<": b">=", b">": b"<=",
    b"<=": b">", b">=": b"<", b"+": b"-", b"-": b"+",
}  # fmt: skip
#: keys by the names that events use, old names included; and by number
KEYS = frozenset(
    b"Enter Escape Esc Tab Space Home End PageUp PageDown ArrowUp ArrowDown ArrowLeft ArrowRight Up Down Left Right "
    b"Delete Backspace Spacebar F10 ContextMenu".split()
) | {b" "}
_CODES = frozenset(b"8 9 13 27 32 33 34 35 36 37 38 39 40 46".split())
_EVENT_KEY = re.compile(rb"\b(?:key|code|keyCode|which|charCode)\b")
#: value of a state -> the opposite
_OPPOSITES = {b"true": b"false", b"false": b"true"}
_ATTRIBUTES = ("jsx_attribute", "attribute")
_RENDERED = ("jsx_element", "jsx_self_closing_element", "parenthesized_expression")


class _Attribute:
    """An attribute of a tag, in an object or in a call: the whole node, its name and its value."""

    def __init__(self, whole: Node, name: bytes, value: Node | None) -> None:
        self.whole, self.name, self.value = whole, name, value

    @property
    def inner(self) -> Node | None:
        """The value without the braces of an expression."""
        if self.value is None or self.value.type != "jsx_expression":
            return self.value
        return next(iter(self.value.named_children), None)

    def put(self, new: bytes) -> Edit | None:
        """The edit that makes its value this string; None without a value."""
        if self.value is None:
            return None
        if self.name.startswith((b":", b"v-bind:")):
            return replaced((self.value, b"\"'" + new + b"'\""))
        return replaced((self.value, b'"' + new + b'"'))


def _exposed(code: Code) -> Iterator[_Attribute]:
    """The attributes that gold changed and that affect assistive technologies."""
    for node in code.touched(*_ATTRIBUTES):
        name, value = text_of(node.named_children[0]), node.named_children[1] if node.named_child_count > 1 else None
        yield _Attribute(node, name, value)
    for node in code.touched("pair"):
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        yield _Attribute(node, plain(key) or text_of(key), value)
    for node in code.touched("call_expression"):
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if text_of(function).endswith(b".setAttribute") and arguments is not None and arguments.named_child_count == 2:
            yield _Attribute(node, plain(arguments.named_children[0]) or b"", arguments.named_children[1])


def attributes(code: Code) -> Iterator[Edit]:
    """Leave out an attribute."""
    for attribute in _exposed(code):
        if not _A11Y.match(attribute.name):
            continue
        if attribute.whole.type == "call_expression":
            yield replaced((attribute.whole, b"undefined"))
        elif attribute.whole.type == "pair":
            after = attribute.whole.next_sibling
            end = after.end_byte if after is not None and after.type == "," else attribute.whole.end_byte
            yield Edit(((attribute.whole.start_byte, end, b""),))
        else:
            yield removed(attribute.whole, code.text)


def additions(code: Code) -> Iterator[Edit]:
    """Leave out any attribute that gold added, including attributes that are passed on."""
    for node in code.touched(*_ATTRIBUTES):
        name = text_of(node.named_children[0])
        if not _A11Y.match(name) and not _HANDLER.match(name) and not _LOOK.match(name) and code.adds(node):
            yield removed(node, code.text)
    for node in code.begins("jsx_expression"):
        if node.named_children and node.named_children[0].type == "spread_element" and code.adds(node):
            yield removed(node, code.text)


def roles(code: Code) -> Iterator[Edit]:
    """Replace a role by one without meaning."""
    for attribute in _exposed(code):
        if attribute.name in (b"role", b":role") and plain(attribute.inner) not in (b"presentation", b"none"):
            yield from filter(None, [attribute.put(b"presentation")])


def states(code: Code) -> Iterator[Edit]:
    """Invert a state."""
    for attribute in _exposed(code):
        if not _STATES.match(attribute.name) or attribute.value is None or attribute.inner is None:
            continue
        text = _value_text(attribute.inner)
        if text in _OPPOSITES:
            yield attribute.put(_OPPOSITES[text]) or replaced()
        elif attribute.value.type == "quoted_attribute_value":
            if attribute.name.startswith((b":", b"v-bind:")):
                yield replaced((attribute.value, b'"!(' + _quoted(attribute.value).replace(b'"', b"'") + b')"'))
        elif attribute.inner.type not in ("string", "template_string"):
            yield replaced((attribute.inner, b"!(" + text_of(attribute.inner) + b")"))


def _value_text(node: Node) -> bytes:
    text = _quoted(node) if node.type == "quoted_attribute_value" else plain(node)
    return text_of(node) if text is None else text


def _quoted(node: Node) -> bytes:
    return text_of(node)[1:-1]


def references(code: Code) -> Iterator[Edit]:
    """Let a reference point to nothing."""
    yield from filter(
        None, (attribute.put(b"nowhere") for attribute in _exposed(code) if _REFERENCES.match(attribute.name))
    )


def names(code: Code) -> Iterator[Edit]:
    """Make an accessible name empty."""
    for attribute in _exposed(code):
        if _NAMES.match(attribute.name) and attribute.inner is not None and _value_text(attribute.inner) != b"":
            yield from filter(None, [attribute.put(b"")])


def focus(code: Code) -> Iterator[Edit]:
    """Take an element out of the tab order, or put it in; switch off a live region."""
    for attribute in _exposed(code):
        name = attribute.name.lower().lstrip(b":")
        text = _value_text(attribute.inner) if attribute.inner is not None else b""
        if name in (b"tabindex", b"tab-index") and text in (b"0", b"-1"):
            yield from filter(None, [attribute.put(b"-1" if text == b"0" else b"0")])
        if name == b"aria-live" and text in (b"polite", b"assertive"):
            yield from filter(None, [attribute.put(b"off")])


def handlers(code: Code) -> Iterator[Edit]:
    """Detach a handler, or make it do nothing."""
    for node in code.touched(*_ATTRIBUTES):
        if _HANDLER.match(text_of(node.named_children[0])):
            yield removed(node, code.text)
    for node in code.begins("function_declaration", "variable_declarator", "method_definition", "pair"):
        key = node.child_by_field_name("name") or node.child_by_field_name("key")
        function = node.child_by_field_name("value") if node.type in ("variable_declarator", "pair") else node
        body = function.child_by_field_name("body") if function is not None else None
        if (
            _HANDLER_NAME.match(text_of(key))
            and body is not None
            and body.type == "statement_block"
            and body.named_children
        ):
            yield replaced((body, b"{}"))


def conditions(code: Code) -> Iterator[Edit]:
    """Invert a condition."""
    for node in code.begins("if_statement", "ternary_expression", "while_statement"):
        condition = node.child_by_field_name("condition")
        if condition is not None and node.type == "ternary_expression":
            yield replaced((condition, b"!(" + text_of(condition) + b")"))
        elif condition is not None and condition.named_children:
            inner = condition.named_children[-1]
            yield replaced((inner, b"!(" + text_of(inner) + b")"))
    for node in code.begins("binary_expression"):
        left, operator = node.child_by_field_name("left"), text_of(node.child_by_field_name("operator"))
        shows = above(node, lambda ancestor: ancestor.type != "parenthesized_expression")
        if left is not None and operator == b"&&" and shows is not None and shows.type == "jsx_expression":
            yield replaced((left, b"!(" + text_of(left) + b")"))


def constant(code: Code) -> Iterator[Edit]:
    """Make a state or a condition constant."""
    stateful = (attribute for attribute in _exposed(code) if _STATES.match(attribute.name))
    targets: list[Node | None] = [attribute.inner for attribute in stateful if attribute.value is not attribute.inner]
    for node in code.begins("if_statement", "ternary_expression"):
        condition = node.child_by_field_name("condition")
        if condition is not None and condition.type == "parenthesized_expression":
            condition = condition.named_children[-1]
        targets.append(condition)
    for target in targets:
        if target is not None and target.type not in ("true", "false", "string"):
            yield from (replaced((target, always)) for always in (b"true", b"false"))


def operators(code: Code) -> Iterator[Edit]:
    """Replace an operator: of a comparison, between conditions, of an index."""
    for node in code.begins("binary_expression"):
        operator = node.child_by_field_name("operator")
        texts = any(child.type in ("string", "template_string") for child in node.named_children)
        if operator is not None and (new := _OPERATORS.get(text_of(operator))) and not (texts and len(new) == 1):
            yield replaced((operator, new))


def texts(code: Code) -> Iterator[Edit]:
    """Change the words of a text that assistive technologies read."""
    for attribute in _exposed(code):
        if _NAMES.match(attribute.name) and attribute.value is not None:
            for node in walk(attribute.value):
                if node.type in ("string_fragment", "attribute_value") and text_of(node).strip():
                    yield replaced((node, b"unrelated"))


def statements(code: Code) -> Iterator[Edit]:
    """Leave out a statement, or what a function returns."""
    for node in code.begins("expression_statement"):
        if code.adds(node) and node.named_children and node.named_children[0].type != "string":
            yield replaced((node, b";"))
    for node in code.begins("return_statement"):
        value = next((child for child in node.named_children if child.type != "comment"), None)
        if value is not None and text_of(value) not in (b"null", b"undefined"):
            yield replaced((value, b"undefined" if value.type not in _RENDERED else b"null"))


def keys(code: Code) -> Iterator[Edit]:
    """Ignore a key that was handled."""
    for node in code.begins("string", "number"):
        key = text_of(node)[1:-1] if node.type == "string" else text_of(node)
        if key in (KEYS if node.type == "string" else _CODES) and _is_handled_key(node):
            yield replaced((node, b'"Unidentified"' if node.type == "string" else b"-1"))


def _is_handled_key(node: Node) -> bool:
    """Whether a literal is compared with an event's key, is a case of it, or is in a list of keys."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "binary_expression":
        return any(_EVENT_KEY.search(text_of(child)) for child in parent.named_children if child != node)
    if parent.type == "switch_case":
        switch = above(node, lambda ancestor: ancestor.type == "switch_statement")
        return switch is not None and bool(_EVENT_KEY.search(text_of(switch.child_by_field_name("value"))))
    listed = [child for child in parent.named_children if child.type == "string"]
    return parent.type == "array" and len(listed) > 1 and all(text_of(child)[1:-1] in KEYS for child in listed)


def keyed(code: Code) -> Iterator[Edit]:
    """Replace a key of a table of handlers by one that no event has."""
    for node in code.begins("pair", "method_definition"):
        key = node.child_by_field_name("key") or node.child_by_field_name("name")
        if key is not None and (plain(key) or text_of(key)) in KEYS:
            yield replaced((key, b"Unidentified"))


#: class -> its rule
RULES: Sequence[tuple[str, Rule]] = (
    ("attribute left out", attributes),
    ("addition left out", additions),
    ("role inverted", roles),
    ("state inverted", states),
    ("reference to nowhere", references),
    ("name emptied", names),
    ("focus or announcement", focus),
    ("handler unplugged", handlers),
    ("condition negated", conditions),
    ("never changes", constant),
    ("operator swapped", operators),
    ("text changed", texts),
    ("statement left out", statements),
    ("key dropped", keys),
    ("key dropped", keyed),
)
