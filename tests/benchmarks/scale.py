"""A simulation of a large build over many hosts, from what builds here were measured to take (scale.toml).

`just bench scale [--instances N] [--figures FOLDER] [--json FILE]`. Writes figures and the table of docs/scaling.md
where a folder is named. Hosts have slots; what all of them share (the wire, the coordinator, the scheduler) serves one
after the other. Does not cover faults, hosts of different speed, rejected candidates, and agents.
"""

from __future__ import annotations

import heapq
import json
import random
import tomllib
from bisect import bisect_right
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from itertools import count, groupby
from pathlib import Path
from typing import Any, NamedTuple

import click

from benchmarks.goals import Figure, report

TABLE = tomllib.loads(Path(__file__).with_name("scale.toml").read_text())
CONSTANTS: dict[str, float] = TABLE["constants"] | TABLE["assumed"]
#: the quantiles of each row of the table
AT = (0.0, 0.10, 0.25, 0.50, 0.75, 0.90, 1.0)
HOSTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
#: how units find their environment, and what it means
WAYS = {
    "affinity": "units go where their environment is; a layer is made once",
    "shared": "units go anywhere; a layer is made once and pulled from a registry",
    "not shared": "units go anywhere; each host makes the layers that it needs",
}
SEED = 20261123


class Work(NamedTuple):
    """An instance: its environment and repository by number, seconds, and sizes in MB."""

    environment: int
    repository: int
    seconds: float
    install: float
    environment_mb: float
    sources_mb: float
    result_mb: float


class Outcome(NamedTuple):
    """The result of a simulation. `wire_gb` and `registry_gb` were transferred, `disk_gb` is on a host on average if
    nothing is removed; `busy` is the share of time in which each resource was used: for hosts, their slots' work."""

    way: str
    hosts: int
    hours: float
    usd: float
    installs: int
    registry_gb: float
    wire_gb: float
    disk_gb: float
    busy: dict[str, float]

    @property
    def bottleneck(self) -> str:
        return max(self.busy, key=lambda name: self.busy[name])


def drawn(name: str, chance: random.Random) -> float:
    """A value of a row of the table, between its quantiles."""
    values, at = TABLE["distributions"][name], chance.random()
    place = min(bisect_right(AT, at), len(AT) - 1)
    share = (at - AT[place - 1]) / (AT[place] - AT[place - 1])
    return values[place - 1] + share * (values[place] - values[place - 1])


def instances(number: int, seed: int = SEED) -> list[Work]:
    """Instances, in order of their environment."""
    chance, made = random.Random(seed), []
    for environment in count():
        install, size = drawn("install", chance), drawn("environment_mb", chance)
        for _ in range(round(drawn("shared", chance))):
            if len(made) == number:
                return made
            seconds = drawn("tests", chance) + drawn("other", chance)
            repository = len(made) // int(CONSTANTS["instances_of_repository"])
            sizes = drawn("sources_mb", chance), drawn("result_kb", chance) / 1000
            made.append(Work(environment, repository, seconds, install, size, *sizes))
    raise AssertionError


class _Served:
    """A resource that serves one request after the other."""

    def __init__(self) -> None:
        self.free, self.busy = 0.0, 0.0

    def until(self, asked: float, seconds: float) -> float:
        """When it has served the request that is made now."""
        self.free = max(self.free, asked) + seconds
        self.busy += seconds
        return self.free


#: what a slot waits for: a time, or another slot's action
Until = float | tuple[str, int, int]
Life = Generator[Until, float, None]


class Simulation:
    """One build; the same instances give the same result."""

    def __init__(self, way: str, hosts: int, work: Sequence[Work]) -> None:
        self.way, self.hosts, self.work = way, hosts, work
        self.wire, self.coordinator, self.scheduler = _Served(), _Served(), _Served()
        self.waiting, self.own = deque(self._groups()), [deque[Work]() for _ in range(hosts)]
        self.making = [0] * hosts
        #: (host, environment) -> whether the layer is there; hosts are numbered from 0, the registry is -1
        self.there: dict[tuple[int, int], bool] = {}
        self.parked: dict[Until, list[Life]] = {}
        self.events: list[tuple[float, int, Life]] = []
        self.numbers = count()
        self.repositories: list[set[int]] = [set() for _ in range(hosts)]
        self.disk = [CONSTANTS["base_mb"]] * hosts
        self.installs, self.registry, self.worked, self.ended = 0, 0.0, 0.0, 0.0

    def outcome(self) -> Outcome:
        slots = int(CONSTANTS["slots"]) * self.hosts
        self._run(slots)
        served = {"wire": self.wire, "coordinator": self.coordinator, "scheduler": self.scheduler}
        busy = {name: server.busy / self.ended for name, server in served.items()}
        return Outcome(
            way=self.way,
            hosts=self.hosts,
            hours=self.ended / 3600,
            usd=self.ended / 3600 * self.hosts * CONSTANTS["usd_host_hour"],
            installs=self.installs,
            registry_gb=self.registry / 1000,
            wire_gb=self.wire.busy * CONSTANTS["wire_mb_s"] / 1000,
            disk_gb=sum(self.disk) / self.hosts / 1000,
            busy=busy | {"hosts": self.worked / (slots * self.ended)},
        )

    def _run(self, slots: int) -> None:
        """Every slot works until nothing is left; events happen in the order of their time."""
        for slot in range(slots):
            life = self._slot(slot % self.hosts)
            self._go_on(life, next(life, None))
        while self.events:
            now, _, life = heapq.heappop(self.events)
            with suppress(StopIteration):
                self._go_on(life, life.send(now))

    def _go_on(self, life: Life, until: Until | None) -> None:
        if isinstance(until, tuple):
            self.parked.setdefault(until, []).append(life)
        elif until is not None:
            heapq.heappush(self.events, (until, next(self.numbers), life))

    def _wake(self, now: float, what: Until) -> None:
        for life in self.parked.pop(what, []):
            heapq.heappush(self.events, (now, next(self.numbers), life))

    def _groups(self) -> Iterator[list[Work]]:
        """What is handed out as one: an environment's units if units go to it, otherwise single ones, shuffled."""
        if self.way != "affinity":
            mixed = list(self.work)
            random.Random(SEED).shuffle(mixed)
            yield from ([unit] for unit in mixed)
            return
        yield from (list(group) for _, group in groupby(self.work, key=lambda unit: unit.environment))

    def _slot(self, host: int) -> Life:
        """A slot's work: units that are ready on its host, then a new environment, then units that will be ready
        there."""
        now = 0.0
        while True:
            others: list[Work] = []
            if self.own[host]:
                work = self.own[host].popleft()
            elif self.waiting:
                work, *others = self.waiting.popleft()
            elif self.making[host]:
                now = yield ("ready", host, 0)
                continue
            else:
                return
            self.making[host] += bool(others)
            now = yield self.coordinator.until(now, CONSTANTS["coordinator_ms"] / 1000)
            now = yield self.scheduler.until(now, CONSTANTS["scheduler_ms"] / 1000)
            now = yield self._carried(now, self._objects(host, work))
            now = yield from self._environment(now, host, work)
            if others:
                self.own[host].extend(others)
                self.making[host] -= 1
                self._wake(now, ("ready", host, 0))
            self.disk[host] += work.sources_mb
            self.worked += work.seconds
            now = yield now + work.seconds
            now = yield self._carried(now, work.result_mb)
            self.ended = max(self.ended, now)

    def _objects(self, host: int, work: Work) -> float:
        known = work.repository in self.repositories[host]
        self.repositories[host].add(work.repository)
        return CONSTANTS["further_objects_mb" if known else "objects_mb"]

    def _environment(self, now: float, host: int, work: Work) -> Generator[Until, float, float]:
        """Get the layer of dependencies onto the host: it is there, somebody is making it, or it is pulled or made."""
        here, anywhere = (host, work.environment), (-1, work.environment)
        if (now := (yield from self._made_by_others(now, here))) < 0:
            return -now
        self.there[here] = False
        self.disk[host] += work.environment_mb
        size = work.environment_mb * CONSTANTS["packed"]
        if self.way == "shared" and (now := (yield from self._made_by_others(now, anywhere))) < 0:
            now = yield self._carried(-now, size)
            self.registry += size
        else:
            now = yield from self._installed(now, size, work, anywhere)
        self.there[here] = True
        self._wake(now, ("there", *here))
        return now

    def _made_by_others(self, now: float, what: tuple[int, int]) -> Generator[Until, float, float]:
        """The time when nobody else is making it any more; negative if the layer is then there."""
        if what in self.there and not self.there[what]:
            now = yield ("there", *what)
        return -now if what in self.there else now

    def _installed(
        self, now: float, size: float, work: Work, anywhere: tuple[int, int]
    ) -> Generator[Until, float, float]:
        self.installs += 1
        self.registry += size
        self.there.setdefault(anywhere, False)
        now = yield self._carried(now, size)
        self.worked += work.install
        now = yield now + work.install
        if self.way == "shared":
            now = yield self._carried(now, size)  # to the registry, for the others
            self.registry += size
        self.there[anywhere] = True
        self._wake(now, ("there", *anywhere))
        return now

    def _carried(self, now: float, megabytes: float) -> float:
        return self.wire.until(now, megabytes / CONSTANTS["wire_mb_s"])


def simulated(number: int, hosts: Sequence[int] = HOSTS) -> list[Outcome]:
    """All ways with all numbers of hosts."""
    work = instances(number)
    return [Simulation(way, host, work).outcome() for way in WAYS for host in hosts]


def table(outcomes: Sequence[Outcome]) -> str:
    """The outcomes as a Markdown table."""
    names = (
        "way",
        "hosts",
        "hours",
        "USD",
        "installs",
        "registry, GB",
        "disk of a host, GB",
        "hosts busy",
        "wire busy",
    )
    lines = [f"| {' | '.join(names)} | bottleneck |", "|" + "---|" * 10]
    for outcome in outcomes:
        cells = [
            outcome.way,
            f"{outcome.hosts:,}",
            f"{outcome.hours:,.1f}",
            f"{outcome.usd:,.0f}",
            f"{outcome.installs:,}",
        ]
        cells += [
            f"{outcome.registry_gb:,.0f}",
            f"{outcome.disk_gb:,.1f}",
            f"{outcome.busy['hosts']:.0%}",
            f"{outcome.busy['wire']:.0%}",
        ]
        lines.append(f"| {' | '.join([*cells, outcome.bottleneck])} |")
    return "\n".join(lines) + "\n"


def draw(outcomes: Sequence[Outcome], folder: Path) -> None:
    """Figures: the time and the traffic by the number of hosts, and how busy each resource is."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "scale", "svg.fonttype": "none", "font.size": 9}
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    styles = dict(zip(WAYS, ("-o", "--s", ":^"), strict=True))
    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    rows = (("hours", "hours"), ("registry_gb", "registry traffic, GB"), ("disk_gb", "disk of a host, GB"))
    for axis, (field, label) in zip(axes, rows, strict=True):
        for way, style in styles.items():
            points = [(outcome.hosts, getattr(outcome, field)) for outcome in outcomes if outcome.way == way]
            axis.loglog(*zip(*points, strict=True), style, label=way, markersize=4)
        axis.set(xlabel="hosts", ylabel=label)
    axes[0].legend()
    figure.savefig(folder / "scaling-time.svg", metadata={"Date": None})
    figure, axes = pyplot.subplots(1, len(WAYS), figsize=(11, 3.4), layout="constrained", sharey=True)
    for axis, way in zip(axes, WAYS, strict=True):
        mine = [outcome for outcome in outcomes if outcome.way == way]
        for name, style in zip(mine[0].busy, ("-o", "--s", ":^", "-.v"), strict=True):
            axis.semilogx(
                [outcome.hosts for outcome in mine],
                [outcome.busy[name] for outcome in mine],
                style,
                label=name,
                markersize=4,
            )
        axis.set(xlabel="hosts", title=way)
    axes[0].set(ylabel="busy")
    axes[0].legend()
    figure.savefig(folder / "scaling-busy.svg", metadata={"Date": None})


@click.command()
@click.option("--instances", "number", type=click.IntRange(1), default=100_000, show_default=True)
@click.option("--figures", type=click.Path(path_type=Path, file_okay=False), help="Write figures and the table here.")
@click.option("--json", "path", type=click.Path(path_type=Path, dir_okay=False))
def main(number: int, figures: Path | None, path: Path | None) -> None:
    """Simulate how long many hosts take for many instances, and what they wait for."""
    outcomes = simulated(number)
    if figures:
        draw(outcomes, figures)
        (figures / "scaling-table.md").write_text(table(outcomes))
    if path:
        path.write_text(json.dumps([described(outcome) for outcome in outcomes], indent=1) + "\n")
    report(
        "Simulated",
        [
            Figure(f"{outcome.way}, {outcome.hosts} hosts", outcome.hours, f"hours; {outcome.bottleneck}")
            for outcome in outcomes
        ],
        None,
    )


def described(one: Outcome) -> dict[str, Any]:
    """As plain data."""
    return one._asdict() | {"bottleneck": one.bottleneck}


if __name__ == "__main__":
    main()
