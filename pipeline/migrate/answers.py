"""New digests for ratings of a judge, which are named by digests of tasks, so that nothing is paid for twice.

A digest of schema 1 covered every field of a record, including the version of its schema. If all inputs of such a name
still exist and give the same name, the new name replaces it; otherwise the old name stays, and the rating is stale.
Runs of agents are shown, evaluated and analyzed as they are.
"""

from __future__ import annotations

from pathlib import Path

from pipeline.core.records import Task
from pipeline.core.store import digest
from pipeline.migrate.reading import lines, valid
from pipeline.migrate.records import OLD

#: old -> new digests
Renamed = dict[str, str]
#: tasks as schema 1 wrote them -> the current tasks, in their order
Tasks = dict[str, Task]


def tasks_of(folder: Path) -> Tasks:
    """The tasks that a run still holds in their old form. Raises UserError with the line."""
    path = folder / "tasks.jsonl"
    old = [row for row in lines(path) if row[2].get("schema_version") == OLD] if path.exists() else []
    return {
        line.decode().removesuffix("\n"): Task.model_validate(valid(path, number, found, Task))
        for number, line, found in old
    }


def renamed_tasks(tasks: Tasks) -> Renamed:
    return {digest(line): digest(task) for line, task in tasks.items()}
