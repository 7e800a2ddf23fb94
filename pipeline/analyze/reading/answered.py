"""Stage 03: the answers in the newest run of each agent and model, and the agents' own metadata.

Of an agent's own files, only `metadata.json` is read (its funnel, the files that it located and showed), if it exists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.analyze.reading import checks, replied
from pipeline.analyze.reading.rows import Known, Rows, Who
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Prediction
from pipeline.core.store import Store, attempts_in, each_record, of_attempt, read_json, shown_by, unique, whose_run


class Run(NamedTuple):
    """The newest run of an agent and model on one repository: predictions by instance, and why others have none.

    `shown` names the instances that it is about, None for all; `experiment` is whose money its answers cost, empty for
    runs that do not say it; `answers` are the names of the answers by instance and attempt.
    """

    name: str
    predictions: dict[str, Prediction]
    metadata: dict[str, Any]
    unanswered: dict[str, str]
    path: Path
    shown: frozenset[str] | None = None
    experiment: str = ""
    answers: Mapping[tuple[str, int], str] = {}

    def is_about(self, instance: str) -> bool:
        return self.shown is None or instance in self.shown


def read(rows: Rows, store: Store, repo: Repo, known: Mapping[str, Known]) -> dict[Who, Run]:
    """Add `stages` and patches of a repository; returns its newest runs."""
    runs = {}
    for model in store.predicted_in(repo):
        for path in sorted(model.glob("*/predictions.jsonl"))[-1:]:
            who = whose_run(path.parent)
            records = [_checked(one, who, known, path) for one in unique(each_record(path, Prediction), path)]
            places = {one.instance_id: _metadata(store, repo, one, path) for one in records}
            runs[who] = _run(records, path, places)
            _add(rows, who, runs[who], places)
            _add_replies(rows, store, repo, who, runs[who], places)
    return runs


def seen(metadata: Mapping[str, Any], gold: frozenset[str]) -> dict[str, int]:
    """How many files of the gold patch the agent located and showed; empty if it does not report them."""
    sets = metadata.get("sets")
    if not sets:
        return {}
    return {step: len(gold & {path for one in sets for path in one.get(step, ())}) for step in ("located", "shown")}


def _checked(record: Prediction, who: Who, known: Mapping[str, Known], path: Path) -> Prediction:
    """The prediction, checked to be of the run's agent and model. Predictions in SWE-bench's format name no agent."""
    named = record if record.agent else record.model_copy(update={"agent": who[0]})
    checks.known(named, known, path)
    checks.of_run(named, who, path)
    return named


def _run(records: list[Prediction], path: Path, places: Mapping[str, Path]) -> Run:
    names = [one.instance_id for one in records]
    return Run(
        name=records[0].run if records else path.parent.name,
        predictions=dict(zip(names, records, strict=True)),
        metadata={name: _optional(places[name]) for name in names},
        unanswered=_optional(path.with_name("metadata.json")).get("unanswered", {}),
        path=path,
        shown=shown_by(path.parent),
        experiment=_optional(path.with_name("run.json")).get("experiment", ""),
        answers={(one.instance_id, 1): one.answer for one in records} | dict(_further(path.parent)),
    )


def _further(folder: Path) -> Iterator[tuple[tuple[str, int], str]]:
    """The names of further attempts' answers."""
    for attempt in filter(lambda one: one > 1, attempts_in(folder, "predictions.jsonl")):
        for one in each_record(of_attempt(folder, attempt) / "predictions.jsonl", Prediction):
            yield (one.instance_id, attempt), one.answer


def _add_replies(rows: Rows, store: Store, repo: Repo, who: Who, run: Run, places: Mapping[str, Path]) -> None:
    """Add `replies`, of every attempt."""
    for (name, attempt), answer in run.answers.items():
        kept = store.answers(repo, name, answer) / "metadata.json"
        path = places[name] if attempt == 1 else kept
        metadata = run.metadata[name] if attempt == 1 else _optional(path)
        rows.extend("replies", ((*who, name, attempt, *one) for one in replied.replies(metadata, path)))


def _add(rows: Rows, who: Who, run: Run, places: Mapping[str, Path]) -> None:
    for name, prediction in run.predictions.items():
        rows.patches[*who, name] = prediction.model_patch
        rows.extend("stages", ((*who, name, *stage) for stage in _stages(run.metadata[name], places[name])))


def _stages(metadata: Mapping[str, Any], path: Path) -> Iterator[tuple[int, str, int]]:
    """The agent's funnel, in its own order. Raises UserError if a value is not a number."""
    for place, (stage, count) in enumerate(metadata.get("funnel", {}).items(), 1):
        if not isinstance(count, int):
            hint = "a funnel maps stages to numbers; correct it, or predict again"
            raise UserError(f"stage '{stage}' has no number", path=path, field="funnel", hint=hint)
        yield place, stage, int(count)


def _metadata(store: Store, repo: Repo, one: Prediction, path: Path) -> Path:
    """The agent's metadata on one instance: beside its answer, or in the folder of an older run."""
    kept = store.answers(repo, one.instance_id, one.answer)
    return (kept if one.answer else path.parent / "instances" / one.instance_id) / "metadata.json"


def _optional(path: Path) -> dict[str, Any]:
    """A JSON object, empty if the file is missing. Raises UserError for anything else."""
    value = read_json(path) if path.exists() else {}
    if not isinstance(value, dict):
        raise UserError("not a JSON object", path=path, hint="correct or remove the file")
    return value
