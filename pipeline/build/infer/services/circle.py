"""Jobs of CircleCI: with the executors, commands and workflows of the file, and of its first version (`circle.yml`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.build.infer import shell
from pipeline.build.infer.documents import mapping, mappings, texts
from pipeline.build.infer.services.job import DEPTH, Job, Texts, steps
from pipeline.build.infer.tree import Tree

_PARAMETER = re.compile(r"<<\s*parameters\.([\w-]+)\s*>>")
_PHASES, _PARTS = ("machine", "dependencies", "compile"), ("pre", "override", "post")


def read(_: Tree, path: str, document: dict[str, Any]) -> Iterator[Job]:
    """The jobs, and the jobs that workflows require before them."""
    executors, needs = mapping(document.get("executors")), _needs(document)
    for name, job in mapping(document.get("jobs")).items():
        if isinstance(job, dict):
            executor = job.get("executor")
            named = mapping(executor).get("name") if isinstance(executor, dict) else executor
            definition = mapping(executors.get(str(named))) | job
            found = _texts(document, job.get("steps"), definition)
            yield Job(name, definition, steps(found, path, name), tuple(needs.get(name, ())))


def read_first(_: Tree, path: str, document: dict[str, Any]) -> Iterator[Job]:
    """The one job of the first version. It runs `npm test` if the file names no tests."""
    phases = [mapping(document.get(phase)) for phase in _PHASES]
    before = [text for phase in phases for part in _PARTS for text in _listed(phase.get(part))]
    tests = mapping(document.get("test"))
    found = [*before, *_listed(tests.get("pre")), *(_listed(tests.get("override")) or ["npm test"])]
    yield Job("", document, steps(((text, "") for text in found), path, ""))


def _listed(value: Any) -> list[str]:
    """The commands of a list, some of which have settings (`npm test: {timeout: 10}`)."""
    entries = value if isinstance(value, list) else [value]
    return [text for entry in entries for text in (mapping(entry) or texts(entry))]


def _needs(document: Mapping[str, Any]) -> dict[str, list[str]]:
    """Job -> the jobs that workflows require before it. A workflow may give a job another name."""
    workflows = [mapping(workflow) for workflow in mapping(document.get("workflows")).values()]
    entries = [entry for workflow in workflows for entry in mappings(workflow.get("jobs"))]
    pairs = [(job, mapping(settings)) for entry in entries for job, settings in entry.items()]
    job_of = {settings["name"]: job for job, settings in pairs if isinstance(settings.get("name"), str)}
    needs: dict[str, list[str]] = {}
    for job, settings in pairs:
        needs.setdefault(job, []).extend(job_of.get(name, name) for name in texts(settings.get("requires")))
    return needs


def _texts(
    document: Mapping[str, Any],
    listed: Any,
    job: Mapping[str, Any],
    given: Mapping[str, str] | None = None,
    depth: int = 0,
) -> Texts:
    """The texts of steps, with the values `given` to their command."""
    own = mapping(document.get("commands"))
    for step in listed if isinstance(listed, list) and depth < DEPTH else ():
        for key, value in ({step: {}} if isinstance(step, str) else mapping(step)).items():
            if key == "run":
                yield _run({"command": value} if isinstance(value, str) else mapping(value), job, given or {})
            elif key in ("when", "unless"):
                yield from _texts(document, mapping(value).get("steps"), job, given, depth + 1)
            elif key in own:
                command = mapping(own[key])
                yield from _texts(document, command.get("steps"), job, _parameters(command, value), depth + 1)


def _run(run: Mapping[str, Any], job: Mapping[str, Any], given: Mapping[str, str]) -> tuple[str, str | None]:
    """A command and its folder. The job's working directory is the checkout."""
    text = _PARAMETER.sub(lambda match: given.get(match[1], match[0]), str(run.get("command", "")))
    home, folder = str(job.get("working_directory", "~/project")).rstrip("/"), str(run.get("working_directory", ""))
    is_below = f"{folder}/".startswith(f"{home}/")
    return text, shell.inside(folder.removeprefix(home).lstrip("/") if is_below else folder)


def _parameters(command: Mapping[str, Any], given: Any) -> dict[str, str]:
    """The texts that a call gives to a command, and the defaults of others."""
    defaults = {name: mapping(row).get("default") for name, row in mapping(command.get("parameters")).items()}
    return {name: text for name, text in {**defaults, **mapping(given)}.items() if isinstance(text, str)}
