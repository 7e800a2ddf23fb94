"""Groups of predictions: by model, repository, difficulty, size, year.

Every instance that a model was given is in its denominator. References (oracle, nop) check the dataset and
appear only in tables that ask for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from pipeline.analyze.frames import Frames

WHO = ["agent", "model"]
#: the class of an instance without a rating or a date
UNKNOWN = "unknown"
#: column -> its classes, in order
CLASSES = {
    "difficulty": ("easy", "medium", "difficult", "no-clue", UNKNOWN),
    "size": ("1 file", "2 files", "3 to 5 files", "6 files or more"),
    "statement_source": ("issue", "pull_request", "review"),
}
#: columns by which costs are known; a group by any other column has no costs
_COST_KEYS = {"kind", "repo", *WHO}


@dataclass(frozen=True)
class Group:
    """Predictions that share the values in `key`, and their costs where these are known."""

    frames: Frames
    key: dict[str, Any]
    rows: pd.DataFrame

    @cached_property
    def costs(self) -> pd.DataFrame:
        """The rows of `costs.csv` of this group; none if costs are not known by its columns."""
        costs = self.frames.costs
        if not set(self.key) <= _COST_KEYS:
            return costs[:0]
        for name in set(self.key) & set(costs.columns):
            costs = costs[costs[name] == self.key[name]]
        return costs

    @cached_property
    def samples(self) -> pd.DataFrame:
        """The attempts of the group's agents and models at its instances."""
        names = {name: self.key.get(name, self.rows[name]) for name in WHO}
        whose = pd.DataFrame(names, index=self.rows.index).drop_duplicates().itertuples(index=False, name=None)
        samples, given = self.frames.samples_of, set(self.rows["instance_id"])
        found = [samples[who] for who in whose if who in samples]
        return pd.concat([rows[rows["instance_id"].isin(given)] for rows in found or [self.frames.samples[:0]]])


def attempts(frames: Frames, need: str = "judged", *, references: bool = False) -> pd.DataFrame:
    """Predictions with the classes of their instances, of the agents and models that have a row in which `need` is
    true."""
    rows = frames.predictions if references else frames.of_models
    rows = rows[rows.groupby(WHO)[need].transform("any").astype(bool)]
    return rows.merge(classified(frames.instances), on="instance_id")


def classified(instances: pd.DataFrame) -> pd.DataFrame:
    """The instances with their classes as ordered categories; `unknown` without a rating or a date."""
    table = instances[["instance_id", "year", *CLASSES]].fillna({"difficulty": UNKNOWN, "year": UNKNOWN})
    return table.assign(**{name: pd.Categorical(table[name], order, ordered=True) for name, order in CLASSES.items()})
