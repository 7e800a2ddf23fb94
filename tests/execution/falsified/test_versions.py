"""Tests that contradict those of another version of their file."""

from __future__ import annotations

import pytest

from pipeline.execution.falsified import contradicted

PATH = "src/Menu.test.tsx"
GROUP = """import x from "x";
describe("Menu", () => {{
  it("a", () => {{
    render(1);
    {}
  }});
  it("b", () => {{ expect(y).toBe(1); }});
}});
"""


@pytest.mark.rule("former-expectations")
@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ("expect(x).toBe(1);", "expect(x).toBe(2);", {"Menu > a", "Menu > b"}),
        (
            'expect(x).toHaveAttribute("role", "a");',
            'expect(x).toHaveAttribute("role", "b");',
            {"Menu > a", "Menu > b"},
        ),
        ('expect(x).toHaveAttribute("a", "1");', 'expect(x).toHaveAttribute("b", "1");', {"Menu > b"}),
        ("expect(x).toContain(1);", "expect(x).toContain(2);", {"Menu > b"}),
        ("render(2); expect(x).toBe(1);", "expect(x).toBe(2);", {"Menu > b"}),
        ("await waitFor(() => expect(x).toBe(1));", "await waitFor(() => expect(x).toBe(2));", {"Menu > b"}),
    ],
)
def test_tests_that_contradict_their_former_version(before: str, now: str, found: set[str]) -> None:
    """They do the same and want another value. One that is rendered otherwise may pass both ways; one that did not
    change fails as the base has it by a snapshot alone."""
    assert contradicted(PATH, GROUP.format(before), GROUP.format(now)) == found


def test_nothing_is_known_of_a_file_with_other_helpers() -> None:
    """What is rendered, and how, may follow from them; what is imported does not count."""
    former, gold = GROUP.format("expect(x).toBe(1);"), GROUP.format("expect(x).toBe(2);")
    assert contradicted(PATH, "const setup = 1;\n" + former, gold) == frozenset()
    more = 'import z from "z";\n' + gold.replace("});\n});", '});\n  it("c", () => {});\n});')
    assert contradicted(PATH, former, more) == {"Menu > a", "Menu > b"}
    assert contradicted(PATH, gold, gold) is None
