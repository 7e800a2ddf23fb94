"""What logs of runners, bundlers and package managers report as missing, with a line of each kind."""

from __future__ import annotations

import pytest

from pipeline.build.missing import Missing, missing_from

OWN = ("@acme/ui", "@acme/icons")
NOTHING = Missing((), (), ())


def missing(log: str, folders: tuple[str, ...] = ("docs", "packages", "src")) -> Missing:
    return missing_from(log, OWN, folders=folders)


@pytest.mark.parametrize(
    ("line", "package"),
    [
        ("Error: Cannot find module 'lodash'", "lodash"),
        ("Cannot find module 'lodash/fp' from 'src/Menu.js'", "lodash"),
        ("Cannot find module '@babel/core'", "@babel/core"),
        ("Cannot find module '@babel/core/lib/x.js'", "@babel/core"),
        ("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'vite' imported from /workspace/repo/a.js", "vite"),
        ("Cannot find dependency 'jsdom'", "jsdom"),
        ('Could not resolve "lit"', "lit"),
        ('Failed to resolve import "vue" from "src/a.vue"', "vue"),
        ("Failed to resolve entry for package \"@acme/other\"", "@acme/other"),
        ("Can't resolve 'sass' in '/workspace/repo/src'", "sass"),
        ("Unable to resolve module `react-native`", "react-native"),
        ("TS2688: Cannot find type definition file for 'node-fetch'.", "node-fetch"),
        ("Preset ts-jest/presets/js not found.", "ts-jest"),
        ("Preset @acme/jest not found relative to rootDir /workspace/repo.", "@acme/jest"),
        ("Module jest-axe/extend-expect in the setupFilesAfterEnv option was not found.", "jest-axe"),
        ('Couldn\'t find preset "env" relative to directory "/workspace/repo"', "babel-preset-env"),
        ('Couldn\'t find preset "@babel/preset-env" relative to directory "/x"', "@babel/preset-env"),
        ('Unknown plugin "lodash" specified in "base"', "babel-plugin-lodash"),
        ("Test environment jest-environment-jsdom cannot be found.", "jest-environment-jsdom"),
        ("Test environment 'jsdom-sixteen' cannot be found.", "jest-environment-jsdom-sixteen"),
        ("Cannot find module '/workspace/repo/node_modules/ajv/dist/x.js'", "ajv"),
        ("Cannot find module '/workspace/repo/a/node_modules/@b/c/d.js'", "@b/c"),
        ('error TS: failed to resolve "extends":"@tsconfig/node16/tsconfig.json"', "@tsconfig/node16"),
        ("Please run: npm install --save-dev jest@27.0.3", "jest"),
        ("run yarn add -D @types/jest@27", "@types/jest"),
    ],
)  # fmt: skip
def test_a_package_that_is_not_installed_is_found_in_the_log(line: str, package: str) -> None:
    assert missing(f"before\n{line}\nafter") == Missing((), (), (package,))


def test_a_package_whose_scope_is_a_folder_is_no_file() -> None:
    """It was taken for a file of the tested package, and that package was built instead of this one."""
    line = "TS2307: Cannot find module '@acme/icons' or its corresponding type declarations."
    assert missing(line, folders=("@acme",)) == Missing(("@acme/icons",), (), ())


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("Cannot find module './generated' from 'src/Menu.js'", "generated"),
        ("Cannot find module '../dist/index.js'", "../dist/index.js"),
        ("Error: ENOENT: no such file or directory, open '/workspace/repo/dist/tokens.json'", "dist/tokens.json"),
        ("ENOENT: no such file or directory, scandir './icons'", "icons"),
        ("Could not load /workspace/repo/packages/a/dist/a.js", "packages/a/dist/a.js"),
        ("Module not found: 'docs/menu' in src", "docs/menu"),
        ("Could not locate module @acme/icons/a mapped as:\n/workspace/repo/core/dist/a.\n", "core/dist/a"),
        ("Could not locate module @/gen/x (mapped as /workspace/repo/src/gen/x.js)", "src/gen/x.js"),
        ('Could not locate module @x/a mapped as:\n[\n  "/workspace/repo/a/dist/i.js",\n  "/y"\n].', "a/dist/i.js"),
        ("Pattern '/workspace/repo/dist/bundle.js' does not match any file.", "dist/bundle.js"),
        ("404: /base/dist/tests.js", "dist/tests.js"),
        ("404: /base/dist/tests.js?v=1", "dist/tests.js"),
        ("404: /absolute/workspace/repo/build/a.css?x", "build/a.css"),
        ("No test files found: 'build/**/*.test.js'", "build/**/*.test.js"),
        ('Cannot find any files matching pattern "lib/*.js"', "lib/*.js"),
        ("2 404 network requests:\n  - dist/a.js\n", "dist/a.js"),
    ],
)
def test_a_missing_generated_file_is_found_in_the_log(line: str, path: str) -> None:
    found = missing(line)
    assert found == Missing((), (path,), ()) and found.can_be_made


@pytest.mark.parametrize("line", ["Cannot find module '@acme/icons'", "Cannot find module '@acme/icons/dist/x.js'"])
def test_the_repositorys_own_packages_are_told_from_others(line: str) -> None:
    found = missing(line)
    assert found == Missing(("@acme/icons",), (), ()) and found.can_be_made


@pytest.mark.parametrize(
    "line",
    [
        "Cannot find module 'node:fs'",
        "Cannot find module 'fs'",
        "Cannot find module 'fs/promises'",
        "Could not resolve 'https://example.org/a.js'",
        "Cannot find module 'undefined'",
        "Cannot find module 'virtual:icons'",
        "Could not find any files for pattern",
        "We could not find the element that you are looking for",
        "Unable to find an element with the role 'button'",
        "TestingLibraryElementError: Unable to find role=\"dialog\"",
        "404: /base/src/icon.png",
        "",
    ],
)  # fmt: skip
def test_lines_without_a_missing_package_are_ignored(line: str) -> None:
    """Something that a test does not find on a page is no package, and Node's own modules always exist."""
    found = missing(line)
    assert (found.own, found.files) == ((), ()) and found.foreign in ((), ("role",))


def test_names_are_listed_once_in_their_order() -> None:
    log = "\n".join(f"Cannot find module '{name}'" for name in ("b", "a", "./x", "b", "@acme/ui", "./x", "b/c"))
    assert missing(log) == Missing(("@acme/ui",), ("x",), ("b", "a"))


def test_a_path_whose_folder_is_at_the_root_is_a_file() -> None:
    line = "Cannot find module 'docs/src/menu'"
    assert missing(line, folders=("docs",)).files == ("docs/src/menu",)
    assert missing(line, folders=()).foreign == ("docs",)


def test_in_advice_only_words_with_a_version_are_further_packages() -> None:
    line = "npm install --save-dev jest@27.0.3 jest-cli@27.4.5 and try again"
    assert missing(line).foreign == ("jest", "jest-cli")


def test_nothing_can_be_made_if_nothing_is_missing() -> None:
    assert missing("all tests passed") == NOTHING and not NOTHING.can_be_made
    assert not missing("Cannot find module 'lodash'").can_be_made


FRAMES = """
  at new NodeError (node:internal/errors:405:5)
  at Object.dirname (node:path:1275:5)
  at sync (node_modules/find-up/index.js:3:4)
  at load (packages/icons/src/load.ts:14:25)
  at Object.process (src/transform.js:27:35)
"""


@pytest.mark.parametrize(
    ("error", "files"),
    [
        ('TypeError: The "paths[0]" argument must be of type string. Received undefined', True),
        ('TypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be of type string. Received undefined', True),
        ('The "path" argument must be of type string. Received type undefined', True),
        ('The "path" argument must be of type string. Received an instance of URL', False),
    ],
)
def test_code_that_sought_a_file_in_vain(error: str, files: bool) -> None:
    """A package read the schema that its build makes, and its log did not name that file."""
    found = missing(f"{error}\n{FRAMES}")
    assert found.files == (("packages/icons/src/load.ts",) if files else ())
