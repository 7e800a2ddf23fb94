"""What a release needs is consistent: the version in every place, the citation, the templates."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml
from uv import find_uv_bin

from pipeline import __version__

ROOT = Path(__file__).parents[2]
CHECK = Path(sys.executable).with_name("check-jsonschema")
SUBJECT = ROOT / ".ci/commit-subject"
WORKFLOW = ROOT / ".github/workflows/ci.yml"


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    assert tomllib.loads(text("pyproject.toml"))["project"]["version"] == __version__
    assert yaml.safe_load(text("CITATION.cff"))["version"] == __version__
    assert re.search(rf"(?m)^## {re.escape(__version__)} \(", text("CHANGELOG.md"))


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("vendor.citation-file-format", "CITATION.cff"),
        ("vendor.github-workflows", ".github/workflows/*.yml"),
        ("vendor.github-issue-forms", ".github/ISSUE_TEMPLATE/[!c]*.yml"),
        ("vendor.github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
    ],
)
def test_files_for_github_follow_their_schemas(schema: str, pattern: str) -> None:
    files = [str(path) for path in ROOT.glob(pattern)]
    assert files
    done = subprocess.run([CHECK, "--builtin-schema", schema, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("length", "code"), [(72, 0), (73, 1)])
def test_the_hook_refuses_a_long_subject(tmp_path: Path, length: int, code: int) -> None:
    (tmp_path / "message").write_text("x" * length + "\n\nbody\n")
    assert subprocess.run([SUBJECT, tmp_path / "message"]).returncode == code


def test_every_hook_is_installed_by_the_documented_command() -> None:
    """`pre-commit install` alone installs only the first stage's hooks, so long subjects were accepted."""
    settings = yaml.safe_load(text(".pre-commit-config.yaml"))
    hooks = [hook for repo in settings["repos"] for hook in repo["hooks"]]
    stages = {stage for hook in hooks for stage in hook.get("stages", ["pre-commit"])}
    assert stages == {"pre-commit", "commit-msg"} == set(settings["default_install_hook_types"])


#: files that git ignores: keys, results, and packages of an agent
IGNORED = ("docker/proxy/.env", "data/demo/out/x", "vendors/magentless/node_modules/x.js")


def tracked(*folders: str) -> list[str]:
    done = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, check=True, capture_output=True, text=True)
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.parametrize("folder", ["checkout", "clones/checkout"])
def test_a_wheel_has_all_tracked_files_and_none_that_git_ignores(tmp_path: Path, folder: str) -> None:
    """It shipped the keys of providers, and the results of the demo. In a folder that .gitignore names, such as clones,
    hatchling ignores .gitignore."""
    shipped, checkout = tracked("vendors", "docker", "data/demo"), tmp_path / folder
    for name in (*tracked("pipeline"), *shipped, "pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    for name in IGNORED:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text("canary")
    command = [find_uv_bin(), "build", "--wheel", "--quiet", "--out-dir", tmp_path / "dist", checkout]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    names = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == {*tracked("pipeline"), *(f"pipeline/shipped/{name}" for name in shipped)}


def steps() -> list[str]:
    """The commands of all jobs in the workflow."""
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    return [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]


def test_the_workflow_runs_checks_tests_coverage_audit_and_engine() -> None:
    commands = "\n".join(steps())
    called = set(re.findall(r"uv run just ([\w-]+)", commands))
    assert called == {"check", "test", "coverage", "audit-dependencies"}
    scripts = [ROOT / script for script in re.findall(r"(?<!\S)(?:\.ci|docker)/\S+", commands)]
    assert ROOT / ".ci/run" in scripts and all(os.access(script, os.X_OK) for script in scripts)


def test_the_workflow_runs_uv_as_one_user() -> None:
    """The next step's user could not change what root has installed into .venv."""
    assert [command for command in steps() if "sudo" in command and re.search(r"\buv run", command)] == []


def test_the_workflow_tries_every_supported_version_of_python() -> None:
    matrix = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["tests"]["strategy"]["matrix"]["python"]
    oldest = tomllib.loads(text("pyproject.toml"))["project"]["requires-python"].removeprefix(">=")
    assert matrix[0] == oldest
    assert f"wheels for Python {matrix[0]} to {matrix[-1]}" in " ".join(text("docs/dependencies.md").split())
