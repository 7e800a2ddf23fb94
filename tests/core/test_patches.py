"""Patches as text: which files are tests or configuration, and the parts of what git really writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from histories import History, git

from pipeline.core.git import diff, open_clone
from pipeline.core.patches import diff_counts, is_runnable, is_test_file, paths, sections, select
from pipeline.ecosystems.protection import is_configuration, is_protected

#: every kind of change, and every kind of name that git writes differently
BEFORE = {
    "src/Menu.tsx": "one\ntwo\n--- three\n",
    "src/gone.ts": "gone\n",
    "src/run.sh": "#!/bin/sh\n",
    "src/no-end.ts": "no newline",
    "src/old name.ts": "moved\n" * 20,
    "assets/logo.png": b"\x89PNG\r\n\x1a\n\0\0\0" + bytes(range(256)),
    "src/empty.ts": "",
    "src/ends.ts": "dos\r\nform\x0cfeed\x0bline\u2028separator\x85next\r\n",
}
AFTER = {
    "src/Menu.tsx": "one\n2\n-- 3\ndiff --git a/x b/x\n",
    "src/gone.ts": None,
    "src/no-end.ts": "still no newline",
    "src/old name.ts": None,
    "src/new name.ts": "moved\n" * 20 + "more\n",
    "assets/logo.png": b"\x89PNG\r\n\x1a\n\0\0\0" + bytes(range(255, -1, -1)),
    "src/Menü ☃.tsx": "umlaut\n",
    'src/"quoted".ts': "quote\n",
    'src/ends with "': "quote\n",
    "src/tab\there.ts": "tab\n",
    'src/"é☃".ts': "both\n",
    "src/back\\slash.ts": "slash\n",
    "src/a b/new empty.ts": "",
    "src/added-empty.ts": "",
    "b/a/b/x.ts": "prefixes\n",
    "src/ends.ts": "dos\r\nform\x0cfeed\x0bother\u2028separator\x85next\r\n",
}


@pytest.fixture(scope="module")
def change(tmp_path_factory: pytest.TempPathFactory) -> tuple[History, str, str, str]:
    """A history of two commits, and the patch between them."""
    history = History(tmp_path_factory.mktemp("patches") / "clone")
    base = history.commit("base", BEFORE)
    (history.folder / "src" / "run.sh").chmod(0o755)
    head = history.commit("head", AFTER)
    touched = [*AFTER, "src/run.sh"]
    return history, base, head, diff(open_clone(history.folder), base, head, touched)


@pytest.mark.trap("test-substring")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/latest.js", False),
        ("src/contest.ts", False),
        ("contests/a.ts", False),
        ("publish-snapshot/a.ts", False),
        ("src/Attestation.tsx", False),
        ("src/specification.ts", False),
        ("src/testing-library.ts", False),
        ("src/tests.md/x", False),
        ("src/menu.spec.ts", True),
        ("src/Menu.test.tsx", True),
        ("src/Menu_test.js", True),
        ("test/a.ts", True),
        ("src/tests/a.css", True),
        ("src/__tests__/helper.ts", True),
        ("src/__snapshots__/Menu.test.tsx.snap", True),
        ("src/any.snap", True),
        ("src/test_menu.py", True),
        ("src/Test/Menu.js", True),
        ("packages/a/e2e/login.ts", True),
        ("cypress/login.ts", True),
    ],
)
def test_files_are_recognized_by_path_segments(path: str, expected: bool) -> None:
    """In Multi-SWE-bench, the substring `test` decides: `latest.js` is a test, `menu.spec.ts` is not. Here, path
    segments decide."""
    assert is_test_file(path) is expected


@pytest.mark.rule("test-files")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/Button/Button-test.js", True),
        ("src/Button/Button-spec.tsx", True),
        ("src/Button/Button_spec.js", True),
        ("src/Button/ButtonSpec.js", True),
        ("src/Button/ButtonTests.tsx", True),
        ("src/Button/Button.tests.ts", True),
        ("src/Button/Button.spec.browser.tsx", True),
        ("src/Button/Button.test.server.ts", True),
        ("src/Button/Button.test.accessibility.ts", True),
        ("src/Button/Button.test.events.ts", True),
        ("src/Button/Button.option.test.basics.multiple.ts", True),
        ("src/Button/Button.test.floating-components.ts", True),
        ("src/Button/Button.test.helpers.ts", True),
        ("src/latest.basics.ts", False),
        ("src/Button/test.basics.json", False),
        ("src/Button/Button.test.basics.md", False),
        ("src/eslint.test.config.ts", False),
        ("src/Button/types.test-d.ts", True),
        ("src/Button/Button.cy.tsx", True),
        ("src/Button/Button.e2e.js", True),
        ("src/Button/Button-test.avt.e2e.js", True),
        ("e2e-app/src/app/modal.e2e-spec.ts", True),
        ("src/Button/test-helpers.js", True),
        ("src/dialog/test-browser.ts", True),
        ("spec/MenuSpec.js", True),
        ("packages/ui/specs/menu.ts", True),
        ("packages/ui/spec/fixtures/menu.html", True),
        ("test/unit/menu.js", True),
        ("test/specs/helpers/open.js", True),
        ("browser-tests/menu.ts", True),
        ("src/Menu/__integ__/menu.ts", True),
        ("src/Menu/__fixtures__/menu.json", True),
        ("src/Menu/__mocks__/menu.ts", True),
        ("packages/button/spec.js", True),
        ("src/chart/spec.ts", False),
        ("packages/button/e2e.ts", True),
        ("src/Button/Button.snap.html", True),
        ("src/Button/button.spec.ts-snapshots/open-chromium.png", True),
        ("test/workflows/data.yml", True),
        (".github/workflows/test.yml", False),
        (".github/workflows/e2e_test.yaml", False),
        (".github/workflows/test_pages.yml", False),
        ("docs/button.spec.md", False),
        ("docs/test.mdx", False),
        ("src/e2e.css", False),
        ("src/Latest.js", False),
        ("src/Contest.tsx", False),
        ("src/SPEC.md", False),
        ("src/Button/inspect.ts", False),
        ("src/testing/test-element.ts", False),
        ("src/spec/channel.ts", False),
        ("lib/spec/channel.ts", False),
        ("specs/api/Menu.md", False),
        ("src/files/component.spec.ts.template", False),
        ("src/test-id.ts", False),
        ("src/api.spec.generated.ts", False),
        ("docs/speed-test.html", False),
        ("src/greatest-hits.js", False),
        ("src/Aspect.js", False),
        ("src/attest.ts", False),
    ],
)
def test_names_that_runners_call_tests(path: str, expected: bool) -> None:
    """`Menu-test.js` and `MenuSpec.js` are tests; helpers and fixtures belong to them, and no patch decides them."""
    assert is_test_file(path) is expected
    assert is_protected(path) is (expected or is_configuration(path))


@pytest.mark.rule("test-files")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("test/unit/menu.js", True),
        ("spec/MenuSpec.js", True),
        ("src/Menu/Menu-test.js", True),
        ("src/Menu/__tests__/menu.ts", True),
        ("test/helpers/open.spec.ts", True),
        ("lib/menu/test/index.js", True),
        ("test/utils.js", True),
        ("test/helpers/open.js", False),
        ("test/fixtures/menu.js", False),
        ("src/Menu/__mocks__/menu.ts", False),
        ("src/Menu/test-helpers.js", False),
        ("src/Menu/test-utils.tsx", False),
        ("src/Menu/Menu.test.utils.ts", False),
        ("src/Menu/Menu.test.floating-components.ts", True),
        ("cypress/support/commands.js", False),
        ("src/Menu/__snapshots__/Menu-test.js.snap", False),
        ("test/menu.html", False),
        ("webpack.config.test.js", False),
        ("config/karma.conf.test.js", False),
        ("src/tailwind.config.test.ts", True),
        ("src/Menu/Menu.js", False),
    ],
)
def test_helpers_in_test_folders_are_not_runnable(path: str, expected: bool) -> None:
    """A helper in a test folder is protected but is no test: a runner that is given its name would run it."""
    assert is_runnable(path) is expected


@pytest.mark.rule("protected-files")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("package.json", True),
        ("packages/a/package.json", True),
        ("yarn.lock", True),
        (".npmrc", True),
        ("jest.config.js", True),
        ("jest.setup.ts", True),
        ("config/jest.setup.js", True),
        ("vitest.config.mts", True),
        ("vite.config.ts", True),
        ("babel.config.cjs", True),
        (".babelrc", True),
        ("tsconfig.test.json", True),
        ("src/setupTests.ts", True),
        ("src/test-setup.js", True),
        ("__mocks__/react.js", True),
        (".yarn/releases/yarn-4.cjs", True),
        ("src/node_modules/x/index.js", True),
        ("src/package.json.ts", False),
        ("src/Setup.css", False),
        ("src/setupMenu.ts", False),
        ("src/jest.md", False),
        ("src/Menu.tsx", False),
        (".eslintrc", False),
    ],
)
def test_configuration_files_are_protected(path: str, expected: bool) -> None:
    """A candidate must not decide how it is tested."""
    assert is_configuration(path) is expected
    assert is_protected(path) is (expected or is_test_file(path))


def test_the_parts_of_a_patch_are_its_files(change: tuple[History, str, str, str]) -> None:
    *_, patch = change
    assert sorted(paths(patch)) == sorted([*AFTER, "src/run.sh"])
    assert "".join(text for _, text in sections(patch)) == patch


def test_selected_parts_apply_to_the_same_tree(change: tuple[History, str, str, str], tmp_path: Path) -> None:
    """The fix patch and the test patch are parts of one change; together they are all of it, whatever the files."""
    history, base, head, patch = change
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(history.folder), str(clone))
    git(clone, "checkout", "-q", base)
    for index, wanted in enumerate((lambda path: len(path) % 2 == 0, lambda path: len(path) % 2 == 1)):
        part = tmp_path / f"{index}.patch"
        part.write_bytes(select(patch, wanted).encode())
        git(clone, "apply", "--whitespace=nowarn", "--index", str(part))
    assert git(clone, "write-tree") == history.tree(head)


def test_a_file_that_moved_has_its_new_name(change: tuple[History, str, str, str]) -> None:
    """Git's default form, which agents submit: with renames, and with every byte above 127 escaped."""
    history, base, head, _ = change
    patch = history.git("-c", "core.quotepath=true", "diff", "-M", base, head)
    assert "rename to src/new name.ts" in patch
    assert set(paths(patch)) == {*AFTER, "src/run.sh"} - {"src/old name.ts"}


@pytest.mark.parametrize("options", [["--src-prefix=i/", "--dst-prefix=w/"], ["--no-prefix"]])
def test_other_prefixes_are_removed_from_names(change: tuple[History, str, str, str], options: list[str]) -> None:
    """With `diff.mnemonicPrefix`, git writes i/ and w/; `git apply` ignores these, too."""
    history, base, head, _ = change
    patch = history.git("diff", "--no-renames", *options, base, head)
    assert sorted(paths(patch)) == sorted([*AFTER, "src/run.sh"])


def test_headers_in_dos_lines_have_the_same_names(change: tuple[History, str, str, str]) -> None:
    """Windows writes such patches, and `git apply` accepts their headers."""
    history, base, head, _ = change
    patch = history.git("diff", "-M", base, head)
    assert "rename to" in patch
    assert paths(patch.replace("\r\n", "\n").replace("\n", "\r\n")) == paths(patch)


def test_lines_are_counted_as_git_counts_them(change: tuple[History, str, str, str]) -> None:
    """Including lines that look like a header: the removed line `-- three` is no file name."""
    history, base, head, patch = change
    rows = [row.split("\t")[:2] for row in history.git("diff", "--numstat", "--no-renames", base, head).splitlines()]
    counted = [sum(int(row[side]) for row in rows if row[side] != "-") for side in (0, 1)]
    assert list(diff_counts(patch)) == counted


def test_an_empty_patch_has_no_files() -> None:
    assert paths("") == paths("\n") == []
    assert select("", is_test_file) == ""


def test_text_before_the_first_file_is_left_out(change: tuple[History, str, str, str]) -> None:
    *_, patch = change
    assert paths("Here is the patch:\n\n" + patch) == paths(patch)
