"""A real runner from inference to results: `node --test`, which every machine has, in a subfolder."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import factories
import pytest
from lacking import lack

from pipeline.build.infer import Tree, infer
from pipeline.core.records import Status
from pipeline.execution.runs import Plan, run_gold

PROJECT = Path(__file__).parents[1] / "ecosystems" / "runners" / "node" / "project"
FOLDER = "packages/ui"
ROOT = '{"workspaces": ["packages/*"]}'
SCRIPT = '{"scripts": {"test": "node --test test/"}}'
MENU = f"{FOLDER}/test/menu.test.js"


def node_major() -> int:
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return int(version.strip().removeprefix("v").partition(".")[0])


@pytest.fixture
def plan(tmp_path: Path, sandbox_of: Callable[[Path], Any]) -> Plan:
    """The `node --test` project as a workspace, and the environment inferred for it."""
    if node_major() < 20:
        lack("this machine's Node is older than 20")
    checkout = tmp_path / "checkout"
    shutil.copytree(PROJECT, checkout / FOLDER)
    (checkout / "package.json").write_text(ROOT, encoding="utf-8")
    (checkout / FOLDER / "package.json").write_text(SCRIPT, encoding="utf-8")
    paths = [str(path.relative_to(checkout)) for path in checkout.rglob("*") if path.is_file()]
    tree = Tree(paths, lambda path: (checkout / path).read_text(encoding="utf-8"))
    environment = infer(tree, "2024-05-06", [MENU])
    assert (environment.runner, environment.folder) == ("node", FOLDER)
    return Plan(sandbox_of(checkout), "image", environment, (MENU, f"{FOLDER}/test/broken.test.js"))


def test_selected_files_are_run(plan: Plan) -> None:
    run = run_gold(plan, [])
    assert (run.end, run.faults) == ("ran", ())
    assert {name.removeprefix(f"{MENU} > "): status for name, status in run.results.items()} == {
        "Menu > opens": Status.PASSED,
        "Menu > opens [2]": Status.FAILED,
        "Menu > is slow": Status.PASSED,
        "Menu > later": Status.SKIPPED,
        "Menu > some day": Status.SKIPPED,
        "Menu > nested <&> > deep (12 ms)": Status.PASSED,
        f"{FOLDER}/test/broken.test.js": Status.FAILED,
    }
    assert run.log.startswith(b"$ node --test ") and run.log.partition(b"\n")[0].endswith(b"test/broken.test.js")


def test_the_whole_suite_is_run(plan: Plan) -> None:
    """In the scope `full`, no file is named: the runner finds the files, or its script names them."""
    run = run_gold(replace(plan, files=None), [])
    assert run.suites.keys() == {f"{FOLDER}/test/{name}.test.js" for name in ("menu", "tabs", "broken")}
    assert run.log.partition(b"\n")[0].endswith(b" test/")


@pytest.mark.rule("environment-follows-the-commit")
def test_a_runner_that_is_not_installed(plan: Plan) -> None:
    """Which installed file starts the runner is decided when it runs; if there is none, the log says what was looked
    for."""
    entries = ("node_modules/jest/bin/jest.js", "../../node_modules/jest/bin/jest.js")
    lacking = factories.make_environment(folder=FOLDER, entries=entries)
    run = run_gold(replace(plan, environment=lacking), [])
    assert run.end == "no_report"
    assert run.log.decode() == f"none of these is installed: {', '.join(entries)}\n"


def test_the_first_existing_entry_is_run(plan: Plan) -> None:
    entries = ("node_modules/none.js", "../../node_modules/dep/index.js")
    environment = factories.make_environment(folder=FOLDER, entries=entries, test=("node", "{entry}", "{files}"))
    run = run_gold(replace(plan, environment=environment), [])
    assert run.log.startswith(b"$ node ../../node_modules/dep/index.js test/menu.test.js")
