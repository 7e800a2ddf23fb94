"""Which attempts are repeats: verdicts on the same answer, as in a copy of a data directory.

An equal patch is no repeat: a model can write the same patch twice. Two answers are the same if they are of the same
attempt of a run, or if they are the same kept answer, which several runs may show.
"""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.core.names import Repo
from pipeline.core.records import Prediction, Verdict
from pipeline.core.store import Store, each_record, of_attempt, read_object


class Seen:
    """The attempts that were seen so far."""

    def __init__(self) -> None:
        self._keys: set[tuple[object, ...]] = set()
        self._answers: dict[tuple[object, ...], dict[str, str]] = {}

    def is_repeat(self, store: Store, repo: Repo, verdict: Verdict, attempt: int) -> bool:
        """Whether the answer of this verdict was seen before; now it is."""
        keys = set(self._identities(store, repo, verdict, attempt))
        is_repeat = not keys.isdisjoint(self._keys)
        self._keys |= keys
        return is_repeat

    def _identities(self, store: Store, repo: Repo, verdict: Verdict, attempt: int) -> Iterator[tuple[object, ...]]:
        whose = verdict.agent, verdict.model, verdict.instance_id
        yield (*whose, verdict.run, attempt, verdict.patch_digest)
        answer = self._of_run(store, repo, verdict, attempt).get(verdict.instance_id, "")
        manifest = store.answers(repo, verdict.instance_id, answer) / "manifest.json" if answer else None
        if manifest and manifest.exists():
            yield (*whose, answer, read_object(manifest).get("finished"))

    def _of_run(self, store: Store, repo: Repo, verdict: Verdict, attempt: int) -> dict[str, str]:
        """The names of the kept answers of an attempt, by instance."""
        key = store.root, repo, verdict.agent, verdict.model, verdict.run, attempt
        if key not in self._answers:
            folder = store.predictions(repo, verdict.agent, verdict.model) / verdict.run
            path = of_attempt(folder, attempt) / "predictions.jsonl"
            self._answers[key] = {record.instance_id: record.answer for record in each_record(path, Prediction)}
        return self._answers[key]
