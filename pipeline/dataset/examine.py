"""`dataset check` of whole datasets: every instance by itself, then oracle and nop through stages 03 and 04.

Reads `02_dataset/` and the clones. The references write `03_predictions/` and `04_evaluation/`, as any model's runs do.
They are run only if nothing else is wrong with the dataset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.core.console import say
from pipeline.core.dataset import read_dataset
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.progress import Progress
from pipeline.core.records import Instance, Outcome
from pipeline.core.retry import PATIENT, Patience
from pipeline.core.store import Store
from pipeline.dataset.check import CHECKS, Checked, Finding, check
from pipeline.evaluate.stage import Subject, evaluate
from pipeline.execution.images import source
from pipeline.llm.models import SHIPPED
from pipeline.predict.stage import Predictor
from pipeline.sandbox.base import Sandbox

#: reference -> its required outcome on every instance
WANTED = {"oracle": Outcome.RESOLVED, "nop": Outcome.EMPTY}
#: name of a check -> its meaning
MEANINGS = {
    "schema": "every line is a record Instance, each instance once",
    **{one.name: one.meaning for one in CHECKS},
    "oracle": "the gold patch resolves every instance",
    "nop": "an empty patch resolves none",
}


class Place(NamedTuple):
    """Where and how the references run: the arguments of `evaluate`."""

    sandbox: Sandbox
    jobs: int = 2
    trust_local: bool = False
    patience: Patience = PATIENT


def examine(store: Store, repo: Repo, place: Place | None = None) -> list[Finding]:
    """All findings on a dataset. Without a place, the references are not run. Raises UserError for a missing
    dataset."""
    try:
        instances = read_dataset(store, repo)
    except UserError as error:
        if error.path is None:  # there is no dataset
            raise
        return [Finding(str(repo), "schema", str(error))]
    found = list(_each(store, repo, instances))
    if found and place:
        say(f"{repo}: oracle and nop run once this is fixed")
    elif place:
        found += _references(store, repo, place)
    return found


def _each(store: Store, repo: Repo, instances: Sequence[Instance]) -> Iterator[Finding]:
    clone = source(store, repo)
    with Progress("checking", len(instances)) as progress:
        for one in instances:
            wrong = list(check(Checked(repo, one, clone)))
            progress.finish(one.instance_id, "wrong: " + ", ".join(each.check for each in wrong) if wrong else "ok")
            yield from wrong


def _references(store: Store, repo: Repo, place: Place) -> Iterator[Finding]:
    for name, wanted in WANTED.items():
        say(f"{repo}: {name}")
        Predictor(store, repo, name, name, models=SHIPPED, jobs=place.jobs).predict()
        subject = Subject(repo, name, name)
        verdicts = evaluate(store, subject, **place._asdict())
        wrong = (one for one in verdicts if one.outcome is not wanted)
        yield from (Finding(one.instance_id, name, f"{one.outcome} {one.cause}".strip()) for one in wrong)
