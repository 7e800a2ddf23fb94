"""Gold's version of a test file with the values that the base's version expects."""

from __future__ import annotations

import pytest

from pipeline.execution.falsified import former

PATH = "src/Menu.test.tsx"
GROUP = """import x from "x";
describe("Menu", () => {{
  it("a", async () => {{
    render(1);
    {}
  }});
  it("b", () => {{ expect(y).toBe(1); }});
}});
"""


@pytest.mark.rule("former-expectations")
@pytest.mark.rule("same-failure")
@pytest.mark.parametrize(
    ("before", "now", "made", "tells"),
    [
        ("expect(x).toBe(1);", "expect(x).toBe(2);", "expect(x).toBe(1);", True),
        ('expect(x).toBe("a");', "expect(x).toBe(null);", 'expect(x).toBe("a");', True),
        (
            'expect(x).toHaveAttribute("role", "a");',
            'expect(x).toHaveAttribute("role", "b");',
            'expect(x).toHaveAttribute("role", "a");',
            True,
        ),
        ("expect(x).toEqual([1, -1]);", "expect(x).toEqual([1, 2]);", "expect(x).toEqual([1, -1]);", False),
        ("expect(x).toEqual({ a: `b` });", "expect(x).toEqual(1);", "expect(x).toEqual({ a: `b` });", False),
        ("expect(x).toHaveLength(1);", "expect(x).toHaveLength(2);", "expect(x).toHaveLength(1);", False),
        (
            "expect(x).toBe(1); expect(z).toHaveLength(1);",
            "expect(x).toBe(2); expect(z).toHaveLength(2);",
            "expect(x).toBe(1); expect(z).toHaveLength(1);",
            False,
        ),
        ('assert.equal(x, "a");', 'assert.equal(x, "b");', 'assert.equal(x, "a");', True),
        (
            "expect(x).toMatchInlineSnapshot(`a`);",
            "expect(x).toMatchInlineSnapshot(`b`);",
            "expect(x).toMatchInlineSnapshot(`a`);",
            False,
        ),
    ],
)
def test_values_of_the_former_version(before: str, now: str, made: str, tells: bool) -> None:
    """Only pairs of plain values, since a failure message prints nothing else; lists, objects and elements may be
    printed in several ways."""
    found = former(PATH, GROUP.format(before), GROUP.format(now))
    assert found.text == GROUP.format(made) and found.tests == {"Menu > a"}
    assert found.telling == ({"Menu > a"} if tells else set())


@pytest.mark.rule("former-expectations")
@pytest.mark.parametrize(
    ("before", "now"),
    [
        ('expect(x).toHaveAttribute("a", "1");', 'expect(x).toHaveAttribute("b", "1");'),
        ("expect(x).toContain(1);", "expect(x).toContain(2);"),
        ("render(2); expect(x).toBe(1);", "expect(x).toBe(2);"),
        ("await waitFor(() => expect(x).toBe(1));", "await waitFor(() => expect(x).toBe(2));"),
        ("expect(x).toBe(Menu.role);", "expect(x).toBe(2);"),
        ("expect(x).toBe(1);", "expect(x).toBe(Menu.role);"),
        ("expect(x).toBe(`a${b}`);", "expect(x).toBe(2);"),
        ("assert.equal(x, undefined);", "assert.equal(x, null);"),
        ('assert.equal(x, "1");', "assert.equal(x, 2);"),
        ("expect(x).toBe(1);", "expect(x).toBe(1);"),
    ],
)
def test_expectations_that_a_correct_patch_may_satisfy_in_both_versions_stay(before: str, now: str) -> None:
    """Gold's file is left alone if a value is computed, awaited or compared loosely, or if the element differs: a
    correct patch may satisfy both versions."""
    found = former(PATH, GROUP.format(before), GROUP.format(now))
    assert found.text == GROUP.format(now) and found.tests == set()


@pytest.mark.rule("former-expectations")
def test_everything_but_the_values_is_golds() -> None:
    """The base's imports, set-up and other tests are not restored: with a correct patch they may pass, or fail in
    another way than with gold."""
    base = "const setup = 1;\n" + GROUP.format("expect(x).toBe(1);").replace("toBe(1); });\n});", "toBe(3); });\n});")
    gold = 'import z from "z";\n' + GROUP.format("expect(x).toBe(2);").replace("expect(y).toBe(1)", "expect(z).toBe(1)")
    assert former(PATH, base, gold).text == gold.replace("toBe(2)", "toBe(1)")


def test_titles_that_two_tests_share_are_left_alone() -> None:
    """If two tests share a title, it is unknown which one corresponds to which."""
    twice = 'it("a", () => {{ expect(x).toBe({}); }});\nit("a", () => {{ expect(y).toBe(1); }});\n'
    assert former(PATH, twice.format(1), twice.format(2)).text == twice.format(2)


@pytest.mark.rule("former-expectations")
def test_former_snapshots() -> None:
    """Base values return only in snapshots that both versions have; a new snapshot is gold's."""
    base, gold = "exports[`Menu opens 1`] = `\n<nav>\n`;\n", "exports[`Menu opens 1`] = `\n<menu>\n`;\n"
    new = "exports[`Menu closes 1`] = `x`;\n"
    found = former("src/__snapshots__/Menu.test.tsx.snap", base, new + gold)
    assert (found.text, found.tests) == (new + base, {"Menu opens 1"})
    assert former("tests/menu.expect.txt", "a", "b").text == "b"
