"""Exports for other programs: the files that each needs, and that each program reads them."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from factories import make_instance
from uv import find_uv_bin

from pipeline.core.errors import UserError
from pipeline.core.records import Instance
from pipeline.core.store import write_bytes
from pipeline.core.vendors import vendor_python
from pipeline.dataset.foreign.folders import FOLDERS, ONLY_READ, TOKEN, write_folder

NAME = "acme__ui-7"
#: Harbor, whose wheel needs a newer Python than its models do
HARBOR = "harbor==0.26.0"
#: the folder of `vendors/` whose environment has a format's program
ENVIRONMENTS = {"harbor": "exports", "inspect": "exports", "swe-bench-5": "swebench", "hugging-face": "swebench"}
#: what each program does with a folder F whose one instance is N
LOADERS = {
    "harbor": """
import typing, typing_extensions
typing.override = typing_extensions.override  # its models read well in an older Python, too
from harbor.models.task.task import Task
assert Task.is_valid_dir(f"{F}/{N}") and Task(f"{F}/{N}").config.environment.docker_image
""",
    "inspect": """
import sys
sys.path.insert(0, F)
import a11y_bench
(sample,) = a11y_bench.a11y_bench().dataset
assert sample.id == N and sample.sandbox.type == "docker"
""",
    "swe-bench-5": """
from swebench.harness.log_parsers import PARSER_REGISTRY
from swebench.task.checks import check_task_repo
from swebench.task.repo import load_task_repo
assert not check_task_repo(F), check_task_repo(F)
(task,) = load_task_repo(F)
assert PARSER_REGISTRY[task["log_parser"]]("PASSED a11y-bench-verdict", None) == {task["FAIL_TO_PASS"][0]: "PASSED"}
""",
    "hugging-face": """
import datasets
(row,) = datasets.load_dataset(F, split="test")
assert row["instance_id"] == N
""",
}


def written(form: str, folder: Path) -> Path:
    write_folder(form, [make_instance(7)], folder / form, replace=False)
    return folder / form


@pytest.mark.rule("export")
@pytest.mark.parametrize("form", FOLDERS)
def test_a_folder_has_a_readme_and_stays_as_it_is(tmp_path: Path, form: str) -> None:
    folder = written(form, tmp_path)
    assert "do not publish it" in (folder / "README.md").read_text()
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    write_folder(form, [make_instance(7)], folder, replace=True)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.rule("export")
@pytest.mark.parametrize("form", sorted(FOLDERS.keys() - ONLY_READ))
def test_a_graded_folder_has_a_token_for_its_owner(tmp_path: Path, form: str) -> None:
    folder = written(form, tmp_path)
    assert len((folder / TOKEN).read_text()) > 40
    assert (folder / TOKEN).stat().st_mode & 0o077 == 0


@pytest.mark.rule("export")
def test_another_folder_is_not_overwritten(tmp_path: Path) -> None:
    written("harbor", tmp_path)
    with pytest.raises(UserError, match="the folder is not empty"):
        written("harbor", tmp_path)
    with pytest.raises(UserError, match="unknown format"):
        write_folder("terminal", [], tmp_path / "x", replace=False)


@pytest.mark.rule("export")
@pytest.mark.parametrize("exists", [False, True])
def test_an_export_that_is_stopped_leaves_nothing(tmp_path: Path, exists: bool) -> None:
    """Half a folder was left, which the same command then refused."""

    def stopped() -> Iterator[Instance]:
        yield make_instance(7)
        raise KeyboardInterrupt

    folder = tmp_path / "out" / "harbor"
    if exists:
        folder.mkdir(parents=True)
    with pytest.raises(KeyboardInterrupt):
        write_folder("harbor", stopped(), folder, replace=False)
    assert not [path for path in tmp_path.rglob("*") if path not in (folder, folder.parent)]
    assert (written("harbor", folder.parent) / NAME / "task.toml").is_file()
    assert {path.name for path in folder.parent.iterdir()} == {"harbor"}


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        (".a11y-bench.json", b"{}", "field 'files': it is missing"),
        (".a11y-bench.json", b'{"files": 7}', "field 'files': not a list of texts"),
        (TOKEN, b"\xff", "the file is not UTF-8"),
    ],
)
def test_a_broken_file_of_an_earlier_export_is_refused(tmp_path: Path, name: str, data: bytes, says: str) -> None:
    folder = written("harbor", tmp_path)
    (folder / name).write_bytes(data)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(UserError, match=says) as error:
        write_folder("harbor", [make_instance(8)], folder, replace=True)
    assert error.value.path == folder / name
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.invariant(1)
def test_the_environment_of_a_harbor_task_has_neither_solution_nor_token(tmp_path: Path) -> None:
    """The folder of tests and the solution are added later, or never."""
    folder = written("harbor", tmp_path)
    token, instance = (folder / TOKEN).read_text().strip(), make_instance(7)
    shown = [folder / NAME / "instruction.md", *(folder / NAME / "environment").iterdir()]
    for path in shown:
        text = path.read_text()
        assert token not in text and instance.fix_patch not in text and instance.test_patch not in text
    config = tomllib.loads((folder / NAME / "task.toml").read_text())
    assert config["environment"]["docker_image"].startswith("a11y-bench/instance:")
    assert token in (folder / NAME / "tests" / "test.sh").read_text()
    assert os.access(folder / NAME / "tests" / "test.sh", os.X_OK)


def test_a_swe_bench_task_has_one_test_which_is_the_verdict(tmp_path: Path) -> None:
    """Its own parser reads the grader's result, and nothing that the tests print."""
    task = written("swe-bench-5", tmp_path) / "tasks" / NAME
    assert json.loads((task / "tests.json").read_text()) == {"FAIL_TO_PASS": ["a11y-bench-verdict"], "PASS_TO_PASS": []}
    assert (
        yaml.safe_load((task / "task.yaml").read_text())["image"] == "swebench/sweb.eval.x86_64.acme_1776_ui-7:latest"
    )
    assert "@" not in "".join(line for line in (task / "eval.sh").read_text().splitlines() if line.startswith("WAY"))


def test_a_folder_that_is_only_read_has_no_token(tmp_path: Path) -> None:
    """Nor is the token of another format left there."""
    write_folder("harbor", [make_instance(7)], tmp_path / "tasks", replace=False)
    assert "grade --serve" in (tmp_path / "tasks" / "README.md").read_text()
    write_folder("hugging-face", [make_instance(7)], tmp_path / "tasks", replace=True)
    assert not (tmp_path / "tasks" / TOKEN).exists()
    assert "grade --serve" not in (tmp_path / "tasks" / "README.md").read_text()


def test_a_record_is_one_line_for_every_reader(tmp_path: Path) -> None:
    """U+2028 occurs in texts that people paste, and ends a line for Python's `splitlines`."""
    instance = make_instance(7)
    issue = instance.resolved_issues[0].model_copy(update={"body": "no\u2028name"})
    folder = tmp_path / "inspect"
    write_folder("inspect", [instance.model_copy(update={"resolved_issues": (issue,)})], folder, replace=False)
    (path,) = folder.rglob("instances.jsonl")
    (line,) = path.read_text(encoding="utf-8").splitlines()
    assert "no\u2028name" in json.loads(line)["statement"]


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Harbor, without the packages that it needs."""
    folder = tmp_path_factory.mktemp("harbor")
    install = [find_uv_bin(), "pip", "install", "--quiet", "--no-deps", "--python-version", "3.12", "--target"]
    subprocess.run([*install, str(folder), HARBOR], check=True)
    return folder


@pytest.mark.rule("export")
@pytest.mark.parametrize("form", FOLDERS)
def test_each_format_is_read_by_its_own_program(tmp_path: Path, harbor: Path, form: str) -> None:
    """Harbor, Inspect, SWE-bench 5 and datasets, outside our own environment."""
    folder = written(form, tmp_path)
    code = f"F, N = {str(folder)!r}, {NAME!r}\n{LOADERS[form]}"
    given = {"PYTHONPATH": str(harbor), "HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"}
    python = vendor_python(ENVIRONMENTS[form], print)
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, env={**os.environ, **given})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("form", [form for form in FOLDERS if form != "hugging-face"])
def test_a_smaller_selection_removes_older_tasks(tmp_path: Path, form: str) -> None:
    """The program ran these, too, with outdated images and patches. Files that people added stay."""
    write_folder(form, [make_instance(7), make_instance(8)], tmp_path, replace=False)
    (tmp_path / "notes.txt").write_text("mine")
    write_folder(form, [make_instance(7)], tmp_path, replace=True)
    assert [path.name for path in tmp_path.rglob("*acme__ui-8*")] == []
    assert list(tmp_path.rglob(f"*{NAME}*")) and (tmp_path / "notes.txt").exists()


def test_what_a_stopped_export_left_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tasks were in no list, so the program ran them, too."""
    write_folder("harbor", [make_instance(7)], tmp_path, replace=False)

    def stopping(path: Path, data: bytes) -> None:
        if path.name == "README.md":
            raise KeyboardInterrupt
        write_bytes(path, data)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("pipeline.dataset.foreign.folders.write_bytes", stopping)
        write_folder("harbor", [make_instance(7), make_instance(8)], tmp_path, replace=True)
    assert (tmp_path / "acme__ui-8").is_dir()
    write_folder("harbor", [make_instance(7)], tmp_path, replace=True)
    assert not (tmp_path / "acme__ui-8").exists() and (tmp_path / NAME).is_dir()
