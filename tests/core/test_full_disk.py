"""Full disks: how they are recognized, and a worker whose cache and temporary folders are on one."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dask_double import Dask
from histories import History
from lacking import lack
from tiny_library import IMPATIENT, LIMITS, REPO, Bench
from work_requests import Keep, Read

from pipeline.build.qualify import Settings
from pipeline.build.stage import build
from pipeline.core import cluster
from pipeline.core.errors import InfrastructureError
from pipeline.core.full_disk import explained, is_full
from pipeline.core.records import Instance, Rejection
from pipeline.core.store import read_records
from pipeline.core.work import Event, each

#: bytes of the small disk, and of what a unit leaves on it
SIZE, UNIT = 1_000_000, 300_000


def failed(stderr: bytes | str | None) -> subprocess.CalledProcessError:
    return subprocess.CalledProcessError(128, ["git"], stderr=stderr)


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), True),
        (OSError(errno.EACCES, "Permission denied"), False),
        (InfrastructureError("the engine's disk is full", cause="disk"), True),
        (InfrastructureError("the engine is gone", cause="engine"), False),
        (shutil.Error([("a", "b", "[Errno 28] No space left on device: 'a' -> 'b'")]), True),
        (shutil.Error([("[Errno 28]", "b", "[Errno 13] Permission denied: '[Errno 28]' -> 'b'")]), False),
        (failed(b"fatal: write error: No space left on device\n"), True),
        (failed(b"fatal: pack has bad object\n"), False),
        (failed(None), False),
        (ValueError("No space left on device"), False),
    ],
    ids=repr,
)
def test_a_full_disk_is_recognized(error: Exception, full: bool) -> None:
    """Only errors of the system, of our own programs and of sandboxes count, never a candidate's output."""
    assert is_full(error) is full


def test_a_full_disk_is_explained() -> None:
    message = str(explained(OSError(errno.ENOSPC, "No space left on device", "/cache/file")))
    assert "no space left on" in message and "/cache/file; free space there, or set A11Y_BENCH_CACHE" in message


# -- one machine -----------------------------------------------------------------------------------------------------
@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A small file system in memory."""
    if sys.platform != "linux":
        lack("needs Linux")
    folder = tmp_path / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "a11y-bench", folder], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.engine("git", "root")
@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_a_unit_reports_a_full_disk(small: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A11Y_BENCH_CACHE", str(small))
    found = dict(each([Keep(1, UNIT), Keep(2, 2 * SIZE), Keep(3, UNIT)], jobs=1, engine=engine))
    assert found.pop(Keep(1, UNIT)) == 1
    result = found[Keep(2, 2 * SIZE)]
    assert result.startswith("disk: no space left on ") and "free space there, or set A11Y_BENCH_CACHE" in result


# -- workers ---------------------------------------------------------------------------------------------------------
def join_small(dask: Dask, small: Path) -> None:
    dask.join("small", environment={"A11Y_BENCH_CACHE": str(small / "cache"), "TMPDIR": str(small)})


@pytest.mark.engine("git", "root")
@pytest.mark.invariant(4)
def test_units_that_do_not_fit_on_a_worker_are_performed_elsewhere(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The worker performs some until its disk is full, and their results remain. Even a slow worker gets enough
    units."""
    heard: list[Event] = []
    requests = [Keep(number, UNIT) for number in range(100)]
    with Dask(tmp_path, workers=1) as dask:
        monkeypatch.setenv(cluster.ADDRESS, dask.address)
        join_small(dask, small)
        cluster_is_there(2)
        assert dict(each(requests, jobs=2, engine="dask", hear=heard.append)) == {
            request: request.number for request in requests
        }
    places = [event.text for event in heard]
    assert sorted(event.unit for event in heard) == sorted(request.name for request in requests), "each succeeded once"
    assert 1 <= places.count(str(small / "cache")) <= SIZE // UNIT
    output = capsys.readouterr().err
    assert output.count("a worker gets no work for 120 s: tcp://") == output.count("no space left on") == 1
    assert "free space there, or set A11Y_BENCH_CACHE" in output


def cluster_is_there(workers: int) -> None:
    worker = cluster.RemoteWorker()
    with worker._cluster.changed:
        assert worker._cluster.changed.wait_for(lambda: len(worker._cluster.free) == workers, timeout=60)
    worker.end()


@pytest.mark.engine("git", "root")
def test_a_clone_that_does_not_fit_on_a_worker_is_reported(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(tmp_path / "clone")
    commit = history.commit("large", {"file": os.urandom(2 * SIZE)})
    request = Read(str(tmp_path / "nowhere/.git"), commit, "file")
    monkeypatch.setattr(cluster, "Path", lambda _: history.folder / ".git")
    with Dask(tmp_path, workers=0) as dask:
        monkeypatch.setenv(cluster.ADDRESS, dask.address)
        join_small(dask, small)
        ((_, result),) = each([request], jobs=1, engine="dask")
    assert f"{cluster.TRIES} workers had no disk space for it: tcp://" in result
    assert result.count("free space there, or set A11Y_BENCH_CACHE") == 1


@pytest.mark.engine("git", "root")
@pytest.mark.invariant(4)
@pytest.mark.rule("not-evaluated-is-retried")
def test_a_build_on_a_worker_that_is_full_is_finished_by_another(
    tiny: Bench, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first build decided stays; the next one decides the rest, as with threads."""
    bench = Bench(tmp_path, tiny.library, tmp_path / "cache")
    bench.collect()
    how: dict[str, Any] = {"trust_local": True, "patience": IMPATIENT, "engine": "dask", "jobs": 1}
    settings = Settings(bench.sandbox, repeats=1, limits=LIMITS)
    with Dask(tmp_path, workers=0) as dask:
        monkeypatch.setenv(cluster.ADDRESS, dask.address)
        join_small(dask, small)
        cluster_is_there(1)
        (small / "balloon").write_bytes(b"x" * (SIZE - 100_000))
        (rejected,) = build(bench.store, REPO, settings, numbers=[1], **how)
        assert isinstance(rejected, Rejection) and rejected.reason == "not_evaluated", rejected
        assert rejected.detail.startswith(f"disk: {cluster.TRIES} workers had no disk space for it")
        assert "A11Y_BENCH_CACHE" in rejected.detail
        dask.join("large")
        cluster_is_there(2)
        build(bench.store, REPO, settings, numbers=[1, 2], **how)
    assert [instance.number for instance in read_records(bench.store.dataset(REPO), Instance)] == [1, 2]
