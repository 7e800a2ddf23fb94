"""Asking a runner which files it reads: the tests of an instance run once more in gold's state, under observation.

Every process of the run loads `reads.cjs`, and the runner's own `reads.*` if it has one. The texts of files show the
rest: which file refers to which by a relative path, and which files load test libraries or use a runner (these are test
helpers, whatever their names). Works in a sandbox and writes nothing; `execution.closure` draws the conclusions. Does
not cover what programs other than Node read, and what a configuration computes for them.
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
from pipeline.ecosystems.protection import is_manifest, is_protected, module_names
from pipeline.ecosystems.runner_folder import Reads
from pipeline.execution import command, generated, runs, scope
from pipeline.execution.applying import apply
from pipeline.execution.closure import Seen, closure, targets
from pipeline.execution.run import End
from pipeline.execution.runs import Plan
from pipeline.execution.tree import existing, listed, must
from pipeline.sandbox.base import Workspace

PROBE = "reads.cjs"
#: files that refer to others by path, and how
_TEXTS = ("*.[cm][jt]s", "*.[jt]s", "*.[jt]sx", "*.vue", "*.svelte", "*.json", "*.json5", "*.yml", "*.yaml", "*rc")
_RELATIVE = r"""['"`]\.\.?(/[^'"`]*)?['"`]"""
_NAME = r"""^ *"name": *"[^"]+\""""
#: how test helpers are recognized, for `git grep`: they load a library that only tests use, or define tests or hooks
_HELPING = (
    r"""\b(from|import ?\(?|require ?\() ?['"](@testing-library/|@vue/test-utils|@jest/|enzyme|react-test-renderer"""
    r"""|p?react(-dom)?/test-utils|@(angular|stencil)/core/testing|vitest|chai|sinon|jest-|node:test|@open-wc/testing"""
    r"""|@?storybook/(test|jest))"""
    r"""|(^|[^.[:alnum:]_$])((describe|it|test) ?\(['"`]|(before|after)(Each|All) ?\()"""
    r"""|^[^/*'"`]*\b(jest|vi)\.(fn|mock|spyOn) ?\("""
)
#: or they contain both beginnings of expectations and matchers
_EXPECTING = (r"(^|[^.[:alnum:]_$])expect ?\(", r"\)\.(not\.|resolves\.|rejects\.)?to([A-Z]|\.[a-z])")
_CODE = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte|es6|coffee)$")
_QUOTED = re.compile(r"""['"`]([^'"`\n]+)['"`]""")


class Observed(NamedTuple):
    """The files by which a runner decides, including missing ones that would be loaded in place of a package; and
    whether a complete run reported anything at all."""

    files: tuple[str, ...]
    answered: bool


def ask(plan: Plan, steps: Sequence[tuple[str, str]], fix_patch: str) -> Observed:
    """The files that an instance's runner reads in gold's state, which the patches `steps` make. Raises PatchFailed."""
    sources = {path for path in patches.paths(fix_patch) if not is_protected(path)}
    with plan.sandbox.open(plan.image, cache="none", limits=plan.limits) as workspace:
        for name, patch in steps:
            apply(workspace, patch, name)
        changed = patches.paths("".join(patch for _, patch in steps))
        generated.renew(workspace, plan.environment, changed)
        if present := existing(workspace, changed):
            must(workspace, "git", "--literal-pathspecs", "add", "--intent-to-add", "--force", "--", *sorted(present))
        tree = frozenset(path for path in listed(workspace, "git", "ls-files", "-z") if _is_own(path))
        written, packages = list(_written(workspace, tree)), _packages(workspace)
        mentioned = _mentioned(workspace, plan.environment, tree)
        tests = sorted(tree.intersection(plan.files) if plan.files is not None else filter(scope.is_test, tree))
        end, lines = _observed(workspace, plan, tests)
        seen = replace(_seen(lines, plan.environment, workspace.root, tree), mentioned=mentioned)
        loaded_tests = filter(scope.is_test, seen.loaded - seen.named - mentioned)
        ran = {*tests, *loaded_tests} - seen.named
        decisive = closure(seen, written, tests=ran, sources=sources, packages=packages)
        helpers = {path for path in _helping(workspace) if path in tree - sources and not is_protected(path)}
        found = sorted({*decisive, *helpers})
        kept = set(found) - _changed(workspace, end, found)
        return Observed(tuple(sorted({*kept, *_hiding(lines, tree | sources)})), bool(lines) and end == "ran")


def _observed(workspace: Workspace, plan: Plan, tests: Sequence[str]) -> tuple[End, list[dict[str, Any]]]:
    """How a test run ended, and what its processes reported. A run that reached a limit has closed its workspace."""
    folder, variables = f"{workspace.scratch}/reads", plan.environment.test_env
    workspace.write(f"{folder}/{PROBE}", resources(__package__).joinpath(PROBE).read_bytes())
    options, arguments = [command.preload(f"{folder}/{PROBE}")], []
    if setup := _reads(plan.environment):
        path = f"{folder}/runner/{setup.file}"
        workspace.write(path, parser_named(plan.environment.parser).file(setup.file).read_bytes())
        arguments = [word.replace("{reads}", path) for word in setup.words]
        options += [] if arguments else [command.preload(path)]
    apart = setup.apart if setup else ""
    settings = {"out": f"{folder}/seen", "root": workspace.root, "tests": tests, "apart": apart}
    workspace.write(f"{folder}/settings.json", json.dumps(settings).encode())
    test_env = variables | {
        "NODE_OPTIONS": " ".join(filter(None, (variables.get("NODE_OPTIONS", ""), *options))),
        "A11Y_READS": f"{folder}/settings.json",
    }
    environment = plan.environment.model_copy(
        update={"test": (*plan.environment.test, *arguments), "test_env": test_env}
    )
    run = runs.run_tests(workspace, replace(plan, environment=environment))
    return run.end, list(_objects(workspace.read(f"{folder}/seen") or b""))


def _reads(environment: Environment) -> Reads | None:
    """How the runner itself reports what it reads."""
    return all_runners()[parser_named(environment.parser).runner].reads_with(environment.parser)


def _objects(lines: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file, one per line. Other lines are skipped."""
    for line in lines.splitlines():
        try:
            value = json.loads(line.decode(errors="replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _seen(lines: Sequence[dict[str, Any]], environment: Environment, root: str, tree: Collection[str]) -> Seen:
    """What the processes reported about files of the repository."""

    def from_root(word: str) -> str:
        """A path of a configuration, relative to the root."""
        word = word.replace("<rootDir>", posixpath.join(root, environment.folder))
        return posixpath.relpath(posixpath.join(root, environment.folder, word), root)

    named = [line["named"] for line in lines if isinstance(line.get("named"), str)]
    words = [*environment.test, *(word for value in environment.test_env.values() for word in value.split())]
    commanded = [word.partition("=")[2] or word for word in words]
    pairs = [(line["mapped"][0], from_root(line["mapped"][1])) for line in lines if _is_pair(line.get("mapped"))]
    edges = [line["edge"] for line in lines if _is_pair(line.get("edge"))]
    return Seen(
        named=frozenset(map(from_root, filter(None, [*named, *commanded, environment.configuration])))
        & frozenset(tree),
        loaded=frozenset(path for line in lines if (path := line.get("loaded", "")) in tree),
        mapped=frozenset(
            (pattern, path) for pattern, word in pairs for path in targets(word, "", tree) if _is_file(path, word)
        ),
        edges=frozenset((source, target) for source, target in edges if source in tree and target in tree),
    )


def _hiding(lines: Sequence[dict[str, Any]], own: Collection[str]) -> Iterator[str]:
    """The files that would be loaded in place of packages, except where the repository has such a file."""
    names = {name for path in own for name in module_names(path)}
    found = (line["hiding"] for line in lines if isinstance(line.get("hiding"), str))
    return (path for path in found if names.isdisjoint(module_names(path)))


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)


def _is_file(path: str, word: str) -> bool:
    """Whether a word means this path itself, and not the folder that it lies in."""
    return not path.startswith(f"{word}/")


def _mentioned(workspace: Workspace, environment: Environment, tree: Collection[str]) -> frozenset[str]:
    """The files named in the text of the runner's configuration, for runners that cannot report what they read."""
    if _reads(environment):
        return frozenset()
    path = posixpath.normpath(posixpath.join(environment.folder, environment.configuration))
    text = workspace.read(f"{workspace.root}/{path}") if environment.configuration and path in tree else None
    words = _QUOTED.findall((text or b"").decode(errors="replace"))
    folders = {posixpath.dirname(path), environment.folder, ""}
    mentioned = {posixpath.normpath(posixpath.join(folder, word)) for word in words for folder in folders}
    return frozenset(mentioned.intersection(tree))


def _written(workspace: Workspace, tree: Collection[str]) -> Iterator[tuple[str, str]]:
    """Pairs of a file and a file that it names by a relative path. Code may name data, but not the reverse."""
    for path, reference in _grepped(workspace, "-o", "-E", _RELATIVE, "--", *_TEXTS):
        if path in tree and not is_manifest(path):
            files = targets(reference.strip("'\"`"), posixpath.dirname(path), tree)
            yield from ((path, file) for file in files if _CODE.search(path) or not _CODE.search(file))


def _helping(workspace: Workspace) -> list[str]:
    """The tracked files that help tests, by whatever name."""
    found: list[str] = []
    for patterns in ([_HELPING], ["--all-match", "-e", _EXPECTING[0], "-e", _EXPECTING[1]]):
        output = workspace.run(["git", "grep", "-IlzE", *patterns], ours=True).output
        found += filter(None, output.decode(errors="surrogateescape").split("\0"))
    return found


def _packages(workspace: Workspace) -> dict[str, str]:
    """The repository's packages: folder -> name."""
    names = _grepped(workspace, "-m", "1", "-E", _NAME, "--", "package.json", "*/package.json")
    return {posixpath.dirname(path): line.split('"')[3] for path, line in names if _is_own(path)}


def _grepped(workspace: Workspace, *arguments: str) -> Iterator[tuple[str, str]]:
    """What `git grep` finds in tracked files: path and text."""
    output = workspace.run(["git", "grep", "-I", "-z", *arguments], ours=True).output.decode(errors="replace")
    return (
        (path, text) for line in output.split("\n") for path, separator, text in [line.partition("\0")] if separator
    )


def _changed(workspace: Workspace, end: End, files: Sequence[str]) -> set[str]:
    """The files that the run itself changed: its changes could not be distinguished from a patch's."""
    if not files or end not in ("ran", "no_report"):
        return set()
    return set(listed(workspace, "git", "--literal-pathspecs", "diff", "--name-only", "-z", "--", *files))


def _is_own(path: str) -> bool:
    return "node_modules" not in path.split("/")
