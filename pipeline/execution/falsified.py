"""Expectations of test files made false, as text: these tests must fail for code that makes the true ones pass.

In each test that gold's test patch touches, one expectation is changed, the last that can be: a literal that is passed
to a matcher, else one that a query must find. If no literal can be changed, the matcher is negated. For a second run,
it is the first of several. A false expectation never passes where the true one does: in an exact comparison, any other
value fails; where a part suffices or a value is waited for, the other value is one that no page shows. In an exact
comparison, the other value is plausible: another ARIA role or token, or another text of the same file, so that code
that accepts whatever looks plausible accepts it, too. Titles stay.

Parses JavaScript and TypeScript by their grammars, and stored snapshots as text. Runs nothing. Does not cover matchers
that are called through variables, tables of cases, and expectations in helpers of other files.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from pipeline.ecosystems.runners.jest.snapshots import entries

if TYPE_CHECKING:
    from tree_sitter import Node

#: files with a grammar: in `.ts`, angle brackets are casts, in the others markup
_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
_PLAIN = re.compile(r"\.[cm]?ts$")
_SNAPSHOTS = re.compile(r"\.snap$")
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)")

#: calls whose last function is a test, and calls that group tests
_TESTS = frozenset({"it", "test", "specify", "fit", "xit", "xtest"})
_GROUPS = frozenset({"describe", "context", "suite", "fdescribe"})
#: calls that retry a function until it passes: any value may occur in between
_POLLING = re.compile(r"^(?:wait\w*|eventually|retry|poll|toPass)$")
#: matchers that pass for exactly one value
_EXACT = frozenset({
    "toBe", "toEqual", "toStrictEqual", "toHaveLength", "toHaveBeenCalledTimes", "toBeCalledTimes", "toHaveAttribute",
    "toHaveValue", "toHaveAccessibleName", "toHaveAccessibleDescription", "toHaveRole", "toHaveProperty",
    "toMatchInlineSnapshot", "toThrowErrorMatchingInlineSnapshot", "toHaveStyleRule", "equal", "equals", "eq", "eql",
    "strictEqual", "deepEqual", "deepStrictEqual", "attr", "attribute", "lengthOf", "length", "callCount",
    "propertyVal",
})  # fmt: skip
#: of these, the last argument is the value, and only if another one before it says of what
_NAMED = frozenset({"toHaveAttribute", "toHaveProperty", "attr", "attribute", "propertyVal", "toHaveStyleRule"})
#: of these, a failure prints both values if the expected one is plain
_TELLING = frozenset({
    "toBe", "toEqual", "toStrictEqual", "toHaveAttribute", "equal", "equals", "eq", "eql", "strictEqual", "deepEqual",
    "deepStrictEqual",
})  # fmt: skip
_PLAIN_VALUES = frozenset({"string", "number", "true", "false", "null", "undefined"})
_MORE = re.compile(r"^(?:toBeGreaterThan\w*|(?:is)?[aA]bove|gte?|greaterThan\w*|least|isAtLeast)$")
_LESS = re.compile(r"^(?:toBeLessThan\w*|(?:is)?[bB]elow|lte?|lessThan\w*|most|isAtMost)$")
#: matchers whose arguments are names, or that store what they get: they are not changed
_KEEPING = re.compile(
    r"^(?:toMatchSnapshot|toMatchSpecificSnapshot|toThrowErrorMatchingSnapshot|to\w*(?:Image|Screenshot|File)\w*)$"
)
_ABSENT = re.compile(r"^(?:toBeNull|toBeFalsy|toBeUndefined|toBeDefined|toBeEmpty\w*|null|undefined|false|empty)$")
#: queries that find an element or throw; and those whose result an expectation is about
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
_FUNCTIONS = frozenset(
    {"arrow_function", "function_expression", "function", "method_definition", "function_declaration"}
)
#: escapes in a literal, which are kept intact
_ESCAPE = re.compile(r"\\(?:u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)|&\w+;|%[sdifjoOp#]", re.DOTALL)
#: larger than any number in a test
_FAR = 1_000_003
#: shorter words occur in others by chance
_LONG = 5


class Falsified(NamedTuple):
    """A file with false expectations, and how many expectations there are at gold's lines: all, those with a value that
    can be changed, and those that can only be negated. `telling` are the tests (`group > title`) whose failure prints
    the false and the true value and nothing else: code that shows the true one fails with the same message."""

    text: str
    assertions: int = 0
    by_value: int = 0
    by_negation: int = 0
    telling: frozenset[str] = frozenset()


class Change(NamedTuple):
    """Bytes to replace. `rank` is 0 for a matcher's value, 1 for a query's, 2 for a negation. `telling` means that the
    failure prints two plain values."""

    start: int
    end: int
    text: str
    rank: int
    telling: bool = False


class _Gold(NamedTuple):
    """The lines of a file that are gold's, and the texts in it that may replace others."""

    lines: Collection[int] = ()
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Assertion:
    """One expectation: where it is, how it may be changed, and the value (`only`) that excludes any other."""

    node: Node
    changes: tuple[Change, ...]
    only: Node | None = None


def added(section: str) -> frozenset[int]:
    """The numbers of the lines that a file's part of a patch adds."""
    numbers, number = set(), 0
    for line in section.split("\n"):
        if hunk := _HUNK.match(line):
            number = int(hunk[1])
        elif number and line[:1] in ("+", " ", ""):
            if line[:1] == "+":
                numbers.add(number)
            number += 1
    return frozenset(numbers)


def beside(section: str) -> frozenset[int]:
    """The numbers of the lines around those that a file's part of a patch removes without replacement."""
    numbers: set[int] = set()
    number, before = 0, ""
    for line in section.split("\n"):
        if hunk := _HUNK.match(line):
            number, before = int(hunk[1]), ""
        elif number and line[:1] in ("+", "-", " ", ""):
            if before == "-" and line[:1] in (" ", ""):
                numbers |= {number - 1, number}
            number += line[:1] != "-"
            before = line[:1]
    return frozenset(numbers)


def falsify(
    path: str, text: str, lines: Collection[int], around: Collection[int] = (), *, first: bool = False
) -> Falsified:
    """A file with false expectations, where `lines` are gold's; the unchanged file if none. A snapshot or test from
    which gold only removes lines counts as gold's by the lines `around` them. With `first`, the first expectation
    changes in each test that has several, and nothing in other tests."""
    if _SNAPSHOTS.search(path):
        return _falsify_snapshots(text, lines, around, first)
    return _falsify_script(path, text, lines, around, first) if _SCRIPT.search(path) else Falsified(text)


def contradicted(path: str, former: str, gold: str) -> frozenset[str] | None:
    """The tests (`group > title`) of a file that cannot pass in both versions; None, meaning all, if both are the same.

    They differ in values that exclude each other, and in nothing else that they run.
    """
    if former == gold:
        return None
    if not _SCRIPT.search(path):
        return frozenset()
    before, now = _masked(path, former), _masked(path, gold)
    if before.pop("", None) != now.pop("", None):
        return frozenset()
    return frozenset(name for name in before.keys() & now.keys() if before[name] == now[name])


# -- stored snapshots -------------------------------------------------------------------------------------------------
def _falsify_snapshots(text: str, lines: Collection[int], around: Collection[int], first: bool) -> Falsified:
    """Change a letter of gold's last line in each snapshot, or of a line next to those that gold removes."""
    changes, assertions = [], 0
    for start, end in entries(text):
        top = text.count("\n", 0, start) + 1
        span = range(top, top + text.count("\n", start, end) + 1)
        changeable = [number for number in span if number in lines] or [number for number in span if number in around]
        assertions += bool(changeable)
        letters = list(_lettered(text, start, end, changeable))
        if letters and (not first or len(letters) > 1):
            changes.append(letters[0 if first else -1])
    return Falsified(_replaced(text, changes), assertions, len(changes))


def _lettered(text: str, start: int, end: int, lines: Collection[int]) -> Iterator[tuple[int, int, str]]:
    """Changes of one letter between two offsets, one on each of these lines that has letters."""
    number = text.count("\n", 0, start) + 1
    for line in text[start:end].split("\n"):
        if number in lines and any(_letters(line)):
            yield start, start + len(line), _line(line)
        start, number = start + len(line) + 1, number + 1


def _letter(text: str, lines: Collection[int]) -> tuple[int, int, str] | None:
    """The change of a letter on the last of these lines that has one."""
    return next(iter([*_lettered(text, 0, len(text), lines)][-1:]), None)


def _replaced(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


# -- scripts ----------------------------------------------------------------------------------------------------------
def _falsify_script(path: str, text: str, lines: Collection[int], around: Collection[int], first: bool) -> Falsified:
    source = text.encode()
    root = _parsed(path, source)
    assertions = list(_assertions(root, _Gold(lines, _texts(root))))
    golden = [assertion for assertion in assertions if _covers(assertion.node, lines)]
    blocks: dict[int, list[_Assertion]] = defaultdict(list)
    for assertion in assertions:
        blocks[block.id if (block := _block(assertion.node)) else 0].append(assertion)
    chosen = {id_: change for id_, several in blocks.items() if (change := _chosen(several, lines, around, first))}
    changes = chosen.values()
    by_value = sum(any(change.rank < 2 for change in assertion.changes) for assertion in golden)
    by_negation = sum(
        bool(assertion.changes) and all(change.rank == 2 for change in assertion.changes) for assertion in golden
    )
    encoded = [(change.start, change.end, change.text.encode()) for change in changes]
    for start, end, new in sorted(encoded, reverse=True):
        source = source[:start] + new + source[end:]
    telling = {id_ for id_, change in chosen.items() if change.telling}
    return Falsified(source.decode(), len(golden), by_value, by_negation, _names(root, telling))


def _names(root: Node, tests: Collection[int]) -> frozenset[str]:
    """The titles of these tests, without those that another test shares."""
    titles = [
        (node.id, _full_title(node)) for node in _nodes(root) if node.type == "call_expression" and _is_test(node)
    ]
    counts = Counter(title for _, title in titles)
    return frozenset(title for id_, title in titles if id_ in tests and title and counts[title] == 1)


def _chosen(several: list[_Assertion], lines: Collection[int], around: Collection[int], first: bool) -> Change | None:
    """The change of one block, at gold's lines if possible; None if gold neither adds nor removes lines in it."""
    block = _block(several[0].node)
    candidates = [assertion for assertion in several if assertion.changes and _covers(assertion.node, lines)]
    if not candidates and block is not None and _is_test(block) and _covers(block, {*lines, *_within(block, around)}):
        candidates = [assertion for assertion in several if assertion.changes]
    changes = [change for assertion in candidates for change in assertion.changes]
    last = max(changes, key=lambda change: (-change.rank, change.start), default=None)
    if not first or last is None:
        return last
    earliest = min(changes, key=lambda change: (change.rank, change.start))
    return earliest if earliest.start < last.start else None


def _parsed(path: str, source: bytes) -> Node:
    import tree_sitter_typescript
    from tree_sitter import Language, Parser

    grammar = tree_sitter_typescript.language_typescript if _PLAIN.search(path) else tree_sitter_typescript.language_tsx
    return Parser(Language(grammar())).parse(source).root_node


def _nodes(root: Node) -> Iterator[Node]:
    """All named nodes, in the order of the text."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.named_children))


def _assertions(root: Node, gold: _Gold) -> Iterator[_Assertion]:
    """All expectations of a file, in order."""
    for node in _nodes(root):
        if node.type == "call_expression":
            if _is_expect(node):
                yield from _expected(node, gold)
            elif (name := _asserted(node)) is not None:
                yield _assertion(node, name, gold)
            elif _FINDING.match(_callee(node)) and not _within_expect(node):
                yield _Assertion(node, tuple(_queried(node)))
        elif node.type == "member_expression" and _text(node.child_by_field_name("property")) == "should":
            yield from _expected(node, gold)


def _expected(root: Node, gold: _Gold) -> Iterator[_Assertion]:
    """The expectation that begins with `expect(…)` or `….should`, if it has a matcher."""
    words, calls, top = _chain(root)
    if not words:
        return
    negations = [word for word in words if _text(word) == "not"]
    named_calls = {_text(word): arguments for word, arguments in calls}
    matcher = _text(calls[-1][0]) if calls and calls[-1][0] is not None else _text(words[-1])
    if _KEEPING.match(matcher) or "" in named_calls:
        return
    polled = _is_polled(top) or _is_awaited(top, words)
    changes, only = [], None
    if not negations:
        for word, arguments in reversed(calls):
            if change := _changed_value(_text(word), arguments, polled, gold):
                changes.append(change)
                break
        if not changes and root.type == "call_expression" and not _ABSENT.match(matcher):
            changes += [query for call in _nodes(root) if _LOOKING.match(_callee(call)) for query in _queried(call)]
        if calls and not polled and matcher in _EXACT and len(calls) == 1:
            only = _last(calls[0][1], matcher)
            changes = [_telling(change, matcher, only) for change in changes]
    if not polled and not matcher.endswith("InlineSnapshot"):
        changes.append(_negated(root, words, negations))
    yield _Assertion(top, tuple(changes), only)


def _telling(change: Change, matcher: str, only: Node | None) -> Change:
    """The change, `telling` if it replaces a plain value and the matcher prints both."""
    plain = only is not None and only.type in _PLAIN_VALUES and matcher in _TELLING
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
    settled = [word for word in words if _text(word) in ("resolves", "rejects")]
    position = (settled[-1] if settled else root).end_byte
    return Change(position, position, ".not", 2)


def _changed_value(matcher: str, arguments: Node, polled: bool, gold: _Gold) -> Change | None:
    """Another value for a matcher."""
    comparison = "more" if _MORE.match(matcher) else "less" if _LESS.match(matcher) else "exact"
    name_only = arguments.type == "arguments" and _last(arguments, matcher) is None
    if comparison == "exact" and (polled or matcher not in _EXACT or name_only):
        comparison = "loose"
    return _other_value(arguments, comparison, gold)


def _other_value(root: Node, comparison: str, gold: _Gold) -> Change | None:
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
        elif node.type not in _FUNCTIONS and node.type not in ("string", "template_string", "regex"):
            stack.extend(reversed(node.named_children))


def _literal(node: Node, comparison: str, gold: _Gold) -> Change | None:
    """Replace a literal by another value; None if it is no literal or must not be changed this way."""
    text, exact = _text(node), comparison == "exact"
    match node.type:
        case "string":
            body = text[1:-1]
            return _change(node, text[0] + ((exact and _plausible(body, gold.texts)) or _word(body, exact)) + text[0])
        case "template_string":
            return _template(node, exact, gold)
        case "regex":
            pattern = node.child_by_field_name("pattern")
            return pattern and Change(pattern.start_byte, pattern.end_byte, _pattern(_text(pattern)), 0)
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


def _template(node: Node, exact: bool, gold: _Gold) -> Change | None:
    """Change a letter of a template; of several lines, one of gold's."""
    parts = [
        fragment
        for fragment in node.named_children
        if fragment.type == "string_fragment" and any(_letters(_text(fragment)))
    ]
    if not parts:
        return None if node.named_children else _change(node, "`q`")
    part = parts[-1]
    text, first = _text(part), part.start_point.row + 1
    if "\n" not in text:
        return Change(part.start_byte, part.end_byte, _line(text) if exact else _word(text, exact), 0)
    numbers = range(first, first + text.count("\n") + 1)
    preferred = [number - first + 1 for number in numbers if number in gold.lines] or [
        number - first + 1 for number in numbers
    ]
    change = _letter(text, preferred) or _letter(text, [number - first + 1 for number in numbers])
    return change and Change(part.start_byte, part.end_byte, _replaced(text, [change]), 0)


def _word(text: str, exact: bool) -> str:
    """Another word. One that is so short that it may match by chance becomes longer."""
    if not any(_letters(text)):
        return f"{text}q"
    return _altered(text) if exact or len(text) >= _LONG else text + _tail(text)


@cache
def tokens() -> Mapping[str, frozenset[str]]:
    """Values that are plausible in each other's place, by kind."""
    table = tomllib.loads(files(__package__).joinpath("tokens.toml").read_text())
    return {name: frozenset(group.split()) for name, group in table.items()}


def _plausible(text: str, texts: Collection[str]) -> str:
    """Another plausible value: of the same kind, else from the same file; empty if there is none."""
    if text in ("true", "false"):
        return "false" if text == "true" else "true"
    for group in tokens().values():
        if text in group:
            return _choice(group - {text}, text)
    return _choice({candidate for candidate in texts if candidate != text and _form(candidate) == _form(text)}, text)


def _choice(several: Collection[str], text: str) -> str:
    """One of several, always the same one for a text."""
    return sorted(several)[_number(text) % len(several)] if several else ""


def _texts(root: Node) -> tuple[str, ...]:
    """The strings of a file that may replace each other."""
    found = {_text(node)[1:-1] for node in _nodes(root) if node.type == "string"}
    return tuple(text for text in found if re.fullmatch(r"[A-Za-z][\w .,:!?-]+", text))


def _form(text: str) -> tuple[bool, ...]:
    """The shape of a text: texts of the same shape can be mistaken for each other."""
    return " " in text, "-" in text, "." in text, text[:1].isupper(), text.isalpha()


def _line(text: str) -> str:
    """A line of a snapshot with another value: another role or the like if it has one, else another letter."""
    for value in re.finditer(r'(?<=")[a-z]+(?=\\?")', text):
        if replacement := _plausible(value[0], ()):
            return text[: value.start()] + replacement + text[value.end() :]
    return _altered(text)


def _altered(text: str) -> str:
    """The text with one letter changed, always the same one."""
    letters, number = list(_letters(text)), _number(text)
    index = letters[number % len(letters)]
    return text[:index] + _next(text[index], number // 97) + text[index + 1 :]


def _letters(text: str) -> Iterator[int]:
    """The offsets of letters and digits outside escapes."""
    escaped = {index for escape in _ESCAPE.finditer(text) for index in range(*escape.span())}
    return (n for n, letter in enumerate(text) if letter.isascii() and letter.isalnum() and n not in escaped)


def _next(letter: str, number: int) -> str:
    """Another letter of the same kind."""
    first, size = ("0", 10) if letter.isdigit() else ("a", 26) if letter.islower() else ("A", 26)
    return chr((ord(letter) - ord(first) + 1 + number % (size - 1)) % size + ord(first))


def _tail(text: str) -> str:
    number = _number(text)
    return "".join(chr(ord("a") + number // 26**power % 26) for power in range(4))


def _number(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:6], "big")


def _pattern(pattern: str) -> str:
    """A regular expression that nothing on the page matches, including what the true one matches."""
    if re.fullmatch(r"[\w ,.-]{5,}", pattern):
        return _altered(pattern)
    return f"(?:{pattern}){_tail(pattern)}"


def _queried(call: Node) -> Iterator[Change]:
    """Make a query look for another element."""
    arguments = call.child_by_field_name("arguments")
    changes = [
        change._replace(rank=1)
        for node in (_values(arguments) if arguments else ())
        if node.type in ("string", "template_string", "regex") and (change := _literal(node, "loose", _Gold()))
    ]
    yield from changes[-1:]


def _asserted(call: Node) -> str | None:
    """The name of the assertion function that is called; None for other calls."""
    function = call.child_by_field_name("function")
    if function is None:
        return None
    if function.type == "identifier":
        return "assert" if _text(function) == "assert" else None
    if function.type != "member_expression" or _text(function).split(".")[-2:-1] != ["assert"]:
        return None
    name = _callee(call)
    return name if name in _ASSERTED else None


def _assertion(call: Node, name: str, gold: _Gold) -> _Assertion:
    """A call of `assert`: the second argument is the expected value, or the first is a comparison."""
    function, argument_list = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    arguments = argument_list.named_children if argument_list is not None else []
    method = function.child_by_field_name("property") if function is not None else None
    opposite, polled = _ASSERTED[name], _is_polled(call)
    changes: list[Change] = []
    if opposite is None and arguments and arguments[0].type == "binary_expression":
        if _text(arguments[0].child_by_field_name("operator")) in ("===", "=="):
            changes += filter(None, [_other_value(arguments[0], "loose" if polled else "exact", gold)])
    elif len(arguments) > 1 and not name.startswith(("not", "isNot")):
        changes += filter(None, [_changed_value(name, arguments[-1 if name == "propertyVal" else 1], polled, gold)])
    if not polled and opposite is None and arguments:
        changes.append(_change(arguments[0], f"!({_text(arguments[0])})", 2))
    elif not polled and opposite and method is not None:
        changes.append(_change(method, opposite, 2))
    only = arguments[1] if name in _EXACT and len(arguments) > 1 and not polled and name != "propertyVal" else None
    changes = [_telling(change, name, only) for change in changes]
    return _Assertion(call, tuple(changes), only)


def _last(arguments: Node, matcher: str) -> Node | None:
    """The argument that only one value can satisfy."""
    values = arguments.named_children
    return values[-1] if len(values) > (matcher in _NAMED) else None


# -- where a node is -------------------------------------------------------------------------------------------------
def _is_expect(call: Node) -> bool:
    function = call.child_by_field_name("function")
    return function is not None and _text(function) in ("expect", "should", "chai.expect", "expect.soft", "expect.poll")


def _is_test(call: Node) -> bool:
    """Whether a call defines a test: `it(…)`, `test.skip(…)`, `it.each(…)(…)`."""
    function = call.child_by_field_name("function")
    while function is not None and function.type in ("member_expression", "call_expression"):
        function = function.child_by_field_name("object") or function.child_by_field_name("function")
    arguments = call.child_by_field_name("arguments")
    named = function is not None and _text(function) in _TESTS
    return named and arguments is not None and any(child.type in _FUNCTIONS for child in arguments.named_children)


def _block(node: Node) -> Node | None:
    """The block that an expectation belongs to: the test around it, else the outermost function."""
    outermost = None
    for above in _above(node):
        if above.type == "call_expression" and _is_test(above):
            return above
        if above.type in _FUNCTIONS and not _is_group(above):
            outermost = above
    return outermost


def _above(node: Node) -> Iterator[Node]:
    """The nodes around one, from the inside out."""
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def _is_group(function: Node) -> bool:
    """Whether a function is the body of a group of tests."""
    call = function.parent.parent if function.parent is not None and function.parent.type == "arguments" else None
    return call is not None and _text(call.child_by_field_name("function")).split(".")[0] in _GROUPS


def _is_polled(node: Node) -> bool:
    """Whether an expectation is retried until it passes."""
    return any(
        above.type == "call_expression" and (_POLLING.match(_callee(above)) or ".poll(" in _text(above)[:12])
        for above in _above(node)
    )


def _is_awaited(top: Node, words: Collection[Node]) -> bool:
    """Whether an expectation waits by itself."""
    settled = any(_text(word) in ("resolves", "rejects") for word in words)
    return not settled and top.parent is not None and top.parent.type == "await_expression"


def _within_expect(node: Node) -> bool:
    """Whether a node is inside the argument of an expectation, which decides what it must be."""
    return any(
        above.type == "call_expression" and (_is_expect(above) or bool(_asserted(above))) for above in _above(node)
    )


def _callee(call: Node) -> str:
    """The last name of the called function; empty if the node is not a call."""
    function = call.child_by_field_name("function") if call.type == "call_expression" else None
    if function is None:
        return ""
    return _text(function.child_by_field_name("property") if function.type == "member_expression" else function)


def _within(node: Node, lines: Collection[int]) -> set[int]:
    """The lines strictly inside a node: its first and last line may be shared with others."""
    return {number for number in lines if node.start_point.row + 1 < number < node.end_point.row + 1}


def _covers(node: Node, lines: Collection[int]) -> bool:
    return any(row + 1 in lines for row in range(node.start_point.row, node.end_point.row + 1))


def _text(node: Node | None) -> str:
    return node.text.decode(errors="replace") if node is not None and node.text else ""


# -- two versions of a file -------------------------------------------------------------------------------------------
def _masked(path: str, text: str) -> dict[str, str]:
    """The tests of a file by title, and under the empty title everything else, without imports and exclusive values."""
    source = text.encode()
    root = _parsed(path, source)
    only = [assertion.only for assertion in _assertions(root, _Gold()) if assertion.only is not None]
    tests = [node for node in _nodes(root) if node.type == "call_expression" and _is_test(node)]
    imports = [node for node in root.named_children if node.type == "import_statement"]
    masked = {"": re.sub(r"[\0;\s]+", " ", _without(source, root, [*tests, *imports])).strip()}
    for test in tests:
        if (name := _full_title(test)) in masked:
            masked[name] += " twice"
        elif name:
            masked[name] = _without(source, test, [node for node in only if _inside(node, test)])
    return masked


def _without(source: bytes, node: Node, omitted: Iterable[Node]) -> str:
    """The text of a node with normalized blanks and a mark in place of the omitted nodes."""
    position, parts = node.start_byte, []
    for inner in sorted(omitted, key=lambda inner: inner.start_byte):
        if inner.start_byte >= position:
            parts.append(source[position : inner.start_byte])
            position = inner.end_byte
    parts.append(source[position : node.end_byte])
    return "\0".join(" ".join(part.decode(errors="replace").split()) for part in parts)


def _inside(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _full_title(test: Node) -> str:
    """`group > title`; empty if one of them is computed."""
    titles: list[str] = []
    node: Node | None = test
    while node is not None:
        if node.type == "call_expression" and (_is_test(node) or _text(node).startswith(tuple(_GROUPS))):
            arguments = node.child_by_field_name("arguments")
            title = arguments.named_children[0] if arguments is not None and arguments.named_children else None
            plain = (
                title is not None
                and title.type in ("string", "template_string")
                and not (
                    title.type == "template_string"
                    and any(child.type == "template_substitution" for child in title.children)
                )
            )
            if not plain or "\\" in _text(title) or ".each" in _text(node.child_by_field_name("function")):
                return ""
            titles.append(_text(title)[1:-1])
        node = node.parent
    return " > ".join(reversed(titles))
