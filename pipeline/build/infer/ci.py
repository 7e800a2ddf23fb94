"""The Node versions that continuous integration names, in all its services (ci.toml).

Jobs that run tests come first. Does not cover values that are known only when the job runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pipeline.build.infer import jobs
from pipeline.build.infer.documents import values
from pipeline.build.infer.jobs import EXPRESSION, File
from pipeline.build.infer.services import Job
from pipeline.build.infer.tree import Tree, table

#: what a file with a version says (`18.2`, `nodejs 18.2`)
_FILE = r"^\s*(?:node(?:js)?\s+)?([^\s#]+)"


class Named(NamedTuple):
    """The versions that one job names (a matrix has several), where, and how far it is from running tests."""

    versions: tuple[str, ...]
    where: str
    distance: int


def named(tree: Tree) -> list[Named]:
    """The versions of all jobs, those that run tests first; otherwise in the order of services, files and jobs."""
    found = [named for file in jobs.configurations(tree) for named in _of_file(tree, file)]
    return sorted(found, key=lambda job: job.distance)


def _of_file(tree: Tree, file: File) -> Iterator[Named]:
    """The versions of a file's jobs. Jobs that run the same commands are one, as in a matrix."""
    found: dict[object, Named] = {}
    for number, (commands, job) in enumerate(_of_jobs(tree, file)):
        same = (job.distance, commands) if commands else number
        earlier = found.get(same)
        found[same] = earlier._replace(versions=earlier.versions + job.versions) if earlier else job
    yield from found.values()


def _of_jobs(tree: Tree, file: File) -> Iterator[tuple[tuple[str, ...], Named]]:
    """The commands and the versions of each job that names versions."""
    testing = [any(jobs.tests(tree, step) for step in job.steps) for job in file.jobs]
    for job, tests in zip(file.jobs, testing, strict=True):
        texts = tuple(_versions(tree, file, job)) or tuple(_of_shell(job))
        if texts:
            near = 0 if tests else 1 if any(testing) else None
            where = f"{file.path}: {job.name}" if job.name else file.path
            named = Named(texts, where, _distance(near, is_other=jobs.is_other(file.path, job.name)))
            yield tuple(step.text for step in job.steps), named


def _distance(near: int | None, *, is_other: bool) -> int:
    """0: the job runs tests; 1: another job of its file does; 3: neither. For jobs with another purpose, 2 in place of
    0 and 1, and 4 in place of 3."""
    if is_other:
        return 4 if near is None else 2
    return 3 if near is None else near


def _versions(tree: Tree, file: File, job: Job) -> Iterator[str]:
    """The versions of a job's settings. Those of the whole file count for settings that the job refers to."""
    used = _used(job.definition) if file.service["reader"] == "github" else job.definition
    definition = _of_tasks(used, file.service.get("tasks", ""))
    for key in file.service["keys"]:
        for value in values(definition, key):
            texts = _evaluated(value, job.definition, file.document)
            yield from filter(None, (_version(tree, key, text) for text in texts))


def _used(definition: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a job on GitHub without the values of its matrix that it never uses."""
    strategy = definition.get("strategy")
    if not isinstance(strategy, dict) or not isinstance(matrix := strategy.get("matrix"), dict):
        return dict(definition)
    others = str({key: value for key, value in definition.items() if key != "strategy"})
    used = {
        key: value
        for key, value in matrix.items()
        if key in ("include", "exclude") or re.search(rf"matrix(?:\.|\[\W?){re.escape(str(key))}\b", others)
    }
    return {**definition, "strategy": {**strategy, "matrix": used}}


def _evaluated(text: str, *definitions: Mapping[str, Any]) -> list[str]:
    """A text whose expression is replaced by its value, which is set elsewhere; empty for an expression of another
    kind."""
    expression = EXPRESSION.search(text)
    if not expression:
        return [text]
    name = (expression[1] or expression[2]).rpartition(".")[2]
    found = next(filter(None, (values(definition, name) for definition in definitions)), [])
    replaced = (text[: expression.start()] + value + text[expression.end() :] for value in found)
    return [text for text in replaced if not EXPRESSION.search(text)]


def _version(tree: Tree, key: str, text: str) -> str:
    """The text of a version: for an image its tag, for a file its content."""
    if key.partition(".")[0] in ("image", "container"):
        matches = (re.search(row["pattern"], text) for row in table("ci.toml")["image"])
        return next((match[1] for match in matches if match), "").replace("lts", "lts/*")
    if key == "node-version-file" and text != "package.json":
        found = re.search(_FILE, tree.text(text.removeprefix("./")), re.MULTILINE)
        return found[1] if found else ""
    return text.strip()


def _of_shell(job: Job) -> Iterator[str]:
    """The versions that commands install (`nvm install 8`)."""
    pattern = table("ci.toml")["shell"]["node"]
    for step in job.steps:
        yield from re.findall(pattern, step.text)


def _of_tasks(node: Any, tasks: str) -> Any:
    """The settings without those of tasks that do not install Node."""
    if isinstance(node, list):
        return [_of_tasks(entry, tasks) for entry in node]
    if not tasks or not isinstance(node, dict):
        return node
    is_foreign = isinstance(node.get("task"), str) and not re.search(tasks, node["task"])
    return {} if is_foreign else {key: _of_tasks(value, tasks) for key, value in node.items()}
