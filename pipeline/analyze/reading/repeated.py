"""Which verdicts on attempts count: one on each answer, not several, as in a copy of a data directory, and only on the
patch that the answer has now; and which attempts have none.

An equal patch is no repeat: a model can write the same patch twice. Two answers are the same if they are of the same
attempt of a run, or if they are the same kept answer, which several runs may show.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pipeline.analyze.reading.rows import Who
from pipeline.core.names import Repo
from pipeline.core.records import Outcome, Prediction, Verdict
from pipeline.core.store import MANIFEST, Store, digest, each_record, of_attempt, read_object


class Answer(NamedTuple):
    """The name of a kept answer, empty for one of another harness, and the digest of its patch."""

    name: str = ""
    patch_digest: str = ""


class Unjudged(NamedTuple):
    """An attempt without a verdict, with the fields of one that count here."""

    agent: str
    model: str
    instance_id: str
    run: str
    patch_digest: str
    image: str = ""
    outcome: Outcome = Outcome.NOT_EVALUATED


#: a verdict, or the lack of one
Judged = Verdict | Unjudged


class Seen:
    """The attempts that were seen so far."""

    def __init__(self) -> None:
        self._keys: set[tuple[object, ...]] = set()
        self._answers: dict[tuple[object, ...], dict[str, Answer]] = {}

    def is_stale(self, store: Store, repo: Repo, attempt: int, verdict: Judged) -> bool:
        """Whether a verdict is on another patch than the answer of its run. A data directory can have verdicts without
        predictions: those are not."""
        answers = self.answers(store, repo, (verdict.agent, verdict.model), verdict.run, attempt)
        return bool(answers) and answers.get(verdict.instance_id, Answer()).patch_digest != verdict.patch_digest

    def is_repeat(self, store: Store, repo: Repo, attempt: int, verdict: Judged) -> bool:
        """Whether the answer of this verdict was seen before; now it is."""
        keys = set(self._identities(store, repo, verdict, attempt))
        is_repeat = not keys.isdisjoint(self._keys)
        self._keys |= keys
        return is_repeat

    def answers(self, store: Store, repo: Repo, who: Who, run: str, attempt: int) -> dict[str, Answer]:
        """The answers of an attempt of a run, by instance."""
        key = store.root, repo, *who, run, attempt
        if key not in self._answers:
            path = of_attempt(store.predictions(repo, *who) / run, attempt) / "predictions.jsonl"
            self._answers[key] = {
                record.instance_id: Answer(record.answer, digest(record.model_patch))
                for record in each_record(path, Prediction)
            }
        return self._answers[key]

    def _identities(self, store: Store, repo: Repo, verdict: Judged, attempt: int) -> Iterator[tuple[object, ...]]:
        who = verdict.agent, verdict.model
        yield (*who, verdict.instance_id, verdict.run, attempt, verdict.patch_digest)
        name = self.answers(store, repo, who, verdict.run, attempt).get(verdict.instance_id, Answer()).name
        manifest = store.answers(repo, verdict.instance_id, name) / MANIFEST if name else None
        if manifest and manifest.exists():
            yield (*who, verdict.instance_id, name, read_object(manifest).get("finished"))
