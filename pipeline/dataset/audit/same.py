"""Edits that keep a program's meaning by construction, at places that gold changed. Pure.

Each rule is an iterator over the edits of one file. The rules of `MARKUP` change rendered markup, and are used only if
no test looks at markup. A rule leaves out places where the language's oddities would change the meaning: the order of
effects, the names of functions, characters that are written differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from pipeline.dataset.audit.bindings import renames
from pipeline.dataset.audit.code import (
    FUNCTIONS,
    TAGS,
    Code,
    Edit,
    Rule,
    above,
    plain,
    removed,
    replaced,
    text_of,
    walk,
    within,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_ATTRIBUTES = ("jsx_attribute", "attribute")
_EFFECTS = ("call_expression", "new_expression", "await_expression", "assignment_expression", "update_expression")
_JSX = ("jsx_element", "jsx_self_closing_element")
#: expressions that can be evaluated twice, or in another order, with the same result
_PURE = ("identifier", "this", "number", "string", "true", "false", "null", "undefined", "member_expression")
_OWN = ("this", "super", "new_target", "meta_property")
#: operators that bind less tightly than a conditional and need parentheses in it
_LOOSE = (
    "assignment_expression", "augmented_assignment_expression", "sequence_expression", "arrow_function",
    "yield_expression", "ternary_expression",
)  # fmt: skip


# -- order -------------------------------------------------------------------------------------------------------------
def attributes(code: Code) -> Iterator[Edit]:
    """Swap two adjacent attributes without a spread between them and without side effects."""
    for tag in code.touched(*TAGS):
        parts = [node for node in tag.named_children if node.type in (*_ATTRIBUTES, "jsx_expression")]
        names = [_name(node) for node in parts]
        for first, second in pairwise(parts):
            swappable = all(node.type in _ATTRIBUTES and _moves(node) for node in (first, second))
            twice = names.count(_name(first)) > 1 or names.count(_name(second)) > 1
            if swappable and not twice and (code.is_touched(first) or code.is_touched(second)):
                yield replaced((first, text_of(second)), (second, text_of(first)))


def _moves(attribute: Node) -> bool:
    """Whether an attribute's value has no side effects and its name is not a directive."""
    return not within(attribute, _EFFECTS) and not _name(attribute).startswith((b"v-", b"#", b"{", b"on:", b"bind:"))


def _name(attribute: Node) -> bytes:
    return text_of(attribute.named_children[0]) if attribute.named_children else b""


def imports(code: Code) -> Iterator[Edit]:
    """Swap two adjacent imports, one of them of a package, or two names of one import."""
    for statement in code.nodes:
        following = statement.next_named_sibling
        if statement.type == "import_statement" and following is not None and following.type == statement.type:
            touched = code.is_touched(statement) or code.is_touched(following)
            pair = (statement, following)
            if touched and any(map(_is_package, pair)) and all(map(_binds, pair)):
                yield replaced((statement, text_of(following)), (following, text_of(statement)))
    for names in code.touched("named_imports"):
        specifiers = [node for node in names.named_children if node.type == "import_specifier"]
        for first, second in pairwise(specifiers):
            if code.is_touched(first) or code.is_touched(second):
                yield replaced((first, text_of(second)), (second, text_of(first)))


def _is_package(statement: Node) -> bool:
    source = text_of(statement.child_by_field_name("source"))[1:-1]
    return bool(re.match(rb"@?[a-z]", source))


def _binds(statement: Node) -> bool:
    return any(child.type == "import_clause" for child in statement.named_children)


# -- form --------------------------------------------------------------------------------------------------------------
def quotes(code: Code) -> Iterator[Edit]:
    """Write a string in the other quotes."""
    for node in code.begins("string"):
        inner, parent = plain(node), node.parent
        if inner is None or parent is None or parent.type == "expression_statement":  # it may be a directive
            continue
        quote = b"'" if text_of(node).startswith(b'"') else b'"'
        yield replaced((node, quote + inner + quote))


def remarks(code: Code) -> Iterator[Edit]:
    """Add a comment and an empty line before a statement of a block."""
    for block in code.touched("statement_block"):
        for node in block.named_children:
            if node.start_point[0] + 1 in code.lines and node.type != "comment":
                yield Edit(((node.start_byte, node.start_byte, b"// as below\n\n"),))


def parentheses(code: Code) -> Iterator[Edit]:
    """Put what is returned, or assigned to a constant, in parentheses."""
    for node in code.begins("return_statement", "variable_declarator"):
        value = node.child_by_field_name("value") or next(iter(node.named_children), None)
        anonymous = (*FUNCTIONS, "class", "parenthesized_expression")
        if value is None or value.type in (*anonymous, "comment") or value == node.child_by_field_name("name"):
            continue
        if not within(value, ("template_string",)):  # tools may name what a tag makes
            yield Edit(((value.start_byte, value.start_byte, b"("), (value.end_byte, value.end_byte, b")")))


def lines(code: Code) -> Iterator[Edit]:
    """Write each attribute of a tag on its own line."""
    for tag in code.touched(*TAGS):
        nodes = [
            node for node in tag.named_children if node.type in _ATTRIBUTES and node.start_point[0] + 1 in code.lines
        ]
        if nodes:
            yield Edit(tuple((node.start_byte, node.start_byte, b"\n  ") for node in nodes))


# -- statements --------------------------------------------------------------------------------------------------------
def constants(code: Code) -> Iterator[Edit]:
    """Assign what is returned to a constant first."""
    kinds = (
        *_JSX,
        "binary_expression",
        "call_expression",
        "template_string",
        "ternary_expression",
        "parenthesized_expression",
    )
    for node in code.begins("return_statement"):
        value = next((child for child in node.named_children if child.type != "comment"), None)
        inside = node.parent is not None and node.parent.type == "statement_block"
        if value is not None and inside and value.type in kinds and not _is_mentioned(b"outcome", code):
            yield Edit(
                (
                    (node.start_byte, value.start_byte, b"const outcome = "),
                    (value.end_byte, node.end_byte, b";\nreturn outcome;"),
                )
            )


def helpers(code: Code) -> Iterator[Edit]:
    """Return the result of a function that is called immediately."""
    for node in code.begins("return_statement"):
        value = next((child for child in node.named_children if child.type != "comment"), None)
        if value is None or within(value, (*_OWN, "await_expression", "yield_expression")):
            continue
        if not _is_mentioned(b"arguments", code) and value.type != "comment":
            start, end = (value.start_byte, value.start_byte, b"(() => ("), (value.end_byte, value.end_byte, b"))()")
            yield Edit((start, end))


def _is_mentioned(name: bytes, code: Code) -> bool:
    return re.search(rb"\b%s\b" % re.escape(name), code.text) is not None


# -- conditions --------------------------------------------------------------------------------------------------------
def ternaries(code: Code) -> Iterator[Edit]:
    """Write `a ? b : c` as `!(a) ? c : b`."""
    for node in code.begins("ternary_expression"):
        condition, yes, no = (node.child_by_field_name(name) for name in ("condition", "consequence", "alternative"))
        if condition and yes and no:
            yield replaced((condition, _not(condition)), (yes, _closed(no)), (no, _closed(yes)))


def branches(code: Code) -> Iterator[Edit]:
    """Write `if (a) b else c` as `if (!(a)) c else b`."""
    for node in code.begins("if_statement"):
        condition, yes, no = (node.child_by_field_name(name) for name in ("condition", "consequence", "alternative"))
        alternative = no.named_children[-1] if no is not None and no.named_children else None
        if condition is None or yes is None or alternative is None:
            continue
        if yes.type == alternative.type == "statement_block":
            inner = condition.named_children[-1]
            yield replaced((inner, _not(inner)), (yes, text_of(alternative)), (alternative, text_of(yes)))


def guards(code: Code) -> Iterator[Edit]:
    """Write `a && b` as `a ? b : a` and `a || b` as `a ? a : b`, if `a` has no side effects."""
    for node in code.begins("binary_expression"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = text_of(node.child_by_field_name("operator"))
        if left is None or right is None or not _is_pure(left) or operator not in (b"&&", b"||"):
            continue
        a, b = text_of(left), _closed(right)
        yes, no = (b, a) if operator == b"&&" else (a, b)
        yield replaced((node, b"(" + a + b" ? " + yes + b" : " + no + b")"))


def sides(code: Code) -> Iterator[Edit]:
    """Write `a === b` as `b === a`, if neither has side effects."""
    for node in code.begins("binary_expression"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        equal = text_of(node.child_by_field_name("operator")) in (b"===", b"!==")
        if left is not None and right is not None and equal and _is_pure(left) and _is_pure(right):
            yield replaced((left, text_of(right)), (right, text_of(left)))


def _is_pure(node: Node) -> bool:
    """Whether it is a name, a literal or a property of a name."""
    return all(
        inner.type in (*_PURE, "property_identifier", "string_fragment") for inner in walk(node) if inner.is_named
    )


def _not(node: Node) -> bytes:
    return b"!(" + text_of(node) + b")"


def _closed(node: Node) -> bytes:
    """The expression, in parentheses if it needs them beside an operator."""
    simple = (*_PURE, "call_expression", "parenthesized_expression", "template_string", "object", "array")
    return text_of(node) if node.type in simple else b"(" + text_of(node) + b")"


# -- expressions -------------------------------------------------------------------------------------------------------
def templates(code: Code) -> Iterator[Edit]:
    """Write a template of plain text and values as a sum of strings."""
    for node in code.begins("template_string"):
        parts = _parts(node)
        if parts and not (
            node.parent is not None and node.parent.type == "call_expression"
        ):  # a tag reads it differently
            yield replaced((node, b"(" + b" + ".join(parts) + b")"))


def _parts(template: Node) -> list[bytes]:
    """The terms of the sum, beginning with a string; none if the text would need other escapes in a string."""
    terms: list[bytes] = [b'""']
    for node in template.named_children:
        if node.type == "template_substitution" and node.named_children:
            terms.append(b"String(" + text_of(node.named_children[-1]) + b")")
        elif node.type == "string_fragment" and not re.search(rb"[\\\"\n\r]", text_of(node)):
            terms.append(b'"' + text_of(node) + b'"')
        else:
            return []
    return terms


def arrows(code: Code) -> Iterator[Edit]:
    """Write an arrow function that does not use `this` as a function expression."""
    for node in code.begins("arrow_function"):
        body, head = node.child_by_field_name("body"), node.child_by_field_name("parameters")
        single = node.child_by_field_name("parameter")
        uses_context = within(node, _OWN) or any(
            text_of(inner) == b"arguments" for inner in walk(node) if inner.type == "identifier"
        )
        if body is None or uses_context or (node.parent is not None and node.parent.type == "public_field_definition"):
            continue
        prefix = b"async function " if any(child.type == "async" for child in node.children) else b"function "
        if single is not None:
            signature = b"(" + text_of(single) + b")"
        elif head is not None:
            result = node.child_by_field_name("return_type")
            kinds = text_of(node.child_by_field_name("type_parameters"))
            signature = kinds + text_of(head) + text_of(result)
        else:
            continue
        inner = text_of(body) if body.type == "statement_block" else b"{ return " + text_of(body) + b"; }"
        function = prefix + signature + b" " + inner
        yield replaced((node, function if _stands_alone(node) else b"(" + function + b")"))


def _stands_alone(node: Node) -> bool:
    """Whether a function expression needs no parentheses in this place."""
    kinds = ("variable_declarator", "arguments", "jsx_expression", "pair", "parenthesized_expression")
    return node.parent is not None and node.parent.type in kinds


def chains(code: Code) -> Iterator[Edit]:
    """Write `a?.b` as a condition, if `a` has no side effects and the chain ends there."""
    for node in code.begins("member_expression"):
        subject, link = node.child_by_field_name("object"), node.child_by_field_name("optional_chain")
        follows = ("member_expression", "call_expression", "subscript_expression", "non_null_expression")
        unsupported = (*follows, "assignment_expression", "unary_expression", "update_expression")
        if (
            subject is None
            or link is None
            or not _is_pure(subject)
            or node.parent is None
            or node.parent.type in unsupported
        ):
            continue
        name, key = text_of(subject), text_of(node.child_by_field_name("property"))
        yield replaced((node, b"(%s === null || %s === undefined ? undefined : %s.%s)" % (name, name, name, key)))


# -- attributes --------------------------------------------------------------------------------------------------------
def values(code: Code) -> Iterator[Edit]:
    """Write an attribute's string as an expression, and an attribute without a value as one that is true."""
    for node in code.touched("jsx_attribute"):
        children = node.named_children
        if len(children) == 1:
            yield Edit(((node.end_byte, node.end_byte, b"={true}"),))
        elif plain(children[-1]) is not None:
            yield replaced((children[-1], b"{" + text_of(children[-1]) + b"}"))


def states(code: Code) -> Iterator[Edit]:
    """Write `aria-x={true}` of an HTML element as `aria-x="true"`, `tabIndex={0}` as `tabIndex="0"`, and back."""
    for node in code.touched("jsx_attribute"):
        if not _is_of_page(node) or len(node.named_children) != 2:
            continue
        name, value = _name(node).lower(), node.named_children[1]
        inner = value.named_children[0] if value.type == "jsx_expression" and len(value.named_children) == 1 else None
        text = text_of(inner) if inner is not None else plain(value) or b""
        if (
            name.startswith(b"aria-")
            and text in (b"true", b"false")
            or name == b"tabindex"
            and re.fullmatch(rb"-?\d+", text)
        ):
            if inner is None:
                yield replaced((value, b"{" + text + b"}"))
            elif inner.type in ("true", "false", "number", "unary_expression"):
                yield replaced((value, b'"' + text + b'"'))


def absences(code: Code) -> Iterator[Edit]:
    """Write `undefined` as `null` in an attribute of an HTML element: both omit the attribute."""
    for node in code.touched("jsx_attribute"):
        for inner in walk(node) if _is_of_page(node) else ():
            if inner.type == "undefined" and inner.parent is not None and inner.parent.type == "ternary_expression":
                yield replaced((inner, b"null"))


def _is_of_page(attribute: Node) -> bool:
    """Whether it is an attribute of an HTML element, not of a component."""
    tag = attribute.parent
    return tag is not None and text_of(tag.child_by_field_name("name"))[:1].islower()


# -- markup ------------------------------------------------------------------------------------------------------------
def classes(code: Code) -> Iterator[Edit]:
    """Add a class."""
    for node in code.touched("jsx_attribute", "attribute"):
        if _name(node) in (b"className", b"class") and len(node.named_children) == 2:
            value = node.named_children[1]
            if plain(value) or value.type == "quoted_attribute_value":
                yield Edit(((value.end_byte - 1, value.end_byte - 1, b" is-marked"),))


def wrappers(code: Code) -> Iterator[Edit]:
    """Wrap the content of an element that may contain a `span` in one."""
    for node in code.touched("jsx_element"):
        tag = node.child_by_field_name("open_tag")
        name = text_of(tag.child_by_field_name("name")) if tag is not None else b""
        content = [child for child in node.named_children if child.type in ("jsx_expression", "jsx_text")]
        if (
            name in (b"button", b"div", b"span", b"p", b"a", b"label")
            and len(content) == 1
            and node.named_child_count == 3
        ):
            start, end = content[0].start_byte, content[0].end_byte
            yield Edit(((start, start, b"<span>"), (end, end, b"</span>")))


def fragments(code: Code) -> Iterator[Edit]:
    """Wrap what a component returns in a fragment, in files that use fragments."""
    if b"<>" not in code.text:
        return
    for node in code.begins(*_JSX):
        holder = node.parent
        while holder is not None and holder.type == "parenthesized_expression":
            holder = holder.parent
        keyed = any(_name(inner) == b"key" for inner in walk(node) if inner.type == "jsx_attribute")
        if holder is not None and holder.type == "return_statement" and not keyed and _is_component(holder):
            yield Edit(((node.start_byte, node.start_byte, b"<>"), (node.end_byte, node.end_byte, b"</>")))


def _is_component(statement: Node) -> bool:
    """Whether the function around a statement is named like a component."""
    function = above(statement, lambda node: node.type in FUNCTIONS)
    holder = function.parent if function is not None else None
    if function is None or holder is None:
        return False
    name = function.child_by_field_name("name") or (holder.child_by_field_name("name") if holder else None)
    return text_of(name)[:1].isupper()


def semicolons(code: Code) -> Iterator[Edit]:
    """Leave out a semicolon, if the next statement is on another line and cannot continue this one."""
    for node in code.begins("lexical_declaration", "expression_statement", "return_statement"):
        last, after = (node.children[-1] if node.children else None), node.next_named_sibling
        on_new_line = after is not None and after.start_point[0] > node.end_point[0]
        if last is not None and last.type == ";" and on_new_line and text_of(after)[:1] not in b"([`/+-*.,":
            yield removed(last, code.text)


#: name of a rule -> the rule; its docstring says what it does
RULES: Sequence[tuple[str, Rule]] = (
    ("names", renames),
    ("order of attributes", attributes),
    ("order of imports", imports),
    ("form", quotes),
    ("form", remarks),
    ("form", parentheses),
    ("form", lines),
    ("form", semicolons),
    ("constants and helpers", constants),
    ("constants and helpers", helpers),
    ("conditions", ternaries),
    ("conditions", branches),
    ("conditions", guards),
    ("conditions", sides),
    ("templates", templates),
    ("functions", arrows),
    ("optional chains", chains),
    ("values of attributes", values),
    ("values of attributes", states),
    ("values of attributes", absences),
    ("fragments", fragments),
)
#: rules that change rendered markup and not its meaning for users
MARKUP: Sequence[tuple[str, Rule]] = (("other markup", classes), ("other markup", wrappers))
