"""Observing a repository's own test command, whatever programs lie between it and the runner."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from pipeline.build import observe
from pipeline.build.infer import Tree, jobs
from pipeline.build.infer.uses import Use
from pipeline.sandbox.base import Limits
from pipeline.sandbox.local.workspace import LocalWorkspace

MOCHA = """
module.exports = class Mocha {
  constructor(options) { this.options = options; this.files = []; }
  addFile(file) { this.files.push(file); return this; }
  run() { throw new Error("the tests ran"); }
};
"""
PROGRAM = '#!/usr/bin/env node\nrequire("fs").writeFileSync("ran", "");\nprocess.exit(9);\n'
GULP = '#!/usr/bin/env node\nrequire(process.cwd() + "/gulpfile.js")[process.argv[2]]();\n'
NX = """#!/usr/bin/env node
const options = { cwd: process.cwd(), env: { PATH: process.env.PATH, NODE_OPTIONS: "--no-warnings" } };
const executor = require("child_process").fork(__dirname + "/executor.js", ["packages/ui"], options);
executor.on("exit", (code) => process.exit(code));
"""
EXECUTOR = 'require("jest").runCLI({ config: process.argv[2] + "/jest.config.js", ci: true }, [process.cwd()]);\n'
SEALED = """
Object.defineProperty(exports, "runCLI", { enumerable: true, get: () => () => { throw new Error("the tests ran"); } });
"""
JEST = 'module.exports = { runCLI() { throw new Error("the tests ran"); } };\n'


def program(name: str, text: str = PROGRAM, main: str = "") -> dict[str, str]:
    """A package in node_modules with a program of the same name, and a module."""
    manifest = {"name": name, "version": "1.0.0", "bin": "bin.js", "main": "index.js"}
    place = f"node_modules/{name}"
    return {f"{place}/package.json": json.dumps(manifest), f"{place}/bin.js": text, f"{place}/index.js": main}


def repository(scripts: dict[str, str], *packages: dict[str, str], **files: str) -> dict[str, str]:
    own = {"package.json": json.dumps({"name": "ui", "scripts": scripts})}
    return own | {name: text for package in packages for name, text in package.items()} | files


class Folder:
    """A sandbox with workspaces of these files, in which nothing may run the tests."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.folder, self.files = folder, files

    @contextmanager
    def open(self, image: str, **how: Any) -> Iterator[LocalWorkspace]:
        workspace = LocalWorkspace(Path(mkdtemp(dir=self.folder)), Path("/nowhere"), Limits())
        for name, text in self.files.items():
            path = Path(workspace.root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            if name.endswith("/bin.js"):
                path.chmod(0o755)
                link = Path(workspace.root, "node_modules/.bin", path.parent.name)
                link.parent.mkdir(exist_ok=True)
                link.symlink_to(os.path.relpath(path, link.parent))
        yield workspace
        assert not Path(workspace.root, "ran").exists()


def uses(tmp_path: Path, files: dict[str, str], *tests: str) -> list[Use]:
    sandbox: Any = Folder(tmp_path.resolve(), files)
    found = observe.observed(sandbox, "image", Tree(files, files.get), tests or ("src/a.test.js",))
    return [observation.use for observation in found]


def test_the_configuration_that_a_gulp_task_gives_mocha_is_observed(tmp_path: Path) -> None:
    """The command line does not contain it; every file failed with `window is not defined`."""
    task = (
        'require("./test/set-up.js");\nconst Mocha = require("mocha");\n'
        'exports.test = () => new Mocha({ ui: "tdd", require: ["jsdom-global/register"], timeout: 9000 }).run();\n'
    )
    more = {"gulpfile.js": task, "test/set-up.js": ""}
    (use,) = uses(
        tmp_path, repository({"test": "gulp test"}, program("gulp", GULP), program("mocha", "", MOCHA), **more)
    )
    words = ["--require", "./test/set-up.js", "--require", "jsdom-global/register", "--ui", "tdd", "--timeout", "9000"]
    assert (use.runner, use.folder, list(use.call.words)) == ("mocha", "", words)


def test_a_runner_in_the_process_of_a_workspace_executor_is_observed(tmp_path: Path) -> None:
    """It replaces the variables that tell a process to report."""
    nx = program("nx", NX) | {"node_modules/nx/executor.js": EXECUTOR}
    (use,) = uses(tmp_path, repository({"test": "nx test ui"}, nx, program("jest", "", JEST)), "packages/ui/a.test.js")
    assert (use.runner, use.folder, use.call.words) == ("jest", "", ("--config", "packages/ui/jest.config.js"))


def test_a_runner_that_inherits_its_variables_is_observed(tmp_path: Path) -> None:
    """Without those of the prototype, such as PATH, the tool found no Node."""
    box = (
        "#!/usr/bin/env node\nconst env = Object.assign(Object.create(process.env), { MODE: 'test' });\n"
        'require("child_process").spawnSync("jest", ["--config", "box.js"], { env });\n'
    )
    jest = program("jest", "#!/usr/bin/env node\nthrow new Error('the tests ran');\n")
    (use,) = uses(tmp_path, repository({"test": "box"}, program("box", box), jest))
    assert (use.runner, use.call.words, use.call.env["MODE"]) == ("jest", ("--config", "box.js"), "test")


@pytest.mark.parametrize("jest", [JEST, SEALED])
def test_a_configuration_that_a_program_writes_is_observed(tmp_path: Path, jest: str) -> None:
    """The program transforms the files, which did not load without it. A run's folder has another name. Since Jest 24,
    functions cannot be replaced, so such runs were not seen."""
    configuration = (
        '{rootDir: process.cwd(), setupFiles: [process.cwd() + "/node_modules/box/set-up.js"], testMatch: ["**/*.js"]}'
    )
    box = f'#!/usr/bin/env node\nrequire("jest").runCLI({{ config: JSON.stringify({configuration}) }}, ["."]);\n'
    (use,) = uses(tmp_path, repository({"test": "box"}, program("box", box), program("jest", "", jest)))
    option, written = use.call.words
    wanted = {"setupFiles": ["<rootDir>/node_modules/box/set-up.js"], "testMatch": ["**/*.js"]}
    assert (option, json.loads(written)) == ("--config", wanted)


def test_a_program_with_its_own_karma_configuration_is_observed(tmp_path: Path) -> None:
    """Angular's `ng test` loads Karma, which no command line names. The script that starts it is recorded, too."""
    ng = 'const { config } = require("karma");\nconfig.parseConfig(process.cwd() + "/src/karma.conf.js", {});\n'
    config = 'exports.createPatternObject = 1;\nexports.parseConfig = () => { throw new Error("the tests ran"); };\n'
    karma = program("karma", "", 'exports.config = require("./lib/config");')
    scripts = {"test": "eslint . && npm run ui:test", "ui:test": "ng test"}
    files = repository(scripts, program("eslint"), program("ng", f"#!/usr/bin/env node\n{ng}"), karma)
    sandbox: Any = Folder(tmp_path.resolve(), files | {"node_modules/karma/lib/config.js": config})
    (seen,) = observe.observed(sandbox, "image", Tree(files, files.get), ["src/a.spec.ts"])
    assert (seen.use.runner, seen.use.call.words, seen.loaded) == ("karma", ("./src/karma.conf.js",), True)
    assert (seen.command.argv[-1], seen.script and seen.script.argv[-1]) == ("test", "ui:test")


@pytest.mark.parametrize(
    ("configurations", "seen"),
    [
        (["libs/core/karma.conf.js", "libs/ui/karma.conf.js"], "libs/ui/karma.conf.js"),
        (["libs/core/karma.conf.js"], "libs/core/karma.conf.js"),
        (["config/karma.conf.js", "test/karma.conf.js"], "config/karma.conf.js"),
    ],
)
def test_the_configuration_of_another_project_comes_last(tmp_path: Path, configurations: list[str], seen: str) -> None:
    """The root's command tests one project. Its tests passed, and those of the candidate were not among them."""
    scripts = {f"test:{number}": f"karma start {path}" for number, path in enumerate(configurations)}
    files = repository(scripts, program("karma"), dict.fromkeys(configurations, ""))
    (use,) = uses(tmp_path, files, "libs/ui/a.spec.ts")
    assert use.call.words[1] == seen


def test_the_run_of_the_candidates_tests_comes_first(tmp_path: Path) -> None:
    """A task starts Jest once for each of its configurations, with the files of each."""
    script = "jest -c build.config.js tools/a.test.js && jest -c unit.config.js src/a.test.js"
    unit, other = uses(tmp_path, repository({"test": script}, program("jest")))
    assert (unit.call.words[1], other.call.words[1]) == ("unit.config.js", "build.config.js")


def test_a_linter_before_the_tests_does_not_hide_the_runner(tmp_path: Path) -> None:
    script = "eslint . && BABEL_ENV=test TZ=Asia/Tokyo NODE_OPTIONS=--no-warnings jest -c config/unit.js --runInBand"
    (use,) = uses(tmp_path, repository({"test": script}, program("eslint"), program("jest")))
    assert use.call.words == ("-c", "config/unit.js", "--runInBand")
    assert use.call.env == {"BABEL_ENV": "test", "TZ": "Asia/Tokyo", "NODE_OPTIONS": "--no-warnings"}


def test_a_script_that_runs_tests_in_a_package_is_observed_there(tmp_path: Path) -> None:
    start = 'require("child_process").execFileSync("mocha", ["--opts", "x.opts"], { cwd: "packages/ui" });'
    files = repository({"test": "node scripts/test.js"}, program("mocha"), **{"scripts/test.js": start})
    files["packages/ui/x.opts"] = ""
    (use,) = uses(tmp_path, files, "packages/ui/a.test.js")
    assert (use.folder, use.call.words) == ("packages/ui", ("--opts", "x.opts"))
    assert "scripts.test starts mocha --opts x.opts" in use.evidence


@pytest.mark.parametrize("folder", ["", "packages/ui"])
def test_programs_of_the_repositorys_own_packages_are_observed(tmp_path: Path, folder: str) -> None:
    """An install sees only the manifests, so nothing links the program: the shell did not find it, and no runner was
    seen."""
    start = 'require("jest").runCLI({ config: "tools/unit.js" }, ["."]);\n'
    files = repository({"test": "tool test"}, program("jest", "", JEST), **{"packages/tools/start.js": start})
    files["packages/tools/package.json"] = json.dumps({"name": "@acme/tools", "bin": {"tool": "./start.js"}})
    if folder:
        files[f"{folder}/package.json"] = json.dumps({"name": "@acme/ui", "scripts": {"test": "tool test"}})
    (use,) = uses(tmp_path, files, f"{folder}/a.test.js".lstrip("/"))
    assert (use.folder, use.call.words) == (folder, ("--config", "tools/unit.js"))


def test_a_command_that_reaches_no_runner_gives_no_observation(tmp_path: Path) -> None:
    assert uses(tmp_path, repository({"test": "echo none; exit 3"})) == []


WORKFLOW = """
jobs:
  test:
    steps:
      - run: npm ci
      - run: npm run build:icons
      - run: npx unit
        working-directory: packages/ui
      - run: npm run test:unit
"""


def test_the_commands_of_continuous_integration_are_known() -> None:
    files = {".github/workflows/ci.yml": WORKFLOW, "package.json": "{}"}
    tree = Tree(files, files.get)
    assert [(step.text, step.folder) for step in jobs.before_tests(tree)] == [
        ("npm run build:icons", ""),
        ("npx unit", "packages/ui"),
    ]
    assert [command.argv[-1] for command in observe.commands(tree, ())] == ["npm run test:unit"]


@pytest.mark.parametrize(
    ("others", "seen"),
    [({}, ["test", "e2e", "visual"]), ({"unit": "mocha"}, ["test", "unit", "e2e"])],
)
def test_scripts_for_a_served_application_are_observed_last(others: dict[str, str], seen: list[str]) -> None:
    """Only such a script may start the runner of the candidate's tests; it was never started."""
    scripts = {"e2e": "playwright test", "visual": "x", "e2e:ui": "x", "test": "jest"} | others
    files = {"package.json": json.dumps({"scripts": scripts})}
    assert [command.argv[-1] for command in observe.commands(Tree(files, files.get), ["a.spec.ts"])] == seen


@pytest.mark.parametrize(
    ("step", "seen"),
    [("yarn test", ["test"]), ("npm run test", ["test"]), ("yarn test --ci", ["test", "yarn test --ci"])],
)
def test_a_script_is_not_observed_twice(step: str, seen: list[str]) -> None:
    """Each observation may take minutes."""
    files = {"package.json": json.dumps({"scripts": {"test": "gulp test"}}), ".travis.yml": f"script: {step}"}
    assert [command.argv[-1] for command in observe.commands(Tree(files, files.get), ["a.spec.ts"])] == seen


@pytest.mark.parametrize("line", ["", "no json", "[1]", '{"runner": "jest"}', '{"runner": "none", "cwd": "/"}'])
def test_malformed_finds_are_ignored(line: str) -> None:
    """The probe's output passes through the repository's processes."""
    command = observe.Command(("npm", "test"), "", "scripts.test")
    assert [observe.use_of(find, "/repo", command) for find in observe.objects(line.encode())] in ([], [None])


def test_a_line_separator_does_not_split_a_find() -> None:
    """U+2028 ends a line for `str.splitlines`, and JSON does not escape it."""
    find = {"cwd": "/repo/a\u2028b"}
    assert list(observe.objects(json.dumps(find, ensure_ascii=False).encode())) == [find]
