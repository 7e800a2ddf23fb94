"""False expectations in scripts: what is changed in a test, and what is left alone."""

from __future__ import annotations

import re

import pytest

from pipeline.execution.falsified import Pool, falsify, tokens
from pipeline.execution.falsified.nodes import uses_runner

PATH = "src/Menu.test.tsx"
ROLES = tokens()["role"]


def false(statement: str, before: str = "") -> str:
    """A statement of gold's test, made false; empty if it is left unchanged."""
    text = f'it("works", async () => {{\n{before}\n{statement}\n}});\n'
    found = falsify(PATH, text, [3]).text.splitlines()[2]
    return "" if found == statement else found


@pytest.mark.rule("falsified")
@pytest.mark.parametrize(
    ("statement", "changed"),
    [
        ('expect(x).toBe("true");', 'expect(x).toBe("false");'),
        ("expect(x).toBe(true);", "expect(x).toBe(false);"),
        ("expect(x).toBe(null);", "expect(x).toBe(0);"),
        ("expect(x).toHaveLength(2);", "expect(x).toHaveLength(3);"),
        ("expect(x).toEqual({ a: 1, b: [2, { c: false }] });", "expect(x).toEqual({ a: 1, b: [2, { c: true }] });"),
        ("expect(x).to.equal(3);", "expect(x).to.equal(4);"),
        ("x.should.equal(3);", "x.should.equal(4);"),
        ("assert.strictEqual(x, 3);", "assert.strictEqual(x, 4);"),
        ("assert(x === 3);", "assert(x === 4);"),
        ("expect(x).not.toBeNull();", "expect(x).toBeNull();"),
        ("expect(x).toBeNull();", "expect(x).not.toBeNull();"),
        ("expect(x).toBe(other);", "expect(x).not.toBe(other);"),
        ("await expect(x).resolves.toBe(other);", "await expect(x).resolves.not.toBe(other);"),
        ("expect(x).to.be.true;", "expect(x).not.to.be.true;"),
        ("assert.isTrue(x);", "assert.isFalse(x);"),
        ("assert.ok(x);", "assert.ok(!(x));"),
    ],
)
def test_the_expected_value_is_changed_or_the_expectation_negated(statement: str, changed: str) -> None:
    """The expected value is changed if there is one; otherwise the whole expectation is negated."""
    assert false(statement) == changed


@pytest.mark.rule("falsified")
@pytest.mark.parametrize(
    ("statement", "start", "end"),
    [
        ('expect(x).toHaveAttribute("role", "switch");', 'expect(x).toHaveAttribute("role", "', '");'),
        (
            'expect(screen.getByRole("switch")).toBeInTheDocument();',
            'expect(screen.getByRole("',
            '")).toBeInTheDocument();',
        ),
        ('screen.getByRole("switch", { name: "Lamp" });', 'screen.getByRole("switch", { name: "', '" });'),
        ("expect(x).toMatch(/open|close/i);", "expect(x).toMatch(/(?:open|close)", "/i);"),
        ('expect(x).toContain("a");', 'expect(x).toContain("a', '");'),
        ('expect(x).toMatchInlineSnapshot(`<nav role="menu" />`);', "expect(x).toMatchInlineSnapshot(`<", "`);"),
    ],
)
def test_a_word_is_replaced_by_one_of_the_same_form(statement: str, start: str, end: str) -> None:
    """A replaced word has the form of the true one, so that code cannot tell them apart; short words become longer."""
    found = false(statement)
    assert found != statement and found.startswith(start) and found.endswith(end)


@pytest.mark.rule("falsified")
@pytest.mark.parametrize(
    ("statement", "before", "meant"),
    [
        ('expect(x).toHaveAttribute("role", "switch");', "", ROLES),
        ('expect(x).toMatchInlineSnapshot(`<nav role="menu" />`);', "", ROLES),
        ('expect(x).toHaveAttribute("aria-live", "polite");', "", {"assertive", "off"}),
        ('expect(x).toHaveBeenLastCalledWith("polite");', "", {"assertive", "off"}),
        ('expect(x).toHaveBeenNthCalledWith(2, "polite");', "", {"assertive", "off"}),
        ('expect(x).toBe("Closed");', 'click("Menu"); press("Opened", "it is open", "a-b");', {"Menu", "Opened"}),
        ('expect(x).toBe("two words");', 'click("Menu"); see("other words");', {"other words"}),
    ],
)
def test_an_exact_value_becomes_another_plausible_one(statement: str, before: str, meant: frozenset[str]) -> None:
    """So that the false expectation also catches code that accepts any value that is a role or a word."""
    values = re.findall('"([^"]*)"', false(statement, before))
    assert values[-1] in meant and f'"{values[-1]}"' not in statement


@pytest.mark.rule("falsified")
@pytest.mark.parametrize(
    "statement",
    [
        'expect(x).toEqual(expect.arrayContaining(["switch"]));',
        'expect(x).toEqual(new Words(["switch"]));',
        'expect(x).toHaveAttribute("switch");',
        'expect(x).toContain("switch");',
        'screen.getByRole("switch");',
    ],
)
def test_a_query_for_one_of_several_roles_gets_an_impossible_role(statement: str) -> None:
    """In a query with several roles, the page may well have another real one. There, the replacement is a role that no
    component has, but that code looking for "any role" still accepts."""
    found = re.findall('"([^"]*)"', false(statement, 'click("button");'))
    assert ROLES.isdisjoint(found) and (tokens()["rare"] & {*found} or "toHaveAttribute" in statement)


@pytest.mark.rule("falsified")
def test_a_role_in_a_selector() -> None:
    found = false("""screen.get(x); expect(x.querySelector('a[role="switch"] b')).toBeTruthy();""")
    assert re.search("""querySelector\\('a\\[role="(marquee|math)"\\] b'\\)""", found)


@pytest.mark.rule("falsified")
@pytest.mark.parametrize(
    "statement",
    [
        "expect(x).toMatchSnapshot();",
        'expect(x).toMatchSnapshot("its name");',
        "expect(image).toMatchImageSnapshot();",
        "await waitFor(() => expect(x).toBeNull());",
        "await waitFor(() => expect(x).toBe(true));",
        "await expect(locator).toBeVisible();",
        "expect.assertions(3);",
        'const label = "Lamp";',
    ],
)
def test_names_and_stored_snapshots_are_left_alone(statement: str) -> None:
    """Left alone: names, stored snapshots, and what may hold for a moment while the test waits for something else."""
    assert false(statement) == ""


@pytest.mark.rule("falsified")
@pytest.mark.parametrize(
    ("statement", "hidden"),
    [
        ("expect(x).toBeGreaterThan(3);", "toBeGreaterThan(4)"),
        ("expect(x).toHaveBeenCalledWith(1);", "toHaveBeenCalledWith(2)"),
        ("expect(x).toHaveBeenCalledWith(true);", "toHaveBeenCalledWith(false)"),
        ('await waitFor(() => expect(x).toHaveAttribute("aria-busy", "true"));', '"false"'),
    ],
)
def test_values_that_another_correct_patch_may_have_are_avoided(statement: str, hidden: str) -> None:
    """If one of several values suffices, another plausible value could be true with a correct patch that works
    differently from gold."""
    assert false(statement) and hidden not in false(statement)


def test_one_expectation_of_each_test_is_changed() -> None:
    """The last expectation at gold's lines is changed: those before it hold, so it is reached, and they do not help
    code that fakes the last."""
    statements = "".join(f"  expect({name}).toBe(1);\n" for name in "xyz")
    text = f'it("a", () => {{\n{statements}}});\nit("b", () => {{\n{statements}}});\n'
    found = falsify(PATH, text, [2, 3])
    assert found.text == text.replace("expect(y).toBe(1)", "expect(y).toBe(2)", 1)
    assert found[1:] == (2, 2, 0, {"a"}, {"a"}, set())


@pytest.mark.rule("falsified")
def test_the_first_expectation_of_a_test_with_several() -> None:
    """Code that fakes the first expectation but really satisfies the last is caught by changing either one in turn. A
    test with a single expectation has no separate first one."""
    statements = "".join(f"  expect({name}).toBe(1);\n" for name in "xyz")
    text = f'it("a", () => {{\n{statements}}});\nit("b", () => {{\n  expect(x).toBe(1);\n}});\n'
    found = falsify(PATH, text, range(1, 9), first=True)
    assert found.text == text.replace("expect(x).toBe(1)", "expect(x).toBe(2)", 1) and found.telling == {"a"}


def test_a_value_goes_before_a_negation() -> None:
    found = falsify(PATH, 'it("a", () => {\n  expect(x).toBe(1);\n  expect(y).toBe(other);\n});\n', [2, 3])
    assert "toBe(2)" in found.text and ".not" not in found.text
    assert found[1:4] == (2, 1, 1)


def test_a_test_with_unchanged_expectations_is_changed_too() -> None:
    """If none of a test's expectations is at gold's lines, all of them count as gold's; other tests are left alone."""
    found = falsify(
        PATH,
        'it("a", () => {\n  render(1);\n  expect(x).toBe(1);\n});\nit("b", () => {\n  expect(x).toBe(1);\n});\n',
        [2],
    )
    assert found.text.count("toBe(2)") == 1 and found.assertions == 0


@pytest.mark.rule("falsified")
def test_a_test_that_only_loses_lines() -> None:
    text = 'it("a", () => {\n  expect(x).toBe(1);\n});\nit("b", () => {\n  expect(x).toBe(1);\n});\n'
    assert falsify(PATH, text, [], [2, 3]).text == text.replace("toBe(1)", "toBe(2)", 1)
    assert falsify(PATH, text, [], [3, 4]).text == text, "between two tests"


@pytest.mark.rule("falsified")
@pytest.mark.parametrize(
    ("statements", "last", "another"),
    [
        ("click(getByText('Open'));\nexpect(x).toHaveFocus();", "not.toHaveFocus", "'Openhpww'"),
        ("expect(x).toBe(null);\nclick(y);\nexpect(x).toHaveFocus();", "toBe(0)", "not.toHaveFocus"),
        ("expect(getByText('Lamp')).toBeVisible();", "'Lamp", "not.toBeVisible"),
        ("click(getByText('Open'));\nexpect(x).toMatchSnapshot();", "", "'Openhpww'"),
        ("click(getByText('Open'));", "'Openhpww'", ""),
    ],
)
def test_the_expectation_that_shows_the_fix_is_made_false(statements: str, last: str, another: str) -> None:
    """A false query for the clicked element would fail before the expectations are reached, and so would one for an
    element that is then expected to have the focus. Neither would catch a patch that fakes the focus."""
    text = f'it("works", () => {{\n{statements}\n}});\n'
    for first, changed in ((False, last), (True, another)):
        found = falsify(PATH, text, range(1, 9), first=first).text
        assert changed in found and (found == text) == (not changed)


@pytest.mark.rule("same-failure")
@pytest.mark.parametrize(
    ("statement", "tells"),
    [
        ('expect(x).toBe("switch");', True),
        ('expect(x).toHaveAttribute("role", "switch");', True),
        ('expect(x).toHaveAccessibleName("Lamp");', True),
        ("assert.strictEqual(x, 3);", True),
        ('assert.equal(x, "switch");', True),
        ('assert.equal(x, "3");', False),
        ("assert.equal(x, null);", False),
        ("expect(x).toHaveAccessibleName(/Lamp/);", False),
        ('expect(x).toHaveRole("switch");', False),
        ("await expect(x).resolves.toBe(true);", True),
        ("assert.equal(x, 'switch', x.outerHTML);", False),
        ("expect(x, node.outerHTML).toBe('switch');", False),
        ("expect(x).toHaveLength(2);", False),
        ("expect(x).toEqual({ a: 1 });", False),
        ('expect(x).not.toBe("a");', False),
        ('expect(x).toContain("abcdef");', False),
        ('expect(screen.getByText("Lamp")).toBe(lamp);', False),
        ('await waitFor(() => expect(x).toBe("switch"));', False),
    ],
)
def test_only_matchers_whose_failure_prints_two_values_are_compared(statement: str, tells: bool) -> None:
    """Anything else that a failure message prints (elements, lists, other values, custom messages) differs between
    correct patches."""
    found = falsify(PATH, f'it("works", async () => {{\n{statement}\n}});\n', [2])
    assert found.telling == ({"works"} if tells else set())


def test_the_failures_of_tests_with_equal_names_are_not_compared() -> None:
    text = 'it("a", () => {\n  expect(x).toBe(1);\n});\nit("a", () => {});\n'
    assert falsify(PATH, text, [2]).telling == frozenset()


@pytest.mark.rule("falsified")
def test_other_roles_and_words_are_drawn_by_a_key() -> None:
    """A manipulated query could know two roles, or accept whatever is nearly right."""
    first, second = 'screen.getByRole("switch", { name: "Close the lamp" });', 'getByRole("switch");'
    text = f'it("a", () => {{\n  {first}\n}});\nit("b", () => {{\n  {second}\n}});\n'
    pools = [
        Pool(key, frozenset({"feed", "log", "timer"}), frozenset({"acorn", "badger", "cedar"})) for key in "abcdef"
    ]
    named = [falsify(PATH, text, [2], pool=pool).text.splitlines()[1] for pool in pools]
    bare = [falsify(PATH, text, [5], pool=pool).text.splitlines()[4] for pool in pools]
    assert len(set(named)) > 1 and all(re.search("acorn|badger|cedar", line, re.IGNORECASE) for line in named)
    assert len(set(bare)) > 1 and all(re.search('"(feed|log|timer)"', line) for line in bare)


@pytest.mark.rule("falsified")
@pytest.mark.parametrize(
    ("statement", "nested"),
    [
        ("expect(x).toBe(1);", False),
        ("await waitFor(() => { expect(x).toHaveLength(1); });", False),
        ("act(() => expect(x).toBe(1));", False),
        ("if (x) expect(x).toBe(1);", True),
        ("for (const x of all) expect(x).toBe(1);", True),
        ("all.forEach((x) => expect(x).toBe(1));", True),
        ("button.onclick = () => expect(x).toBe(1);", True),
    ],
)
def test_an_expectation_that_other_code_may_not_reach_is_nested(statement: str, nested: bool) -> None:
    text = f'describe("g", () => {{\n  it("a", async () => {{\n{statement}\n  }});\n}});\n'
    found = falsify(PATH, text, [3])
    assert found.tests == {"g > a"} and found.nested == ({"g > a"} if nested else set())


@pytest.mark.rule("falsified")
def test_an_expectation_in_a_helper_may_be_any_tests() -> None:
    found = falsify(PATH, "function check(x) {\n  expect(x).toBe(1);\n}\n", [2])
    assert found.tests is None and found.nested is None


@pytest.mark.rule("test-aware")
@pytest.mark.parametrize(
    ("path", "text", "used"),
    [
        ("a.js", "// what callers expect (and need)\n", False),
        ("a.js", "const text = 'describe (it)';\n", False),
        ("a.js", "function expect(token) {}\nexpect(1);\n", False),
        ("a.js", "expect(1);\n", True),
        ("a.ts", "export const spy = vi.fn();\n", True),
        ("a.js", "const { expect } = require('chai');\nexpect(1);\n", True),
        ("a.vue", "<template>expect (it)</template>\n<script>export default {};</script>\n", False),
        ("a.vue", "<script setup>expect(1);</script>\n", True),
    ],
)
def test_only_calls_use_a_runner(path: str, text: str, used: bool) -> None:
    assert uses_runner(path, text) is used
