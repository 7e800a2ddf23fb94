"""Which verdicts are on the patches that there are now: a verdict on an older run or patch is no result of the new one.

Pure, over records of one repository.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pipeline.core.names import Repo
from pipeline.core.records import Prediction, Verdict
from pipeline.core.store import digest

Who = tuple[str, str]


def current(verdicts: Iterable[Verdict], predictions: list[Prediction]) -> tuple[list[Verdict], list[Verdict]]:
    """The verdicts that hold, and those that are stale. Verdicts that came without predictions hold."""
    runs = {_predictor(prediction): prediction.run for prediction in predictions}
    patches = {(*_predictor(p), p.instance_id): digest(p.model_patch) for p in predictions}
    split: dict[bool, list[Verdict]] = {True: [], False: []}
    for verdict in verdicts:
        who = _judged(verdict)
        now = runs.get(who), patches.get((*who, verdict.instance_id), "")
        split[who not in runs or now == (verdict.run, verdict.patch_digest)].append(verdict)
    return split[True], split[False]


def notes(repo: Repo, predictions: Iterable[Prediction], verdicts: list[Verdict], stale: list[Verdict]) -> list[str]:
    """What is not predicted, not evaluated, or evaluated and then predicted anew."""
    predicted = {_predictor(prediction) for prediction in predictions}
    evaluated = {_judged(verdict) for verdict in (*verdicts, *stale)}
    if not predicted and not evaluated:
        return [f"03 predict: nothing yet for {repo}."]
    older = Counter(_judged(verdict) for verdict in stale)
    return [
        *(f"04 evaluate: nothing yet of {', '.join(who)} on {repo}." for who in sorted(predicted - evaluated)),
        *(f"04 evaluate: {n} verdicts of {', '.join(who)} on {repo} are of older patches." for who, n in older.items()),
    ]


def _predictor(prediction: Prediction) -> Who:
    return prediction.agent, prediction.model_name_or_path


def _judged(verdict: Verdict) -> Who:
    return verdict.agent, verdict.model
