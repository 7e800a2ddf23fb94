"""Asking a runner which files it reads: the tests of an instance run once more in gold's state, and are looked at.

Every process of the run loads `reads.cjs`, and the runner's own `reads.*` where it has one; texts say the rest (who
asks for whom by a relative path). Works in a sandbox and writes nothing; what follows from it is `execution.closure`'s.
Does not cover what programs that are not Node's read, and what a configuration computes for them.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from importlib.resources import files as resources
from typing import Any, NamedTuple

from pipeline.core import patches
from pipeline.core.records import Environment
from pipeline.ecosystems import all_runners
from pipeline.ecosystems import parser as parser_named
from pipeline.ecosystems.protection import is_manifest, is_protected
from pipeline.ecosystems.runner_folder import Runner
from pipeline.execution import command, generated, runs, scope
from pipeline.execution.applying import apply, listed, must
from pipeline.execution.closure import Seen, closure, targets
from pipeline.execution.run import End
from pipeline.execution.runs import Plan
from pipeline.sandbox.base import Workspace

PROBE = "reads.cjs"
#: files that ask for others by their paths, and how
_TEXTS = ("*.[cm][jt]s", "*.[jt]s", "*.[jt]sx", "*.vue", "*.svelte", "*.json", "*.json5", "*.yml", "*.yaml", "*rc")
_RELATIVE = r"""['"`]\.\.?(/[^'"`]*)?['"`]"""
_NAME = r"""^ *"name": *"[^"]+\""""
_CODE = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte|es6|coffee)$")
_QUOTED = re.compile(r"""['"`]([^'"`\n]+)['"`]""")


class Asked(NamedTuple):
    """The files by which a runner decides, and whether it said so to the end of a run that saw it read any file."""

    files: tuple[str, ...]
    answered: bool


def ask(plan: Plan, steps: Sequence[tuple[str, str]], fix_patch: str) -> Asked:
    """What the runner of an instance reads in gold's state, which the patches `steps` make. Raises PatchFailed."""
    sources = {path for path in patches.paths(fix_patch) if not is_protected(path)}
    with plan.sandbox.open(plan.image, cache="none", limits=plan.limits) as workspace:
        for name, patch in steps:
            apply(workspace, patch, name)
        changed = patches.paths("".join(patch for _, patch in steps))
        generated.renew(workspace, plan.environment, changed)
        if there := runs.existing(workspace, changed):
            must(workspace, "git", "--literal-pathspecs", "add", "--intent-to-add", "--force", "--", *sorted(there))
        tree = frozenset(path for path in listed(workspace, "git", "ls-files", "-z") if _is_own(path))
        written, packages = list(_written(workspace, tree)), _packages(workspace)
        mentioned = _mentioned(workspace, plan.environment, tree)
        tests = sorted(tree.intersection(plan.files) if plan.files is not None else filter(scope.is_test, tree))
        ended, lines = _told(workspace, plan, tests)
        seen = replace(_seen(lines, plan.environment, workspace.root, tree), mentioned=mentioned)
        others = filter(scope.is_test, seen.loaded - seen.named - mentioned)
        ran = {*tests, *others} - seen.named
        found = closure(seen, written, tests=ran, sources=sources, packages=packages)
        left = sorted(set(found) - _changed(workspace, ended, found))
        return Asked(tuple(left), bool(lines) and ended == "ran")


def _told(workspace: Workspace, plan: Plan, tests: Sequence[str]) -> tuple[End, list[dict[str, Any]]]:
    """How a test run ended, and what its processes said. One that reached a limit has ended its workspace."""
    place, variables = f"{workspace.scratch}/reads", plan.environment.test_env
    workspace.write(f"{place}/{PROBE}", resources(__package__).joinpath(PROBE).read_bytes())
    options, words = [command.preload(f"{place}/{PROBE}")], []
    own = _runner(plan.environment)
    if own.reads:
        path = f"{place}/runner/{own.reads.file}"
        workspace.write(path, own.parsers[plan.environment.parser].file(own.reads.file).read_bytes())
        words = [word.replace("{reads}", path) for word in own.reads.words]
        options += [] if words else [command.preload(path)]
    apart = own.reads.apart if own.reads else ""
    given = {"out": f"{place}/seen", "root": workspace.root, "tests": tests, "apart": apart}
    workspace.write(f"{place}/settings.json", json.dumps(given).encode())
    told = variables | {
        "NODE_OPTIONS": " ".join(filter(None, (variables.get("NODE_OPTIONS", ""), *options))),
        "A11Y_READS": f"{place}/settings.json",
    }
    environment = plan.environment.model_copy(update={"test": (*plan.environment.test, *words), "test_env": told})
    run = runs.run_tests(workspace, replace(plan, environment=environment))
    return run.end, list(_objects(workspace.read(f"{place}/seen") or b""))


def _runner(environment: Environment) -> Runner:
    return all_runners()[parser_named(environment.parser).runner]


def _objects(lines: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file of them, one a line; what is none says nothing."""
    for line in lines.decode(errors="replace").splitlines():
        try:
            one = json.loads(line)
        except ValueError:
            continue
        if isinstance(one, dict):
            yield one


def _seen(lines: Sequence[dict[str, Any]], environment: Environment, root: str, tree: Collection[str]) -> Seen:
    """What was said, of files that the repository has."""

    def asked(word: str) -> str:
        """A path as a configuration says it, from the root."""
        word = word.replace("<rootDir>", posixpath.join(root, environment.folder))
        return posixpath.relpath(posixpath.join(root, environment.folder, word), root)

    said = [line["named"] for line in lines if isinstance(line.get("named"), str)]
    given = [*environment.test, *(word for value in environment.test_env.values() for word in value.split())]
    command = [word.partition("=")[2] or word for word in given]
    pairs = [(line["mapped"][0], asked(line["mapped"][1])) for line in lines if _is_pair(line.get("mapped"))]
    edges = [line["edge"] for line in lines if _is_pair(line.get("edge"))]
    return Seen(
        named=frozenset(map(asked, filter(None, [*said, *command, environment.configuration]))) & frozenset(tree),
        loaded=frozenset(path for line in lines if (path := line.get("loaded", "")) in tree),
        mapped=frozenset(
            (one, path) for one, word in pairs for path in targets(word, "", tree) if _is_file(path, word)
        ),
        edges=frozenset((one, other) for one, other in edges if one in tree and other in tree),
    )


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(one, str) for one in value)


def _is_file(path: str, word: str) -> bool:
    """Whether a path is meant by a word as a file, and not as what lies in a folder."""
    return not path.startswith(f"{word}/")


def _mentioned(workspace: Workspace, environment: Environment, tree: Collection[str]) -> frozenset[str]:
    """The files that the text of the runner's own configuration names, where it has no way of telling it itself."""
    if _runner(environment).reads:
        return frozenset()
    path = posixpath.normpath(posixpath.join(environment.folder, environment.configuration))
    text = workspace.read(f"{workspace.root}/{path}") if environment.configuration and path in tree else None
    words = _QUOTED.findall((text or b"").decode(errors="replace"))
    folders = {posixpath.dirname(path), environment.folder, ""}
    asked = {posixpath.normpath(posixpath.join(folder, word)) for word in words for folder in folders}
    return frozenset(asked.intersection(tree))


def _written(workspace: Workspace, tree: Collection[str]) -> Iterator[tuple[str, str]]:
    """Who asks for which file by a relative path in its text; of data, for which data."""
    for path, word in _grepped(workspace, "-o", "-E", _RELATIVE, "--", *_TEXTS):
        if path in tree and not is_manifest(path):
            found = targets(word.strip("'\"`"), posixpath.dirname(path), tree)
            yield from ((path, one) for one in found if _CODE.search(path) or not _CODE.search(one))


def _packages(workspace: Workspace) -> dict[str, str]:
    """The repository's packages: folder -> name."""
    found = _grepped(workspace, "-m", "1", "-E", _NAME, "--", "package.json", "*/package.json")
    return {posixpath.dirname(path): line.split('"')[3] for path, line in found if _is_own(path)}


def _grepped(workspace: Workspace, *words: str) -> Iterator[tuple[str, str]]:
    """What git finds in files that it knows: path and text."""
    said = workspace.run(["git", "grep", "-I", "-z", *words]).output.decode(errors="replace")
    return ((path, text) for line in said.split("\n") for path, found, text in [line.partition("\0")] if found)


def _changed(workspace: Workspace, ended: End, files: Sequence[str]) -> set[str]:
    """Those of the files that the run itself has changed: nobody could tell its change from a patch's."""
    if not files or ended not in ("ran", "no_report"):
        return set()
    return set(listed(workspace, "git", "--literal-pathspecs", "diff", "--name-only", "-z", "--", *files))


def _is_own(path: str) -> bool:
    return "node_modules" not in path.split("/")
