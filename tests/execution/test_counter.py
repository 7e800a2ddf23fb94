"""Counter-runs in a workspace: what is derived from gold's tests, and what the executed test files contain."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from histories import History
from menu import MakePlan, Patch

from pipeline.core.records import Status
from pipeline.execution import command, counter
from pipeline.execution.counter import FORMS, Made, made, run
from pipeline.execution.falsified import tokens
from pipeline.sandbox.base import Workspace

TEST, SNAPSHOT = "src/Menu.test.js", "src/__snapshots__/Menu.test.js.snap"
SCRIPT = "// opens | src/Menu.js | <nav\nit('names', () => { expect(x).toBe(%d); });\n"
STORED = "exports[`opens 1`] = `\n<%s>\n`;\n"


@pytest.fixture
def gold(library: History, patch: Patch) -> str:
    """The base has the test and its snapshot; this is gold's test patch."""
    library.commit("tests", {TEST: SCRIPT % 1, SNAPSHOT: STORED % "nav"})
    return patch({TEST: SCRIPT % 2, SNAPSHOT: STORED % "menu"})


@pytest.mark.rule("falsified")
def test_patches_of_the_counter_runs_are_made_from_golds_tests(plan: MakePlan, gold: str) -> None:
    """Patches to gold's tests, one with false values and one with the base's values, and the tests that each
    changes."""
    found = made(plan(), "", gold)
    assert (found.assertions, found.by_value, found.by_negation) == (2, 2, 0)
    assert "+it('names', () => { expect(x).toBe(3); });" in found.falsified
    assert "+it('names', () => { expect(x).toBe(1); });" in found.former and "+<nav>" in found.former
    assert found.telling == {"falsified": {TEST: ("names",)}, "first": {}, "former": {TEST: ("names",)}}
    assert found.changed["former"] == {TEST: ("names",), SNAPSHOT: ("opens 1",)}
    assert found.tells("former", f"{TEST} > names") and not found.tells("former", f"{TEST} > opens")


@pytest.mark.rule("falsified")
@pytest.mark.parametrize("attributes", ["*.txt binary\n", "* text=auto\n", ""])
def test_a_golden_file_of_any_attributes(plan: MakePlan, library: History, patch: Patch, attributes: str) -> None:
    """Git attributes change how git shows a file and ends its lines. The result must still be a patch that contains no
    warning and applies."""
    golden = "tests/menu.expect.txt"
    library.commit("golden", {golden: "<nav>\r\n"})
    gold = patch({golden: "<nav>\r\n<menu>\r\n"})
    library.commit("attributes", {".gitattributes": attributes})
    found = made(plan(), "", gold)
    assert found.by_value == 1 and found.falsified.startswith("diff --git") and "\n@@ " in found.falsified
    assert run("falsified", plan(), "", "", gold, [], found.falsified, form=None).end == "ran"


def test_tests_without_expectations_make_no_counter_runs(plan: MakePlan, patch: Patch) -> None:
    found = made(plan(), "", patch({"src/New.test.js": "opens | src/Menu.js | <nav\n"}))
    assert (found.falsified, found.first, found.former, found.assertions) == ("", "", "", 0)


FILES = [TEST, "src/Other.test.js"]


@pytest.mark.rule("falsified")
@pytest.mark.parametrize(
    ("changed", "name", "reached"),
    [
        ({TEST: ("Menu > opens",)}, f"{TEST} > Menu > opens", True),
        ({TEST: ("opens",)}, f"{TEST} > a group that no grammar tells > opens", True),
        ({TEST: ("Menu > opens",)}, f"{TEST} > Menu > closes", False),
        ({TEST: ("Menu > opens",)}, "src/Other.test.js > Menu > opens", False),
        ({TEST: None}, f"{TEST} > Menu > closes", True),
        ({TEST: None}, "src/Other.test.js > Menu > closes", False),
        ({SNAPSHOT: ("Menu opens 1",)}, f"{TEST} > Menu > opens", True),
        ({SNAPSHOT: ("Menu opens 1",)}, f"{TEST} > Menu > closes", False),
        ({"src/shared.js": ("opens",)}, "src/Other.test.js > Menu > closes", True),
        ({"tests/menu.expect.txt": None}, "src/Other.test.js > Menu > closes", True),
        ({}, f"{TEST} > Menu > opens", False),
    ],
)
def test_only_tests_with_changed_expectations_can_fail(changed: dict, name: str, reached: bool) -> None:
    """Gold may fail another test as well, because the test is flaky or depends on failed ones. A patch that passes that
    other test has not cheated."""
    assert Made(changed={"falsified": changed}).reaches("falsified", name, FILES) is reached


@pytest.mark.rule("former-expectations")
def test_former_values_run_on_a_patch(plan: MakePlan, patch: Patch, library: History) -> None:
    """Only values change in gold's files; everything else stays."""
    library.commit("tests", {TEST: "opens | src/Menu.js | <menu\n", SNAPSHOT: STORED % "nav"})
    gold = patch({TEST: f"opens | {SNAPSHOT} | <menu\n", SNAPSHOT: STORED % "menu", "src/New.test.js": "new | a | b\n"})
    former = made(plan(), "", gold).former
    assert former.count("diff --git") == 1
    found = run("former", plan(), patch({"src/Menu.js": "<menu>\n"}), "", gold, [TEST], former, form=None)
    assert found.results[f"{TEST} > opens"] is Status.FAILED and not found.changed and not found.faults


@pytest.mark.rule("test-aware")
@pytest.mark.parametrize(
    ("text", "begun"),
    [
        ("works | package.json |\n", '\n// @ts-ignore\nrequire("{}");\nworks | package.json |\n'),
        ('import x from "x";\n', '\n// @ts-ignore\nimport "{}";\nimport x from "x";\n'),
        (
            "/** @jest-environment jsdom */\nit();\n",
            '/** @jest-environment jsdom */\n\n// @ts-ignore\nrequire("{}");\nit();\n',
        ),
        ('"use strict";\nit();\n', '"use strict";\n\n// @ts-ignore\nrequire("{}");\nit();\n'),
    ],
)
def test_a_test_file_in_disguise(plan: MakePlan, patch: Patch, text: str, begun: str) -> None:
    """It first loads a module. Lines that must come first stay first, and the file does not count as changed by the
    run."""
    from pipeline.execution.counter import _begun

    assert _begun("src/Menu.test.js", text, "/begin.cjs") == begun.format("/begin.cjs")
    gold = patch({TEST: text + "opens | src/Menu.js | <nav\n"})
    found = run("disguised", plan(), "", "", gold, [TEST], form=FORMS[0])
    assert found.results[f"{TEST} > opens"] is Status.PASSED


@pytest.fixture
def begin(tmp_path: Path) -> Path:
    """The module that a disguised test file loads first, in a repository where one file may know about tests."""
    folder = tmp_path / "scratch" / "begin"
    folder.mkdir(parents=True)
    for name in counter.DISGUISE:
        shutil.copy(Path(counter.__file__).with_name(name), folder)
    about = {
        "root": str(tmp_path / "repo"),
        "former": str(tmp_path / "former"),
        "files": ["Menu.test.cjs", "Menu.test.mjs"],
        "tests": ["Menu.test.cjs", "Menu.test.mjs"],
        "manifests": [],
        "alone": ["net"],
    }
    (folder / "askers.json").write_text(json.dumps(about))
    (tmp_path / "repo").mkdir()
    return folder / "begin.cjs"


def test_the_options_of_node_are_hidden_in_disguise(tmp_path: Path, begin: Path) -> None:
    """The options of the repository's own command are kept."""
    hooks, script = tmp_path / "a folder" / "hooks.cjs", tmp_path / "said.cjs"
    hooks.parent.mkdir()
    hooks.touch()
    script.write_text(f"require({json.dumps(str(begin))}); console.log(process.env.NODE_OPTIONS);")
    loaded = " ".join(command.preload(str(file)) for file in (hooks, begin.with_name("early.cjs")))
    for own, printed in (("--no-warnings ", "--no-warnings"), ("", "undefined")):
        env = {**os.environ, "NODE_OPTIONS": f"{own}{loaded}"}
        done = subprocess.run(["node", script], env=env, capture_output=True, text=True, check=True)
        assert done.stdout == f"{printed}\n"


@pytest.mark.rule("test-aware")
def test_fixed_global_properties_of_a_runner_can_be_hidden(tmp_path: Path, begin: Path) -> None:
    """Vitest keeps its exports in a property of the global object that cannot be deleted."""
    script = tmp_path / "said.cjs"
    script.write_text(
        "Object.defineProperty(globalThis, '__vitest_index__', { value: { expect: 1 } });"
        f"require({json.dumps(str(begin))}); console.log(globalThis.__vitest_index__);"
    )
    early = command.preload(str(begin.with_name("early.cjs")))
    for options, printed in (("", "{ expect: 1 }"), (early, "undefined")):
        env = {**os.environ, "NODE_OPTIONS": options}
        done = subprocess.run(["node", script], env=env, capture_output=True, text=True, check=True)
        assert done.stdout == f"{printed}\n"


@pytest.mark.rule("test-aware")
def test_the_disguise_works_in_old_versions_of_node(tmp_path: Path, begin: Path) -> None:
    """Before Node 12, `globalThis` does not exist: gold failed in every disguised run, so these runs decided
    nothing."""
    text = f"delete globalThis.globalThis; require({json.dumps(str(begin))}); console.log(typeof globalThis);"
    done = subprocess.run(["node", "-e", text], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "undefined\n"


@pytest.mark.rule("test-aware")
@pytest.mark.parametrize(
    "told",
    [
        'fs.existsSync(__dirname + "/Menu.test.cjs")',
        'fs.readdirSync(__dirname).includes("Menu.test.cjs")',
        'fs.existsSync(new URL("file://" + __dirname + "/Menu.test.cjs"))',
        'fs.existsSync(__dirname + "/__snapshots__/Menu.test.cjs.snap")',
        'fs.existsSync("/proc/self/environ")',
        "/test/.test(process.title + process.argv + process.execArgv)",
        "/Menu.test/.test(module.parent.filename)",
        "Object.keys(require.cache).some((name) => /Menu.test/.test(name))",
        "Object.keys(require.cache).length > 0",
        'typeof expect === "function"',
        'typeof globalThis.afterEach === "function"',
        "globalThis.__vitest_worker__ !== undefined",
        'Object.getOwnPropertyNames(globalThis).includes("expect")',
        "Object.getOwnPropertySymbols(globalThis).some((key) => /jest/.test(String(key)))",
        'process.listenerCount("exit") > 0',
        'fs.existsSync(__dirname + "/../scratch/begin")',
        'fs.existsSync(__dirname + "/../scratch") && fs.readdirSync(__dirname + "/../scratch").length > 0',
        "(Error.stackTraceLimit = 50) && /Menu.test/.test(new Error().stack)",
        '/Menu.test/.test(safely(() => require("vm").runInNewContext("new Error().stack")))',
        'new Function("return typeof expect")() === "function"',
        'globalThis[Symbol.for("TEST_TIMEOUT_SYMBOL")] !== undefined',
        """/Menu.test/.test(safely(() => require("vm").runInNewContext(
            "Error.prepareStackTrace = (_, sites) => sites.map(String).join(); new Error().stack")))""",
        """/BABEL_ENV=test/.test(safely(() => require("child_process").execSync("cat /proc/$PPID/environ")))""",
        'safely(() => new (require("worker_threads").Worker)("", { eval: true })) !== undefined',
        'safely(() => new (require("inspector").Session)()) !== undefined',
        "/start.cjs/.test(safely(() => process.report.getReport().header.commandLine))",
        'safely(() => process.binding("fs")) !== undefined',
        'safely(() => require.resolve("mocha")) !== undefined',
        'safely(() => require("mocha")) !== undefined',
        'fs.existsSync(__dirname + "/node_modules/mocha")',
        'fs.readdirSync(__dirname + "/node_modules").includes("mocha")',
        'process.env.BABEL_ENV === "test" || "BABEL_ENV" in process.env',
        "Object.getOwnPropertyNames(require.cache).length > 0",
        "Object.keys(module.constructor._pathCache).length > 0",
        '"expect" in Object.getOwnPropertyDescriptors(globalThis)',
        'globalThis.hasOwnProperty("expect") || Reflect.has(globalThis, "expect")',
        'Object.getOwnPropertyDescriptor(globalThis, "expect") !== undefined',
        'safely(() => fs.copyFileSync(__dirname + "/Menu.test.cjs", __dirname + "/copy") || 1) !== undefined',
        'safely(() => fs.chmodSync(__dirname + "/Menu.test.cjs", 0o644) || 1) !== undefined',
        'safely(() => fs.realpathSync.native(__dirname + "/Menu.test.cjs")) !== undefined',
        'safely(() => fs.symlinkSync(__dirname, __dirname + "/link") || 1) !== undefined',
        'fs.existsSync(__dirname + "/again/Menu.test.cjs")',
        'fs.existsSync(__dirname + "/../former/menu.cjs")',
        "safely(() => fs.opendirSync(__dirname).closeSync() || 1) !== undefined",
        'safely(() => require.resolve("./Menu.test.cjs")) !== undefined',
        'Boolean(module.constructor._findPath("./Menu.test.cjs", [__dirname]))',
        'safely(() => require("os").userInfo()) !== undefined',
        "/start.cjs/.test(process.mainModule && process.mainModule.filename)",
        "!/menu.cjs/.test(new Error().stack) || /Menu.test/.test(new Error().stack)",
        'fs.existsSync(Object.defineProperty(Buffer.from(__dirname + "/Menu.test.cjs"), "byteLength", { value: 0 }))',
        """fs.existsSync({ href: "file:///none", hostname: "", pathname: __dirname + "/Menu.test.cjs",
            get protocol() { this.asked = (this.asked || 0) + 1; return this.asked > 1 ? "file:" : "http:"; } })""",
        'new fs.ReadStream(__dirname + "/Menu.test.cjs").on("error", () => {}).path.endsWith(".cjs")',
        """(() => { const stream = fs.createReadStream(__dirname + "/menu.cjs"); stream.path += "2";
            return stream.on("error", () => {}).path.endsWith("2"); })()""",
        """fs.existsSync(Object.assign(() => {}, { href: "file:///x", protocol: "file:", hostname: "",
            pathname: __dirname + "/Menu.test.cjs" }))""",
        """(() => { const stream = Object.create(fs.ReadStream.prototype);
            fs.ReadStream.call(stream, __dirname + "/Menu.test.cjs");
            return stream.on("error", () => {}).path.endsWith(".cjs"); })()""",
        """safely(() => [[__dirname, __dirname + "2"], [__dirname + "2", __dirname]].map(
            ([from, to]) => fs.renameSync(from, to))) !== undefined""",
        'require.cache[__dirname + "/Menu.test.cjs"] !== undefined',
        '__dirname + "/Menu.test.cjs" in require.cache',
        "Reflect.ownKeys(new Proxy(require.cache, {})).some((name) => /Menu.test/.test(name))",
        """safely(() => { let text; const module = { _compile: (own) => (text = own) };
            require.extensions[".js"](module, __dirname + "/Menu.test.cjs"); return text; }) !== undefined""",
        "(module.constructor.prototype._compile = 1) && module.constructor.prototype._compile === 1",
        "(require.extensions['.js'] = 1) && require.extensions['.js'] === 1",
    ],
)
def test_signs_of_tests_are_hidden_in_disguise(tmp_path: Path, begin: Path, told: str) -> None:
    """A component that looks for signs of tests finds them in a plain test file and not in a disguised one."""
    repo = tmp_path / "repo"
    test = repo / "Menu.test.cjs"
    (repo / "__snapshots__").mkdir()
    (repo / "__snapshots__" / "Menu.test.cjs.snap").touch()
    (repo / "node_modules" / "mocha").mkdir(parents=True)
    (repo / "node_modules" / "mocha" / "index.js").touch()
    (repo / "again").symlink_to(".")
    (tmp_path / "former").mkdir()
    (tmp_path / "former" / "menu.cjs").touch()
    safely = "const safely = (act) => { try { return act(); } catch (error) { return undefined; } };"
    (repo / "menu.cjs").write_text(f'const fs = require("fs"); {safely} module.exports = () => {told};')
    hides = f"require({json.dumps(str(begin))})(__filename);"
    for first, printed in (("", "true"), (hides, "false")):
        test.write_text(f'{first} if (globalThis.begins) begins(); console.log(require("./menu.cjs")());')
        assert _started(repo) == f"{printed}\n"


def _started(repo: Path) -> str:
    """What a test file prints when a runner's process runs it."""
    start = repo / "start.cjs"
    start.write_text("""
        for (const name of ["expect", "afterEach", "__vitest_worker__"]) globalThis[name] = () => name;
        globalThis[Symbol.for("jest-state")] = "state";
        globalThis[Symbol.for("TEST_TIMEOUT_SYMBOL")] = 60000;
        globalThis.before = (hook) => (globalThis.begins = hook);
        process.on("exit", () => {});
        require("./Menu.test.cjs");
    """)
    env = {**os.environ, "BABEL_ENV": "test", "NODE_NO_WARNINGS": "1"}
    done = subprocess.run(["node", "--title=test", str(start)], capture_output=True, text=True, check=True, env=env)
    assert not done.stderr
    return done.stdout


@pytest.mark.rule("test-aware")
@pytest.mark.parametrize("form", ["cjs", "mjs"])
@pytest.mark.parametrize("is_page", [False, True], ids=["without a page", "in a page"])
def test_sources_cannot_import_what_only_tests_may(tmp_path: Path, begin: Path, form: str, is_page: bool) -> None:
    """Evaluated imports too. Tests can."""
    repo, first = tmp_path / "repo", begin.with_name("0.cjs")
    (repo / "node_modules/chai").mkdir(parents=True)
    (repo / "node_modules/chai/index.mjs").touch()
    (repo / "node_modules/chai/package.json").write_text('{"exports": "./index.mjs"}')
    names = ["chai", "./node_modules/%63hai/index.mjs", "./node_modules/./chai/index.mjs", "net", "./own.mjs"]
    (repo / "own.mjs").touch()
    (repo / "menu.cjs").write_text(f"""
        const load = new Function("name", "return import(name)");
        const tried = (name) => load(name).then(() => "loaded", () => "missing");
        module.exports = () => Promise.all({json.dumps(names)}.map(tried));
    """)
    shows = f'require("./machine.cjs").show({json.dumps(is_page)});'
    first.write_text(f'require("./begin.cjs")({json.dumps(str(repo / "Menu.test"))} + ".{form}"); {shows}')
    heads = {"cjs": f'require("{first}"); const menu = require("./menu.cjs");'}
    heads["mjs"] = f'import "{first}"; import menu from "./menu.cjs";'
    test = repo / f"Menu.test.{form}"
    test.write_text(f'{heads[form]} import("chai").then(() => menu()).then((told) => console.log(told.join(" ")));')
    (repo / "start.cjs").write_text(f'import("./{test.name}");')
    words = ["node", "--require", begin.with_name("early.cjs"), repo / "start.cjs"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == f"missing missing missing {'missing' if is_page else 'loaded'} loaded\n"


@pytest.mark.rule("test-aware")
def test_tests_and_libraries_use_their_runner_in_disguise(tmp_path: Path, begin: Path) -> None:
    """Only sources do not see the runner, and they see what they set themselves. Tests may replace functions of it."""
    repo = tmp_path / "repo"
    library = repo / "node_modules" / "library" / "index.js"
    library.parent.mkdir(parents=True)
    uses = "expect() + afterEach() + __vitest_worker__() + globalThis[Symbol.for('jest-state')]"
    library.write_text(f"exports.uses = () => {uses};")
    (repo / "Menu.test.cjs").write_text(f"""
        require({json.dumps(str(begin))})(__filename);
        console.log({uses} === require("library").uses());
        globalThis.afterEach = () => "other";
        globalThis.expect = () => "other";
        console.log(afterEach(), expect());
        console.log(Object.getOwnPropertyNames(globalThis).includes("expect"), process.listenerCount("exit") > 0);
        const menu = require("./menu.cjs");
        begins();
        console.log(menu(), typeof it);
    """)
    (repo / "menu.cjs").write_text("globalThis.run = () => 'own'; module.exports = () => run();")
    assert _started(repo) == "true\nother other\ntrue true\nown undefined\n"


class Opened:
    """A sandbox that calls `around` with each of its workspaces, before the run and after it."""

    name = "local"

    def __init__(self, sandbox: Any, around: Callable[[Workspace], AbstractContextManager[None]]) -> None:
        self._sandbox, self._around = sandbox, around

    @contextmanager
    def open(self, *words: object, **more: object) -> Iterator[Workspace]:
        with self._sandbox.open(*words, **more) as workspace, self._around(workspace):
            yield workspace


@pytest.mark.rule("test-aware")
def test_files_that_may_use_the_runner_in_disguise(plan: MakePlan, library: History, patch: Patch) -> None:
    """Protected files, and files that use a runner in the base unless this patch alone changes them. What the patch
    writes into other files has no effect."""
    files = {"src/testing.js": "  expect(x).toBe(1);\n", "src/parser.js": "this.expect(1); node.after(2);\n"}
    prose = "// what callers expect (and need)\nfunction describe (it) { return it; }\ndescribe (1);\n"
    files |= {"src/prose.js": prose}
    library.commit("more", files | {"src/mine.js": "expect(1);\n", "src/golds.js": "expect(1);\n"})
    changes = {"src/mine.js": "expect(2);\n", "src/golds.js": "expect(2);\n"}
    given = patch({"src/Menu.js": "expect(1);\n", "src/helpers/new.js": "jest.fn();\n"} | changes)
    seen: list[str] = []

    @contextmanager
    def looked_at(workspace: Workspace) -> Iterator[None]:
        yield
        seen.append((workspace.read(f"{workspace.scratch}/begin/askers.json") or b"").decode())

    run(
        "disguised",
        replace(plan(), sandbox=Opened(plan().sandbox, looked_at)),
        given,
        patch({"src/golds.js": "expect(3);\n", "src/prose.js": f"{prose}2;\n"}),
        patch({TEST: "opens | src/Menu.js | expect\n"}),
        [TEST],
        form=FORMS[0],
    )
    found = set(json.loads(seen[0])["files"])
    assert {TEST, "src/testing.js", "src/golds.js", "package.json"} <= found
    assert not {"src/Menu.js", "src/parser.js", "src/helpers/new.js", "src/mine.js", "src/prose.js"} & found


@pytest.mark.rule("test-aware")
def test_a_disguised_run_in_a_folder_of_another_name(plan: MakePlan, patch: Patch, library: History) -> None:
    """The repository's files are copied, installed packages are linked, and links between packages point to the
    copies."""
    library.commit("a package", {"packages/a/index.js": "own\n"})
    gold = patch({TEST: f"opens | src/Menu.js | <nav\nnot there | {library.folder}/src/Menu.js | <none\n"})
    seen: list[Path] = []

    @contextmanager
    def with_a_linked_package(workspace: Workspace) -> Iterator[None]:
        scope = Path(workspace.root, "node_modules", "@own")
        scope.mkdir()
        (scope / "a").symlink_to("../../packages/a")
        before = workspace.root
        yield
        seen.extend([Path(before), Path(workspace.root)])

    sandbox = Opened(plan().sandbox, with_a_linked_package)
    found = run("disguised", replace(plan(), sandbox=sandbox), "", "", gold, [TEST], form=FORMS[0])
    before, now = seen
    assert found.results == {f"{TEST} > opens": Status.PASSED, f"{TEST} > not there": Status.FAILED}
    assert not found.faults and before != now and not (now / "src").is_symlink()
    assert (now / "node_modules" / "dep").resolve() == before / "node_modules" / "dep"
    assert (now / "node_modules" / "@own" / "a").resolve() == now / "packages" / "a"


def test_a_moved_repository_links_installed_packages(tmp_path: Path) -> None:
    repo, packages = tmp_path / "repo", tmp_path / "repo" / "packages"
    for folder in ("node_modules/dep", "node_modules/@scope/dep", "packages/menu/node_modules/own dep"):
        (repo / folder).mkdir(parents=True)
    (packages / "menu" / "index.js").write_text("1;\n")
    (repo / "node_modules" / "@scope" / "menu").symlink_to("../../packages/menu")
    (repo / "node_modules" / "@group").symlink_to("../packages")
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([*counter._MOVE, str(repo), "moved"], env=environment, check=True, capture_output=True)
    moved = tmp_path / "moved"
    links = {str(path.relative_to(moved)): str(path.readlink()) for path in moved.rglob("*") if path.is_symlink()}
    assert links == {
        "node_modules/dep": f"{repo}/node_modules/dep",
        "node_modules/@scope/dep": f"{repo}/node_modules/@scope/dep",
        "packages/menu/node_modules/own dep": f"{repo}/packages/menu/node_modules/own dep",
        "node_modules/@scope/menu": "../../packages/menu",
        "node_modules/@group": "../packages",
    }
    assert (moved / "packages" / "menu" / "index.js").read_text() == "1;\n"


@pytest.mark.rule("falsified")
def test_false_values_that_a_patch_contains_are_told() -> None:
    role = min(tokens()["rare"])
    false = f"-  getByRole('switch')\n+  getByRole('{role}')\n"
    assert counter.shared(f'+<div role="{role}">\n', false) == (role,)
    assert counter.shared(f'-<div role="{role}">\n', false) == counter.shared("+<div>\n", false) == ()
