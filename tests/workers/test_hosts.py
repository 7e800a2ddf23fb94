"""Batches on workers on separate hosts, with power failures, pulled cables and restarts: the results have the same
bytes as with threads, nothing is lost, and nothing is written twice.

The first host has the data, the clone, the coordinator and the scheduler. Each of the two others has a worker with the
local sandbox and a cache of its own, and sees no file of the first.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator

import pytest
from hosts_bench import BUILD, EVALUATE, Site, finished, joined, written
from lacking import lack
from namespaces import lacking, until

from pipeline.core.store import Store

pytestmark = [pytest.mark.engine("git", "root"), pytest.mark.invariant(3), pytest.mark.invariant(4)]
#: scheduler and workers notice a disconnected host within seconds
QUICK = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "5s", "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "11s"}
#: seconds for a command that takes ten on an idle machine
LIMIT = 180
DATASET, PREDICTIONS, VERDICTS = "02_dataset", "03_predictions", "04_evaluation"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    if reason := lacking():
        lack(reason)
    with Site(tmp_path_factory.mktemp("hosts"), QUICK) as site:
        yield site


def as_in_threads(site: Site, store: Store, stage: str) -> bool:
    """Whether a stage has the same bytes as with threads, and no file was replaced meanwhile."""
    return written(store, stage) == written(site.reference, stage) and not store.archive_root.exists()


def test_units_of_a_host_without_power_are_performed_elsewhere(site: Site) -> None:
    store, host = site.store("killed"), site.workers[0]
    with site.started(BUILD, store) as coordinator:
        site.until_at_work(host)
        host.kill()
        assert coordinator.wait(LIMIT) == 0
        assert "Traceback" not in site.output(store).read_text()
    assert as_in_threads(site, store, DATASET)
    site.start_worker(host)


def test_a_host_that_is_cut_off_for_a_while_loses_no_result(site: Site) -> None:
    """The scheduler has given its unit to the other worker; the host's own result is discarded."""
    store, host = site.store("cut"), site.workers[1]
    before = joined(host)
    with site.started(BUILD, store) as coordinator:
        site.until_at_work(host)
        site.network.cut(host)
        until(lambda: f"removing: <WorkerState 'tcp://{host.address}" in (site.center.folder / "log").read_text())
        site.network.join(host)
        until(lambda: joined(host) > before)
        assert coordinator.wait(LIMIT) == 0
    assert as_in_threads(site, store, DATASET)


def test_a_cable_that_is_loose_for_a_moment_is_not_noticed(site: Site) -> None:
    store, host = site.store("loose", DATASET, PREDICTIONS), site.workers[1]
    before = joined(host)
    with site.started(EVALUATE, store) as coordinator:
        site.until_all_at_work(store)
        site.network.cut(host)
        time.sleep(2)
        site.network.join(host)
        assert coordinator.wait(LIMIT) == 0
    assert as_in_threads(site, store, VERDICTS)
    assert joined(host) == before


def test_units_of_a_host_with_a_full_disk_are_performed_elsewhere(site: Site) -> None:
    """It gets the first unit, since it has most of the free slots."""
    store, host = site.store("full"), site.workers[0]
    before = joined(host)
    host.kill()
    site.start_worker(host, slots=2)
    until(lambda: joined(host) > before)
    # a kept instance needs no environment, so the worker would not write to the full disk
    shutil.rmtree(host.folder / "cache/instances", ignore_errors=True)
    environments = host.folder / "cache/environments"
    environments.mkdir(exist_ok=True)
    host.run("mount", "-t", "tmpfs", "-o", "size=4k", "full", str(environments))
    try:
        with site.started(BUILD, store) as coordinator:
            assert coordinator.wait(LIMIT) == 0
            assert "a worker gets no work for" in site.output(store).read_text()
    finally:
        host.run("umount", "--lazy", str(environments))
    assert written(store, DATASET) == written(site.reference, DATASET)


def test_a_scheduler_that_is_started_again_goes_on_with_the_batch(site: Site) -> None:
    store = site.store("scheduler", DATASET, PREDICTIONS)
    with site.started(EVALUATE, store) as coordinator:
        site.until_all_at_work(store)
        site.scheduler.kill()
        site.scheduler.wait()
        site.start_scheduler()
        assert coordinator.wait(LIMIT) == 0
    assert as_in_threads(site, store, VERDICTS)


def test_the_command_continues_after_a_power_cut_of_its_host(site: Site) -> None:
    """What was written is not made again."""
    store = site.store("center")
    with site.started(BUILD, store):
        until(lambda: finished(store, DATASET))
        site.center.kill()
    before = finished(store, DATASET)
    assert len(before) < len(finished(site.reference, DATASET))
    site.start_scheduler()
    with site.started(BUILD, store) as coordinator:
        assert coordinator.wait(LIMIT) == 0
    assert as_in_threads(site, store, DATASET)
    assert before.items() <= finished(store, DATASET).items()
