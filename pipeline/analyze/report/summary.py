"""The top of the report: a few numbers, and whether the references show that the dataset is valid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures.group import WHO
from pipeline.analyze.measures.shown import money
from pipeline.core.console import plural
from pipeline.llm.prices import total


class Expected(NamedTuple):
    """What a reference answers, and whether that resolves every instance or none."""

    answers: str
    resolves: bool


#: reference -> what it must do
REFERENCES = {"oracle": Expected("the gold patches", True), "nop": Expected("no patch at all", False)}
#: the state of a dataset that passes the check
VALID = "valid"


def facts(frames: Frames, tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, str]]:
    """Label and value of each count, without zeros; agents only if there are several."""
    models = frames.of_models
    samples = frames.given_samples.sort_values("attempt", kind="stable")
    further = samples["answered"] & samples.duplicated([*WHO, "instance_id"])
    agents = models["agent"].nunique()
    counts = {
        "repository": len(frames.repos),
        "candidate": len(frames.candidates),
        "instance": len(frames.instances),
        "model": models["model"].nunique(),
        "agent": agents if agents > 1 else 0,
        "answer": int(models["predicted"].sum() + further.sum()),
    }
    rows = [(plural(value, noun), f"{value:,}") for noun, value in counts.items() if value]
    if "together" in tables:
        last = tables["together"].iloc[-1]
        rows.append(("resolved by any model", f"{last['by_any']} of {last['instances']}"))
    if len(frames.costs):
        spent = total(frames.costs["cost_llm_usd"]) + total(frames.costs["cost_emb_usd"])
        rows.append(("spent", f"{money(spent)} USD"))
    return rows


class Reference(NamedTuple):
    """The instances of the dataset that a reference was evaluated on, and those that it resolved."""

    name: str
    evaluated: int
    resolved: int
    of: int

    @property
    def is_right(self) -> bool:
        """Whether it resolves all that it was evaluated on, or none, as expected."""
        return self.resolved == (self.evaluated if REFERENCES[self.name].resolves else 0)

    @property
    def sentence(self) -> str:
        ran = f"{self.evaluated} evaluated" if self.evaluated < self.of else f"{self.of}"
        return f"{self.name} ({REFERENCES[self.name].answers}) resolves {self.resolved} of {ran} instances"


class Check(NamedTuple):
    """What the references say about the dataset: `valid` if oracle resolves every instance and nop none, `not valid` if
    an instance contradicts this, and `not wholly checked` if a reference was not evaluated on every instance."""

    state: str
    sentences: list[str]

    @property
    def is_valid(self) -> bool:
        return self.state == VALID


def check(frames: Frames) -> Check | None:
    """The check, None if no reference was asked."""
    if not frames.predictions["agent"].isin([*REFERENCES]).any():
        return None
    references = [_reference(frames, name) for name in REFERENCES]
    asked = [reference.sentence for reference in references if reference.evaluated]
    if not all(reference.is_right for reference in references):
        return Check("not valid", asked)
    if all(reference.evaluated == reference.of for reference in references):
        return Check(VALID, asked)
    return Check("not wholly checked", [f"{one.name} on {one.evaluated} of {one.of} instances" for one in references])


def _reference(frames: Frames, name: str) -> Reference:
    rows = frames.predictions[frames.predictions["agent"] == name]
    return Reference(name, int(rows["evaluated"].sum()), int(rows["resolved"].sum()), len(frames.instances))
