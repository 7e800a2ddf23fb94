"""Jobs of Travis: the one of the whole file, and those that `jobs` (before, `matrix`) adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.build.infer.documents import mapping, mappings, texts
from pipeline.build.infer.services.job import Job, Step, steps
from pipeline.build.infer.tree import Tree

_PHASES = ("before_install", "install", "before_script", "script")
#: what makes jobs of its own, in addition to the added ones
_EXPANDED = {"script", "node_js", "env"}


def read(_: Tree, path: str, document: dict[str, Any]) -> Iterator[Job]:
    """The jobs; an added one inherits what it does not define itself."""
    shared = {key: value for key, value in document.items() if key not in ("jobs", "matrix")}
    added = [job for key in ("jobs", "matrix") for job in mappings(mapping(document.get(key)).get("include"))]
    if not added or _EXPANDED & set(shared):
        yield Job("", shared, _steps(shared, path, ""))
    for job in added:
        name = next(iter(texts(job.get("name")) + texts(job.get("stage"))), "")
        yield Job(name, shared | job, _steps(shared | job, path, name))


def _steps(job: Mapping[str, Any], path: str, name: str) -> tuple[Step, ...]:
    """The commands of all phases, which share one shell. Travis runs `npm test` for Node without a script."""
    found = {phase: texts(job.get(phase)) for phase in _PHASES}
    if not found["script"] and (job.get("language") == "node_js" or "node_js" in job):
        found["script"] = ["npm test"]
    return steps(((text, "") for phase in _PHASES for text in found[phase]), path, name, shared=True)
