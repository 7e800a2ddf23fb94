"""Jobs of GitLab: with the defaults, what they extend, and the files of the repository that are included."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.build.infer import documents
from pipeline.build.infer.documents import mapping, merged, texts
from pipeline.build.infer.services.job import DEPTH, Job, steps
from pipeline.build.infer.tree import Tree

#: mappings at the top that are not jobs
_RESERVED = {"default", "include", "variables", "workflow", "image", "cache", "spec"}
_STAGES = (".pre", "build", "test", "deploy", ".post")


def read(tree: Tree, path: str, document: dict[str, Any]) -> Iterator[Job]:
    """The jobs; those of earlier stages leave their artifacts to later ones."""
    whole = _with_included(tree, document)
    defaults = mapping(whole.get("default")) | {key: whole[key] for key in ("image", "before_script") if key in whole}
    jobs = {
        name: defaults | _extended(whole, job)
        for name, job in whole.items()
        if isinstance(job, dict) and name not in _RESERVED and not name.startswith(".")
    }
    stages = texts(whole.get("stages")) or list(_STAGES)
    for name, job in jobs.items():
        commands = documents.referred(whole, [job.get("before_script"), job.get("script")])
        found = steps(((text, "") for text in texts(commands)), path, name, shared=True)
        yield Job(name, job, found, tuple(_needs(name, jobs, stages)))


def _with_included(tree: Tree, document: dict[str, Any], depth: int = 0) -> dict[str, Any]:
    """A file merged over the files of the repository that it includes."""
    included = document.get("include")
    entries = included if isinstance(included, list) else [included]
    named = [mapping(entry).get("local") if isinstance(entry, dict) else entry for entry in entries]
    whole: dict[str, Any] = {}
    for name in (name for name in texts(named) if "://" not in name and depth < DEPTH):
        pattern = re.escape(name.lstrip("/")).replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
        for path in tree.matching(re.compile(f"^{pattern}$").search):
            whole = merged(whole, _with_included(tree, mapping(documents.load(tree.text(path))), depth + 1))
    return merged(whole, document)


def _extended(whole: Mapping[str, Any], job: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """A job merged over what it extends."""
    found: dict[str, Any] = {}
    for name in texts(job.get("extends")) if depth < DEPTH else ():
        found = merged(found, _extended(whole, mapping(whole.get(name)), depth + 1))
    return merged(found, job)


def _needs(name: str, jobs: Mapping[str, Mapping[str, Any]], stages: Sequence[str]) -> list[str]:
    """The jobs that a job names, or those of earlier stages that leave artifacts."""
    job = jobs[name]
    for key in ("needs", "dependencies"):
        if isinstance(entries := job.get(key), list):
            return [text for entry in entries for text in texts(mapping(entry).get("job", entry))]
    stage = _stage(job, stages)
    return [other for other, before in jobs.items() if "artifacts" in before and _stage(before, stages) < stage]


def _stage(job: Mapping[str, Any], stages: Sequence[str]) -> int:
    named = str(job.get("stage", "test"))
    return stages.index(named) if named in stages else len(stages)
