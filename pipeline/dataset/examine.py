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
from pipeline.core.records import Instance
from pipeline.core.retry import PATIENT, Patience
from pipeline.core.store import Store
from pipeline.dataset.check import CHECKS, Checked, Finding, check
from pipeline.evaluate.stage import Subject, evaluate
from pipeline.execution.images import source
from pipeline.llm.models import SHIPPED
from pipeline.predict.references import REQUIRED
from pipeline.predict.stage import Predictor
from pipeline.sandbox.base import Sandbox

#: name of a check -> its meaning
MEANINGS = {
    "schema": "every line is a record Instance, each instance once",
    **{row.name: row.meaning for row in CHECKS},
    "oracle": "the gold patch resolves every instance",
    "nop": "an empty patch resolves none",
}


class RunOptions(NamedTuple):
    """Where and how the references run: the arguments of `evaluate`."""

    sandbox: Sandbox
    jobs: int = 2
    trust_local: bool = False
    patience: Patience = PATIENT


def examine(store: Store, repo: Repo, options: RunOptions | None = None) -> list[Finding]:
    """All findings on a dataset. Without options, the references are not run. Raises UserError for a missing
    dataset."""
    try:
        instances = read_dataset(store, repo)
    except UserError as error:
        if error.path is None:  # there is no dataset
            raise
        return [Finding(str(repo), "schema", str(error))]
    findings = list(_check_all(store, repo, instances))
    if findings and options:
        say(f"{repo}: oracle and nop run once this is fixed")
    elif options:
        findings += _references(store, repo, options)
    return findings


def _check_all(store: Store, repo: Repo, instances: Sequence[Instance]) -> Iterator[Finding]:
    clone = source(store, repo)
    with Progress("checking", len(instances)) as progress:
        for instance in instances:
            wrong = list(check(Checked(instance, clone)))
            progress.finish(
                instance.instance_id, "wrong: " + ", ".join(finding.check for finding in wrong) if wrong else "ok"
            )
            yield from wrong


def _references(store: Store, repo: Repo, options: RunOptions) -> Iterator[Finding]:
    for name, required in REQUIRED.items():
        say(f"{repo}: {name}")
        Predictor(store, repo, name, name, models=SHIPPED, jobs=options.jobs).predict()
        subject = Subject(repo, name, name)
        verdicts = evaluate(store, subject, **options._asdict())
        wrong = (verdict for verdict in verdicts if verdict.outcome is not required)
        yield from (
            Finding(verdict.instance_id, name, f"{verdict.outcome} {verdict.cause}".strip()) for verdict in wrong
        )
