"""A small batch of real work, and hosts in network namespaces that share it: a coordinator and two workers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dask_double import PROGRAM, TESTS
from factories import REPO
from namespaces import Host, Network, until
from tiny_library import PULLS, Bench, make_library

from pipeline.core.cluster import ADDRESS
from pipeline.core.store import Store

#: pull requests of two environments (`icon` has the second one): each worker makes one of the environments
BATCH = ("menu", "toggle", "alert", "icon", "dialog", "card")
PORT = 8786
#: the stages that the batch writes, and a report
STAGES, REPORT = ("02_dataset", "04_evaluation"), "final_report.json"
#: the commands of the batch, by what they write
BUILD = ("build", str(REPO), "--repeats", "1")
EVALUATE = ("evaluate", str(REPO), "oracle")
LOCAL = ("--sandbox", "local", "--trust-local", "--jobs", "2", "--tries", "1")


class Site:
    """As a context manager: the hosts, their scheduler and workers. `given` are environment variables of all of
    them."""

    def __init__(self, folder: Path, given: Mapping[str, str] = {}) -> None:
        self.network = Network(folder, "center", "one", "two")
        self.center, *self.workers = self.network.hosts
        self.address, self.given = f"tcp://{self.center.address}:{PORT}", dict(given)
        library = make_library(self.center.folder, {name: PULLS[name] for name in BATCH})
        self.collected = Bench(self.center.folder / "collected", library.folder, self.center.folder / "cache")
        self.collected.collect()
        self.reference = self._in_threads()

    def _in_threads(self) -> Store:
        """The batch in threads, outside of the network. The workers get the tools that it downloaded."""
        store = self.store("threads")
        for command in ((*BUILD, *LOCAL), ("predict", str(REPO), "oracle"), (*EVALUATE, *LOCAL)):
            words = [sys.executable, "-c", PROGRAM, *command, "--data", str(store.root)]
            done = subprocess.run(words, env=os.environ | self._own(self.center), capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        for host in self.workers:
            shutil.copytree(self.center.folder / "cache/npm", host.folder / "cache/npm", symlinks=True)
        return store

    def __enter__(self) -> Site:
        self.network.__enter__()
        self.start_scheduler()
        until(lambda: self.address in (self.center.folder / "log").read_text())
        for host in self.workers:
            self.start_worker(host)
        until(lambda: all(map(joined, self.workers)))
        return self

    def __exit__(self, *_: object) -> None:
        self.network.__exit__()

    def start_scheduler(self) -> None:
        self.scheduler = self._start(self.center, "scheduler", "--host", self.center.address)

    def start_worker(self, host: Host, slots: int = 1) -> None:
        self._start(host, "worker", self.address, "--host", host.address, "--slots", str(slots))

    def store(self, name: str, *stages: str) -> Store:
        """A new data directory with the collected data, and these stages of the batch from threads."""
        store = self.collected.copy(self.center.folder / name).store
        for stage in stages:
            shutil.copytree(self.reference.root / stage, store.root / stage)
        return store

    @contextmanager
    def started(self, command: tuple[str, ...], store: Store) -> Iterator[subprocess.Popen[bytes]]:
        """A command running on the coordinator; if the block fails, its output is shown."""
        words = (*command, *LOCAL, "--engine", "dask", "--data", str(store.root))
        try:
            yield self._start(self.center, *words, log=self.output(store))
        except BaseException:
            print(
                self.output(store).read_text(),
                *((host.folder / "log").read_text() for host in self.network.hosts),
                sep="\n",
            )
            raise

    def output(self, store: Store) -> Path:
        """The output of commands on a data directory."""
        return store.root.parent / "output"

    def _start(self, host: Host, *words: str, log: Path | None = None) -> subprocess.Popen[bytes]:
        return host.start([sys.executable, "-c", PROGRAM, *words], self._own(host), log)

    def _own(self, host: Host) -> dict[str, str]:
        """The environment variables of a host's programs."""
        paths = {"A11Y_BENCH_CACHE": str(host.folder / "cache"), "PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"}
        return {**paths, ADDRESS: self.address, **self.given}

    def until_at_work(self, host: Host) -> None:
        """Wait until tests of a build run on a host."""
        until(lambda: host.processes("node"))

    def until_all_at_work(self, store: Store) -> None:
        """Wait until each worker has had a unit of an evaluation, whose tests may be too short to be seen running."""
        until(lambda: self.output(store).read_text().count("running the tests") >= len(self.workers))


def joined(host: Host) -> int:
    """How often a worker of a host has joined the scheduler."""
    return (host.folder / "log").read_text().count("working for ")


def written(store: Store, *stages: str) -> dict[str, bytes]:
    """The results of stages, by file: records and reports. Units contain times and logs, so only their names count."""
    folders = [store.root / stage for stage in stages or STAGES]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix == ".jsonl" or path.name == REPORT]
    found = {str(path.relative_to(store.root)): path.read_bytes() for path in files}
    return found | dict.fromkeys(finished(store, *stages), b"")


def finished(store: Store, *stages: str) -> dict[str, int]:
    """When each unit was finished, in ns, by its folder."""
    folders = [store.root / stage for stage in stages or STAGES]
    manifests = [path for folder in folders for path in folder.rglob("manifest.json")]
    return {str(path.parent.relative_to(store.root)): path.stat().st_mtime_ns for path in manifests}
