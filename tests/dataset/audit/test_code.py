"""Sources as syntax trees: what has an effect, what gold changed, and which edits leave a file that parses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.dataset.audit.code import (
    FUNCTIONS,
    TAGS,
    Code,
    Edit,
    above,
    edits,
    is_code,
    plain,
    removed,
    replaced,
    text_of,
    trees,
    walk,
    within,
)


def code(text: str, path: str = "src/a.tsx", lines: set[int] | None = None, base: str = "") -> Code:
    """A file; gold changed these lines, or all of them."""
    changed = set(range(1, text.count("\n") + 2)) if lines is None else lines
    return Code(path, text.encode(), frozenset(changed), base.encode())


def first(found: Code, *types: str):
    return next(node for node in found.nodes if node.type in types)


@pytest.mark.parametrize("path", ["a.js", "a.JSX", "a.tsx", "a.mts", "a.cts", "a.vue", "x/a.svelte", "a.htm", "a.html"])
def test_supported_languages_have_a_grammar(path: str) -> None:
    assert is_code(path)


@pytest.mark.parametrize("path", ["a.css", "a.d.ts", "a.json", "a", "js", "a.js.snap", "types/a.d.ts", ".ts/README"])
def test_other_files_have_no_grammar(path: str) -> None:
    assert not is_code(path)


def test_a_file_without_a_grammar_has_no_trees() -> None:
    found = code("a { color: red }", "a.css")
    assert (found.roots, found.nodes, found.faults, found.effective) == ((), (), 0, ())


@pytest.mark.parametrize(
    ("path", "text", "kinds"),
    [
        ("a.vue", '<template><b/></template>\n<script lang="ts">let a: number = 1</script>', ["document", "program"]),
        (
            "a.svelte",
            "<script>let a = <b/></script><script context='module'>let c</script>",
            ["document"] + ["program"] * 2,
        ),
        ("a.html", "<p>none</p>", ["document"]),
        ("a.ts", "let a = <number>b", ["program"]),
    ],
)
def test_scripts_in_a_page_are_trees_of_their_own(path: str, text: str, kinds: list[str]) -> None:
    found = code(text, path)
    assert [root.type for root in found.roots] == kinds and found.faults == 0


def test_positions_in_a_script_are_those_of_the_page() -> None:
    text = "<p>é</p>\n<script>\n  focus();\n</script>"
    call = first(code(text, "a.vue"), "call_expression")
    assert text.encode()[call.start_byte : call.end_byte] == b"focus()" and call.start_point[0] == 2


@pytest.mark.parametrize(
    ("path", "text", "faults"),
    [
        ("a.tsx", "const a = <b></b>;", 0),
        ("a.tsx", "const a = <b></c>;", 1),
        ("a.tsx", "const a = <></>;", 0),
        ("a.tsx", "const a = (;", 1),
        ("a.ts", "let a: = 1", 1),
    ],
)
def test_syntax_faults_are_counted(path: str, text: str, faults: int) -> None:
    """The grammar accepts an element whose tags have different names."""
    assert bool(code(text, path).faults) is bool(faults)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f(a, b);", "f(a, b,)"),
        ("// why\nf()", "f()"),
        ("let a: string = b", "let a = b"),
        ("f<string>(a)", "f(a)"),
        ('import type { A } from "a"; f()', "f()"),
        ("interface A { b: string }\nf()", "f()"),
        ("const a = [1, 2,]", "const a = [1, 2]"),
        ('import { a, b, } from "c"; f(a, b)', 'import { a, b } from "c"; f(a, b)'),
        ("function unused() {}\nf()", "f()"),
        ("const p = { a: PropTypes.string }", "const p = { a: PropTypes.number.isRequired }"),
        ('Box.displayName = "Box"; f()', "; f()"),
        ("Box.propTypes = { a: PropTypes.string }; f()", "f()"),
        ("if (process.env.NODE_ENV !== 'production') { warn() }\nf()", "f()"),
        ("if (__DEV__ && a) { warn() }\nf()", "f()"),
        ("f( a )\n\n", "f(a)"),
    ],
)
def test_code_without_effect_does_not_count(one: str, other: str) -> None:
    assert code(one).effective == code(other).effective


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f(a)", "f(b)"),
        ("f('a')", 'f("a")'),
        ("function used() {}\nused()", "used()"),
        ("const p = { a: 1 }", "const p = {}"),
        ('import "a"; f()', "f()"),
        ("if (a) b()", "if (!a) b()"),
        ("a.defaultProps = { b: 1 }", ""),
        ("if (process.env.NODE_ENV === 'production') b()", ""),
        ("if (__DEV__) a(); else b()", ""),
        ("<a role='x'/>", "<a/>"),
    ],
)
def test_code_with_an_effect_counts(one: str, other: str) -> None:
    assert code(one).effective != code(other).effective


def test_nodes_on_lines_that_gold_changed() -> None:
    text = "f(\n  a,\n);\ng();\nh();"
    calls = [text_of(node)[:1] for node in code(text, lines={2, 5}).touched("call_expression")]
    assert calls == [b"f", b"h"]
    assert [text_of(node)[:1] for node in code(text, lines={2, 5}).begins("call_expression")] == [b"h"]
    assert list(code(text, lines=set()).touched("call_expression")) == []


def test_moved_code_is_not_added() -> None:
    moved = code("if (a) {\n  focus( b );\n}", base="focus( b );\n")
    assert not moved.adds(first(moved, "call_expression"))
    assert moved.adds(first(moved, "if_statement"))


@pytest.mark.parametrize(
    ("around", "lines"),
    [(FUNCTIONS, {1, 2, 3, 4}), (TAGS, {2, 3}), (("class_declaration",), {3})],
)
def test_lines_are_widened_to_the_surrounding_node(around: tuple[str, ...], lines: set[int]) -> None:
    text = "function F() {\n  return <a\n    id='b' />;\n}\nother();"
    assert code(text, lines={3}).widened(around).lines == lines


def test_an_edit_that_adds_faults_is_refused() -> None:
    found = code("f(<a>b</a>);")
    tag = first(found, "jsx_closing_element")
    assert found.edited(replaced((tag, b"</c>"))) is None
    renamed = found.edited(replaced((tag, b"</c>"), (first(found, "jsx_opening_element"), b"<c>")))
    assert renamed is not None and renamed.text == b"f(<c>b</c>);"


def test_a_file_with_faults_can_be_edited_without_adding_any() -> None:
    found = code("f(<a></b>, c);")
    edited = found.edited(Edit(((11, 12, b"d"),)))
    assert found.faults and edited is not None and edited.text == b"f(<a></b>, d);"


def test_parts_of_an_edit_are_applied_from_the_end() -> None:
    assert Edit(((0, 1, b"xyz"), (2, 3, b""))).on(b"abc") == b"xyzb"
    assert Edit(((1, 1, b"-"),)).on(b"abc") == b"a-bc"
    assert Edit(()).on(b"abc") == b"abc"


@pytest.mark.parametrize(
    ("one", "other", "overlaps"),
    [
        ((0, 2), (1, 3), True),
        ((0, 2), (2, 3), False),
        ((0, 5), (1, 2), True),
        ((1, 1), (1, 1), True),
        ((3, 4), (1, 2), False),
    ],
)
def test_overlapping_edits_are_detected(one: tuple[int, int], other: tuple[int, int], overlaps: bool) -> None:
    """Two insertions at one place overlap: the result would depend on their order."""
    edits = [Edit(((*place, b""),)) for place in (one, other)]
    assert edits[0].overlaps(edits[1]) is overlaps is edits[1].overlaps(edits[0])


def test_a_removed_node_includes_the_white_space_before_it() -> None:
    found = code("f();\n\n  g();\nh();")
    statement = found.roots[0].children[1]
    assert removed(statement, found.text).on(found.text) == b"f();\nh();"
    whole = found.roots[0].children[0]
    assert removed(whole, found.text).on(found.text) == b"\n\n  g();\nh();"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("f('a b')", b"a b"),
        ('f("")', b""),
        (r"f('a\n')", None),
        ("f('&amp;')", None),
        ("f(`a`)", None),
        ("f('{a}')", None),
        ('f("it\'s")', None),
    ],
)
def test_the_content_of_a_plain_string(text: str, content: bytes | None) -> None:
    node = first(code(text), "string", "template_string")
    assert plain(node) == content


def test_a_missing_node_has_no_text() -> None:
    assert (text_of(None), plain(None)) == (b"", None)


def test_the_nearest_enclosing_node_is_found() -> None:
    found = code("function f() { return () => g(); }")
    call = first(found, "call_expression")
    near = above(call, lambda node: node.type in FUNCTIONS)
    assert near is not None and near.type == "arrow_function"
    assert above(call, lambda node: node.type == "class_body") is None
    assert within(near, ("call_expression",)) and not within(call, FUNCTIONS)


def test_a_walk_goes_through_the_text_in_order() -> None:
    (root,) = trees("a.js", b"a(b(c), d)")
    names = [text_of(node) for node in walk(root) if node.type == "identifier"]
    assert names == [b"a", b"b", b"c", b"d"]


def test_edits_carry_the_names_of_their_rules() -> None:
    def upper(found: Code):
        yield replaced((first(found, "identifier"), b"A"))

    rules = [("upper", upper), ("none", lambda _: iter(()))]
    assert [(name, edit.on(b"a()")) for name, edit in edits(rules, code("a()"))] == [("upper", b"A()")]


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=80), st.sampled_from(["a.tsx", "a.ts", "a.vue", "a.html"]))
def test_any_text_is_parsed(text: str, path: str) -> None:
    """Models' patches are audited, too: any text can be read, with the same result each time."""
    found = code(text, path)
    assert found.faults == code(text, path).faults >= 0
    assert found.effective == code(text, path).effective
