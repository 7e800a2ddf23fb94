"""A runner's own project (`tests/ecosystems/runners/NAME/project`), installed and run in the engine at one version.

All steps are the pipeline's: the environment is inferred from the package.json, its options are the table's, the report
is read like any other. Needs an engine and the npm registry; the resulting image is removed.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from histories import History

from pipeline.build.infer import Tree, infer
from pipeline.build.layers import USEFUL
from pipeline.core.git import open_clone
from pipeline.core.records import Environment, Status
from pipeline.core.store import now
from pipeline.execution import images
from pipeline.execution.run import TestRun
from pipeline.execution.runs import Plan, run_gold
from pipeline.sandbox.base import Sandbox

RUNNERS = Path(__file__).parent / "ecosystems" / "runners"


def expected(name: str) -> dict[str, Any]:
    """The expected results of a runner's project, and the versions of its matrix: version -> Node and other
    packages."""
    return tomllib.loads((RUNNERS / name / "expected.toml").read_text(encoding="utf-8"))


def majors(name: str) -> dict[str, list[str]]:
    """Version of a runner -> Node, and further packages."""
    return expected(name)["matrix"]


def project(name: str, version: str) -> dict[str, str]:
    """The files of a runner's project that depends on this version."""
    folder = RUNNERS / name / "project"
    files = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    _, *others = majors(name)[version]
    asked = dict(package.rsplit("@", 1) for package in others)
    package = expected(name).get("package", name)
    manifest = json.loads(files["package.json"]) | {
        "devDependencies": {package: version, **asked} if package else asked
    }
    return files | {"package.json": json.dumps(manifest)}


def environment(name: str, version: str, **fixed: Any) -> Environment:
    """The environment inferred for the project, with the matrix's Node."""
    files = project(name, version)
    given = {"node": majors(name)[version][0]} | fixed
    return infer(
        Tree(files, files.get), now(), test_files(name), {key: (value, "given") for key, value in given.items()}
    )


def test_files(name: str) -> list[str]:
    """The project's test files."""
    wanted_results = expected(name)
    files = {test.partition(" > ")[0] for test in wanted_results["tests"]} | set(wanted_results["broken"])
    return wanted_results.get("files") or sorted(files)


def tried(sandbox: Sandbox, folder: Path, name: str, version: str, **fixed: Any) -> TestRun:
    """The results of the runner's project at a version. Raises InstallFailed."""
    made_of = environment(name, version, **fixed)
    return ran(sandbox, folder / f"{name}-{version}", project(name, version), made_of, test_files(name))


def ran(sandbox: Sandbox, folder: Path, files: dict[str, str], made_of: Environment, tests: list[str]) -> TestRun:
    """The results of these tests in a new repository with these files. Raises InstallFailed."""
    history = History(folder)
    sha = history.commit("all", files)
    clone = open_clone(history.folder)
    made = images.recipe(clone, made_of, sha, sha)
    try:
        images.ensure(sandbox, clone, made, lambda line: None)
        return run_gold(Plan(sandbox, made.image, made_of, tests), [], cache="none")
    finally:
        own = [layer for layer in sandbox.images.kept() if layer.digest in (made.image, made.environment_digest)]
        for one in sorted(own, key=lambda layer: USEFUL[layer.kind]):
            sandbox.images.remove(one)


def differences(name: str, run: TestRun) -> list[str]:
    """How a run differs from the expected results, in words; empty if it does not."""
    wanted_results = expected(name)
    wanted = {test: Status(status) for test, status in wanted_results["tests"].items()} | dict.fromkeys(
        wanted_results["broken"], Status.FAILED
    )
    found = run.with_files(wanted_results["broken"]).results
    lacking = {test for test in wanted.keys() - found.keys() if test not in wanted_results.get("may_lack", ())}
    others = [f"{test}: {found[test]}" for test in found if found[test] != wanted.get(test)]
    ended = [f"it ended with {run.end}"] if run.end != "ran" else []
    return [*ended, *run.doubts, *(f"{test} is missing" for test in sorted(lacking)[:3]), *others[:3]]
