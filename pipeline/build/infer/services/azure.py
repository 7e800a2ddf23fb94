"""Jobs of Azure Pipelines: those of all stages, with the templates of the repository."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.build.infer import documents, shell
from pipeline.build.infer.documents import mapping, mappings, texts
from pipeline.build.infer.services.job import DEPTH, Job, Texts, steps
from pipeline.build.infer.tree import Tree

#: steps that are a shell text, and tasks that are a command of a package manager
_SHELLS, _MANAGER = ("script", "bash", "pwsh", "powershell"), re.compile(r"(npm|yarn)@\d+", re.IGNORECASE)
#: commands of these tasks whose words are in other inputs
_OTHER_WORDS = ("custom", "run", "ci", "install")


def read(tree: Tree, path: str, document: dict[str, Any]) -> Iterator[Job]:
    """The jobs; steps without a job are one without a name."""
    for where, name, job in _jobs(tree, path, document):
        yield Job(name, job, steps(_texts(tree, where, job.get("steps")), path, name))


def _jobs(
    tree: Tree, path: str, node: Mapping[str, Any], name: str = "", depth: int = 0
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each job with the path of its file and its name. It inherits the variables of its stage."""
    if isinstance(node.get("steps"), list):
        yield path, name, dict(node)
    inherited = {key: node[key] for key in ("variables", "strategy", "container") if key in node}
    parts = [part for key in ("extends", "stages", "jobs") for part in mappings(node.get(key))]
    for part in parts if depth < DEPTH else ():
        named = next(iter(texts(part.get("job")) + texts(part.get("stage"))), name)
        template, content = _template(tree, path, part)
        yield from _jobs(tree, template or path, inherited | part | content, named, depth + 1)


def _template(tree: Tree, path: str, part: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The path and content of a template of the repository; empty if there is none."""
    named = str(part.get("template", ""))
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), named))
    found = named.lstrip("/") if named.startswith("/") else beside
    return (found, mapping(documents.load(tree.text(found)))) if named and found in tree.paths else ("", {})


def _texts(tree: Tree, path: str, listed: Any, depth: int = 0) -> Texts:
    for step in mappings(listed):
        template, content = _template(tree, path, step) if depth < DEPTH else ("", {})
        if template:
            yield from _texts(tree, template, content.get("steps"), depth + 1)
        inputs = {key.lower(): str(value) for key, value in mapping(step.get("inputs")).items()}
        folder = str(step.get("workingDirectory", inputs.get("workingdirectory", inputs.get("workingdir", ""))))
        yield _command(step, inputs), shell.inside(folder)


def _command(step: Mapping[str, Any], inputs: Mapping[str, str]) -> str:
    """The shell text of a step; empty for a task that is none."""
    if task := _MANAGER.match(str(step.get("task", ""))):
        command = inputs.get("command", "install")
        words = inputs.get("customcommand") or inputs.get("arguments") if command in _OTHER_WORDS else ""
        return f"{task[1].lower()} {words or command}"
    return next((step[key] for key in _SHELLS if isinstance(step.get(key), str)), inputs.get("script", ""))
