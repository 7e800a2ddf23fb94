"""Jobs of GitHub Actions: workflows with the actions of the repository that they use, and these actions."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.build.infer import documents, shell
from pipeline.build.infer.documents import mapping, mappings, texts
from pipeline.build.infer.services.job import DEPTH, Job, Texts, steps
from pipeline.build.infer.tree import Tree


def read(tree: Tree, path: str, document: dict[str, Any]) -> Iterator[Job]:
    """The jobs of a workflow; an action is a job without a name."""
    if runs := mapping(document.get("runs")):
        yield Job("", document, steps(_texts(tree, runs), path, ""))
    for name, job in mapping(document.get("jobs")).items():
        if isinstance(job, dict):
            actions = {"actions": list(_actions(tree, job))}
            yield Job(name, job | actions, steps(_texts(tree, job), path, name), tuple(texts(job.get("needs"))))


def _texts(tree: Tree, job: Mapping[str, Any], depth: int = 0) -> Texts:
    default = mapping(mapping(job.get("defaults")).get("run")).get("working-directory", "")
    for step in mappings(job.get("steps")):
        if isinstance(step.get("run"), str):
            yield step["run"], shell.inside(str(step.get("working-directory", default)))
        elif depth < DEPTH:
            yield from _texts(tree, mapping(_action(tree, step).get("runs")), depth + 1)


def _actions(tree: Tree, job: Mapping[str, Any], depth: int = 0) -> Iterator[dict[str, Any]]:
    """The actions of the repository that a job uses, and those that these use."""
    for step in mappings(job.get("steps")) if depth < DEPTH else ():
        if action := _action(tree, step):
            yield action
            yield from _actions(tree, mapping(action.get("runs")), depth + 1)


def _action(tree: Tree, step: Mapping[str, Any]) -> dict[str, Any]:
    """The action of the repository that a step uses; empty if there is none."""
    uses = str(step.get("uses", ""))
    paths = (f"{posixpath.normpath(uses)}/action.{ending}" for ending in ("yml", "yaml") if uses.startswith("./"))
    return mapping(documents.load(next(filter(None, map(tree.text, paths)), "")))
