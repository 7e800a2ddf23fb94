"""The plan of a campaign: existing and missing answers, their cost, time and disk space.

Reads the store and the ledger; writes nothing. Likely values are means over this agent's earlier answers, of the same
model if there are any, else of other models at this model's prices; the time of tests is the mean of the repository's
stored test runs. Without earlier answers, the cost is that of the tokens that the agent's answers typically take, if
its manifest says so; the time of tests is a part of the time that they took when the instances were built; and the
disk space is what answers typically take. Otherwise, values are unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import chain
from statistics import mean
from typing import NamedTuple

from pipeline.build.batch import TIMINGS
from pipeline.build.qualify import QUALIFIED
from pipeline.build.summary import SUMMARY
from pipeline.core.names import Repo
from pipeline.core.records import PAGES, REPAIR, Track
from pipeline.core.store import MANIFEST, Store, read_field, read_object
from pipeline.llm.costs import requests
from pipeline.llm.experiment import SHARED, Experiment
from pipeline.llm.ledger import Request
from pipeline.llm.models import Model
from pipeline.llm.prices import Usage, total
from pipeline.llm.waiting import under_way

#: the folder of stored test runs
RUNS = "04_evaluation/runs"
#: what testing a patch takes of the time of all tests of its instance's build: 0.2 to 0.3 for instances of grommet, and
#: 0.5 for those of the demo
OF_BUILD = 1 / 3
#: track -> bytes that an answer takes with what its tests leave: the means of magentless on eight instances of grommet,
#: and of the demo's pages
TYPICAL_SIZE: dict[Track, float] = {REPAIR: 600_000, PAGES: 35_000}
#: track -> the folders of its stored answers, and of what tests of them left
STORED: dict[Track, tuple[str, ...]] = {
    REPAIR: ("03_predictions/answers/*/*/*", f"{RUNS}/*/*"),
    PAGES: ("03_predictions/pages/kept/*", "04_evaluation/pages/kept/*"),
}


class Step(NamedTuple):
    """One experiment: how many answers are wanted, and how many exist. `repo` is `org/repo` (of pages, the case set).
    `limit` is the maximum that it may spend including what it `spent`, in USD; None means no limit. `likely` (USD) and
    `seconds` are for the missing answers, `testing` is the time of tests of their patches in seconds; None if unknown,
    and for pages, whose tests are short. Several steps can be of one `experiment`, by its id. `likely` is `rough`
    without earlier answers."""

    repo: str
    label: str
    model: str
    wanted: int
    existing: int
    spent: Decimal
    limit: Decimal | None
    likely: Decimal | None
    seconds: float | None
    track: Track = REPAIR
    testing: float | None = None
    experiment: str = ""
    rough: bool = False

    @property
    def asked(self) -> int:
        return self.wanted - self.existing

    @property
    def worst(self) -> Decimal | None:
        """The maximum cost of the missing answers, in USD; None without a limit."""
        if not self.asked:
            return Decimal(0)
        return None if self.limit is None else max(Decimal(0), self.limit - self.spent)


class History:
    """Cost and time of finished answers, with all tries, by agent and model; and the time of earlier test runs, by
    repository."""

    def __init__(self, store: Store) -> None:
        self._store, self._testing = store, dict[Repo, float | None]()
        #: the requests of agents with the same settings, and of agents with any, each by model
        self._same: dict[str, dict[str, list[Request]]] = {}
        self._any: dict[str, dict[str, list[Request]]] = {}
        finished = {
            path.parent.name for folder, *_ in STORED.values() for path in store.root.glob(f"{folder}/{MANIFEST}")
        }
        for request in requests(store.ledger):
            if request.holder != SHARED and (not request.answer or request.answer in finished):
                for known, agent in ((self._same, request.agent), (self._any, request.agent.split("@")[0])):
                    known.setdefault(agent, {}).setdefault(request.key_model, []).append(request)

    def likely(self, experiment: Experiment, model: Model) -> tuple[Decimal | None, float | None]:
        """The likely USD and seconds of one answer."""
        by_model = self._same.get(experiment.label) or self._any.get(experiment.agent, {})
        of_model = by_model.get(experiment.model)
        rows = of_model or list(chain.from_iterable(by_model.values()))
        answers: dict[tuple[str, str, str], list[Request]] = {}
        for request in rows:
            answers.setdefault((request.experiment, request.holder, request.answer), []).append(request)
        if not answers:
            return None, None
        cost = total(request.cost_usd for request in rows) if of_model else total(_priced(rows, model))
        return cost / len(answers), mean(map(under_way, answers.values()))

    def testing(self, repo: Repo) -> float | None:
        """The likely seconds of testing one patch, with counter-runs and repeats. Before any is tested, they are
        estimated from the tests of the repository's build."""
        if repo not in self._testing:
            runs = [
                read_field(path, "result", dict) for path in self._store.root.glob(f"{RUNS}/{repo.slug}/*/{MANIFEST}")
            ]
            seconds = [sum(run["seconds"].values()) for run in runs if run.get("seconds")]
            seconds = seconds or [OF_BUILD * spent for spent in self._seconds_at_build(repo)]
            self._testing[repo] = mean(seconds) if seconds else None
        return self._testing[repo]

    def _seconds_at_build(self, repo: Repo) -> list[float]:
        """The seconds of all tests of each instance of a dataset when it was built."""
        made = self._store.qualification(repo) / SUMMARY
        names = read_field(made, "instances", dict).get(QUALIFIED, ()) if made.exists() else ()
        paths = [self._store.qualification(repo) / "units" / name / TIMINGS for name in names]
        return [float(read_object(path, "tests")["tests"]) for path in paths if path.exists()]


def _priced(rows: Iterable[Request], model: Model) -> Iterable[Decimal]:
    """The cost of the same requests at another model's prices."""
    for request in rows:
        if request.kind == "llm":
            yield model.price.cost(Usage(*(getattr(request, name) for name in Usage._fields)))
        else:
            yield request.cost_usd


class Disk(NamedTuple):
    """Free bytes, and the bytes per answer that stored answers and their tests have used so far by track, or typically
    use."""

    free: int
    by_answer: dict[Track, float]

    def needed(self, steps: Iterable[Step]) -> float:
        """The bytes that the missing answers are likely to take."""
        return sum(step.asked * self.by_answer[step.track] for step in steps)


def disk(store: Store) -> Disk:
    """The disk space of a data directory."""
    import shutil

    existing = next(folder for folder in (store.root, *store.root.parents) if folder.exists())
    return Disk(shutil.disk_usage(existing).free, {track: _by_answer(store, track) for track in STORED})


def _by_answer(store: Store, track: Track) -> float:
    """The bytes of an answer with what its tests leave."""
    answer, tests = (_mean_size(store, pattern) for pattern in STORED[track])
    return answer + tests if answer else TYPICAL_SIZE[track]


def _mean_size(store: Store, pattern: str) -> float:
    """The mean size of units. Those of references consist of nothing but a manifest, and do not count."""
    folders = (path.parent for path in store.root.glob(f"{pattern}/{MANIFEST}"))
    files = ([path for path in folder.rglob("*") if path.is_file()] for folder in folders)
    sizes = [sum(path.stat().st_size for path in found) for found in files if len(found) > 1]
    return mean(sizes) if sizes else 0


def sums(steps: Sequence[Step], left: Decimal | None = None) -> Step:
    """The sums of all steps; a value that is unknown for one step is unknown in total. `left` is the most that those of
    the repair track may still spend together, in USD."""
    likely = None if any(step.likely is None for step in steps) else total(step.likely or Decimal(0) for step in steps)
    seconds = None if any(step.seconds is None for step in steps) else sum(step.seconds or 0 for step in steps)
    repairs = _at_worst(step for step in steps if step.track == REPAIR)
    within = min((bound for bound in (left, repairs) if bound is not None), default=None)
    most = _sum([within, _at_worst(step for step in steps if step.track != REPAIR)])
    spent = total({step.experiment or number: step.spent for number, step in enumerate(steps)}.values())
    limit = None if most is None else spent + most
    counts = sum(step.wanted for step in steps), sum(step.existing for step in steps)
    rough = any(step.rough for step in steps)
    return Step("", "all", "", *counts, spent, limit, likely, seconds, testing=_seconds_of_tests(steps), rough=rough)


def _seconds_of_tests(steps: Iterable[Step]) -> float | None:
    """The time of all tests of patches; None if unknown for one step."""
    seconds = [step.testing for step in steps if step.asked and step.track == REPAIR]
    return None if None in seconds else sum(second for second in seconds if second is not None)


def _at_worst(steps: Iterable[Step]) -> Decimal | None:
    return _sum([step.worst for step in steps])


def _sum(amounts: Sequence[Decimal | None]) -> Decimal | None:
    """The sum; None if an amount is unknown."""
    return None if None in amounts else total(amount for amount in amounts if amount is not None)
