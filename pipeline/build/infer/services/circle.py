"""Jobs of CircleCI: with the executors, commands and workflows of the file, and of its first version (`circle.yml`).

Workflows may use jobs of orbs, of which only the Node orb is covered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.build.infer import shell
from pipeline.build.infer.documents import mapping, texts
from pipeline.build.infer.services.job import DEPTH, Job, Texts, steps
from pipeline.build.infer.tree import Tree
from pipeline.ecosystems.manager_folder import all_managers

#: the orb with jobs that run scripts in the image of Node
_NODE_ORB = "circleci/node@"
_PARAMETER = re.compile(r"<<\s*parameters\.([\w-]+)\s*>>")
_PHASES, _PARTS = ("machine", "dependencies", "compile"), ("pre", "override", "post")


def read(_: Tree, path: str, document: dict[str, Any]) -> Iterator[Job]:
    """The jobs, and the jobs that workflows require before them. Those of the Node orb come last."""
    executors, needs = mapping(document.get("executors")), _needs(document)
    for name, job in mapping(document.get("jobs")).items():
        if isinstance(job, dict):
            executor = job.get("executor")
            named = mapping(executor).get("name") if isinstance(executor, dict) else executor
            definition = mapping(executors.get(str(named))) | job
            found = _texts(document, job.get("steps"), definition)
            yield Job(name, definition, steps(found, path, name), tuple(needs.get(name, ())))
    yield from _of_orb(document, path)


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
    used, own = list(_used(document)), mapping(document.get("jobs"))
    job_of = {name: job for job, name, _ in used if job in own}
    needs: dict[str, list[str]] = {}
    for job, name, settings in used:
        before = (job_of.get(other, other) for other in texts(settings.get("requires")))
        needs.setdefault(job if job in own else name, []).extend(before)
    return needs


def _used(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The jobs as workflows use them: what they are called in the file, their names in the workflow, their settings."""
    for workflow in mapping(document.get("workflows")).values():
        listed = mapping(workflow).get("jobs")
        for entry in listed if isinstance(listed, list) else [listed]:
            for job, value in ({entry: {}} if isinstance(entry, str) else mapping(entry)).items():
                settings = mapping(value)
                yield job, next(iter(texts(settings.get("name"))), job), settings


def _of_orb(document: Mapping[str, Any], path: str) -> Iterator[Job]:
    """The jobs of the Node orb that workflows use, whatever the file calls the orb."""
    needs, orbs = _needs(document), mapping(document.get("orbs"))
    for job, name, settings in _used(document):
        orb, _, kind = job.partition("/")
        text = _command(kind, settings) if str(orbs.get(orb, "")).startswith(_NODE_ORB) else ""
        if text:
            run = {"command": text, "working_directory": settings.get("app-dir", "")}
            found = steps([_run(run, {}, {})], path, name)
            yield Job(name, settings | {"image": _images(settings)}, found, tuple(needs.get(name, ())))


def _command(kind: str, settings: Mapping[str, Any]) -> str:
    """The command of a job of the Node orb; empty for kinds that run none of the repository's scripts."""
    if kind == "test":
        return f"{settings.get('pkg-manager', 'npm')} run {settings.get('run-command', 'test')}"
    found = (f"{name} run {settings[f'{name}-run']}" for name in all_managers() if f"{name}-run" in settings)
    return next(found, "") if kind == "run" else ""


def _images(settings: Mapping[str, Any]) -> list[str]:
    """The images in which a job of the Node orb runs: one for each version that it names."""
    several = mapping(mapping(settings.get("matrix")).get("parameters")).get("version")
    return [f"cimg/node:{version}" for version in texts(settings.get("version")) or texts(several)]


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
