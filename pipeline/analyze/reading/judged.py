"""Stage 04: the verdicts on the current patches, and the tests that decided them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from pipeline.analyze.reading import checks
from pipeline.analyze.reading.answered import Run
from pipeline.analyze.reading.matching import holds
from pipeline.analyze.reading.rows import KnownInstance, Rows, Who
from pipeline.core.names import Repo
from pipeline.core.records import Verdict
from pipeline.core.store import Store, attempts_in, each_record, of_attempt, unique

#: verdicts by agent, model and instance
Verdicts = dict[tuple[str, str, str], Verdict]


def read(rows: Rows, store: Store, repo: Repo, runs: Mapping[Who, Run], known: Mapping[str, KnownInstance]) -> Verdicts:
    """Add `results` of a repository and notes on what is not evaluated; returns the current verdicts."""
    current: Verdicts = {}
    stale: Counter[Who] = Counter()
    for verdict in verdicts(store, repo, known):
        who = verdict.agent, verdict.model
        if holds(verdict, runs.get(who), known[verdict.instance_id]):
            _agrees(store, repo, verdict, runs.get(who))
            rows.extend("results", _deciding_tests(verdict))
            current[*who, verdict.instance_id] = verdict
        else:
            stale[who] += 1
    evaluated = {key[:2] for key in current} | set(stale)
    for note in (*_notes(repo, set(runs), evaluated, stale), *_doubts(repo, list(current.values()))):
        rows.note(note)
    return current


def _doubts(repo: Repo, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Notes on why verdicts on a repository are not comparable, or not certain."""
    laws: dict[str, set[str]] = {}
    for verdict in verdicts:
        laws.setdefault(verdict.instance_id, set()).add(verdict.law)
    if mixed := sum(len(several) > 1 for several in laws.values()):
        yield f"04 evaluate: models are judged by different laws on {mixed} instances of {repo} (just eval-report)."
    if differing := sum(bool(verdict.differs) for verdict in verdicts):
        yield f"04 evaluate: {differing} verdicts on {repo} ran differently than at qualification (field `differs`)."
    if test_aware := sum(bool(verdict.test_aware) for verdict in verdicts):
        yield f"04 evaluate: {test_aware} patches on {repo} behave differently outside of tests (`test_aware`)."
    if lacking := sorted({safeguard for verdict in verdicts for safeguard in verdict.lacks}):
        yield f"04 evaluate: verdicts on {repo} have lower assurance, since these are missing: {', '.join(lacking)}."


def _agrees(store: Store, repo: Repo, verdict: Verdict, run: Run | None) -> None:
    answer = run.predictions.get(verdict.instance_id) if run else None
    if run and answer:
        folder = partial(store.evaluation, repo, verdict.agent, verdict.model)
        checks.agrees(verdict, answer, folder, run.path)


def verdicts(store: Store, repo: Repo, known: Mapping[str, KnownInstance]) -> Iterator[Verdict]:
    """All verdicts on a repository, of first attempts, checked."""
    for folder in store.evaluated_in(repo):
        yield from attempt_verdicts(folder, known, 1)


def further(store: Store, repo: Repo, known: Mapping[str, KnownInstance]) -> Iterator[tuple[int, Verdict]]:
    """Verdicts on further attempts, with their numbers, checked."""
    for folder in store.evaluated_in(repo):
        for attempt in attempts_in(folder, "verdicts.jsonl"):
            if attempt > 1:
                yield from ((attempt, verdict) for verdict in attempt_verdicts(folder, known, attempt))


def attempt_verdicts(folder: Path, known: Mapping[str, KnownInstance], attempt: int) -> Iterator[Verdict]:
    """The verdicts on one attempt of an agent and model, checked."""
    path = of_attempt(folder, attempt) / "verdicts.jsonl"
    for verdict in unique(each_record(path, Verdict), path):
        yield _checked(verdict, known, folder, path)


def _checked(verdict: Verdict, known: Mapping[str, KnownInstance], folder: Path, path: Path) -> Verdict:
    checks.known(verdict, known, path)
    checks.of_folder(verdict.agent, verdict.model, folder, path)
    checks.consistent(verdict, path)
    return verdict


def _deciding_tests(verdict: Verdict) -> Iterator[tuple[str | None, ...]]:
    for effect in ("fixed", "unfixed", "broken"):
        for name in getattr(verdict, effect):
            yield verdict.agent, verdict.model, verdict.instance_id, name, effect, verdict.tests[name].value


def _notes(repo: Repo, predicted: set[Who], evaluated: set[Who], stale: Counter[Who]) -> Iterator[str]:
    if not predicted and not evaluated:
        yield f"03 predict: nothing yet for {repo}."
    for who in sorted(predicted - evaluated):
        yield f"04 evaluate: nothing yet for {', '.join(who)} on {repo}."
    for who, count in sorted(stale.items()):
        yield f"04 evaluate: {count} verdicts of {', '.join(who)} on {repo} belong to older patches or images."
