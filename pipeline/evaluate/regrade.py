"""Recomputing verdicts from stored runs alone: no engine, no clone, nothing is run.

Reads the dataset, the predictions, and the runs that `evaluate` stored and named in `runs.json`; writes what `evaluate`
writes. A prediction without a stored run, or whose run was made from other inputs, is *not evaluated*.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import zip_longest

from pipeline.core.cycles import no_cycles
from pipeline.core.dataset import missing
from pipeline.core.errors import UserError
from pipeline.core.records import Instance, Outcome, Verdict
from pipeline.core.store import Share, Store, each_record, unique
from pipeline.evaluate import kept
from pipeline.evaluate.answers import Subject, read_answers
from pipeline.evaluate.grade import Graded, lacking, of_tested, sign, without_run
from pipeline.evaluate.stage import write

#: the number of instances for which a further process pays off
SHARE = 50


def regrade(store: Store, subject: Subject) -> list[Verdict]:
    """Give every instance of the dataset its verdict, and write them.

    Raises UserError if nothing was evaluated or there is no dataset.
    """
    path = store.dataset(subject.repo)
    processes = min(os.cpu_count() or 1, 1 + len(_run_names(store, subject)) // SHARE)
    with ProcessPoolExecutor(processes, initializer=_ignore_interrupts) as pool:
        shares = list(pool.map(partial(_graded, store, subject), [(index, processes) for index in range(processes)]))
    if not any(shares):
        raise missing(store, subject.repo)
    verdicts = list(unique((verdict for row in zip_longest(*shares) for verdict in row if verdict), path))
    with store.lock("evaluate", subject.repo, subject.agent, subject.model):
        write(store, subject, verdicts)
    return verdicts


def _ignore_interrupts() -> None:
    """Ctrl-C is for the command, which then ends its processes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _graded(store: Store, subject: Subject, share: Share) -> list[Verdict]:
    """The verdicts of a share of the instances."""
    answers, names = read_answers(store, subject), _run_names(store, subject)

    def signed(instance: Instance) -> Verdict:
        prediction = answers.of(instance)
        failure = answers.failures.get(instance.instance_id, "")
        graded = without_run(prediction, failure) or _stored(
            store, instance, prediction.model_patch if prediction else "", names
        )
        return sign(instance, subject.agent, subject.model, answers.run, prediction, graded)

    with no_cycles():
        return [
            signed(instance) for instance in answers.among(each_record(store.dataset(subject.repo), Instance, share))
        ]


def _run_names(store: Store, subject: Subject) -> dict[str, str]:
    """The name of the kept run, by instance."""
    path = subject.folder(store) / "runs.json"
    if not path.exists():
        hint = f"run: just eval-run {subject.repo} {subject.model} --agent {subject.agent}"
        raise UserError("nothing was evaluated", path=path, hint=hint)
    return kept.names(path)


def _stored(store: Store, instance: Instance, patch: str, names: Mapping[str, str]) -> Graded:
    unit = kept.unit_of(store.root, instance.repository, names.get(instance.instance_id, "none"))
    if not kept.run_digests(instance, patch).items() <= unit.inputs().items():
        return Graded(Outcome.NOT_EVALUATED, "its run is not stored")
    tested = kept.load(unit, instance.environment.parser)
    if missing_run := lacking(instance, tested):
        return Graded(Outcome.NOT_EVALUATED, f"a run of it is not stored: {missing_run}")
    return of_tested(instance, tested)
