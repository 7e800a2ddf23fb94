"""What was paid for is found again: runs of agents and ratings of a judge are named by digests of tasks.

A digest of schema 1 covered every field of a record, its schema's version, too. Where all that such a name was made of
is still there, and gives the same name, the new one takes its place; else the old one stays, and is stale.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.core.dataset import read_dataset
from pipeline.core.names import Repo, parse_repo
from pipeline.core.records import Instance, Task
from pipeline.core.store import Store, digest, read_json
from pipeline.llm.experiment import Experiment
from pipeline.migrate.records import converted
from pipeline.predict.run import experiment_digest

#: old -> new digests
Renamed = dict[str, str]
#: tasks as schema 1 wrote them -> the same of today, in their order
Tasks = dict[str, Task]


def tasks_of(folder: Path) -> Tasks:
    """The tasks that a run still holds in their old form."""
    path = folder / "tasks.jsonl"
    lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
    old = [line for line in lines if line and json.loads(line).get("schema_version") == 1]
    return {line: Task.model_validate(converted(Task, json.loads(line))) for line in old}


def renamed_tasks(tasks: Tasks) -> Renamed:
    return {digest(line): digest(task) for line, task in tasks.items()}


def renamed_run(store: Store, repo: Repo, folder: Path, tasks: Tasks) -> Renamed:
    """The run's own digest; nothing where it is not what the dataset and its own tasks give."""
    said, instances = read_json(folder / "run.json"), _instances(store, repo, tasks)
    if not instances or said.get("digest") != _old_digest(said, instances, tasks):
        return {}
    experiment = Experiment(said["repo"], said["model"], said["agent"], said["settings"])
    return {said["digest"]: experiment_digest(experiment, instances)}


def _instances(store: Store, repo: Repo, tasks: Tasks) -> tuple[Instance, ...]:
    """Those of the dataset, where they are of these tasks, in their order."""
    if not tasks or not store.dataset(repo).exists():
        return ()
    found = read_dataset(store, repo)
    return found if [digest(one.task()) for one in found] == [digest(one) for one in tasks.values()] else ()


def _old_digest(said: Mapping[str, Any], instances: Sequence[Instance], tasks: Tasks) -> str:
    """What schema 1 named such a run by."""
    whose = {name: said.get(name) for name in ("agent", "model", "settings")} | {"repo": parse_repo(said["repo"])}
    asked = [digest(line, one.base.sha) for line, one in zip(tasks, instances, strict=True)]
    return digest(whose, asked, [digest(one.fix_patch) for one in instances] if said["agent"] == "oracle" else [])
