"""One batch in threads, on two workers and on a server: the same dataset, verdicts and costs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
from dask_double import PROGRAM, Dask
from evaluate.conftest import FIX, WRONG, Evaluation
from remote.conftest import Laptop
from tiny_library import NUMBERS, REPO, Bench, make_library

from pipeline.core import cluster
from pipeline.core.store import Store
from pipeline.llm.costs import write_costs
from pipeline.llm.ledger import OK, Booking, Key, Ledger, Sent
from pipeline.remote import jobs
from pipeline.remote import push as pushing
from pipeline.remote.pull import pull

TRUSTED = ("--sandbox", "local", "--trust-local")
BUILT = ("menu", "badge", "toggle", "alert")
BATCH = (
    ("build", str(REPO), *(f"--pr={NUMBERS[name]}" for name in BUILT), "--repeats=1", *TRUSTED),
    ("evaluate", str(REPO), "model-a", *TRUSTED),
)
RECIPES = {"build": "build-run", "evaluate": "eval-run"}


def begin(store: Store, bench: Bench) -> None:
    """A collected repository, predictions and what they cost."""
    shutil.copytree(bench.store.root, store.root)
    Evaluation(Bench(store.root.parent, bench.library, bench.cache)).predict(menu=FIX, badge=WRONG, toggle=FIX)


def run(store: Store, *more: str) -> None:
    for words in BATCH:
        command = [sys.executable, "-c", PROGRAM, *words, "--data", str(store.root), *more]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def run_there(laptop: Laptop) -> None:
    for name, *words in BATCH:
        job = jobs.begin(laptop.host, " ".join((RECIPES[name], *words)))
        until = time.monotonic() + 240
        while (found := jobs.find(laptop.host, job)).state == "running":
            assert time.monotonic() < until
            time.sleep(0.2)
        assert found.code == "0", jobs.log(laptop.host, found, lines=50)


def written(store: Store) -> dict[str, bytes]:
    """What people compare: datasets, environments, verdicts, predictions and costs."""
    paths = [path for path in store.root.glob("0[234]_*/**/*") if path.suffix in (".jsonl", ".toml")]
    return {str(path.relative_to(store.root)): path.read_bytes() for path in (*paths, store.costs)}


@pytest.mark.engine("rsync")
@pytest.mark.timeout(600)
@pytest.mark.invariant(3)
def test_a_batch_gives_the_same_bytes_in_threads_on_workers_and_on_a_server(
    laptop: Laptop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path / "collected", make_library(tmp_path).folder, tmp_path / "cache")
    bench.collect()
    with closing(Ledger(bench.store.ledger)) as ledger:
        ledger.issue("hash", Key("alias", "exp", str(REPO), "model-a", "magentless", "settings", "acme__ui-1"))
        ledger.record(Sent("one", "2026-01-01", "hash", "model-a", "llm"), Booking(OK, cost_usd=Decimal("0.00001")))
    write_costs(bench.store)
    monkeypatch.setenv("A11Y_BENCH_CACHE", str(bench.cache))
    threads, workers = Store(tmp_path / "threads/data"), Store(tmp_path / "workers/data")
    for store in (threads, workers, laptop.store):
        begin(store, bench)
    run(threads)
    with Dask(tmp_path) as dask:
        monkeypatch.setenv(cluster.ADDRESS, dask.address)
        run(workers, "--engine=dask")
    pushing.push_project(laptop.host)
    pushing.push_data(laptop.host, laptop.store)
    pushing.push_clones(laptop.host, laptop.store)
    run_there(laptop)
    pull(laptop.host, laptop.store)
    expected = written(threads)
    assert {path.rpartition("/")[2] for path in expected} >= {f"{REPO.slug}.jsonl", "verdicts.jsonl", "costs.csv"}
    assert written(workers) == expected
    assert written(laptop.store) == expected
