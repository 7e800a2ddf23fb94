"""Finding out what a runner reads, with a runner of a few lines: what Node loads for it, and what texts mention."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import factories
import pytest
from histories import History

from pipeline.execution import reads
from pipeline.execution.reads import Observed
from pipeline.execution.runs import Plan

Ask = Callable[..., Observed]
TEST = "src/a.test.js"
#: a runner: it loads its configuration and the files named there, reads settings, and then runs tests that read data
RUNNER = """
const { readFileSync } = require("fs");
const load = (name) => require(require("path").resolve(name));
load("odd/configure.js").plugins.forEach(load);
readFileSync("odd/.settings");
readFileSync("src/words.md");
process.argv.slice(2).filter((word) => /test/.test(word)).forEach(load);
readFileSync("src/words.json");
require("fs").writeFileSync(process.env.TEST_REPORT, "{}");
"""
FILES: dict[str, str | None] = {
    "odd/configure.js": 'module.exports = { plugins: ["odd/plug.js"], more: require("./more") };\n',
    "odd/more.js": "",
    "odd/plug.js": 'require("../src/b");\n',
    "odd/.settings": "on",
    "odd/base.yml": "",
    "src/a.test.js": 'require("./a");\n',
    "src/a.js": 'require("./b");\n',
    "src/b.js": "",
    "src/words.json": "{}",
    "src/words.md": "",
    ".gitignore": "node_modules\n",
    "package.json": json.dumps({"name": "odd"}),
}


@pytest.fixture
def ask(sandbox_of: Callable[..., object], tmp_path: Path) -> Ask:
    """`ask(files, words, steps, fix)`: which of these files and the usual ones the runner reads."""

    def asked(files: dict[str, str | None], *words: str, fix: str = "", folder: str = "", **more: object) -> Observed:
        runner = tmp_path / "runner.cjs"
        runner.write_text(RUNNER)
        history = History(tmp_path / "odd")
        history.commit("all", FILES | files)
        command = ("node", str(runner), "{files}", *words)
        given = {"test_env": {"TEST_REPORT": "{report}"}, "folder": folder, **more}
        environment = factories.make_environment(test=command, parser="mocha-json", **given)
        plan = Plan(sandbox_of(history.folder), "image", environment, (TEST,))
        return reads.ask(plan, [("fix", fix)], fix)

    return asked


@pytest.mark.trap("guessed-configuration")
def test_files_that_a_runner_loads_are_found_but_not_those_of_tests(ask: Ask) -> None:
    """Its settings are read before the first test; a plain text file is no configuration."""
    assert ask({}) == Observed(("odd/.settings", "odd/configure.js", "odd/more.js", "odd/plug.js"), True)


@pytest.mark.trap("guessed-configuration")
def test_modules_imported_by_computed_names_are_found(ask: Ask) -> None:
    imports = {
        "odd/configure.js": 'exports.plugins = ["odd/plug.js"]; exports.more = import(["./more", "mjs"].join("."));\n',
        "odd/more.mjs": 'import "./main.mjs"; await import(["./last", "mjs"].join("."));\n',
        "odd/main.mjs": "",
        "odd/last.mjs": "",
    }
    assert {"odd/more.mjs", "odd/main.mjs", "odd/last.mjs"} <= set(ask(imports).files)


@pytest.mark.trap("guessed-configuration")
def test_a_name_with_a_line_separator_is_found(ask: Ask) -> None:
    """U+2028 ends a line for `str.splitlines`, but not for programs that list files."""
    plug = "odd/pl\u2028ug.js"
    files = {"odd/configure.js": f'module.exports = {{ plugins: ["{plug}"] }};\n', plug: ""}
    assert plug in ask(files).files


@pytest.mark.trap("guessed-configuration")
def test_files_named_in_a_command_are_found(ask: Ask) -> None:
    """So does the text of a configuration, whatever reads it."""
    files = {"odd/unit.conf": "files: ['odd/main.js', 'src/a.js']\n", "odd/main.js": 'require("./start");\n'}
    found = ask(files | {"odd/start.js": ""}, "--base=odd/base.yml", configuration="odd/unit.conf")
    assert {"odd/base.yml", "odd/unit.conf", "odd/main.js", "odd/start.js"} <= set(found.files)
    assert "src/a.js" not in found.files


#: helpers of tests that no name and no configuration reveals
HELPERS: dict[str, str | None] = {
    "src/render.js": 'import { render } from "@testing-library/react";\n',
    "src/page/draw.ts": 'const { act } = require("react-dom/test-utils");\n',
    "src/later.js": 'const loaded = import("@testing-library/react");\n',
    "src/accessible.js": "export const assertMenu = (menu) => {\n  expect(menu).not.toBe(null);\n};\n",
    "src/quiet.js": "export const quiet = () => afterEach(() => {});\n",
}


@pytest.mark.trap("guessed-configuration")
def test_helpers_of_tests_are_recognized_by_their_libraries(ask: Ask) -> None:
    """Or by how they use a runner. With such a helper, a patch could add to the page what a component lacks, or remove
    expectations. A source may contain the same words."""
    sources = {"src/c.js": "// from the library enzyme\n", "src/d.js": "describe(a); expect(a); spec.toName(1);\n"}
    found = ask(HELPERS | sources)
    assert HELPERS.keys() <= set(found.files)
    assert sources.keys().isdisjoint(found.files)


def test_a_helper_that_gold_changes_as_a_source_stays_free(ask: Ask) -> None:
    header = "diff --git a/src/render.js b/src/render.js\n--- a/src/render.js\n+++ b/src/render.js\n"
    found = ask(HELPERS, fix=f"{header}@@ -1 +1,2 @@\n {HELPERS['src/render.js']}+1;\n")
    assert "src/page/draw.ts" in found.files
    assert "src/render.js" not in found.files


@pytest.mark.trap("guessed-configuration")
@pytest.mark.parametrize(
    "variables",
    [{"TS_PROJECT": "odd/base.yml"}, {"NODE_OPTIONS": "--no-warnings --icu-data-dir=odd/base.yml"}],
    ids=["alone", "among-others"],
)
def test_the_variables_of_a_command_name_files(ask: Ask, variables: dict[str, str]) -> None:
    assert "odd/base.yml" in ask({}, test_env=variables).files


def test_sources_that_gold_changes_are_not_protected(ask: Ask) -> None:
    header = "diff --git a/odd/new.js b/odd/new.js\nnew file mode 100644\n--- /dev/null\n+++ b/odd/new.js\n"
    added = f"{header}@@ -0,0 +1 @@\n+1\n"
    found = ask({"odd/configure.js": 'require("./new");\nmodule.exports = { plugins: [] };\n'}, fix=added)
    assert found.files == ("odd/.settings", "odd/configure.js")


def test_files_that_a_run_rewrites_are_left_out(ask: Ask) -> None:
    """A patch's change to such a file could not be told from the run's own."""
    plug = 'require("fs").writeFileSync("odd/.settings", "off");\n'
    assert "odd/.settings" not in ask({"odd/plug.js": plug}).files


def test_an_aborted_run_is_incomplete(ask: Ask) -> None:
    """What the run reported until then counts."""
    found = ask({"odd/plug.js": "process.exit(1);\n"})
    assert found == Observed(("odd/configure.js", "odd/more.js", "odd/plug.js"), False)


def test_a_line_that_is_nested_too_deeply_does_not_hide_others() -> None:
    """A repository's code can write into the list."""
    lines = [b'{"a": 1}', b"[" * 100_000, b'{"b": ' * 100_000, b'{"c": 2}']
    assert list(reads._objects(b"\n".join(lines))) == [{"a": 1}, {"c": 2}]


def test_a_runner_without_a_report_of_its_files_is_incomplete(ask: Ask) -> None:
    """Its command still names files."""
    found = ask({}, "odd/base.yml", test_env={"PATH": "/nowhere"})
    assert found == Observed(("odd/base.yml",), False)
