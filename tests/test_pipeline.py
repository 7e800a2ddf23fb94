"""The whole pipeline as a user runs it: the demo, twice, from a wheel, with a real proxy and real installs."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import pytest
from leaks import gold_lines
from second_opinion import ours, theirs
from uv import find_uv_bin

from pipeline.core.git import open_clone
from pipeline.core.names import Repo
from pipeline.core.records import Instance, Rejection
from pipeline.core.store import Store, read_json, read_records
from pipeline.core.trust import DEMO
from pipeline.demo.expected import differences
from pipeline.llm.experiment import SHARED
from pipeline.llm.ledger import Ledger

pytestmark = pytest.mark.long

REPO = Repo("a11y-bench", "harbor-ui")
ROOT = Path(__file__).parents[1]
EXPECTED = read_json(DEMO / "expected.json")
#: variables of a user's machine that nobody else may ever see
SECRETS = {
    name: f"canary-of-{name.lower()}" for name in ("GITHUB_TOKEN", "DEEPINFRA_API_KEY", "OPENAI_API_KEY", "NPM_TOKEN")
}
ISSUED_KEY = re.compile(rb"sk-[A-Za-z0-9_-]{20,}")


class Demo(NamedTuple):
    """A data directory after two runs of the demo, the output of both, and the verdicts after the first."""

    store: Store
    first: subprocess.CompletedProcess[str]
    second: subprocess.CompletedProcess[str]
    verdicts: dict[Path, bytes]

    @property
    def instances(self) -> list[Instance]:
        return read_records(self.store.dataset(REPO), Instance)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside the checkout with the wheel, and the locked versions of all that it needs."""
    folder = tmp_path_factory.mktemp("wheel")
    uv("build", "--wheel", "--out-dir", folder, ROOT)
    what = ("--frozen", "--no-dev", "--no-emit-project", "--no-hashes")
    uv("export", "--project", ROOT, *what, "--output-file", folder / "locked.txt")
    return folder


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    """The installed wheel's folder of packages, in an empty environment."""
    return installed(built, sys.executable)


def uv(*words: str | Path) -> None:
    subprocess.run([find_uv_bin(), "--quiet", *words], check=True, capture_output=True)


def installed(built: Path, python: str) -> Path:
    """Install the wheel and what it needs into an environment of its own; returns its folder of packages. Compiling all
    of them would take longer than everything that runs there."""
    place = built / f"with-{Path(python).parent.parent.name}"
    uv("venv", "--python", python, place)
    (file,) = built.glob("*.whl")
    into = ("--python", place / "bin" / "python", "--no-compile-bytecode")
    uv("pip", "install", *into, "--constraints", built / "locked.txt", file)
    (packages,) = place.glob("lib/python3.*/site-packages")
    return packages


@pytest.fixture(scope="session")
def demo(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("demo") / "data"
    first = run_demo(wheel, folder)
    verdicts = {path: path.read_bytes() for path in folder.glob("04_evaluation/repair/*/*/*/verdicts.jsonl")}
    return Demo(Store(folder), first, run_demo(wheel, folder), verdicts)


def run_demo(wheel: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return run_wheel(wheel, "demo", "--sandbox", "local", "--data", str(folder))


def run_wheel(wheel: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The wheel's program in its environment, outside the checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | SECRETS
    command = [wheel.parents[2] / "bin" / "a11y-bench", *words]
    return subprocess.run(command, env=environment, cwd=wheel.parents[2], capture_output=True, text=True)


def test_a_wheel_contains_data_files(wheel: Path) -> None:
    output = run_wheel(wheel, "models")
    assert output.returncode == 0 and str(wheel) in output.stdout.replace("\n", "")
    assert run_wheel(wheel, "doctor").returncode in (0, 1)
    for part in ("vendors/magentless/agent.toml", "docker/base/build.sh", "data/demo/expected.json"):
        assert (wheel / "pipeline" / "shipped" / part).is_file()


#: the versions of Python that are supported
VERSIONS = ("3.11", "3.12", "3.13")
#: imports every module of the wheel; some run only where the extras or the gateway's environment are
IMPORTS = """
import importlib, pkgutil, pipeline
for module in pkgutil.walk_packages(pipeline.__path__, "pipeline."):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name.startswith("pipeline"):
            raise
"""


def interpreter(version: str) -> str:
    """A Python of this version on this machine; empty if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [shutil.which(f"python{version}"), *sorted(map(str, pyenv.glob(f"versions/{version}.*/bin/python")))]
    runs = (
        path for path in filter(None, found) if not subprocess.run([path, "-c", ""], capture_output=True).returncode
    )
    return next(runs, "")


def test_the_wheel_runs_with_every_version_of_python(built: Path) -> None:
    """Those that are on this machine, besides that of the other tests; CI's jobs have all."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    for python in filter(None, (interpreter(version) for version in VERSIONS if version != own)):
        packages = installed(built, python)
        listed = run_wheel(packages, "models")
        assert listed.returncode == 0 and "GLM-4.6" in listed.stdout, listed.stderr
        imported = subprocess.run([packages.parents[2] / "bin/python", "-c", IMPORTS], capture_output=True, text=True)
        assert imported.returncode == 0, imported.stderr


def contents(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """The content of every file below; logs are decompressed."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        yield path, gzip.decompress(data) if path.suffix == ".gz" else data


def test_the_demo_ends_well_both_times(demo: Demo) -> None:
    assert demo.first.returncode == 0, demo.first.stderr
    assert demo.second.returncode == 0, demo.second.stderr
    assert "every outcome and verdict is as expected" in demo.first.stderr
    assert differences(demo.store, REPO, DEMO) == []


def test_the_demo_ends_with_a_table_and_a_report(demo: Demo) -> None:
    assert all(name in demo.first.stdout for name in ("oracle", "nop", "magentless"))
    report = Path(re.findall(r"\S+\.html", demo.first.stdout)[-1])
    assert report.is_relative_to(demo.store.analysis)
    text = report.read_text(encoding="utf-8")
    assert "<html" in text and "harbor-ui" in text


def test_progress_is_visible(demo: Demo) -> None:
    stages = re.findall(r"^== (.+?):", demo.first.stderr, re.MULTILINE)
    assert list(dict.fromkeys(stages)) == [
        "history",
        "01 collect",
        "02 build",
        "03 predict",
        "04 evaluate",
    ]


@pytest.mark.invariant(2)
def test_oracle_resolves_every_instance_and_nop_none(demo: Demo) -> None:
    """Oracle resolves every qualified instance, nop none: the benchmark's own check."""
    by_model = {path.parts[-2]: path.read_text().splitlines() for path in demo.verdicts}
    outcomes = {model: [json.loads(line)["outcome"] for line in lines] for model, lines in by_model.items()}
    assert set(outcomes) == {"oracle", "nop", "scripted"}
    assert set(outcomes["oracle"]) == {"resolved"} and set(outcomes["nop"]) == {"empty"}
    assert {len(found) for found in outcomes.values()} == {len(demo.instances)}


@pytest.mark.invariant(3)
def test_a_second_run_runs_no_test_and_gives_the_same_bytes(demo: Demo) -> None:
    assert "running the tests" in demo.first.stderr and "test 1 of 1" in demo.first.stderr
    assert not re.search(r"running the tests|(?:run|test|fix) \d of \d|installing|magentless works", demo.second.stderr)
    assert {path: path.read_bytes() for path in demo.verdicts} == demo.verdicts
    assert not demo.store.archive_root.exists()


@pytest.mark.rule("second-opinion")
def test_multi_swe_bench_agrees(demo: Demo) -> None:
    """Its own classes load the export and get the same verdicts and classes of tests."""
    assert theirs(demo.instances) == [ours(instance) for instance in demo.instances]


@pytest.mark.rule("snapshot-only")
def test_instances_fixed_only_in_snapshots_are_marked(demo: Demo) -> None:
    marked = {instance.number: set(instance.snapshot_only) for instance in demo.instances if instance.snapshot_only}
    assert marked == {19: set(EXPECTED["pulls"]["19"]["fixes"])}


@pytest.mark.invariant(7)
def test_unbuildable_candidates_are_rejected_with_a_reason(demo: Demo) -> None:
    rejected = read_records(demo.store.qualification(REPO) / "rejections.jsonl", Rejection)
    assert {rejection.instance_id: rejection.reason for rejection in rejected} == {
        REPO.instance_id(29): "no_fix_transition",
        REPO.instance_id(36): "environment_failed",
    }


# -- money -----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("money-adds-up")
@pytest.mark.rule("costs-columns")
def test_ledger_holders_and_costs_add_up_exactly(demo: Demo) -> None:
    """The cost per instance is known for every agent."""
    ledger = Ledger(demo.store.ledger)
    experiments = {row.experiment for row in ledger.rows()}
    per_holder = ledger.per_holder(experiments.pop())
    with demo.store.costs.open(newline="") as lines:
        (row,) = csv.DictReader(lines)
    assert not experiments, "one experiment spent money"
    assert set(per_holder) == {SHARED, *(instance.instance_id for instance in demo.instances)}
    assert sum(per_holder.values()) == ledger.spend() == Decimal(row["cost_llm_usd"]) + Decimal(row["cost_emb_usd"])
    assert Decimal(row["cost_emb_usd"]) > per_holder[SHARED] > 0, "an index serves all, a question one"
    assert (row["repo"], row["model"], row["agent"]) == (str(REPO), "scripted", "magentless")
    assert int(row["req_llm"]) + int(row["req_emb"]) == len(ledger.rows())
    assert int(row["req_llm"]) == 5 * len(demo.instances) + 1, "five steps, and one repair that is asked for again"
    ledger.close()


# -- secrets ---------------------------------------------------------------------------------------------------------
@pytest.mark.invariant(6)
@pytest.mark.trap("token-in-log")
def test_no_secret_is_written_anywhere(demo: Demo) -> None:
    """A widely used collector prints tokens into its log. The gateway's keys are secrets, too."""
    canaries = [value.encode() for value in SECRETS.values()]
    places = [*contents(demo.store.root), (Path("console"), (demo.first.stdout + demo.first.stderr).encode())]
    held = [str(path) for path, data in places if any(canary in data for canary in canaries) or ISSUED_KEY.search(data)]
    assert len(places) > 100 and held == []


# -- what an agent sees ----------------------------------------------------------------------------------------------
def canaries(demo: Demo, instance: Instance) -> set[str]:
    return gold_lines(open_clone(demo.store.root / "harbor-ui.git"), instance)


def asked(demo: Demo, instance: Instance) -> list[str]:
    """Every prompt that the agent sent for an instance."""
    paths = demo.store.root.glob(f"03_predictions/answers/*/{instance.instance_id}/*/trajectory.jsonl")
    entries = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    messages = [message for entry in entries for message in entry.get("messages", ())]
    return [message["content"] for message in messages if message["role"] == "user"]


@pytest.mark.invariant(1)
def test_no_prompt_contains_the_solution(demo: Demo) -> None:
    """In another benchmark, the images contain gold patch and test patch; 21% of one model's runs used the history."""
    for instance in demo.instances:
        lines, prompts = canaries(demo, instance), asked(demo, instance)
        assert len(lines) >= 3 and len(prompts) >= 5, instance.instance_id
        assert [line for line in lines for prompt in prompts if line in prompt] == []


@pytest.mark.invariant(1)
@pytest.mark.rule("statement-source")
def test_tasks_contain_the_issue_and_no_text_of_the_pull_request(demo: Demo) -> None:
    """A pull request's own text often gives the solution away: it is the statement only if there is no issue."""
    (path,) = demo.store.root.glob("03_predictions/repair/magentless/*/*/*/tasks.jsonl")
    tasks = dict(zip((made.instance_id for made in demo.instances), path.read_text().splitlines(), strict=True))
    for instance in demo.instances:
        task = tasks[instance.instance_id]
        assert json.loads(task) == instance.task().model_dump(mode="json")
        assert not any(line in task for line in canaries(demo, instance))
        assert instance.merge_sha not in task and instance.base.sha not in task
        if instance.statement_source == "issue":
            assert instance.title not in task and instance.body not in task
    assert [made.number for made in demo.instances if made.statement_source == "pull_request"] == [27]
