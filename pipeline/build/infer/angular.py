"""The projects of a workspace of Angular or Nx, and the builder that runs the tests of each.

Angular's workspace is described by angular.json, before Angular 6 by .angular-cli.json; each project of Nx by its
project.json. Does not cover projects of Nx that only plugins find, and builders that `nx.json` sets for all.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pipeline.build.infer.documents import mapping
from pipeline.build.infer.tree import Tree, Unsupported, above
from pipeline.build.infer.words import commands
from pipeline.core.texts import parse_json
from pipeline.ecosystems import locks, versions

FILE, FORMER, NX = "angular.json", ".angular-cli.json", "project.json"
_UNIT_TEST = "@angular/build:unit-test"
#: the runners that other builders start, by their names
_STARTS = (
    ("karma", re.compile(r":karma$")),
    ("jest", re.compile(r"/jest:|:jest$")),
    ("vitest", re.compile(r"/(?:vite|vitest):test$|:vitest$")),
)
#: the first major version of the builder whose Vitest writes a report for us
_FIRST = 21


class Project(NamedTuple):
    """A project: its name, its folder, the builder and options of its tests, and the file that describes it. Its
    options name files from the `home` of the workspace."""

    name: str
    folder: str
    builder: str
    options: dict[str, Any]
    file: str = FILE
    home: str = ""

    @property
    def runner(self) -> str:
        """The runner that the builder starts; empty for an unknown builder."""
        if self.builder == _UNIT_TEST:
            return str(self.options.get("runner", "vitest"))
        return next((name for name, builder in _STARTS if builder.search(self.builder)), "")

    @property
    def configuration(self) -> str:
        """The file that configures Karma, from the home; empty for none."""
        return str(self.options.get("karmaConfig", "")).removeprefix("./")

    @property
    def compiles(self) -> str:
        """The folder of the sources that its tests are compiled with, by their entry."""
        return posixpath.dirname(str(self.options.get("main") or "")) or self.folder


def project(tree: Tree, files: Sequence[str]) -> Project | None:
    """The project with tests whose folder is the nearest above the first of these files; None if there is none. A
    project in the workspace's own folder may compile only some sources. Others belong to the project that the test
    script names."""
    folders = list(above(files[0])) if files else [""]
    tested = [listed for listed in _projects(tree, folders) if listed.builder]
    near = [listed for listed in tested if not files or listed.folder in folders]
    found = max(near, key=lambda listed: (len(listed.folder), len(listed.home)), default=None)
    if found is None or found.folder != found.home or found.compiles in folders:
        return found
    return next((listed for listed in tested if listed.home == found.home and _is_named(tree, listed)), found)


def _is_named(tree: Tree, listed: Project) -> bool:
    """Whether the test script of a workspace names a project."""
    manifest = tree.manifest(listed.home)
    script = manifest.scripts.get("test", "") if manifest else ""
    return any(listed.name in words for words in commands(script))


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


def _projects(tree: Tree, folders: Sequence[str]) -> Iterator[Project]:
    """The projects of the workspaces and the projects of Nx in these folders."""
    for folder in folders:
        yield from _of_angular(tree, folder)
        if document := _document(tree, posixpath.join(folder, NX)):
            name = str(document.get("name") or posixpath.basename(folder))
            yield _project(name, folder, document)._replace(file=NX)


def _of_angular(tree: Tree, home: str) -> Iterator[Project]:
    document, former = (_document(tree, posixpath.join(home, name)) for name in (FILE, FORMER))
    for name, settings in mapping(document.get("projects")).items():
        folder = posixpath.join(home, str(mapping(settings).get("root", "")).strip("/").removeprefix("./"))
        yield _project(name, folder.rstrip("/"), mapping(settings))._replace(home=home)
    karma = mapping(mapping(former.get("test")).get("karma"))
    if karma and not document:
        options = {"karmaConfig": karma["config"]} if "config" in karma else {}
        yield Project("", home, "@angular/cli:karma", options, FORMER, home)


def _project(name: str, folder: str, settings: dict[str, Any]) -> Project:
    targets = mapping(settings.get("architect") or settings.get("targets"))
    test = mapping(targets.get("test"))
    return Project(name, folder, str(test.get("builder") or test.get("executor") or ""), mapping(test.get("options")))


def _document(tree: Tree, path: str) -> dict[str, Any]:
    try:
        return mapping(parse_json(tree.text(path)))
    except ValueError:
        return {}
