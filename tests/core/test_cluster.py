"""Units on workers through a real scheduler: the same results as with threads, whichever process is killed, and no unit
done twice."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dask_double import Dask
from histories import History
from work_requests import Call, Read, Reads, Sandboxed, Slow, Square

from pipeline.core import cluster, slot
from pipeline.core.errors import UserError
from pipeline.core.slot import Returned
from pipeline.core.work import Event, each

pytestmark = pytest.mark.engine("git")
STAYS = 2


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    with Dask(tmp_path_factory.mktemp("dask"), workers=STAYS) as dask:
        yield dask


@pytest.fixture
def dask(started: Dask, monkeypatch: pytest.MonkeyPatch) -> Dask:
    """Two workers; killed ones are started again after each test, and added ones removed."""
    monkeypatch.setenv(cluster.ADDRESS, started.address)
    for extra in started.workers[STAYS:]:
        extra.kill()
        extra.wait()
    started.workers = [worker for worker in started.workers if worker.poll() is None]
    for _ in range(STAYS - len(started.workers)):
        started.join(f"another{time.time_ns()}")
    return started


def performed(requests: Sequence[Any], jobs: int = 2, **how: Any) -> dict[Any, Any]:
    return dict(each(requests, jobs=jobs, engine="dask", **how))


def beginnings(folder: Path) -> Counter[int]:
    """How often each unit was started."""
    return Counter(int(path.name.partition(".")[0]) for path in folder.iterdir())


@pytest.mark.parametrize("affinity", ["", "same"])
def test_workers_and_threads_give_equal_results(dask: Dask, affinity: str) -> None:
    requests = [Square(number, affinity) for number in range(20)]
    heard: list[Event] = []
    assert performed(requests, hear=heard.append) == dict(each(requests, jobs=2))
    assert len(heard) == 20
    assert os.getpid() not in {event.data for event in heard}


def test_events_and_logs_arrive_while_a_unit_runs(dask: Dask, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[float] = []
    with caplog.at_level("DEBUG", logger="pipeline"):
        performed([Slow(1, str(tmp_path), seconds=1), Square(3)], hear=lambda event: heard.append(time.monotonic()))
    assert time.monotonic() - heard[0] > 0.5
    assert any(record.getMessage().startswith("square of 3 in ") for record in caplog.records)


@pytest.mark.invariant(7)
def test_a_broken_unit_and_a_dead_process_cost_their_own_unit(dask: Dask) -> None:
    found = performed([Square(1), Square(2, ways="dies"), Square(3, ways="raises"), Square(4)])
    assert {request.number: result for request, result in found.items() if request.number != 2} == {
        1: 1,
        3: "ValueError: no number",
        4: 16,
    }
    (told,) = [result for request, result in found.items() if request.number == 2]
    assert told.startswith(f"InfrastructureError: {cluster.TRIES} workers ended while they performed it: tcp://")
    assert told.count("ended with 7") == cluster.TRIES
    assert all(worker.poll() is None for worker in dask.workers)


@pytest.mark.invariant(4)
def test_the_units_of_a_killed_worker_are_performed_elsewhere(dask: Dask, tmp_path: Path) -> None:
    requests = [Slow(number, str(tmp_path), seconds=0.7) for number in range(8)]
    killed: list[int] = []

    def hear(event: Event) -> None:
        if event.data and not killed:
            killed.append(event.data)
            threading.Timer(0.2, os.kill, (event.data, signal.SIGKILL)).start()

    found = performed(requests, hear=hear)
    assert sorted(found.values()) == list(range(8))
    begun = beginnings(tmp_path)
    assert sum(begun.values()) == 9, "one was begun twice, and no other"


@pytest.mark.invariant(4)
def test_a_unit_that_kills_workers_is_not_evaluated_and_its_neighbours_are(dask: Dask, tmp_path: Path) -> None:
    for number in range(2):
        dask.join(f"further{number}")
    quiet = [Slow(number, str(tmp_path)) for number in range(1, 5)]
    found = performed([Slow(0, str(tmp_path), kills=True), *quiet], jobs=3)
    (told,) = [result for request, result in found.items() if request.kills]
    assert told.startswith(f"worker {cluster.TRIES} workers ended while they performed it")
    assert [found[one] for one in quiet] == [1, 2, 3, 4]
    assert beginnings(tmp_path)[0] == cluster.TRIES


def test_results_survive_a_restart_of_the_scheduler(dask: Dask, tmp_path: Path) -> None:
    """The scheduler is killed and restarted during a batch; workers and coordinator reconnect."""
    requests = [Slow(number, str(tmp_path), seconds=0.5) for number in range(8)]
    found: dict[int, int] = {}
    for request, result in each(requests, jobs=2, engine="dask"):
        found[request.number] = result
        if len(found) == 3:
            dask.scheduler.kill()
            dask.scheduler.wait()
            threading.Timer(1, dask.start_scheduler).start()
    assert found == {number: number for number in range(8)}
    begun = beginnings(tmp_path)
    came_before = [number for number, times in begun.items() if times == 1]
    assert len(came_before) >= 6, "what was under way was begun again, and nothing else"


def test_a_worker_that_joins_later_is_given_work(dask: Dask, tmp_path: Path) -> None:
    requests = [Slow(number, str(tmp_path), meets=3) for number in range(3)]
    threading.Timer(0.2, dask.join, ("late",)).start()
    performed(requests, jobs=3)
    assert len({path.read_text() for path in tmp_path.iterdir()}) == 3


def test_a_connected_worker_is_not_taken_for_lost(dask: Dask, tmp_path: Path) -> None:
    """The client also asks about workers, sometimes about none, at any time."""
    import dask.config as settings

    with settings.set({"distributed.client.scheduler-info-interval": "1ms"}):
        performed([Slow(number, str(tmp_path), seconds=2) for number in range(4)])
    assert set(beginnings(tmp_path).values()) == {1}


def test_units_go_where_their_environment_is(dask: Dask, tmp_path: Path) -> None:
    """On loopback all workers share a host, so the test gives each of them a host of its own."""
    far = cluster.RemoteWorker()
    try:
        remote = far._cluster
        until = time.monotonic() + 60
        while len(remote.free) != STAYS:  # one that an earlier test ended may still be listed
            assert time.monotonic() < until
            time.sleep(0.1)
        first, second = sorted(remote.free)
        with remote.changed:
            remote.hosts |= {first: "one", second: "other"}
        remote.made("environment", second)
        assert [remote.take("environment"), remote.take("unknown")] == [second, first]
    finally:
        far.end()


def test_an_immediate_stop_ends_units_on_workers(dask: Dask, tmp_path: Path) -> None:
    requests = [Square(number, ways="hangs", folder=str(tmp_path)) for number in range(2)]

    def begun() -> None:
        while len(list(tmp_path.iterdir())) < 2:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=begun, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        performed(requests)
    assert performed([Square(5), Square(6)]) == {Square(5): 25, Square(6): 36}, "the slots are free again"


def test_a_clone_missing_on_a_worker_is_sent_by_content(
    dask: Dask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also a clone that only a nested request names, such as the runs that evidence is about."""
    history = History(tmp_path / "clone")
    commits = [history.commit(f"{number}", {"file.txt": f"{number}"}) for number in range(4)]
    reads = [Read(str(history.folder / ".git"), commit, "file.txt") for commit in commits]
    requests = [*reads[1:], Reads(reads[0])]
    before = dict(each(requests, jobs=1))
    hidden = history.folder.rename(tmp_path / "elsewhere")
    monkeypatch.setattr(cluster, "Path", lambda _: hidden / ".git")
    found = performed(requests)
    assert {request: read[:2] for request, read in found.items()} == {
        request: read[:2] for request, read in before.items()
    }
    assert all("/objects/" in read[2] for read in found.values())


def test_a_batch_without_a_scheduler_is_refused_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(cluster.ADDRESS, raising=False)
    with pytest.raises(UserError, match="no scheduler is named"):
        performed([Square(1)])


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("server", "'server' is not a scheduler's address"),
        ("tcp://server:port", "'tcp://server:port' is not a scheduler's address"),
        ("tcp://127.0.0.1:1", "no scheduler answers at tcp://127.0.0.1:1: .*refused"),
    ],
)
def test_an_address_without_a_scheduler_is_refused(monkeypatch: pytest.MonkeyPatch, address: str, message: str) -> None:
    monkeypatch.setenv(cluster.ADDRESS, address)
    with pytest.raises(UserError, match=message) as error:
        performed([Square(1)])
    assert "tcp://HOST:8786" in (error.value.hint or "")


def test_workers_of_another_version_get_no_work(dask: Dask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot, "code", lambda: "another")
    with pytest.raises(UserError, match="all workers run another version"):
        performed([Square(1)])


def test_paths_of_the_coordinator_become_those_of_the_worker(dask: Dask, tmp_path: Path) -> None:
    """There, the cache and the project have other paths."""
    own = slot.places()
    moves = {"/theirs/cache": own[0], "/theirs/project": own[1]}
    request = Slow(1, "/theirs/project/vendors/agent")
    assert slot._moved(request, moves).folder == f"{own[1]}/vendors/agent"
    assert slot._moved(("/theirs/cache", "/theirs/cached", Path("/theirs/cache/a")), moves) == (
        own[0],
        "/theirs/cached",
        Path(own[0]) / "a",
    )


def test_a_large_result_arrives(dask: Dask, tmp_path: Path) -> None:
    """It is not sent with the messages."""
    request = Slow(1, str(tmp_path), size=2 * slot.MOST)
    assert performed([request]) == {request: b"x" * request.size}


@pytest.mark.invariant(4)
def test_an_unreachable_gateway_is_reported_with_a_hint(
    dask: Dask, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An embedded gateway listens only on the coordinator's loopback."""
    with socket.create_server(("127.0.0.1", 0)) as gateway:
        url = f"http://127.0.0.1:{gateway.getsockname()[1]}/v1"
        assert performed([Call(url)]) == {Call(url): "asked"}
    (result,) = performed([Call(url)]).values()
    assert result.startswith(f"gateway {cluster.TRIES} workers did not reach the model gateway: tcp://")
    assert url in result and "A11Y_BENCH_PROXY_URL" in result
    assert "gets no work for" in capsys.readouterr().err


@pytest.mark.invariant(4)
def test_units_of_a_worker_without_a_sandbox_are_performed_elsewhere(
    dask: Dask, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ended each unit at once, so that it got nearly all of them, and none was evaluated."""
    join_unfit(dask, tmp_path, slots=4)
    until_listed(STAYS + 1)
    requests = [Sandboxed(number, str(tmp_path)) for number in range(12)]
    assert performed(requests, jobs=4) == {request: request.number for request in requests}
    output = capsys.readouterr().err
    assert output.count("a worker gets no work for 120 s: tcp://") == 1
    assert "install Node with npm, and git" in output and "just doctor" in output


def test_a_unit_without_a_sandbox_on_any_worker_is_not_evaluated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Dask(tmp_path, workers=0) as alone:
        monkeypatch.setenv(cluster.ADDRESS, alone.address)
        join_unfit(alone, tmp_path)
        (result,) = performed([Sandboxed(1, str(tmp_path))]).values()
    assert result.startswith(f"sandbox: {cluster.TRIES} workers had no working sandbox for it: tcp://")
    assert result.count("just doctor") == 1


def join_unfit(dask: Dask, folder: Path, slots: int = 1) -> None:
    """A worker on a machine without Node."""
    (folder / "git").symlink_to(shutil.which("git") or "")
    dask.join("unfit", slots, {"PATH": str(folder)})


def until_listed(workers: int) -> None:
    """Wait until a coordinator sees this many workers."""
    joined = cluster.RemoteWorker()
    with joined._cluster.changed:
        assert joined._cluster.changed.wait_for(lambda: len(joined._cluster.free) == workers, timeout=60)
    joined.end()


# -- results that do not arrive --------------------------------------------------------------------------------------
class Future:
    """A unit that has ended; its result is fetched by `fetch`."""

    def __init__(self, fetch: Callable[[], Any]) -> None:
        self.fetch, self.status = fetch, "finished"

    def add_done_callback(self, call: Callable[[Any], None]) -> None:
        call(self)

    def result(self, timeout: float) -> Any:
        return self.fetch()

    def cancel(self) -> None:
        pass


class Client:
    """A connection to a scheduler with one worker, by which no result arrives until `arrives` says so."""

    status, scheduler = "running", SimpleNamespace(identity=None)

    def __init__(self, arrives: Callable[[int], bool]) -> None:
        self.arrives, self.submitted = arrives, 0

    def sync(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {"workers": {"tcp://one:1": {"nthreads": 1, "host": "one"}}}

    def submit(self, *_: Any, **__: Any) -> Future:
        self.submitted += 1
        return Future(partial(self._fetched, self.submitted))

    def _fetched(self, number: int) -> Returned:
        if self.arrives(number):
            return Returned("result", pickle.dumps("arrived"))
        raise TimeoutError("too slow")

    def close(self, timeout: float) -> None:
        self.status = "closed"


def connected(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let batches use this connection."""
    address = "tcp://double:1"
    monkeypatch.setenv(cluster.ADDRESS, address)
    monkeypatch.setattr(cluster._Cluster, "_connected", lambda _: client)
    monkeypatch.setattr(cluster._Cluster, "_joined", {})


def test_a_result_that_does_not_arrive_is_a_failure_of_its_unit(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The unit was performed again and again, and nothing said so."""
    client = Client(lambda number: False)
    connected(client, monkeypatch)
    with caplog.at_level("WARNING", logger="pipeline"):
        (result,) = performed([Square(1)], jobs=1).values()
    assert client.submitted == cluster.TRIES == len(caplog.records)
    assert f"{cluster.TRIES} workers performed it, but its result did not arrive: tcp://one:1: " in result
    assert "too slow" in result


def test_no_unit_waits_for_workers_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that asked for a worker after all of them had been refused waited for ever, and the batch with it."""
    connected(Client(lambda number: True), monkeypatch)
    far = cluster.RemoteWorker()
    try:
        address = far._cluster.take("")
        for refused in (lambda: far._cluster.refuse(address), lambda: far._cluster.take("")):
            with pytest.raises(UserError, match="all workers run another version"):
                refused()
    finally:
        far.end()


def test_a_result_that_arrives_with_the_second_try_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    connected(Client(lambda number: number == 2), monkeypatch)
    assert performed([Square(1)], jobs=1) == {Square(1): "arrived"}


def test_a_result_that_is_lost_with_the_scheduler_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The unit is performed again, however often the scheduler is restarted."""

    def restarted(number: int) -> bool:
        clients.append(Client(clients[0].arrives))
        clients[-1].submitted = number
        (joined,) = cluster._Cluster._joined.values()
        joined.client = clients[-1]
        return number > 2 * cluster.TRIES

    clients = [Client(lambda number: restarted(number))]
    connected(clients[0], monkeypatch)
    assert performed([Square(1)], jobs=1) == {Square(1): "arrived"}
