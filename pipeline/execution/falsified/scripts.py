"""False expectations in JavaScript and TypeScript, by their grammars.

In each test that gold's test patch touches, one expectation is changed: the last one that passes a literal to a
matcher, or else the last one with a query that must find a literal. If no literal can be changed, the matcher is
negated. A query outside of expectations, such as one for a button to click, counts only in tests that expect nothing
else, not even a stored snapshot. A second run changes the first of several expectations; if the first run has changed
that one, a later expectation, even one that can only be negated. A false expectation never passes where the true one
does. In an exact comparison, any other value fails, so a plausible one is used (another ARIA role or token, or another
text of the same file): code that accepts any plausible value accepts it, too. Where a part of a value suffices, or a
value is awaited, the other value is one that no page shows. Titles stay.

Does not cover matchers that are called through variables, tables of cases, and expectations in helpers of other files.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pipeline.execution.falsified import values
from pipeline.execution.falsified.nodes import (
    FUNCTIONS,
    ancestors,
    block_of,
    callee,
    covers,
    full_title,
    is_awaited,
    is_expect,
    is_nested,
    is_polled,
    is_test,
    parsed,
    text_of,
    walk,
    within,
)
from pipeline.execution.falsified.values import Falsified, Pool

if TYPE_CHECKING:
    from tree_sitter import Node

#: matchers that pass for exactly one value
_EXACT = frozenset({
    "toBe", "toEqual", "toStrictEqual", "toHaveLength", "toHaveBeenCalledTimes", "toBeCalledTimes", "toHaveAttribute",
    "toHaveValue", "toHaveAccessibleName", "toHaveAccessibleDescription", "toHaveRole", "toHaveProperty",
    "toHaveBeenLastCalledWith", "lastCalledWith", "toHaveBeenNthCalledWith", "nthCalledWith", "toMatchInlineSnapshot",
    "toThrowErrorMatchingInlineSnapshot", "toHaveStyleRule", "equal", "equals", "eq", "eql",
    "strictEqual", "deepEqual", "deepStrictEqual", "attr", "attribute", "lengthOf", "length", "callCount",
    "propertyVal",
})  # fmt: skip
#: matchers whose last argument is the value, and only if an argument before it names what has the value
_NAMED = frozenset({
    "toHaveAttribute", "toHaveProperty", "attr", "attribute", "propertyVal", "toHaveStyleRule",
    "toHaveBeenNthCalledWith", "nthCalledWith",
})  # fmt: skip
#: matchers whose failure prints both values if the expected one is plain
_TELLING = frozenset({
    "toBe", "toEqual", "toStrictEqual", "toHaveAttribute", "toHaveAccessibleName", "toHaveAccessibleDescription",
    "toHaveValue", "equal", "equals", "eq", "eql", "strictEqual", "deepEqual", "deepStrictEqual",
})  # fmt: skip
PLAIN = frozenset({"string", "number", "true", "false", "null", "undefined"})
#: functions of `assert` for which `null` equals `undefined`, and "1" equals 1
_LOOSE = frozenset({"equal", "deepEqual"})
_NUMERIC = re.compile(r"\s*(?:[+-]?(?:\.?\d|Infinity)|$)")
_MORE = re.compile(r"^(?:toBeGreaterThan\w*|(?:is)?[aA]bove|gte?|greaterThan\w*|least|isAtLeast)$")
_LESS = re.compile(r"^(?:toBeLessThan\w*|(?:is)?[bB]elow|lte?|lessThan\w*|most|isAtMost)$")
#: matchers that compare with stored snapshots; these, and others that store what they get, are not changed
_STORED = re.compile(r"^(?:toMatchSnapshot|toMatchSpecificSnapshot|toThrowErrorMatchingSnapshot)$")
_KEEPING = re.compile(rf"{_STORED.pattern}|^to\w*(?:Image|Screenshot|File)\w*$")
_ABSENT = re.compile(r"^(?:toBeNull|toBeFalsy|toBeUndefined|toBeDefined|toBeEmpty\w*|null|undefined|false|empty)$")
#: queries that find an element or throw; and queries whose results are passed to expectations
_FINDING = re.compile(r"^(?:get|find)(?:All)?By[A-Z]\w*$")
_LOOKING = re.compile(r"^(?:(?:get|find|query)(?:All)?By[A-Z]\w*|querySelector(?:All)?|getElementById|find|closest)$")
#: functions of assertion libraries, and their opposites; None: the first argument is negated
_ASSERTED: dict[str, str | None] = {
    "assert": None, "ok": None, "isOk": None, "equal": "notEqual", "notEqual": "equal", "strictEqual": "notStrictEqual",
    "notStrictEqual": "strictEqual", "deepEqual": "notDeepEqual", "notDeepEqual": "deepEqual",
    "deepStrictEqual": "notDeepStrictEqual", "isTrue": "isFalse", "isFalse": "isTrue", "isNull": "isNotNull",
    "isNotNull": "isNull", "exists": "notExists", "isDefined": "isUndefined", "isUndefined": "isDefined",
    "include": "notInclude", "notInclude": "include", "match": "", "lengthOf": "", "property": "notProperty",
    "propertyVal": "notPropertyVal", "isAbove": "", "isBelow": "", "throws": "", "isArray": "isNotArray",
}  # fmt: skip
#: larger than any number in a test
_FAR = 1_000_003


class Change(NamedTuple):
    """Bytes to replace. `rank` is 0 for a matcher's value, 1 for a query's, 2 for a negation. `telling` means that the
    failure prints two plain values."""

    start: int
    end: int
    text: str
    rank: int
    telling: bool = False


class Gold(NamedTuple):
    """The lines of a file that are gold's, the texts in it that may replace others, and where other values are drawn
    from."""

    lines: Collection[int] = ()
    texts: tuple[str, ...] = ()
    pool: Pool = values.BY_LETTERS


@dataclass(frozen=True)
class _Assertion:
    """One expectation: its node, its possible changes, and its value if that excludes any other (`only`). `prints`
    means that a failure prints this value and the other one, and nothing else; `is_query`, that it only looks for an
    element; `is_stored`, that the value is in a file of snapshots."""

    node: Node
    changes: tuple[Change, ...]
    only: Node | None = None
    prints: bool = False
    is_query: bool = False
    is_stored: bool = False


def falsify(
    path: str, text: str, lines: Collection[int], around: Collection[int], first: bool, pool: Pool
) -> Falsified:
    source = text.encode()
    root = parsed(path, source)
    assertions = list(assertions_of(root, Gold(lines, _texts(root), pool)))
    golden = [assertion for assertion in assertions if covers(assertion.node, lines) and not assertion.is_stored]
    blocks: dict[int, list[_Assertion]] = defaultdict(list)
    for assertion in assertions:
        blocks[block.id if (block := block_of(assertion.node)) else 0].append(assertion)
    chosen = {id_: change for id_, several in blocks.items() if (change := _chosen(several, lines, around, first))}
    changes = chosen.values()
    by_value = sum(any(change.rank < 2 for change in assertion.changes) for assertion in golden)
    by_negation = sum(
        bool(assertion.changes) and all(change.rank == 2 for change in assertion.changes) for assertion in golden
    )
    encoded = [(change.start, change.end, change.text.encode()) for change in changes]
    telling = _names(root, {id_ for id_, change in chosen.items() if change.telling})
    tests = _names(root, chosen)
    nested = {id_ for id_, change in chosen.items() if _is_nested(change, blocks[id_])}
    of_nested = _names(root, nested)
    return Falsified(
        values.replaced(source, encoded).decode(),
        len(golden),
        by_value,
        by_negation,
        telling,
        tests if len(tests) == len(chosen) else None,
        of_nested if len(of_nested) == len(nested) else None,
    )


def _is_nested(change: Change, several: list[_Assertion]) -> bool:
    """Whether code that passes a test may not reach the expectation that is changed."""
    changed = next(assertion for assertion in several if change in assertion.changes)
    return is_nested(changed.node, block_of(changed.node))


def _names(root: Node, tests: Collection[int]) -> frozenset[str]:
    """The titles of these tests, without those that another test shares."""
    titles = [(node.id, full_title(node)) for node in walk(root) if node.type == "call_expression" and is_test(node)]
    counts = Counter(title for _, title in titles)
    return frozenset(title for id_, title in titles if id_ in tests and title and counts[title] == 1)


def _chosen(several: list[_Assertion], lines: Collection[int], around: Collection[int], first: bool) -> Change | None:
    """The change of one block, at gold's lines if possible; None if gold neither adds nor removes lines in it."""
    block = block_of(several[0].node)
    candidates = [assertion for assertion in several if assertion.changes and covers(assertion.node, lines)]
    only_queries = all(assertion.is_query for assertion in candidates)
    if only_queries and block is not None and is_test(block) and covers(block, {*lines, *within(block, around)}):
        candidates = [assertion for assertion in several if assertion.changes]
    expected = [assertion for assertion in candidates if not assertion.is_query]
    if not expected and not any(assertion.is_stored for assertion in several):
        expected = candidates
    last = max(_changes(expected), key=lambda change: (-change.rank, change.start), default=None)
    changes = _changes(candidates)
    if not first or not changes:
        return last
    earliest = min(changes, key=lambda change: (change.rank, change.start))
    latest = max(changes, key=lambda change: change.start)
    if last is None or earliest.start < last.start:
        return earliest
    return latest if latest.start > last.start else None


def _changes(assertions: Collection[_Assertion]) -> list[Change]:
    return [change for assertion in assertions for change in assertion.changes]


def assertions_of(root: Node, gold: Gold) -> Iterator[_Assertion]:
    """All expectations of a file, in order."""
    for node in walk(root):
        if node.type == "call_expression":
            if is_expect(node):
                yield from _expected(node, gold)
            elif (name := _asserted(node)) is not None:
                yield _assertion(node, name, gold)
            elif _FINDING.match(callee(node)) and not _within_expect(node):
                yield _Assertion(node, tuple(_queried(node, gold)), is_query=True)
        elif node.type == "member_expression" and text_of(node.child_by_field_name("property")) == "should":
            yield from _expected(node, gold)


def _expected(root: Node, gold: Gold) -> Iterator[_Assertion]:
    """The expectation that begins with `expect(…)` or `….should`, if it has a matcher."""
    words, calls, top = _chain(root)
    if not words:
        return
    negations = [word for word in words if text_of(word) == "not"]
    named_calls = {text_of(word): arguments for word, arguments in calls}
    matcher = text_of(calls[-1][0]) if calls and calls[-1][0] is not None else text_of(words[-1])
    if _STORED.match(matcher):
        yield _Assertion(top, (), is_stored=True)
    if _KEEPING.match(matcher) or "" in named_calls:
        return
    polled = is_polled(top) or is_awaited(top, words)
    changes, only = [], None
    prints = matcher in _TELLING and len(_arguments(root)) < 2  # the second is a message of the test's own
    if not negations:
        for word, arguments in reversed(calls):
            if change := _changed_value(text_of(word), arguments, polled, gold):
                changes.append(change)
                break
        if not changes and root.type == "call_expression" and not _ABSENT.match(matcher):
            changes += [query for call in walk(root) if _LOOKING.match(callee(call)) for query in _queried(call, gold)]
        if calls and not polled and matcher in _EXACT and len(calls) == 1:
            only = _last(calls[0][1], matcher)
            changes = [_telling(change, prints, only) for change in changes]
    if not polled and not matcher.endswith("InlineSnapshot"):
        changes.append(_negated(root, words, negations))
    yield _Assertion(top, tuple(changes), only, prints)


def _arguments(call: Node) -> list[Node]:
    """The arguments of a call; none for other nodes."""
    arguments = call.child_by_field_name("arguments")
    return arguments.named_children if arguments is not None else []


def _telling(change: Change, prints: bool, only: Node | None) -> Change:
    """The change, `telling` if it replaces a plain value and a failure `prints` both."""
    plain = prints and only is not None and only.type in PLAIN
    within = only is not None and only.start_byte <= change.start and change.end <= only.end_byte
    return change._replace(telling=plain and within and change.rank == 0)


def _chain(root: Node) -> tuple[list[Node], list[tuple[Node | None, Node]], Node]:
    """The names that follow an expectation's beginning, its calls with the name of each, and the whole expression."""
    words: list[Node] = []
    calls: list[tuple[Node | None, Node]] = []
    node = root
    while (above := node.parent) is not None:
        if above.type == "member_expression" and above.child_by_field_name("object") == node:
            words += filter(None, [above.child_by_field_name("property")])
        elif above.type == "call_expression" and above.child_by_field_name("function") == node:
            arguments = above.child_by_field_name("arguments")
            calls += [(words[-1] if words else None, arguments)] if arguments is not None else []
        else:
            break
        node = above
    return words, calls, node


def _negated(root: Node, words: list[Node], negations: list[Node]) -> Change:
    """Remove the last `not`, or insert one: after `resolves` and `rejects`, else first."""
    if negations:
        last = negations[-1]
        return Change(last.start_byte - 1, last.end_byte, "", 2)
    settled = [word for word in words if text_of(word) in ("resolves", "rejects")]
    position = (settled[-1] if settled else root).end_byte
    return Change(position, position, ".not", 2)


def _changed_value(matcher: str, arguments: Node, polled: bool, gold: Gold) -> Change | None:
    """Another value for a matcher."""
    comparison = "more" if _MORE.match(matcher) else "less" if _LESS.match(matcher) else "exact"
    name_only = arguments.type == "arguments" and _last(arguments, matcher) is None
    if comparison == "exact" and (polled or matcher not in _EXACT or name_only):
        comparison = "loose"
    return _other_value(arguments, comparison, gold)


def _other_value(root: Node, comparison: str, gold: Gold) -> Change | None:
    """Change the last literal below a node that can be changed, outside functions. Arguments of calls such as
    `expect.stringContaining` count as loose comparisons, since another value might hold as well."""
    changes: list[Change] = []
    for node in _values(root):
        applied = "loose" if comparison == "exact" and _is_argument(node, root) else comparison
        changes += filter(None, [_literal(node, applied, gold)])
    return changes[-1] if changes else None


def _values(root: Node) -> Iterator[Node]:
    """The nodes below one, except for functions and names of properties."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if node.type == "pair":
            stack.extend(filter(None, [node.child_by_field_name("value")]))
        elif node.type not in FUNCTIONS and node.type not in ("string", "template_string", "regex"):
            stack.extend(reversed(node.named_children))


def _literal(node: Node, comparison: str, gold: Gold) -> Change | None:
    """Replace a literal by another value; None if it is not a literal or must not be changed this way."""
    text, exact = text_of(node), comparison == "exact"
    match node.type:
        case "string":
            body = text[1:-1]
            plausible = partial(values.plausible, texts=gold.texts, key=gold.pool.key)
            other = (exact and plausible(body)) or values.word(body, exact, gold.pool)
            return _change(node, text[0] + other + text[0])
        case "template_string":
            return _template(node, exact, gold)
        case "regex":
            pattern = node.child_by_field_name("pattern")
            return pattern and Change(
                pattern.start_byte, pattern.end_byte, values.pattern(text_of(pattern), gold.pool), 0
            )
        case "number":
            if comparison in ("more", "less"):
                return _change(node, f"{'-' if comparison == 'less' else ''}{_FAR}")
            step = 1 if exact else _FAR
            return _change(node, str(int(text) + step) if text.isdecimal() else f"({text} + {step})")
        case "true" | "false":
            return _change(node, "false" if text == "true" else "true") if exact else None
        case "null" | "undefined":
            return _change(node, "0" if text == "null" else "null") if exact else None
    return None


def _change(node: Node, text: str, rank: int = 0) -> Change:
    return Change(node.start_byte, node.end_byte, text, rank)


def _is_argument(node: Node, root: Node) -> bool:
    """Whether a value is an argument of a call below a node."""
    above = node.parent
    while (
        above is not None and above != root and root.start_byte <= above.start_byte and above.end_byte <= root.end_byte
    ):
        if above.type in ("call_expression", "new_expression"):
            return True
        above = above.parent
    return False


def _template(node: Node, exact: bool, gold: Gold) -> Change | None:
    """Change a letter of a template: if it has several lines, on one of gold's."""
    parts = [
        fragment
        for fragment in node.named_children
        if fragment.type == "string_fragment" and values.has_letters(text_of(fragment))
    ]
    if not parts:
        return None if node.named_children else _change(node, "`q`")
    part = parts[-1]
    text, first = text_of(part), part.start_point.row + 1
    if "\n" not in text:
        other = values.false_line(text) if exact else values.word(text, exact, gold.pool)
        return Change(part.start_byte, part.end_byte, other, 0)
    numbers = range(first, first + text.count("\n") + 1)
    preferred = [number - first + 1 for number in numbers if number in gold.lines] or [
        number - first + 1 for number in numbers
    ]
    change = values.letter(text, preferred) or values.letter(text, [number - first + 1 for number in numbers])
    return change and Change(part.start_byte, part.end_byte, values.replaced(text, [change]), 0)


def _texts(root: Node) -> tuple[str, ...]:
    """The strings of a file that may replace each other."""
    found = {text_of(node)[1:-1] for node in walk(root) if node.type == "string"}
    return tuple(text for text in found if re.fullmatch(r"[A-Za-z][\w .,:!?-]+", text))


def _queried(call: Node, gold: Gold) -> Iterator[Change]:
    """Make a query look for another element."""
    arguments = call.child_by_field_name("arguments")
    changes = [
        change._replace(rank=1)
        for node in (_values(arguments) if arguments else ())
        if node.type in ("string", "template_string", "regex") and (change := _literal(node, "loose", gold))
    ]
    yield from changes[-1:]


def _asserted(call: Node) -> str | None:
    """The name of the assertion function that is called; None for other calls."""
    function = call.child_by_field_name("function")
    if function is None:
        return None
    if function.type == "identifier":
        return "assert" if text_of(function) == "assert" else None
    if function.type != "member_expression" or text_of(function).split(".")[-2:-1] != ["assert"]:
        return None
    name = callee(call)
    return name if name in _ASSERTED else None


def _assertion(call: Node, name: str, gold: Gold) -> _Assertion:
    """A call of `assert`: the second argument is the expected value, or the first is a comparison."""
    function, arguments = call.child_by_field_name("function"), _arguments(call)
    method = function.child_by_field_name("property") if function is not None else None
    opposite, polled = _ASSERTED[name], is_polled(call)
    changes: list[Change] = []
    if opposite is None and arguments and arguments[0].type == "binary_expression":
        if text_of(arguments[0].child_by_field_name("operator")) in ("===", "=="):
            changes += filter(None, [_other_value(arguments[0], "loose" if polled else "exact", gold)])
    elif len(arguments) > 1 and not name.startswith(("not", "isNot")):
        changes += filter(None, [_changed_value(name, arguments[-1 if name == "propertyVal" else 1], polled, gold)])
    if not polled and opposite is None and arguments:
        changes.append(_change(arguments[0], f"!({text_of(arguments[0])})", 2))
    elif not polled and opposite and method is not None:
        changes.append(_change(method, opposite, 2))
    only = arguments[1] if name in _EXACT and len(arguments) > 1 and not polled and name != "propertyVal" else None
    if name in _LOOSE and only is not None and not _is_word(only):
        only = None
    prints = name in _TELLING and len(arguments) == 2  # the third is a message of the test's own
    changes = [_telling(change, prints, only) for change in changes]
    return _Assertion(call, tuple(changes), only, prints)


def _is_word(node: Node) -> bool:
    """Whether a value is a text that equals no other value, even in a loose comparison."""
    return node.type == "string" and not _NUMERIC.match(text_of(node)[1:-1])


def _last(arguments: Node, matcher: str) -> Node | None:
    """The argument that only one value can satisfy."""
    values = arguments.named_children
    return values[-1] if len(values) > (matcher in _NAMED) else None


def _within_expect(node: Node) -> bool:
    """Whether a node is inside the argument of an expectation, which decides what it must be."""
    return any(
        above.type == "call_expression" and (is_expect(above) or bool(_asserted(above))) for above in ancestors(node)
    )
