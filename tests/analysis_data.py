"""A whole generated data directory: the output of stages 00 to 04 for a number of instances, models and tests.

The same arguments give the same records. Models differ in skill, instances in year, difficulty and size; the references
are included. Large files are written as text from one record of each kind, so ten thousand verdicts take seconds.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from typing import NamedTuple

from factories import make_candidate, make_instance, make_prediction, make_rejection, make_review, make_verdict

from pipeline.core.names import Repo
from pipeline.core.records import REPAIR, Instance, Outcome, Prediction, Status, Verdict
from pipeline.core.store import Store, digest, write_bytes, write_json, write_records
from pipeline.llm.costs import write_costs
from pipeline.llm.ledger_file import SCHEMA

REPOS = (Repo("acme", "ui"), Repo("acme", "forms"), Repo("orbit", "design-system"))
CRITERIA = ("1.1.1", "1.3.1", "1.4.3", "2.1.1", "2.4.3", "2.4.7", "3.3.1", "3.3.2", "4.1.2")
STAGES = ("located", "shown", "edited", "matched", "applied", "parses", "selected")
#: tests that the gold patch fixes
FIXED = 5
RUN = "20240506T070809Z"


class Size(NamedTuple):
    """How much is generated; `tests` counts those of each instance."""

    instances: int = 24
    models: int = 3
    tests: int = 12


SMALL = Size()


def generate(store: Store, size: Size = SMALL, seed: int = 7) -> Store:
    """Fill a data directory."""
    chance, ids = random.Random(seed), count()
    base = make_instance(1, tests=_tests(size.tests))
    store.root.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(store.ledger)) as ledger, ledger:
        ledger.executescript(SCHEMA)
        for repo in REPOS:
            numbers = range(1, size.instances // len(REPOS) + 1)
            instances = [_instance(base, repo, number, chance) for number in numbers]
            _collected(store, repo, instances, chance)
            for model in range(size.models):
                _model(store, ledger, repo, model, instances, chance, ids)
            _references(store, repo, instances)
    write_costs(store)
    return store


def _tests(number: int) -> dict[str, str]:
    name = "src/components/Widget{0}/__tests__/Widget{0}.test.tsx > Widget{0} > does what it says, case {1}"
    return {name.format(n // 10, n): "PFP" if n < FIXED else "PPP" for n in range(number)}


def _instance(base: Instance, repo: Repo, number: int, chance: random.Random) -> Instance:
    year = chance.choices((2021, 2022, 2023, 2024, 2025), (1, 2, 3, 3, 2))[0]
    fields = {
        "org": repo.org,
        "repo": repo.repo,
        "number": number,
        "instance_id": repo.instance_id(number),
        "title": f"Give the widget {number} a name and a role",
        "merged_at": f"{year}-{chance.randint(1, 12):02d}-06T07:08:09Z",
        "fix_patch": _patch(range(chance.choices((1, 2, 3, 7), (5, 3, 2, 1))[0]), chance),
    }
    return base.model_copy(update=fields)


def _patch(files: range | list[int], chance: random.Random) -> str:
    return "".join(_section(number, chance.randint(2, 24)) for number in files)


def _section(number: int, lines: int) -> str:
    path = f"src/components/Widget/part{number}.tsx"
    body = "".join(f'-  <div class="part" key={{{n}}}>\n+  <button type="button" key={{{n}}}>\n' for n in range(lines))
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,{lines + 1} +1,{lines + 1} @@\n"
    return f"{head} export const part = () => (\n{body}"


def _collected(store: Store, repo: Repo, instances: list[Instance], chance: random.Random) -> None:
    numbers = range(1, 2 * len(instances) + 1)
    write_records(store.raw(repo) / "candidates.jsonl", [make_candidate(number, repo) for number in numbers])
    counts = {"total": 40, "tests": 12, "a11y": 2, "issues": 8, "sample": 2, "without_issue": 0}
    write_json(
        store.raw(repo) / "funnel.json", {"repo": str(repo)} | {n: c * len(instances) for n, c in counts.items()}
    )
    write_records(store.dataset(repo), instances)
    rejected = [make_rejection(number, repo) for number in numbers[len(instances) : -2]]
    write_records(store.qualification(repo) / "rejections.jsonl", rejected)
    write_records(store.reviews(repo), [_review(instance, repo, chance) for instance in instances])


def _review(instance: Instance, repo: Repo, chance: random.Random):
    criteria = tuple(chance.sample(CRITERIA, chance.randint(1, 2)))
    difficulty = chance.choice(("easy", "medium", "difficult"))
    return make_review(instance.number, repo, success_criteria=criteria, principles=(), difficulty=difficulty)


def _model(
    store: Store,
    ledger: sqlite3.Connection,
    repo: Repo,
    model: int,
    instances: list[Instance],
    chance: random.Random,
    ids: Iterator[int],
) -> None:
    """One model's answers, verdicts and requests; a model with a higher number solves more."""
    name, skill = f"model-{chr(ord('a') + model)}", 0.1 + 0.07 * model
    folder = store.predictions(repo, "magentless", name) / RUN
    predictions = [_prediction(one, repo, name, chance) for one in instances]
    write_records(folder / "predictions.jsonl", predictions)
    write_json(folder / "run.json", {"repo": str(repo), "agent": "magentless", "model": name})
    verdicts = [_verdict(*pair, skill, chance) for pair in zip(instances, predictions, strict=True)]
    write_records(store.evaluation(repo, "magentless", name) / "verdicts.jsonl", verdicts)
    for instance, prediction in zip(instances, predictions, strict=True):
        metadata = _metadata(instance, prediction)
        write_bytes(folder / "instances" / instance.instance_id / "metadata.json", json.dumps(metadata).encode())
        _spend(ledger, instance, name, chance, ids)


def _prediction(instance: Instance, repo: Repo, model: str, chance: random.Random) -> Prediction:
    empty = chance.random() < 0.25
    patch = "" if empty else _patch(chance.sample(range(4), chance.randint(1, 2)), chance)
    outcome = chance.choice(("SEARCH_MISMATCH", "NO_EDITS")) if empty else "SUCCESSFUL_PATCH"
    fields = {"model_name_or_path": model, "model_patch": patch, "outcome": outcome, "run": RUN}
    return make_prediction(instance.number, repo, **fields)


def _verdict(instance: Instance, prediction: Prediction, skill: float, chance: random.Random) -> Verdict:
    tests = tuple(instance.f2p_tests)
    common = {"image": instance.image, "expected": len(instance.expected)}
    if not prediction.model_patch:
        return make_verdict(prediction, Outcome.EMPTY, **common)
    solved = chance.random() < skill
    fixed = tests if solved else tests[: chance.randint(0, FIXED - 1)]
    unfixed = dict.fromkeys(tests[len(fixed) :], Status.FAILED)
    outcome = Outcome.RESOLVED if solved else Outcome.UNRESOLVED
    return make_verdict(prediction, outcome, fixed=fixed, unfixed=unfixed, **common)


def _metadata(instance: Instance, prediction: Prediction) -> dict:
    reached = len(STAGES) if prediction.model_patch else 3
    files = [f"src/components/Widget/part{number}.tsx" for number in range(3)]
    return {
        "instance_id": instance.instance_id,
        "outcome": prediction.outcome,
        "funnel": {stage: int(place < reached) for place, stage in enumerate(STAGES)},
        "sets": [{"located": files, "shown": files[:2]}],
    }


def _spend(
    ledger: sqlite3.Connection, instance: Instance, model: str, chance: random.Random, ids: Iterator[int]
) -> None:
    """One key and four requests."""
    name, key = instance.instance_id, digest(instance.instance_id, model)
    whose = (str(instance.repository), model, "magentless", "settings", name, None, RUN, REPAIR, "", "")
    row = (key, "alias", "experiment", *whose)
    ledger.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    for _ in range(4):
        tokens = chance.randint(500, 9000)
        row = (str(next(ids)), RUN, key, model, "llm", tokens, 300, 0, 0, f"0.{tokens:05d}", tokens, "ok")
        ledger.execute("INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 1)", row)


def _references(store: Store, repo: Repo, instances: list[Instance]) -> None:
    for agent, outcome in (("oracle", Outcome.RESOLVED), ("nop", Outcome.EMPTY)):
        fields = {"agent": agent, "model_name_or_path": agent, "run": RUN, "outcome": agent, "trusted": True}
        patches = [instance.fix_patch if agent == "oracle" else "" for instance in instances]
        numbered = zip(instances, patches, strict=True)
        predictions = [
            make_prediction(instance.number, repo, model_patch=patch, **fields) for instance, patch in numbered
        ]
        folder = store.predictions(repo, agent, agent) / RUN
        write_records(folder / "predictions.jsonl", predictions)
        write_records(
            store.evaluation(repo, agent, agent) / "verdicts.jsonl",
            [make_verdict(prediction, outcome, fixed=(), image=instances[0].image) for prediction in predictions],
        )
