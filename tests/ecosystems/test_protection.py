"""Which files decide how tests run, by their names and by what a runner was seen to read."""

from __future__ import annotations

import pytest
from factories import make_instance

from pipeline.ecosystems.protection import (
    is_configuration,
    is_manifest,
    is_protected,
    module_names,
    patterns,
    protected,
    protection,
    without_extension,
)


@pytest.mark.rule("protected-files")
@pytest.mark.parametrize(
    "path",
    [
        "package.json",
        "packages/ui/package.json",
        "lerna.json",
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "pnpm-workspace.yaml",
        ".npmrc",
        ".yarnrc.yml",
        ".yarn/releases/yarn-4.12.0.cjs",
        "web/.yarn/releases/yarn-4.12.0.cjs",
        "patches/react+18.0.0.patch",
        "webapp/patches/react+18.0.0.patch",
    ],
)
def test_files_that_an_install_needs_are_protected(path: str) -> None:
    assert is_manifest(path) and is_configuration(path) and is_protected(path)


@pytest.mark.parametrize(
    "path",
    ["src/package.tsx", "package.json.bak", "my-package.json", "src/patches/a.js", "node_modules/a/package.json"],
)
def test_other_files_are_no_manifests(path: str) -> None:
    """Committed packages are no manifests of the repository, but a patch must not change them either."""
    assert not is_manifest(path)


@pytest.mark.rule("protected-files")
@pytest.mark.parametrize(
    "path",
    [
        ".nvmrc",
        "babel.config.js",
        "packages/ui/.babelrc",
        ".babelrc.json",
        "tsconfig.json",
        "packages/a/tsconfig.test.json",
        "jsconfig.json",
        "jest.config.ts",
        "vitest.config.mts",
        "vite.config.ts",
        "karma.conf.js",
        ".mocharc.yml",
        "playwright.config.ts",
        "web-test-runner.config.mjs",
        "setupTests.ts",
        "src/setupTests.js",
        "test-setup.js",
        "config/setup-jest.js",
        "setup.js",
        "src/setup.ts",
        ".env",
        ".env.test",
        "postcss.config.cjs",
        ".browserslistrc",
        "next.config.mjs",
        ".git/config",
        "node_modules/react/index.js",
        "packages/a/node_modules/b/c.js",
    ],
)
def test_configuration_is_protected(path: str) -> None:
    assert is_configuration(path) and is_protected(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/Menu.tsx",
        "src/setup/index.ts",
        "src/components/Setup.tsx",
        "lib/setup.js",
        "src/environment.ts",
        "docs/tsconfig.md",
        "src/babel.ts",
        "src/next.ts",
        "README.md",
    ],
)
def test_sources_are_no_configuration(path: str) -> None:
    """Needless protection takes changes away from an honest patch."""
    assert not is_configuration(path)


def test_tests_and_snapshots_are_protected_and_are_no_configuration() -> None:
    for path in ("src/Menu.test.tsx", "src/__tests__/Menu.tsx", "src/__snapshots__/Menu.test.tsx.snap"):
        assert is_protected(path) and not is_configuration(path)


@pytest.mark.rule("protected-files")
@pytest.mark.parametrize(
    ("path", "included"),
    [
        ("tools/preset.js", True),
        ("tools/preset.ts", True),
        ("tools/preset/index.js", True),
        ("tools/preset/other.js", False),
        ("tools/preset.css", False),
        ("tools/data.txt", True),
        ("tools/data.js", False),
        ("tools/", True),
        ("too/", False),
        ("lib/shared/index.js", True),
        ("lib/shared.js", True),
        ("lib/shared.tsx", True),
        ("lib/", True),
        ("src/", False),
        ("src/Menu.tsx", False),
    ],
)
def test_files_that_the_runner_read_and_their_replacements_are_protected(path: str, included: bool) -> None:
    """With a new `preset.ts` beside `preset.js`, `require("./preset")` might find the new file."""
    files = ("tools/preset.js", "tools/data.txt", "lib/shared/index.js")
    assert protection(files)(path) is included
    assert protected(make_instance(protected=files))(path) is included


def test_an_older_instance_is_protected_by_names_alone() -> None:
    decides = protected(make_instance(protected=()))
    assert decides("package.json") and not decides("tools/preset.js")


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("a/b.js", {"a/b"}),
        ("a/index.tsx", {"a/index", "a"}),
        ("index.js", {"index"}),
        ("a/b.module.css", set()),
        ("a/Makefile", {"a/Makefile"}),
        ("a/b.test.ts", {"a/b.test"}),
        ("a/b.vue", {"a/b"}),
    ],
)
def test_all_names_that_import_a_file_are_known(path: str, names: set[str]) -> None:
    assert module_names(path) == names


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.mjs", "a"),
        ("a.cts", "a"),
        ("a.json", "a"),
        ("a.node", "a"),
        ("a.es6", "a"),
        ("a.css", "a.css"),
        ("a.js.snap", "a.js.snap"),
    ],
)
def test_extensions_that_imports_omit_are_removed(path: str, name: str) -> None:
    assert without_extension(path) == name


def test_the_law_includes_all_patterns() -> None:
    manifests, configuration = patterns()
    assert "package|lerna" in manifests and "tsconfig" not in manifests and "nvmrc" in configuration
