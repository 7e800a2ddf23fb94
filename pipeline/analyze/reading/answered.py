"""Stage 03: the answers in the newest run of each agent and model, and the agents' own metadata (metadata.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pipeline.analyze.reading import checks
from pipeline.analyze.reading.described import About, described
from pipeline.analyze.reading.metadata import Metadata, Note, failed, read_metadata, unanswered
from pipeline.analyze.reading.rows import KnownInstance, Rows, Who
from pipeline.core.names import Repo, agent_folder, folder_name
from pipeline.core.records import Prediction
from pipeline.core.store import Store, attempts_in, each_record, of_attempt, unique, whose_run
from pipeline.core.texts import is_there


class Run(NamedTuple):
    """The newest run of an agent and model on one repository: predictions by instance, and why others have none.

    `instances` are those that the run is about, None for all; `about` is what the run says of itself, if anything;
    `answers` are the names of the answers by instance and attempt, `failed` those of first attempts that the agent
    failed to give.
    """

    name: str
    predictions: dict[str, Prediction]
    metadata: dict[str, Metadata]
    unanswered: dict[str, str]
    path: Path
    instances: frozenset[str] | None = None
    about: About | None = None
    answers: Mapping[tuple[str, int], str] = {}
    failed: frozenset[str] = frozenset()

    @property
    def experiment(self) -> str:
        """The experiment that paid for its answers, empty if the run does not record it."""
        return self.about.experiment if self.about else ""

    @property
    def attempts(self) -> int:
        """The attempts that were wanted at each instance, or that there are."""
        return max((self.about and self.about.attempts) or 1, *(attempt for _, attempt in self.answers), 1)

    def is_about(self, instance: str) -> bool:
        return self.instances is None or instance in self.instances


def read(rows: Rows, store: Store, repo: Repo, known: Mapping[str, KnownInstance]) -> dict[Who, Run]:
    """Add `stages` and patches of a repository; returns its newest runs."""
    runs = {}
    for model in store.predicted_in(repo):
        for path in sorted(model.glob("*/predictions.jsonl"))[-1:]:
            about = described(path.with_name("run.json"), rows.note)
            predictions = list(unique(each_record(path, Prediction), path))
            who = _owner(about, predictions, path)
            if who is None:
                continue
            records = [_checked(record, who, known, path) for record in predictions]
            paths = {record.instance_id: _metadata_path(store, repo, record, path) for record in records}
            runs[who] = _run(records, path, paths, about, rows.note)
            _add(rows, who, runs[who])
            _add_replies(rows, store, repo, who, runs[who])
    return runs


def _owner(about: About | None, predictions: Sequence[Prediction], path: Path) -> Who | None:
    """The agent and model of a run. If its `run.json` cannot be read, its first prediction says it, unless that has no
    agent; None if nothing does."""
    if about or not is_there(path.with_name("run.json")):
        return whose_run(path.parent)
    names = [(first.agent, first.model_name_or_path) for first in predictions[:1]]
    folder = path.parents[3].name, path.parents[1].name
    return next((who for who in names if (agent_folder(who[0]), folder_name(who[1])) == folder), None)


def _checked(record: Prediction, who: Who, known: Mapping[str, KnownInstance], path: Path) -> Prediction:
    """The prediction, checked to be of the run's agent and model. Predictions in SWE-bench's format name no agent."""
    prediction = record if record.agent else record.model_copy(update={"agent": who[0]})
    checks.known(prediction, known, path)
    checks.of_run(prediction, who, path)
    return prediction


def _run(records: list[Prediction], path: Path, paths: Mapping[str, Path], about: About | None, note: Note) -> Run:
    names = [record.instance_id for record in records]
    causes = unanswered(path.with_name("metadata.json"), note)
    return Run(
        name=records[0].run if records else path.parent.name,
        predictions=dict(zip(names, records, strict=True)),
        metadata={name: read_metadata(paths[name], note) for name in names},
        unanswered=causes,
        path=path,
        instances=_shown(about, names, causes, path),
        about=about,
        failed=failed(path.with_name("metadata.json")),
        answers={(record.instance_id, 1): record.answer for record in records} | dict(_further(path.parent)),
    )


def _shown(
    about: About | None, answered: Sequence[str], causes: Mapping[str, str], path: Path
) -> frozenset[str] | None:
    """The instances that a run is about, None for all. If its `run.json` cannot be read, these are the answered ones
    and those with a cause for having no answer; a run of another harness is about all."""
    if about:
        return about.instances
    is_lost = is_there(path.with_name("run.json")) and is_there(path.with_name("metadata.json"))
    return frozenset((*answered, *causes)) if is_lost else None


def _further(folder: Path) -> Iterator[tuple[tuple[str, int], str]]:
    """The names of further attempts' answers."""
    for attempt in attempts_in(folder, "predictions.jsonl"):
        if attempt > 1:
            for prediction in each_record(of_attempt(folder, attempt) / "predictions.jsonl", Prediction):
                yield (prediction.instance_id, attempt), prediction.answer


def _add_replies(rows: Rows, store: Store, repo: Repo, who: Who, run: Run) -> None:
    """Add `replies`, of every attempt."""
    for (name, attempt), answer in run.answers.items():
        metadata = run.metadata[name] if attempt == 1 else _of_answer(store, repo, name, answer, rows.note)
        rows.extend("replies", ((*who, name, attempt, *reply) for reply in metadata.replies))


def _of_answer(store: Store, repo: Repo, name: str, answer: str, note: Note) -> Metadata:
    return read_metadata(store.answers(repo, name, answer) / "metadata.json", note)


def _add(rows: Rows, who: Who, run: Run) -> None:
    for name, prediction in run.predictions.items():
        rows.patches[*who, name] = prediction.model_patch
        rows.extend("stages", ((*who, name, *stage) for stage in run.metadata[name].stages))


def _metadata_path(store: Store, repo: Repo, prediction: Prediction, path: Path) -> Path:
    """The agent's metadata on one instance: next to its answer, or in the folder of an older run."""
    if prediction.answer:
        return store.answers(repo, prediction.instance_id, prediction.answer) / "metadata.json"
    return path.parent / "instances" / prediction.instance_id / "metadata.json"
