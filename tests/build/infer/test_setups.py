"""Files beside the tests that set these up, by the command that would load them."""

from __future__ import annotations

import pytest
from trees import read, tree

HOOKS = "'use strict';\nrequire('./env');\n\nbeforeEach(() => reset());\n"
GLOBALS = "global.expect = require('chai').expect;\n"
TEST = "describe('a', () => {\n  before(() => start());\n  it('b', () => {});\n});\n"
FILES = {
    "test/unit/setup.js": HOOKS,
    "test/unit/globals.js": GLOBALS,
    "test/unit/a.test.js": TEST,
    "test/unit/lib/b.test.js": TEST,
    "test/fixtures/plugin.js": HOOKS,
    "test/hooks.js": HOOKS.replace("beforeEach", "before"),
    "src/hooks.js": HOOKS,
    "test/helper.js": GLOBALS,
    "support/dom.js": GLOBALS,
    "support/enzyme.js": HOOKS,
    "test/e2e/pages.js": GLOBALS,
    "test/e2e/c.test.js": TEST,
}


def beside(script: str, *tests: str, version: str = "^10") -> tuple[str, ...]:
    """The files that are passed beside the tests."""
    scripts = {"test": script, "unit": "mocha ./support"} if script else {}
    found = read(tree(FILES, devDependencies={"mocha": version}, scripts=scripts), *tests)
    words = (*found.test, *found.selection)
    before = [word for word, option in zip(words[1:], words, strict=False) if option == "--file"]
    return (*before, *(word for word in found.selection if word != "{files}"))


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", ("test/hooks.js", "test/unit/setup.js")),
        ("mocha", ("test/hooks.js", "test/unit/setup.js")),
        ("mocha --recursive test/unit", ("test/unit/globals.js", "test/unit/setup.js")),
        ("mocha 'test/**/*.js'", ("test/hooks.js", "test/unit/globals.js", "test/unit/setup.js")),
        ("mocha 'test/**/*.test.js'", ()),
        ("mocha test/helper.js 'test/**/*.test.js'", ("test/helper.js",)),
        (
            "mocha ./support test/unit",
            ("support/dom.js", "support/enzyme.js", "test/unit/globals.js", "test/unit/setup.js"),
        ),
        (
            "npm run unit --silent test/unit",
            ("support/dom.js", "support/enzyme.js", "test/unit/globals.js", "test/unit/setup.js"),
        ),
        ("mocha test/unit test/e2e", ("test/unit/globals.js", "test/unit/setup.js")),
        ("mocha --file test/unit/setup.js test/unit", ("test/unit/setup.js", "test/unit/globals.js")),
        ("mocha test/e2e", ()),
        ("mocha $(find test -name '*.test.js')", ()),
    ],
)
def test_files_that_the_command_loads_beside_the_tests_are_loaded(script: str, expected: tuple[str, ...]) -> None:
    assert beside(script, "test/unit/lib/b.test.js") == expected


def test_a_mocha_without_the_option_gets_them_like_tests() -> None:
    found = read(tree(FILES, devDependencies={"mocha": "^3.2.0"}), "test/unit/a.test.js")
    assert found.selection == ("test/hooks.js", "test/unit/setup.js", "{files}")
    assert "--file" not in found.test


def test_paths_begin_at_the_folder_of_the_tests() -> None:
    files = {"lib/package.json": '{"name": "lib", "devDependencies": {"mocha": "^9"}}', "lib/test/hooks.js": HOOKS}
    found = read(tree(files, workspaces=["lib"], devDependencies={}), "lib/test/a.js")
    assert (found.folder, found.test[-3:]) == ("lib", ("--file", "test/hooks.js", "{files}"))


def test_a_touched_test_is_not_loaded_before_the_others() -> None:
    assert beside("mocha test/unit/a.test.js test/unit/lib", "test/unit/a.test.js") == ()


@pytest.mark.parametrize(
    ("name", "text", "is_loaded"),
    [
        (".mocharc.json", '{"spec": ["test/**/*.test.js"]}', False),
        (".mocharc.yml", "spec:\n  - test/unit\n", False),
        ("test/mocha.opts", "--recursive\ntest/unit/*.js\n", False),
        ("test/mocha.opts", "--recursive\n--require test/env\n", True),
        (".mocharc.json", '{"require": ["./test/env.js"]}', True),
    ],
)
def test_a_configuration_that_names_files_needs_no_others(name: str, text: str, is_loaded: bool) -> None:
    """Mocha loads the files of its configuration in any case. Other hooks may be for other tests."""
    found = read(tree(FILES | {name: text}, devDependencies={"mocha": "^10"}), "test/unit/a.test.js")
    assert ("test/hooks.js" in found.test) == is_loaded
