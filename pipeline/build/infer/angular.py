"""The projects of Angular's workspace, and the builder that runs the tests of each.

The workspace is described by angular.json, before Angular 6 by .angular-cli.json. Does not cover workspaces of other
tools, such as Nx.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from pipeline.build.infer.documents import mapping
from pipeline.build.infer.tree import Tree, Unsupported
from pipeline.core.texts import parse_json
from pipeline.ecosystems import locks, versions

FILE, FORMER = "angular.json", ".angular-cli.json"
_UNIT_TEST, _KARMA = "@angular/build:unit-test", re.compile(r"^@angular(?:-devkit)?/build(?:-angular)?:karma$")
#: the first major version of the builder whose Vitest writes a report for us
_FIRST = 21


class Project(NamedTuple):
    """A project: its name, its folder, and the builder and options of its tests."""

    name: str
    folder: str
    builder: str
    options: dict[str, Any]

    @property
    def runner(self) -> str:
        """The runner that the builder starts; empty for an unknown builder."""
        if _KARMA.search(self.builder):
            return "karma"
        return str(self.options.get("runner", "vitest")) if self.builder == _UNIT_TEST else ""


def project(tree: Tree, files: Sequence[str]) -> Project | None:
    """The project with tests whose folder is the nearest above the first of these files; None if there is none."""
    tested = [listed for listed in _projects(tree) if listed.builder]
    above = [listed for listed in tested if not files or not listed.folder or files[0].startswith(f"{listed.folder}/")]
    return max(above, key=lambda listed: len(listed.folder), default=None)


def require_report(tree: Tree, files: Sequence[str]) -> None:
    """Raise Unsupported if the builder runs Vitest without a way to get its report."""
    tested = project(tree, files)
    if tested is None or (tested.builder, tested.runner) != (_UNIT_TEST, "vitest"):
        return
    wanted = tree.root().dependencies.get("@angular/build", "")
    found = next(filter(None, (locks.version(path, tree.text(path), "@angular/build", wanted) for path in tree.paths
                               if "/" not in path and locks.is_lock(path))), "")  # fmt: skip
    bounds = [found] if found else versions.lower_bounds(wanted)
    if bounds and versions.major(bounds[0]) < _FIRST:
        detail = (
            f"{FILE}: {tested.name} runs Vitest by {_UNIT_TEST} {bounds[0]}, which writes no report before {_FIRST}"
        )
        raise Unsupported("runner_unsupported", detail)


def _projects(tree: Tree) -> list[Project]:
    document, former = (_document(tree, name) for name in (FILE, FORMER))
    if not document:
        karma = mapping(mapping(former.get("test")).get("karma"))
        options = {"karmaConfig": karma["config"]} if "config" in karma else {}
        return [Project("", "", "@angular-devkit/build-angular:karma", options)] if karma else []
    found = []
    for name, settings in mapping(document.get("projects")).items():
        targets = mapping(mapping(settings).get("architect") or mapping(settings).get("targets"))
        test = mapping(targets.get("test"))
        folder = str(mapping(settings).get("root", "")).strip("/").removeprefix("./")
        found.append(Project(name, folder, str(test.get("builder", "")), mapping(test.get("options"))))
    return found


def _document(tree: Tree, name: str) -> dict[str, Any]:
    try:
        return mapping(parse_json(tree.text(name)))
    except ValueError:
        return {}
