"""A repository's dataset after a build: the new outcomes, and earlier instances that still await a new decision.

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

#: input of a unit that changed -> why its instance is stale
WHY = {
    "candidate": "its commits or patches changed",
    "environment": "its inferred environment changed",
    "files": "the selected test files changed",
    "settings": "",
    "running": "the law of running tests changed",
    "reading": "the law of reading reports changed",
}


class Dataset:
    """`decided` are the newest outcomes by instance, `kept` the earlier instances that nothing has replaced yet.

    Only selected units are read at once. `unselected` ones, decided before, are read when the dataset is written.
    """

    def __init__(
        self,
        store: Store,
        repo: Repo,
        units: Sequence[Planned],
        unselected: Callable[[], Sequence[Planned]] = tuple,
    ) -> None:
        self.store, self.repo, self.units, self._unselected = store, repo, units, unselected
        self.decided: dict[str, Outcome] = {}
        self._judge_again(units)

    @cached_property
    def kept(self) -> dict[str, Instance]:
        return {instance.instance_id: instance for instance in read_records(self.store.dataset(self.repo), Instance)}

    @cached_property
    def unselected(self) -> Sequence[Planned]:
        """Units of candidates that this build did not select; read once."""
        return self._unselected()

    def _judge_again(self, units: Sequence[Planned]) -> None:
        """Read the outcomes of units. Those that another law of reading decided are judged again where the stored runs
        suffice."""
        for unit in units:
            if outcome := unit.outcome():
                self.decided[unit.name] = marked(outcome, why(unit))
                if not unit.is_done and unit.is_readable and (result := unit.judged_again()):
                    save(self.store, unit, result)
                    self.decided[unit.name] = result.outcome

    def decide(self, outcome: Outcome) -> None:
        """Replace the earlier outcome; where the machine failed, an earlier instance stays."""
        if kind(outcome) == NOT_EVALUATED:
            before = self.decided.get(outcome.instance_id) or self.kept.get(outcome.instance_id)
            if isinstance(before, Instance):
                self.kept[outcome.instance_id] = _stale(before, "it could not be evaluated again")
        self.decided[outcome.instance_id] = outcome

    def outcomes(self) -> list[Outcome]:
        """Every outcome of the repository, old and new, by number."""
        return sorted(self.decided.values(), key=lambda outcome: parse_instance_id(outcome.instance_id)[1])

    def instances(self) -> list[Instance]:
        """The dataset: new instances and kept earlier ones, by number."""
        decided = {outcome.instance_id: outcome for outcome in self.decided.values() if isinstance(outcome, Instance)}
        replaced = {name for name, outcome in self.decided.items() if kind(outcome) != NOT_EVALUATED}
        reason = "its candidate or its unit is gone"
        kept = {name: _stale(instance, reason) for name, instance in self.kept.items() if name not in replaced}
        return sorted((decided | kept).values(), key=lambda instance: instance.number)

    def write(self) -> None:
        self._judge_again(self.unselected)
        instances = self.instances()
        self.store.replace_records(self.store.dataset(self.repo), instances)
        environments.write(self.store, self.repo, instances)
        in_dataset = {instance.instance_id for instance in instances}
        rejections = [outcome for outcome in self.outcomes() if isinstance(outcome, Rejection)]
        rejections = [rejection for rejection in rejections if rejection.instance_id not in in_dataset]
        self.store.replace_records(self.store.qualification(self.repo) / "rejections.jsonl", rejections)


def why(unit: Planned) -> str:
    """Why the stored outcome of a unit is out of date; empty when it is not."""
    stored, current = unit.unit.inputs(), {**unit.inputs, **unit.readings}
    return "; ".join(text for name, text in WHY.items() if text and stored.get(name) != current[name])


def marked(outcome: Outcome, reason: str) -> Outcome:
    """An instance with the reason why it is stale."""
    return outcome.model_copy(update={"stale": reason}) if isinstance(outcome, Instance) else outcome


def _stale(instance: Instance, reason: str) -> Instance:
    """An instance with the reason why it first became stale."""
    return instance.model_copy(update={"stale": instance.stale or reason})
