"""The Node versions that continuous integration names: every workflow, CircleCI, Travis and the like (ci.toml).

Jobs that run tests come first. Does not cover values that are known only when the job runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from pipeline.build.infer.tree import Tree, table

_EXPRESSION = re.compile(r"(?:\$\{\{|<<)\s*[\w.-]*?([\w-]+)\s*(?:\}\}|>>)")


class Named(NamedTuple):
    """The versions that one job names (a matrix has several), where, and how far it is from running tests."""

    versions: tuple[str, ...]
    where: str
    distance: int


class Step(NamedTuple):
    """A command of a job: a shell text, the folder in which it runs, and the job that it is from."""

    text: str
    folder: str
    where: str


class _Texts(yaml.SafeLoader):
    """Reads every scalar as text: `14.10` is not a number. Merge keys (`<<`) are merged."""


_Texts.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag == "tag:yaml.org,2002:merge"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def named(tree: Tree) -> list[Named]:
    """The versions of all jobs, those that run tests first; otherwise in the order of systems, files and jobs."""
    try:
        found = [job for system in table("ci.toml")["system"] for job in _of_system(tree, system)]
    except RecursionError:  # a document that holds itself
        return []
    return sorted(found, key=lambda job: job.distance)


def testing(tree: Tree) -> list[Step]:
    """The test commands of the jobs that test."""
    return [step for steps in _jobs(tree) for step in steps if _tests(step)]


def before_tests(tree: Tree) -> list[Step]:
    """The commands of the first test job before its test command, without installs."""
    for steps in _jobs(tree):
        index = next((index for index, step in enumerate(steps) if _tests(step)), len(steps))
        installs = re.compile(table("ci.toml")["jobs"]["installs"])
        if found := [step for step in steps[:index] if not installs.search(step.text)]:
            return found
    return []


def _tests(step: Step) -> bool:
    words = table("ci.toml")["jobs"]
    return bool(re.search(words["tests"], step.text)) and not re.search(words["installs"], step.text)


def _jobs(tree: Tree) -> list[list[Step]]:
    """The steps of the workflows' jobs that test and do nothing else, in order."""
    words, found = table("ci.toml")["jobs"], []
    for path in tree.matching(re.compile(r"^\.github/workflows/[^/]+\.ya?ml$").search):
        document = load(tree.text(path))
        jobs = document.get("jobs") if isinstance(document, dict) else None
        for name, job in jobs.items() if isinstance(jobs, dict) else ():
            steps = list(_steps(job, f"{path}: {name}"))
            if any(map(_tests, steps)) and not re.search(words["others"], f"{path} {name}"):
                found.append(steps)
    return found


def _steps(job: Any, where: str) -> Iterator[Step]:
    steps = job.get("steps") if isinstance(job, dict) else None
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict) and isinstance(step.get("run"), str) and not _EXPRESSION.search(step["run"]):
            folder = step.get("working-directory")
            yield Step(step["run"].strip(), folder if isinstance(folder, str) else "", where)


def load(text: str) -> Any:
    """A YAML document with all scalars as texts; None for what is no YAML."""
    try:
        return _Texts(text).get_single_data()
    except yaml.YAMLError:
        return None


def _of_system(tree: Tree, system: dict[str, Any]) -> Iterator[Named]:
    for path in tree.matching(re.compile(system["files"]).search):
        document = load(tree.text(path))
        if not isinstance(document, dict):
            continue
        jobs = document.get("jobs")
        parts = jobs.items() if isinstance(jobs, dict) else [("", document)]
        for name, job in parts:
            texts = tuple(_versions(tree, document, job, system["keys"]))
            if texts:
                yield Named(texts, f"{path}: {name}" if name else path, _distance(path, str(name), job, document))


def _versions(tree: Tree, document: Any, job: Any, keys: list[str]) -> Iterator[str]:
    for key in keys:
        for value in _values(job, key):
            expression = _EXPRESSION.fullmatch(value.strip())
            texts = (_values(job, expression[1]) or _values(document, expression[1])) if expression else [value]
            yield from filter(None, (_version(tree, key, text) for text in texts if not _EXPRESSION.search(text)))


def _version(tree: Tree, key: str, text: str) -> str:
    """The text of a version: for an image its tag, for a file its content."""
    if key in ("image", "container"):
        match = re.search(table("ci.toml")["image"]["pattern"], text)
        return match[1] if match else ""
    if key == "node-version-file" and text != "package.json":
        return tree.text(text.removeprefix("./")).strip()
    return text.strip()


def _values(node: Any, key: str) -> list[str]:
    """The texts under a key at any depth, with each text of a list."""
    if isinstance(node, list):
        return [text for element in node for text in _values(element, key)]
    if not isinstance(node, dict):
        return []
    value = node.get(key)
    texts = [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]
    return texts + [text for child in node.values() for text in _values(child, key)]


def _distance(path: str, name: str, job: Any, document: Any) -> int:
    """0: the job runs tests; 1: its file does; 3: neither. For jobs with another purpose 2 (one of them does) and 4."""
    words = table("ci.toml")["jobs"]
    near = next((n for n, node in enumerate((job, document)) if _runs(node, words["tests"])), None)
    if re.search(words["others"], f"{path} {name}"):
        return 4 if near is None else 2
    return 3 if near is None else near


def _runs(node: Any, pattern: str) -> bool:
    commands = [text for key in ("run", "command", "script") for text in _values(node, key)]
    return any(re.search(pattern, command) for command in commands)
