"""One batch in threads, on two workers and on a server: the same dataset, answers, verdicts and costs.

The model is scripted; all of them use one proxy, which has a PostgreSQL database.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from dask_double import PROGRAM, Dask
from llm.bench import MODELS, PROVIDER_KEY
from llm.database import MASTER_KEY, database, proxy
from remote.conftest import Laptop
from tiny_library import NUMBERS, REPO, Bench, instance_id, make_library

from pipeline.core import cluster
from pipeline.core.records import Outcome, Verdict
from pipeline.core.store import Store, read_records
from pipeline.llm.models import PROXY_KEY, PROXY_URL
from pipeline.llm.scripted import Answer, ScriptedModel
from pipeline.remote import jobs
from pipeline.remote import push as pushing
from pipeline.remote.pull import pull

TRUSTED = ("--sandbox", "local", "--trust-local")
BUILT = ("menu", "badge", "toggle", "alert")
#: pull request -> the file that a model changes, and how; the change for `badge` fixes nothing
EDITS = {
    "menu": ("src/menu.js", "old", "old, brand, new"),
    "badge": ("src/menu.js", "old new", "old, new, other"),
    "toggle": ("src/toggle.js", 'class="old"', 'class="new"'),
}
REPAIR = "```\n### {}\n<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE\n```\n"
SETTINGS = 'samples = {sets = 1, per_set = 1}\nretrieval = {model = ""}\n'
RECIPES = {"build": "build-run", "predict": "agt-run", "evaluate": "eval-run"}
OUTCOMES = {"menu": Outcome.RESOLVED, "badge": Outcome.UNRESOLVED, "toggle": Outcome.RESOLVED}
#: a file that records when each request was sent, and how long it took
TRAJECTORY = "trajectory.jsonl"
STAMP = re.compile(r"\d{8}T\d{6,12}Z")


def replies() -> Iterator[Answer]:
    """A model's replies to an agent's steps, in order, for each pull request."""
    for name, (path, search, replace) in EDITS.items():
        located, repaired = f"```\n{path}\nline: 1\n```\n", REPAIR.format(path, search, replace)
        for step in ("files", "elements", "lines", "repair"):
            reply = repaired if step == "repair" else located
            yield Answer((f"Step: {step}", f"aria label to {name}"), reply)


def batch(models: Path, settings: Path) -> list[tuple[str, ...]]:
    """The commands: they build, let an agent ask a model, and evaluate its answers."""
    return [
        ("build", str(REPO), *(f"--pr={NUMBERS[name]}" for name in BUILT), "--repeats=1", *TRUSTED),
        ("predict", str(REPO), "scripted", f"--models={models}", f"--settings={settings}"),
        ("evaluate", str(REPO), "scripted", *TRUSTED),
    ]


def run(store: Store, commands: Sequence[Sequence[str]], *more: str) -> None:
    for words in commands:
        command = [sys.executable, "-c", PROGRAM, *words, "--data", str(store.root), *more]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def run_there(laptop: Laptop, commands: Sequence[Sequence[str]]) -> None:
    for name, *words in commands:
        job = jobs.begin(laptop.host, " ".join((RECIPES[name], *words)))
        until = time.monotonic() + 240
        while (found := jobs.find(laptop.host, job)).state == "running":
            assert time.monotonic() < until
            time.sleep(0.2)
        assert found.code == "0", jobs.log(laptop.host, found, lines=50)


def written(store: Store) -> dict[str, bytes]:
    """What people compare: datasets, environments, verdicts, predictions and costs, without the run's time."""
    paths = [path for path in store.root.glob("0[234]_*/**/*") if path.suffix in (".jsonl", ".toml")]
    paths = [path for path in paths if path.name != TRAJECTORY]
    return {STAMP.sub("RUN", str(path.relative_to(store.root))): timeless(path) for path in (*paths, store.costs)}


def timeless(path: Path) -> bytes:
    return STAMP.sub("RUN", path.read_text()).encode()


@pytest.mark.engine("rsync", "PostgreSQL")
@pytest.mark.timeout(900)
@pytest.mark.invariant(3)
def test_a_batch_gives_the_same_bytes_in_threads_on_workers_and_on_a_server(
    laptop: Laptop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path / "collected", make_library(tmp_path).folder, tmp_path / "cache")
    bench.collect()
    models, settings = tmp_path / "models.yaml", tmp_path / "settings.toml"
    models.write_text(MODELS, encoding="utf-8")
    settings.write_text(SETTINGS)
    commands = batch(models, settings)
    threads, workers = Store(tmp_path / "threads/data"), Store(tmp_path / "workers/data")
    for store in (threads, workers, laptop.store):
        shutil.copytree(bench.store.root, store.root)
    with ScriptedModel(list(replies())) as model, database() as url:
        given = {"SCRIPTED_URL": model.url, "SCRIPTED_KEY": PROVIDER_KEY, "PACED_KEY": "k"}
        with proxy(url, models, tmp_path / "proxy.log", given) as address:
            monkeypatch.setenv(PROXY_URL, address)
            monkeypatch.setenv(PROXY_KEY, MASTER_KEY)
            monkeypatch.setenv("A11Y_BENCH_CACHE", str(bench.cache))
            run(threads, commands)
            with Dask(tmp_path) as dask:
                monkeypatch.setenv(cluster.ADDRESS, dask.address)
                run(workers, commands, "--engine=dask")
            pushing.push_project(laptop.host)
            pushing.push_data(laptop.host, laptop.store)
            pushing.push_clones(laptop.host, laptop.store)
            pushing.push_secrets(laptop.host, models)
            run_there(laptop, commands)
            pull(laptop.host, laptop.store)
    expected = written(threads)
    (verdicts,) = threads.root.glob("04_evaluation/**/verdicts.jsonl")
    outcomes = {verdict.instance_id: verdict.outcome for verdict in read_records(verdicts, Verdict)}
    assert outcomes == {instance_id(name): outcome for name, outcome in OUTCOMES.items()}
    names = {path.rpartition("/")[2] for path in expected}
    assert names >= {f"{REPO.slug}.jsonl", "predictions.jsonl", "verdicts.jsonl", "costs.csv"}
    assert written(workers) == expected
    assert written(laptop.store) == expected
