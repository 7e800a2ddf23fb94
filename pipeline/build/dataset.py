"""A repository's dataset after a build: what is decided now, and earlier decisions that are not renewed yet.

A dataset never shrinks silently. An instance that needs a new decision stays, marked as stale with the reason, until
there is one: an interrupted build, a build of some candidates, or a dead engine removes none. Writes
`02_dataset/<repo>.jsonl`, rejections and environments; what is replaced is archived first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from pipeline.build import environments
from pipeline.build.batch import save
from pipeline.build.plan import Planned
from pipeline.build.qualify import NOT_EVALUATED, Outcome, kind
from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.records import Instance, Rejection
from pipeline.core.store import Store, read_records

#: input of a unit that is another than it was -> why its instance is stale
WHY = {
    "candidate": "its commits or patches are others",
    "environment": "its environment is inferred otherwise",
    "files": "other test files are selected",
    "settings": "",
    "running": "tests are run by another law",
    "reading": "reports are read by another law",
}


class Dataset:
    """`decided` are the newest outcomes by instance, `kept` the instances of before that nothing has replaced yet.

    Only what is asked for is read at once: `others`, decided before, are read when the dataset is written.
    """

    def __init__(
        self,
        store: Store,
        repo: Repo,
        units: Sequence[Planned],
        others: Callable[[], Sequence[Planned]] = tuple,
    ) -> None:
        self.store, self.repo, self.units, self._others = store, repo, units, others
        self.decided: dict[str, Outcome] = {}
        self._judge_anew(units)

    @cached_property
    def kept(self) -> dict[str, Instance]:
        return {one.instance_id: one for one in read_records(self.store.dataset(self.repo), Instance)}

    @cached_property
    def others(self) -> Sequence[Planned]:
        """What is not asked for; read once."""
        return self._others()

    def _judge_anew(self, units: Sequence[Planned]) -> None:
        """Read the outcomes of units. Those that another law of reading decides, and for which what is stored suffices,
        are given anew."""
        for one in units:
            if outcome := one.outcome():
                self.decided[one.name] = marked(outcome, why(one))
                if not one.is_done and one.is_readable and (result := one.judged_anew()):
                    save(self.store, one, result)
                    self.decided[one.name] = result.outcome

    def decide(self, outcome: Outcome) -> None:
        """An outcome takes the place of the one before; where the machine failed, an instance stays as it was."""
        if kind(outcome) == NOT_EVALUATED:
            before = self.decided.get(outcome.instance_id) or self.kept.get(outcome.instance_id)
            if isinstance(before, Instance):
                self.kept[outcome.instance_id] = _stale(before, "it could not be evaluated anew")
        self.decided[outcome.instance_id] = outcome

    def outcomes(self) -> list[Outcome]:
        """Every outcome of the repository, old and new, by number."""
        return sorted(self.decided.values(), key=lambda one: parse_instance_id(one.instance_id)[1])

    def instances(self) -> list[Instance]:
        """The dataset: what is decided, and what is kept of before, by number."""
        decided = {one.instance_id: one for one in self.decided.values() if isinstance(one, Instance)}
        replaced = {name for name, one in self.decided.items() if kind(one) != NOT_EVALUATED}
        gone = "its candidate or its unit is gone"
        kept = {name: _stale(one, gone) for name, one in self.kept.items() if name not in replaced}
        return sorted((decided | kept).values(), key=lambda one: one.number)

    def write(self) -> None:
        self._judge_anew(self.others)
        instances = self.instances()
        self.store.replace_records(self.store.dataset(self.repo), instances)
        environments.write(self.store, self.repo, instances)
        there = {one.instance_id for one in instances}
        rejections = [one for one in self.outcomes() if isinstance(one, Rejection) and one.instance_id not in there]
        self.store.replace_records(self.store.qualification(self.repo) / "rejections.jsonl", rejections)


def why(unit: Planned) -> str:
    """Why the outcome that a unit holds would be another today; empty when it would not."""
    known, wanted = unit.unit.inputs(), {**unit.inputs, **unit.readings}
    return "; ".join(text for name, text in WHY.items() if text and known.get(name) != wanted[name])


def marked(outcome: Outcome, reason: str) -> Outcome:
    """An instance with the reason why it is stale."""
    return outcome.model_copy(update={"stale": reason}) if isinstance(outcome, Instance) else outcome


def _stale(instance: Instance, reason: str) -> Instance:
    """An instance with the reason why it became stale first."""
    return instance.model_copy(update={"stale": instance.stale or reason})
