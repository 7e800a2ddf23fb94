"""Observing a repository's own test command: it is started once in a workspace, with a probe, and stops at the runner.

Every process that Node starts is seen (probe.cjs), so whatever is between command and runner (gulp, grunt, nx, lerna,
scripts) needs no knowledge here. Reads what the probe wrote; runs only in the sandbox, without network. Does not cover
runners that a program imports as an ES module or starts outside Node.
"""

from __future__ import annotations

import json
import posixpath
import tomllib
from collections.abc import Collection, Iterator, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from pipeline.build.infer import ci, scripts, uses
from pipeline.build.infer.tree import Tree, above
from pipeline.build.infer.uses import Use
from pipeline.ecosystems.runner_folder import all_runners
from pipeline.execution.command import preload
from pipeline.sandbox.base import COMMON, Sandbox, Workspace

#: seconds for one command, and the most commands that are tried
SECONDS, MOST = 240, 3
PROBE = "probe.cjs"
_NODE = '#!/bin/sh\nexec "{node}" --require "{probe}" "$@"\n'


class Command(NamedTuple):
    """A command of the repository's that tests: its words, its folder, and what names it."""

    argv: tuple[str, ...]
    folder: str
    evidence: str


class Observation(NamedTuple):
    """The use of a runner that a command comes down to; `loaded`: a script loads the runner, and may configure it."""

    use: Use
    command: Command
    loaded: bool


def commands(tree: Tree, tests: Sequence[str]) -> list[Command]:
    """The commands that may test these files: scripts of the nearest package and of the root, then those of
    continuous integration."""
    folders = [folder for folder in above(tests[0]) if tree.manifest(folder)] if tests else [""]
    found = [
        Command(("npm", "run", "--silent", name), folder, f"{posixpath.join(folder, 'package.json')}: scripts.{name}")
        for folder in dict.fromkeys((*folders[:1], ""))
        if (manifest := tree.manifest(folder))
        for name in scripts.names(manifest)[:2]
    ]
    jobs = [Command(("sh", "-ec", step.text), step.folder, step.where) for step in ci.testing(tree)]
    return [*found[: MOST - 1], *jobs, *found[MOST - 1 :]][:MOST]


def observed(sandbox: Sandbox, image: str, tree: Tree, tests: Sequence[str]) -> list[Observation]:
    """The uses of runners that the repository's own commands come down to, those first that run these tests."""
    for command in commands(tree, tests):
        with sandbox.open(image, cache="none") as workspace:
            seen = [(use_of(one, workspace.root, command), one) for one in _seen(workspace, command)]
        found = [Observation(use, command, one.get("how") == "library") for use, one in seen if use]
        if covering := {_key(one.use): one for one in found if _covers(one.use, tests)}:
            return sorted(covering.values(), key=lambda one: (not _names(one.use, tests), -len(one.use.folder)))
    return []


def _seen(workspace: Workspace, command: Command) -> list[dict[str, Any]]:
    """What the probe says of a command."""
    place = f"{workspace.scratch}/probe"
    said = workspace.run(["sh", "-c", 'command -v node; echo "$PATH"']).output.decode(errors="replace").splitlines()
    if len(said) < 2:
        return []
    probe, out, option = f"{place}/{PROBE}", f"{place}/seen", preload(f"{place}/{PROBE}")
    workspace.write(probe, files(__package__).joinpath(PROBE).read_bytes())
    workspace.write(f"{place}/bin/node", _NODE.format(node=said[0], probe=probe).encode())
    workspace.run(["chmod", "+x", f"{place}/bin/node"])
    settings = {"out": out, "option": option, "runners": _packages(), "tools": _tools()}
    env = {"PATH": f"{place}/bin:{said[1]}", "NODE_OPTIONS": option, "A11Y_PROBE": json.dumps(settings)}
    workspace.run(list(command.argv), env=env | {"NX_DAEMON": "false"}, seconds=SECONDS, folder=command.folder)
    return list(objects(workspace.read(out) or b""))


def objects(lines: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file of them, one a line; what is none says nothing."""
    for line in lines.decode(errors="replace").splitlines():
        try:
            one = json.loads(line)
        except ValueError:
            continue
        if isinstance(one, dict):
            yield one


def _packages() -> dict[str, str]:
    """Package -> the runner that its program is."""
    return {package: own.name for own in all_runners().values() for package in own.packages}


def _tools() -> list[str]:
    return list(tomllib.loads(files(__package__).joinpath("observe.toml").read_text(encoding="utf-8"))["tools"])


def use_of(seen: dict[str, Any], root: str, command: Command) -> Use | None:
    """One find of the probe as a use; None for what is outside the repository, or of no runner that is known."""
    known = {**_packages(), **{name: name for name in all_runners()}}
    name, cwd = known.get(str(seen.get("runner"))), str(seen.get("cwd", ""))
    if name is None or not f"{cwd}/".startswith(f"{root}/"):
        return None
    words = _relative([*_texts(seen.get("words")), *_words(name, seen)], cwd, root)
    env = {key: value for key, value in (seen.get("env") or {}).items() if COMMON.get(key) != value}
    why = f"observed: {command.evidence} starts {' '.join([name, *words])}"[:400]
    node = tuple(_relative(_texts(seen.get("node")), cwd, root))
    call = scripts.Call(name, tuple(words), env, node, why)
    return uses.of_call(posixpath.relpath(cwd, root).removeprefix("."), name, call)


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _words(name: str, seen: dict[str, Any]) -> Iterator[str]:
    """The words that say what a script handed to a runner that it had loaded itself."""
    options = seen.get("options") if isinstance(seen.get("options"), dict) else {}
    assert isinstance(options, dict)
    if name == "mocha":
        loaded = dict.fromkeys([*_texts(seen.get("required")), *_several(options.get("require"))])
        yield from (word for one in loaded for word in ("--require", one))
        for option in ("ui", "timeout"):
            if isinstance(options.get(option), str | int) and not isinstance(options[option], bool):
                yield from (f"--{option}", str(options[option]))
    elif isinstance(options.get("config"), str):
        yield from ("--config", options["config"])
    elif isinstance(options.get("configFile"), str):
        yield options["configFile"]


def _several(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else _texts(value)


def _relative(words: Sequence[str], cwd: str, root: str) -> list[str]:
    """Words without the place of the workspace: paths of the repository as they are called in their folder."""

    def one(word: str) -> str:
        if not word.startswith(f"{root}/"):
            return word.replace(f"={root}/", f"={posixpath.relpath(root, cwd)}/")
        path = posixpath.relpath(word, cwd)
        return path if path.startswith(".") else f"./{path}"

    return [one(word) for word in words]


def _covers(use: Use, tests: Collection[str]) -> bool:
    return not tests or any(not use.folder or test.startswith(f"{use.folder}/") for test in tests)


def _names(use: Use, tests: Collection[str]) -> bool:
    """Whether a script that picks the files itself hands the runner one of the tests."""
    return any(posixpath.normpath(posixpath.join(use.folder, word)) in tests for word in use.call.words)


def _key(use: Use) -> tuple[Any, ...]:
    return (use.folder, use.runner, use.call.words, tuple(sorted(use.call.env.items())), use.call.node)
