"""Tests of other tools and of other runners, which a runner does not get."""

from __future__ import annotations

import pytest
from trees import of, read, tree

from pipeline.build.infer import Tree, Unsupported, foreign

WTR = {"@web/test-runner": "^0.18", "web-test-runner-jasmine": "^0.0.6", "jasmine": "^5"}


@pytest.mark.parametrize("text", ["// import 'jasmine';", "import 'jasmine';"])
def test_a_runner_gets_the_tests_of_its_framework(text: str) -> None:
    made = tree({"menu_test.js": text, "tabs_test.js": ""}, devDependencies=WTR)
    assert foreign.given(made, "wtr", ["menu_test.js", "tabs_test.js"]) == ["menu_test.js", "tabs_test.js"]
    alone = tree({"menu_test.js": "import 'jasmine';", "tabs_test.js": ""})
    assert foreign.given(alone, "wtr", ["menu_test.js", "tabs_test.js"]) == ["tabs_test.js"]


@pytest.mark.parametrize(
    ("runner", "files", "own"),
    [
        ("wtr", ["menu.test.js", "menu.cy.js"], ["menu.test.js"]),
        ("mocha", ["menu.test.js", "nightwatch/menu.js"], ["menu.test.js"]),
        ("mocha", ["menu.cy.js"], ["menu.cy.js"]),
        ("jest", ["menu.test.js", "menu.cy.js"], ["menu.test.js", "menu.cy.js"]),
    ],
)
def test_tests_of_another_tool_are_not_given_to_the_runner(runner: str, files: list[str], own: list[str]) -> None:
    """Mocha failed at a Cypress file, and a Cypress page that failed with the fix rejected the candidate."""
    assert foreign.given(of(dict.fromkeys(files, "")), runner, files) == own


@pytest.mark.parametrize(("runner", "own"), [("mocha", ["menu.test.js"]), ("jest", ["menu.test.js", "open.test.js"])])
def test_new_tests_of_another_runner_are_not_given_to_this_one(runner: str, own: list[str]) -> None:
    """Mocha failed at a new file of Playwright, which only its imports tell apart."""
    added = {"open.test.js": 'import { test } from "@playwright/test";\n'}
    made = Tree(["menu.test.js"], {"menu.test.js": "it()"}.get, added)
    assert foreign.given(made, runner, ["menu.test.js", "open.test.js"]) == own


@pytest.mark.parametrize(("script", "tool"), [("ava --serial", "AVA"), ("casperjs x.js", "browser")])
def test_a_tool_that_we_do_not_support_is_named(script: str, tool: str) -> None:
    made = tree(devDependencies={"lit": "3"}, scripts={"test": script})
    with pytest.raises(Unsupported, match=tool):
        read(made, "src/menu.test.js")
