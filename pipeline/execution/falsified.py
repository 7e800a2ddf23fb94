"""Expectations of test files made false, as text: for tests that must fail with whoever makes the true ones pass.

In each test that gold's test patch touches one expectation is changed, the last that can be: a literal that a matcher
is given (else one that a query must find), or, where no literal can be changed, the matcher is negated. For a second
run it is the first of several. What is made never passes where the true expectation does: in an exact comparison any
other value does not, and where a part suffices or a value is waited for, the other value is one that nobody shows. In
an exact comparison the other value is one that could be meant: another role or token of ARIA, or another text of the
same file, so that code that accepts what looks plausible accepts it, too. Titles stay.

Reads JavaScript and TypeScript by their grammars, stored snapshots as text; runs nothing. Does not cover matchers that
are called through variables, tables of cases, and expectations that stand in helpers of other files.
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

#: files with a grammar: `.ts` has casts in angle brackets where the others have markup
_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
_PLAIN = re.compile(r"\.[cm]?ts$")
_SNAPSHOTS = re.compile(r"\.snap$")
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)")

#: calls whose last function is a test, and what groups them
_TESTS = frozenset({"it", "test", "specify", "fit", "xit", "xtest"})
_GROUPS = frozenset({"describe", "context", "suite", "fdescribe"})
#: calls that try a function until it passes: what is seen in between is anything
_POLLING = re.compile(r"^(?:wait\w*|eventually|retry|poll|toPass)$")
#: matchers that hold for one value only: any other value fails
_EXACT = frozenset({
    "toBe", "toEqual", "toStrictEqual", "toHaveLength", "toHaveBeenCalledTimes", "toBeCalledTimes", "toHaveAttribute",
    "toHaveValue", "toHaveAccessibleName", "toHaveAccessibleDescription", "toHaveRole", "toHaveProperty",
    "toMatchInlineSnapshot", "toThrowErrorMatchingInlineSnapshot", "toHaveStyleRule", "equal", "equals", "eq", "eql",
    "strictEqual", "deepEqual", "deepStrictEqual", "attr", "attribute", "lengthOf", "length", "callCount",
    "propertyVal",
})  # fmt: skip
#: of these the last value counts, and only where a first one says of what
_NAMED = frozenset({"toHaveAttribute", "toHaveProperty", "attr", "attribute", "propertyVal", "toHaveStyleRule"})
#: of these a failure says the two values, where the expected one is plain
_TELLING = frozenset({
    "toBe", "toEqual", "toStrictEqual", "toHaveAttribute", "equal", "equals", "eq", "eql", "strictEqual", "deepEqual",
    "deepStrictEqual",
})  # fmt: skip
_PLAIN_VALUES = frozenset({"string", "number", "true", "false", "null", "undefined"})
_MORE = re.compile(r"^(?:toBeGreaterThan\w*|(?:is)?[aA]bove|gte?|greaterThan\w*|least|isAtLeast)$")
_LESS = re.compile(r"^(?:toBeLessThan\w*|(?:is)?[bB]elow|lte?|lessThan\w*|most|isAtMost)$")
#: matchers whose words are names, or that keep what they are shown: nothing of them is changed
_KEEPING = re.compile(
    r"^(?:toMatchSnapshot|toMatchSpecificSnapshot|toThrowErrorMatchingSnapshot|to\w*(?:Image|Screenshot|File)\w*)$"
)
_ABSENT = re.compile(r"^(?:toBeNull|toBeFalsy|toBeUndefined|toBeDefined|toBeEmpty\w*|null|undefined|false|empty)$")
#: queries that find an element or throw; and those whose result an expectation is about
_FINDING = re.compile(r"^(?:get|find)(?:All)?By[A-Z]\w*$")
_LOOKING = re.compile(r"^(?:(?:get|find|query)(?:All)?By[A-Z]\w*|querySelector(?:All)?|getElementById|find|closest)$")
#: functions of assertion libraries, and their opposites; None: the first argument is turned around
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
#: escapes in a literal, which stay whole
_ESCAPE = re.compile(r"\\(?:u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)|&\w+;|%[sdifjoOp#]", re.DOTALL)
#: what stands beyond every number of a test
_FAR = 1_000_003
#: a shorter word is found in others by chance
_LONG = 5


class Falsified(NamedTuple):
    """A file with false expectations, and how many there are at gold's lines: all of them, those of which a value can
    be changed, and those that can be negated only. `telling` are the tests (`group > title`) whose failure says the
    false value and the true one, and nothing else: whoever shows the true one fails in the same words."""

    text: str
    assertions: int = 0
    by_value: int = 0
    by_negation: int = 0
    telling: frozenset[str] = frozenset()


class Change(NamedTuple):
    """Bytes that are replaced; `rank` is 0 for a matcher's value, 1 for a query's, 2 for a negation. It is `telling`
    where the failure says two plain values."""

    start: int
    end: int
    text: str
    rank: int
    telling: bool = False


class _Gold(NamedTuple):
    """Of a file: the lines that are gold's, and the texts that stand in it, for others to be replaced by."""

    lines: Collection[int] = ()
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Assertion:
    """One expectation: where it stands, how it may be changed, and the values of which just one can hold."""

    node: Node
    changes: tuple[Change, ...]
    only: Node | None = None


def added(section: str) -> frozenset[int]:
    """The numbers of the lines that a file's part of a patch adds."""
    found, number = set(), 0
    for line in section.split("\n"):
        if hunk := _HUNK.match(line):
            number = int(hunk[1])
        elif number and line[:1] in ("+", " ", ""):
            if line[:1] == "+":
                found.add(number)
            number += 1
    return frozenset(found)


def beside(section: str) -> frozenset[int]:
    """The numbers of the lines around those that a file's part of a patch takes away, with nothing in their place."""
    found: set[int] = set()
    number, before = 0, ""
    for line in section.split("\n"):
        if hunk := _HUNK.match(line):
            number, before = int(hunk[1]), ""
        elif number and line[:1] in ("+", "-", " ", ""):
            if before == "-" and line[:1] in (" ", ""):
                found |= {number - 1, number}
            number += line[:1] != "-"
            before = line[:1]
    return frozenset(found)


def falsify(
    path: str, text: str, lines: Collection[int], around: Collection[int] = (), *, first: bool = False
) -> Falsified:
    """A file, of which these lines are gold's, with false expectations; the file as it is where there are none. A
    snapshot, or a test, that gold only takes lines from is gold's by those `around` them. With `first`, it is the first
    expectation of each test that has several, and nothing of the others."""
    if _SNAPSHOTS.search(path):
        return _falsify_snapshots(text, lines, around, first)
    return _falsify_script(path, text, lines, around, first) if _SCRIPT.search(path) else Falsified(text)


def contradicted(path: str, former: str, gold: str) -> frozenset[str] | None:
    """The tests (`group > title`) of a file that cannot pass in both versions; None for all, where it is the same.

    They differ in values of which just one can hold, and nothing else that they run differs.
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
    """One letter of the last line of gold's, in each snapshot; where gold only takes lines away, of one that stays."""
    changes, there = [], 0
    for start, end in entries(text):
        top = text.count("\n", 0, start) + 1
        all_of_it = range(top, top + text.count("\n", start, end) + 1)
        own = [n for n in all_of_it if n in lines] or [n for n in all_of_it if n in around]
        there += bool(own)
        letters = list(_lettered(text, start, end, own))
        if letters and (not first or len(letters) > 1):
            changes.append(letters[0 if first else -1])
    return Falsified(_replaced(text, changes), there, len(changes))


def _lettered(text: str, start: int, end: int, lines: Collection[int]) -> Iterator[tuple[int, int, str]]:
    """Another letter between two places, on each of these lines that has one."""
    number = text.count("\n", 0, start) + 1
    for line in text[start:end].split("\n"):
        if number in lines and any(_letters(line)):
            yield start, start + len(line), _line(line)
        start, number = start + len(line) + 1, number + 1


def _letter(text: str, lines: Collection[int]) -> tuple[int, int, str] | None:
    """Another letter on the last of these lines that has one."""
    return next(iter([*_lettered(text, 0, len(text), lines)][-1:]), None)


def _replaced(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


# -- scripts ----------------------------------------------------------------------------------------------------------
def _falsify_script(path: str, text: str, lines: Collection[int], around: Collection[int], first: bool) -> Falsified:
    source = text.encode()
    root = _parsed(path, source)
    found = list(_assertions(root, _Gold(lines, _texts(root))))
    own = [one for one in found if _covers(one.node, lines)]
    blocks: dict[int, list[_Assertion]] = defaultdict(list)
    for one in found:
        blocks[block.id if (block := _block(one.node)) else 0].append(one)
    chosen = {id_: change for id_, several in blocks.items() if (change := _chosen(several, lines, around, first))}
    changes = chosen.values()
    by_value = sum(any(change.rank < 2 for change in one.changes) for one in own)
    by_negation = sum(bool(one.changes) and all(change.rank == 2 for change in one.changes) for one in own)
    encoded = [(one.start, one.end, one.text.encode()) for one in changes]
    for start, end, new in sorted(encoded, reverse=True):
        source = source[:start] + new + source[end:]
    telling = {id_ for id_, change in chosen.items() if change.telling}
    return Falsified(source.decode(), len(own), by_value, by_negation, _names(root, telling))


def _names(root: Node, tests: Collection[int]) -> frozenset[str]:
    """The names of these tests, but for those that another test has as well."""
    named = [(node.id, _named(node)) for node in _nodes(root) if node.type == "call_expression" and _is_test(node)]
    often = Counter(name for _, name in named)
    return frozenset(name for id_, name in named if id_ in tests and name and often[name] == 1)


def _chosen(several: list[_Assertion], lines: Collection[int], around: Collection[int], first: bool) -> Change | None:
    """The change of one block: at gold's lines where that can be; nothing where the block has none of them, nor has
    lost any."""
    block = _block(several[0].node)
    own = [one for one in several if one.changes and _covers(one.node, lines)]
    if not own and block is not None and _is_test(block) and _covers(block, {*lines, *_within(block, around)}):
        own = [one for one in several if one.changes]
    changes = [change for one in own for change in one.changes]
    last = max(changes, key=lambda one: (-one.rank, one.start), default=None)
    if not first or last is None:
        return last
    sooner = min(changes, key=lambda one: (one.rank, one.start))
    return sooner if sooner.start < last.start else None


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
    """All expectations of a file, in their order."""
    for node in _nodes(root):
        if node.type == "call_expression":
            if _is_expect(node):
                yield from _expected(node, gold)
            elif (name := _asserted(node)) is not None:
                yield _assertion(node, name, gold)
            elif _FINDING.match(_called(node)) and not _within_expect(node):
                yield _Assertion(node, tuple(_queried(node)))
        elif node.type == "member_expression" and _text(node.child_by_field_name("property")) == "should":
            yield from _expected(node, gold)


def _expected(root: Node, gold: _Gold) -> Iterator[_Assertion]:
    """The expectation that begins with `expect(…)` or `….should`, where it has a matcher."""
    words, calls, top = _chain(root)
    if not words:
        return
    negations = [word for word in words if _text(word) == "not"]
    called = {_text(word): arguments for word, arguments in calls}
    matcher = _text(calls[-1][0]) if calls and calls[-1][0] is not None else _text(words[-1])
    if _KEEPING.match(matcher) or "" in called:
        return
    polled = _is_polled(top) or _is_awaited(top, words)
    changes, only = [], None
    if not negations:
        for word, arguments in reversed(calls):
            if change := _valued(_text(word), arguments, polled, gold):
                changes.append(change)
                break
        if not changes and root.type == "call_expression" and not _ABSENT.match(matcher):
            changes += [one for call in _nodes(root) if _LOOKING.match(_called(call)) for one in _queried(call)]
        if calls and not polled and matcher in _EXACT and len(calls) == 1:
            only = _last(calls[0][1], matcher)
            changes = [_telling(change, matcher, only) for change in changes]
    if not polled and not matcher.endswith("InlineSnapshot"):
        changes.append(_negated(root, words, negations))
    yield _Assertion(top, tuple(changes), only)


def _telling(change: Change, matcher: str, only: Node | None) -> Change:
    """The change, `telling` where it is that of a plain value and the matcher says both."""
    plain = only is not None and only.type in _PLAIN_VALUES and matcher in _TELLING
    within = only is not None and only.start_byte <= change.start and change.end <= only.end_byte
    return change._replace(telling=plain and within and change.rank == 0)


def _chain(root: Node) -> tuple[list[Node], list[tuple[Node | None, Node]], Node]:
    """The words behind an expectation's beginning, its calls with the word that each has, and all of it."""
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
    """Take the last `not` out, or put one in: behind `resolves` and `rejects`, else first."""
    if negations:
        last = negations[-1]
        return Change(last.start_byte - 1, last.end_byte, "", 2)
    settled = [word for word in words if _text(word) in ("resolves", "rejects")]
    place = (settled[-1] if settled else root).end_byte
    return Change(place, place, ".not", 2)


def _valued(matcher: str, arguments: Node, polled: bool, gold: _Gold) -> Change | None:
    """Another value for a matcher."""
    how = "more" if _MORE.match(matcher) else "less" if _LESS.match(matcher) else "exact"
    name_only = arguments.type == "arguments" and _last(arguments, matcher) is None
    if how == "exact" and (polled or matcher not in _EXACT or name_only):
        how = "loose"
    return _other(arguments, how, gold)


def _other(root: Node, how: str, gold: _Gold) -> Change | None:
    """The last literal below a node that can be another one, outside functions; of what a call is given, such as
    `expect.stringContaining`, nobody knows whether another value holds as well."""
    found: list[Change] = []
    for node in _values(root):
        loosely = "loose" if how == "exact" and _is_given(node, root) else how
        found += filter(None, [_literal(node, loosely, gold)])
    return found[-1] if found else None


def _values(root: Node) -> Iterator[Node]:
    """What stands below a node, but for functions and for names of properties."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if node.type == "pair":
            stack.extend(filter(None, [node.child_by_field_name("value")]))
        elif node.type not in _FUNCTIONS and node.type not in ("string", "template_string", "regex"):
            stack.extend(reversed(node.named_children))


def _literal(node: Node, how: str, gold: _Gold) -> Change | None:
    """Another value in the place of a literal; None for what is none, and for what must not be changed so."""
    text, exact = _text(node), how == "exact"
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
            if how in ("more", "less"):
                return _change(node, f"{'-' if how == 'less' else ''}{_FAR}")
            step = 1 if exact else _FAR
            return _change(node, str(int(text) + step) if text.isdecimal() else f"({text} + {step})")
        case "true" | "false":
            return _change(node, "false" if text == "true" else "true") if exact else None
        case "null" | "undefined":
            return _change(node, "0" if text == "null" else "null") if exact else None
    return None


def _change(node: Node, text: str, rank: int = 0) -> Change:
    return Change(node.start_byte, node.end_byte, text, rank)


def _is_given(node: Node, root: Node) -> bool:
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
    """A letter of a template, at gold's lines where it has several."""
    parts = [one for one in node.named_children if one.type == "string_fragment" and any(_letters(_text(one)))]
    if not parts:
        return None if node.named_children else _change(node, "`q`")
    part = parts[-1]
    text, first = _text(part), part.start_point.row + 1
    if "\n" not in text:
        return Change(part.start_byte, part.end_byte, _line(text) if exact else _word(text, exact), 0)
    every = range(first, first + text.count("\n") + 1)
    own = [number - first + 1 for number in every if number in gold.lines] or [number - first + 1 for number in every]
    change = _letter(text, own) or _letter(text, [n - first + 1 for n in every])
    return change and Change(part.start_byte, part.end_byte, _replaced(text, [change]), 0)


def _word(text: str, exact: bool) -> str:
    """Another word; one that is too short to be told from others by chance becomes longer."""
    if not any(_letters(text)):
        return f"{text}q"
    return _altered(text) if exact or len(text) >= _LONG else text + _tail(text)


@cache
def tokens() -> Mapping[str, frozenset[str]]:
    """Values of which one is meant where another could be, by what they are of."""
    table = tomllib.loads(files(__package__).joinpath("tokens.toml").read_text())
    return {name: frozenset(group.split()) for name, group in table.items()}


def _plausible(text: str, texts: Collection[str]) -> str:
    """Another value that could be meant: of the same kind, else of the same file; empty where there is none."""
    if text in ("true", "false"):
        return "false" if text == "true" else "true"
    for group in tokens().values():
        if text in group:
            return _one(group - {text}, text)
    return _one({other for other in texts if other != text and _form(other) == _form(text)}, text)


def _one(several: Collection[str], text: str) -> str:
    """One of several, always the same for a text."""
    return sorted(several)[_number(text) % len(several)] if several else ""


def _texts(root: Node) -> tuple[str, ...]:
    """The strings of a file that may stand wherever one of them does."""
    found = {_text(node)[1:-1] for node in _nodes(root) if node.type == "string"}
    return tuple(text for text in found if re.fullmatch(r"[A-Za-z][\w .,:!?-]+", text))


def _form(text: str) -> tuple[bool, ...]:
    """What two texts have in common that can be taken for each other."""
    return " " in text, "-" in text, "." in text, text[:1].isupper(), text.isalpha()


def _line(text: str) -> str:
    """A line of a snapshot with another value: a role or the like where it has one, else with another letter."""
    for value in re.finditer(r'(?<=")[a-z]+(?=\\?")', text):
        if other := _plausible(value[0], ()):
            return text[: value.start()] + other + text[value.end() :]
    return _altered(text)


def _altered(text: str) -> str:
    """The text with one letter changed, always the same."""
    letters, number = list(_letters(text)), _number(text)
    place = letters[number % len(letters)]
    return text[:place] + _next(text[place], number // 97) + text[place + 1 :]


def _letters(text: str) -> Iterator[int]:
    """The places of letters and digits that stand for themselves."""
    taken = {place for one in _ESCAPE.finditer(text) for place in range(*one.span())}
    return (n for n, letter in enumerate(text) if letter.isascii() and letter.isalnum() and n not in taken)


def _next(letter: str, number: int) -> str:
    """Another letter of its kind."""
    first, size = ("0", 10) if letter.isdigit() else ("a", 26) if letter.islower() else ("A", 26)
    return chr((ord(letter) - ord(first) + 1 + number % (size - 1)) % size + ord(first))


def _tail(text: str) -> str:
    number = _number(text)
    return "".join(chr(ord("a") + number // 26**place % 26) for place in range(4))


def _number(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:6], "big")


def _pattern(pattern: str) -> str:
    """An expression that what was meant does not fulfil, nor what else would."""
    if re.fullmatch(r"[\w ,.-]{5,}", pattern):
        return _altered(pattern)
    return f"(?:{pattern}){_tail(pattern)}"


def _queried(call: Node) -> Iterator[Change]:
    """Another element for a query to look for."""
    arguments = call.child_by_field_name("arguments")
    found = [
        change._replace(rank=1)
        for node in (_values(arguments) if arguments else ())
        if node.type in ("string", "template_string", "regex") and (change := _literal(node, "loose", _Gold()))
    ]
    yield from found[-1:]


def _asserted(call: Node) -> str | None:
    """The function of an assertion library that is called; None for every other one."""
    function = call.child_by_field_name("function")
    if function is None:
        return None
    if function.type == "identifier":
        return "assert" if _text(function) == "assert" else None
    if function.type != "member_expression" or _text(function).split(".")[-2:-1] != ["assert"]:
        return None
    name = _called(call)
    return name if name in _ASSERTED else None


def _assertion(call: Node, name: str, gold: _Gold) -> _Assertion:
    """A call of `assert`: its second argument is a value, its first one is compared with one."""
    function, given = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    arguments = given.named_children if given is not None else []
    named = function.child_by_field_name("property") if function is not None else None
    opposite, polled = _ASSERTED[name], _is_polled(call)
    changes: list[Change] = []
    if opposite is None and arguments and arguments[0].type == "binary_expression":
        if _text(arguments[0].child_by_field_name("operator")) in ("===", "=="):
            changes += filter(None, [_other(arguments[0], "loose" if polled else "exact", gold)])
    elif len(arguments) > 1 and not name.startswith(("not", "isNot")):
        changes += filter(None, [_valued(name, arguments[-1 if name == "propertyVal" else 1], polled, gold)])
    if not polled and opposite is None and arguments:
        changes.append(_change(arguments[0], f"!({_text(arguments[0])})", 2))
    elif not polled and opposite and named is not None:
        changes.append(_change(named, opposite, 2))
    only = arguments[1] if name in _EXACT and len(arguments) > 1 and not polled and name != "propertyVal" else None
    changes = [_telling(change, name, only) for change in changes]
    return _Assertion(call, tuple(changes), only)


def _last(arguments: Node, matcher: str) -> Node | None:
    """The argument of which just one value can hold."""
    given = arguments.named_children
    return given[-1] if len(given) > (matcher in _NAMED) else None


# -- where something stands -------------------------------------------------------------------------------------------
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
    return named and arguments is not None and any(one.type in _FUNCTIONS for one in arguments.named_children)


def _block(node: Node) -> Node | None:
    """What an expectation belongs to: the test around it, else the outermost function."""
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
    """Whether it is tried until it passes."""
    return any(
        above.type == "call_expression" and (_POLLING.match(_called(above)) or ".poll(" in _text(above)[:12])
        for above in _above(node)
    )


def _is_awaited(top: Node, words: Collection[Node]) -> bool:
    """Whether an expectation waits by itself."""
    settled = any(_text(word) in ("resolves", "rejects") for word in words)
    return not settled and top.parent is not None and top.parent.type == "await_expression"


def _within_expect(node: Node) -> bool:
    """Whether it is part of what an expectation is given: that says what is wanted of it."""
    return any(
        above.type == "call_expression" and (_is_expect(above) or bool(_asserted(above))) for above in _above(node)
    )


def _called(call: Node) -> str:
    """The last name of the function that is called; empty for what is no call."""
    function = call.child_by_field_name("function") if call.type == "call_expression" else None
    if function is None:
        return ""
    return _text(function.child_by_field_name("property") if function.type == "member_expression" else function)


def _within(node: Node, lines: Collection[int]) -> set[int]:
    """Those of the lines that stand inside a node: its first and its last one may stand around others."""
    return {number for number in lines if node.start_point.row + 1 < number < node.end_point.row + 1}


def _covers(node: Node, lines: Collection[int]) -> bool:
    return any(row + 1 in lines for row in range(node.start_point.row, node.end_point.row + 1))


def _text(node: Node | None) -> str:
    return node.text.decode(errors="replace") if node is not None and node.text else ""


# -- two versions of a file -------------------------------------------------------------------------------------------
def _masked(path: str, text: str) -> dict[str, str]:
    """The tests of a file by name, and under no name all the rest, without imports and the values that differ."""
    source = text.encode()
    root = _parsed(path, source)
    only = [one.only for one in _assertions(root, _Gold()) if one.only is not None]
    tests = [node for node in _nodes(root) if node.type == "call_expression" and _is_test(node)]
    imports = [node for node in root.named_children if node.type == "import_statement"]
    found = {"": re.sub(r"[\0;\s]+", " ", _without(source, root, [*tests, *imports])).strip()}
    for test in tests:
        if (name := _named(test)) in found:
            found[name] += " twice"
        elif name:
            found[name] = _without(source, test, [node for node in only if _inside(node, test)])
    return found


def _without(source: bytes, node: Node, left: Iterable[Node]) -> str:
    """The text of a node, its blanks aside, with a mark in the place of others."""
    place, parts = node.start_byte, []
    for one in sorted(left, key=lambda other: other.start_byte):
        if one.start_byte >= place:
            parts.append(source[place : one.start_byte])
            place = one.end_byte
    parts.append(source[place : node.end_byte])
    return "\0".join(" ".join(part.decode(errors="replace").split()) for part in parts)


def _inside(node: Node, other: Node) -> bool:
    return other.start_byte <= node.start_byte and node.end_byte <= other.end_byte


def _named(test: Node) -> str:
    """`group > title`; empty where one of them is computed."""
    titles: list[str] = []
    node: Node | None = test
    while node is not None:
        if node.type == "call_expression" and (_is_test(node) or _text(node).startswith(tuple(_GROUPS))):
            arguments = node.child_by_field_name("arguments")
            first = arguments.named_children[0] if arguments is not None and arguments.named_children else None
            plain = (
                first is not None
                and first.type in ("string", "template_string")
                and not (
                    first.type == "template_string"
                    and any(one.type == "template_substitution" for one in first.children)
                )
            )
            if not plain or "\\" in _text(first) or ".each" in _text(node.child_by_field_name("function")):
                return ""
            titles.append(_text(first)[1:-1])
        node = node.parent
    return " > ".join(reversed(titles))
