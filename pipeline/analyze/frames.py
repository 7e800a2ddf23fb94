"""Typed frames: one row per instance, prediction, test transition, request and so on.

They are made by `reading`, and their columns are described in `columns.toml`. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.analyze import columns
from pipeline.analyze.reading import Rows, Wanted, read
from pipeline.analyze.reading.rows import Statement
from pipeline.core.cycles import no_cycles
from pipeline.core.errors import UserError
from pipeline.core.names import Repo, parse_repo
from pipeline.core.recipes import runnable
from pipeline.core.store import Store


@dataclass(frozen=True)
class Frames:
    """The frames of `columns.toml`, notes on what is missing, and the texts that only the report shows."""

    instances: pd.DataFrame
    predictions: pd.DataFrame
    transitions: pd.DataFrame
    results: pd.DataFrame
    stages: pd.DataFrame
    replies: pd.DataFrame
    requests: pd.DataFrame
    costs: pd.DataFrame
    funnel: pd.DataFrame
    candidates: pd.DataFrame
    rejections: pd.DataFrame
    reviews: pd.DataFrame
    agreement: pd.DataFrame
    criteria: pd.DataFrame
    handchecks: pd.DataFrame
    samples: pd.DataFrame
    audits: pd.DataFrame
    runs: pd.DataFrame
    notes: tuple[str, ...] = ()
    repos: tuple[Repo, ...] = ()
    statements: Mapping[str, Statement] = field(default_factory=dict)
    patches: Mapping[tuple[str, str, str], str] = field(default_factory=dict)

    @cached_property
    def of_models(self) -> pd.DataFrame:
        """Predictions without those of references."""
        return self.predictions[self.predictions["kind"] == "model"]

    @cached_property
    def given_samples(self) -> pd.DataFrame:
        """Attempts of models at the instances that they were given: another data directory can have more of them."""
        return _given(self.samples, self.of_models)

    @cached_property
    def samples_of(self) -> dict[tuple[str, str], pd.DataFrame]:
        """The attempts of each agent and model."""
        plain = self.samples.astype({"instance_id": object})  # pandas looks up Arrow's texts one by one, in Python
        return {(str(who[0]), str(who[1])): rows for who, rows in plain.groupby(["agent", "model"])}

    def items(self) -> dict[str, pd.DataFrame]:
        """The frames by name."""
        return {name: getattr(self, name) for name in columns.frames()}

    def without(self, instances: set[str]) -> Frames:
        """The frames without some instances; funnel, costs and requests are not changed."""
        kept: dict[str, Any] = {
            name: frame[~frame["instance_id"].isin(instances)].reset_index(drop=True)
            for name, frame in self.items().items()
            if "instance_id" in frame
        }
        return replace(self, **kept)


def load(
    data: Path | str | Store,
    repo: str | None = None,
    *,
    issues_only: bool = False,
    cutoffs: Mapping[str, str] | None = None,
    samples: Sequence[Path | str] = (),
) -> Frames:
    """Read a data directory, of one repository (`org/repo`) or of all. Raises UserError as `reading.read` does, and
    for `samples` that are the data directory itself.

    `issues_only` leaves out instances whose statement is the pull request's own text. `cutoffs` are the dates
    (2024-10-31) on which the models' training data end. `samples` are further data directories with attempts at the
    same instances.
    """
    store = data if isinstance(data, Store) else Store(Path(data))
    directories = [_further(store, Path(folder)) for folder in samples]
    wanted = Wanted(parse_repo(repo) if repo else None, cutoffs or {}, directories, issues_only)
    with no_cycles():
        rows = read(store, wanted)
        frames = build(rows)
    return _with_issue(frames, rows.without_issue) if issues_only else frames


def _further(store: Store, folder: Path) -> Store:
    if folder.resolve() == store.root.resolve():
        hint = "name another directory, with further attempts"
        raise UserError("this is the data directory itself", path=folder, field="--samples", hint=hint)
    return Store(folder)


def build(rows: Rows) -> Frames:
    """The frames of the rows that were read."""
    frames = {name: columns.typed(columns.frames()[name], cells) for name, cells in rows.frames.items()}
    samples = _given(frames["samples"], frames["predictions"])
    notes = tuple(map(runnable, (*rows.notes, *_left_out(frames["predictions"]), *_uneven(samples))))
    return Frames(**frames, notes=notes, repos=rows.repos, statements=rows.statements, patches=rows.patches)


#: column of `predictions` -> the note if the whole column is empty
_OPTIONAL = {
    "equivalent": "04 evaluate: no snapshot verdicts, so only strict results are shown.",
    "axe_fixed": "04 evaluate: no accessibility audit (axe).",
    "judge": "04 evaluate: no ratings by a model.",
    "hand_checks": "No patch was checked by hand (just handcheck-export).",
    "after_cutoff": "No cut-off date of a model's training data was given (--cutoff), so only years are compared.",
}


def _left_out(predictions: pd.DataFrame) -> list[str]:
    models = predictions[predictions["kind"] == "model"]
    return [note for name, note in _OPTIONAL.items() if len(models) and models[name].isna().all()]


def _given(samples: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """The samples whose agent and model were given the instance: each has one row in `predictions`."""
    keys = ["agent", "model", "instance_id"]
    return samples.merge(predictions[keys], on=keys)


def _uneven(samples: pd.DataFrame) -> list[str]:
    """A note for each agent and model with more attempts at some instances than at others."""
    attempts = samples.groupby(["agent", "model", "instance_id"]).size()
    counts = attempts.groupby(["agent", "model"]).agg(["min", "max"])
    return [
        f"pass@k of {model} ({agent}) ends at k = {fewest}: not every instance has {most} attempts (just agt-run with "
        f"--attempts {most}, and eval-run)."
        for (agent, model), fewest, most in counts[counts["min"] < counts["max"]].itertuples(name=None)
    ]


def _with_issue(frames: Frames, left_out: set[str]) -> Frames:
    note = f"Left out: {len(left_out)} without a linked issue. The funnel and what was spent include them."
    return replace(frames.without(left_out), notes=(*frames.notes, note))
