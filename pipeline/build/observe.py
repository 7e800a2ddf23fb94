"""Observing a repository's own test command: it is started once in a workspace, with a probe, and stops at the runner.

The probe (probe.cjs) sees every process that Node starts, so nothing has to be known about what is between command and
runner (gulp, grunt, nx, lerna, scripts). Reads what the probe wrote; runs only in the sandbox, without network. Does
not cover runners that a program imports as an ES module or starts outside Node.
"""

from __future__ import annotations

import json
import posixpath
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from pipeline.build import linking
from pipeline.build.infer import jobs, scripts, uses
from pipeline.build.infer.runner import named_configuration
from pipeline.build.infer.services import Step
from pipeline.build.infer.tree import Manifest, Tree, above
from pipeline.build.infer.uses import Use
from pipeline.build.infer.words import commands as words_of
from pipeline.core.texts import parse_json
from pipeline.ecosystems.runner_folder import all_runners
from pipeline.execution.command import preload
from pipeline.sandbox.base import COMMON, Sandbox, Workspace

#: seconds for one command, and the most commands that are tried
SECONDS, MOST = 240, 3
PROBE = "probe.cjs"
_NODE = '#!/bin/sh\nexec "{node}" --require "{probe}" "$@"\n'


class Command(NamedTuple):
    """A test command of the repository: its words, its folder, and where it was found."""

    argv: tuple[str, ...]
    folder: str
    evidence: str


class Observation(NamedTuple):
    """The use of a runner by a command; `loaded`: a script loads the runner, and may configure it. `script` is the
    script that starts the runner, if the command starts others as well."""

    use: Use
    command: Command
    loaded: bool
    script: Command | None = None


def run_script(tree: Tree, folder: str, name: str) -> Command | None:
    """The command that runs a script of a package; None if the package has no such script."""
    manifest = tree.manifest(folder)
    if not manifest or name not in manifest.scripts:
        return None
    evidence = f"{posixpath.join(folder, 'package.json')}: scripts.{name}"
    forced = ("--force",) if tree.asks_for_manager(folder) else ()
    return Command(("npm", "run", "--silent", *forced, name), folder, evidence)


def commands(tree: Tree, tests: Sequence[str]) -> list[Command]:
    """The commands that may test these files: scripts of the nearest package and of the outermost one (the root), then
    those of continuous integration, and last the scripts that test a served application."""
    found = _of_packages(tree, tests, scripts.names)
    steps = (step for step in jobs.testing(tree, tests) if not _only_runs(tree, step, found[: MOST - 1]))
    tested = [Command(("sh", "-ec", step.text), step.folder, step.where) for step in steps]
    return [*found[: MOST - 1], *tested, *found[MOST - 1 :], *_of_packages(tree, tests, scripts.end_to_end)][:MOST]


def _only_runs(tree: Tree, step: Step, found: Sequence[Command]) -> bool:
    """Whether a step only runs the script of one of these commands, without further words (`yarn test`)."""
    manifest = tree.manifest(step.folder)
    words = list(words_of(step.text))
    called = scripts.called(words[0], manifest.scripts) if manifest and len(words) == 1 else []
    return any([command.argv[-1]] == called == words[0][-1:] and command.folder == step.folder for command in found)


def _of_packages(tree: Tree, tests: Sequence[str], named: Callable[[Manifest], Sequence[str]]) -> list[Command]:
    """The first scripts of the nearest package and of the root, of those that are `named`."""
    folders = [folder for folder in above(tests[0]) if tree.is_package(folder)] if tests else [""]
    return [
        command
        for folder in dict.fromkeys((*folders[:1], *folders[-1:]))
        if (manifest := tree.manifest(folder))
        for name in named(manifest)[:2]
        if (command := run_script(tree, folder, name))
    ]


def observed(sandbox: Sandbox, image: str, tree: Tree, tests: Sequence[str]) -> list[Observation]:
    """How the repository's own commands use runners; uses that name these tests come first. Those with the
    configuration of another project count only if no command has others."""
    programs, others = linking.own_programs(tree), dict[Any, Observation]()
    for command in commands(tree, tests):
        with sandbox.open(image, cache="none") as workspace:
            if programs:
                workspace.run(linking.command(programs))
            records = _records(workspace, command)
        observations = [seen for record in records if (seen := _observation(tree, record, workspace.root, command))]
        covering = {_key(seen.use): seen for seen in observations if _covers(seen.use, tests)}
        own = {key: seen for key, seen in covering.items() if not _is_of_another(tree, seen.use, tests)}
        if own:
            return _sorted(own.values(), tests)
        others = others or covering
    return _sorted(others.values(), tests)


def _sorted(found: Iterable[Observation], tests: Collection[str]) -> list[Observation]:
    return sorted(found, key=lambda seen: (not _names(seen.use, tests), -len(seen.use.folder)))


def _observation(tree: Tree, record: dict[str, Any], root: str, command: Command) -> Observation | None:
    use = use_of(record, root, command)
    if use is None:
        return None
    script = run_script(tree, use.folder, str(record.get("task", "")))
    return Observation(use, command, record.get("how") == "library", None if script == command else script)


def _records(workspace: Workspace, command: Command) -> list[dict[str, Any]]:
    """The probe's records of a command."""
    folder = f"{workspace.scratch}/probe"
    lines = workspace.run(["sh", "-c", 'command -v node; echo "$PATH"']).output.decode(errors="replace").splitlines()
    if len(lines) < 2:
        return []
    probe, out, option = f"{folder}/{PROBE}", f"{folder}/seen", preload(f"{folder}/{PROBE}")
    workspace.write(probe, files(__package__).joinpath(PROBE).read_bytes())
    workspace.write(f"{folder}/bin/node", _NODE.format(node=lines[0], probe=probe).encode())
    workspace.run(["chmod", "+x", f"{folder}/bin/node"])
    settings = {"out": out, "option": option, "runners": _packages(), "tools": _tools()}
    path = f"{folder}/bin:{lines[1]}:{workspace.root}/{linking.FOLDER}"
    env = {"PATH": path, "NODE_OPTIONS": option, "A11Y_PROBE": json.dumps(settings)}
    workspace.run(list(command.argv), env=env | {"NX_DAEMON": "false"}, seconds=SECONDS, folder=command.folder)
    return list(objects(workspace.read(out) or b""))


def objects(lines: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file, one per line; other lines are ignored."""
    for line in lines.splitlines():
        try:
            value = parse_json(line.decode(errors="replace"))
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def _packages() -> dict[str, str]:
    """Package -> the name of its runner."""
    return {package: runner.name for runner in all_runners().values() for package in runner.packages}


def _tools() -> list[str]:
    return list(tomllib.loads(files(__package__).joinpath("observe.toml").read_text(encoding="utf-8"))["tools"])


def use_of(record: dict[str, Any], root: str, command: Command) -> Use | None:
    """A record of the probe as a use; None if it is outside the repository, or not of a known runner."""
    runner_names = {**_packages(), **{name: name for name in all_runners()}}
    name, cwd = runner_names.get(str(record.get("runner"))), str(record.get("cwd", ""))
    if name is None or not f"{cwd}/".startswith(f"{root}/"):
        return None
    words = _relative([*_texts(record.get("words")), *_words(name, record)], cwd, root)
    env = {key: value for key, value in (record.get("env") or {}).items() if COMMON.get(key) != value}
    why = f"observed: {command.evidence} starts {' '.join([name, *words])}"[:400]
    node = tuple(_relative(_texts(record.get("node")), cwd, root))
    call = scripts.Call(name, tuple(words), env, node, why)
    return uses.of_call(posixpath.relpath(cwd, root).removeprefix("."), name, call)


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _words(name: str, record: dict[str, Any]) -> Iterator[str]:
    """The command-line words for the options that a script passed to a runner that it loaded itself."""
    options = record.get("options") if isinstance(record.get("options"), dict) else {}
    assert isinstance(options, dict)
    if name == "mocha":
        loaded = dict.fromkeys([*_texts(record.get("required")), *_text_list(options.get("require"))])
        yield from (word for module in loaded for word in ("--require", module))
        for option in ("ui", "timeout"):
            if isinstance(options.get(option), str | int) and not isinstance(options[option], bool):
                yield from (f"--{option}", str(options[option]))
    elif isinstance(options.get("config"), str):
        yield from ("--config", options["config"])
    elif isinstance(options.get("configFile"), str):
        yield options["configFile"]


def _text_list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else _texts(value)


def _relative(words: Sequence[str], cwd: str, root: str) -> list[str]:
    """Words with paths of the workspace made relative to the folder of the command."""

    def shortened(word: str) -> str:
        if word.startswith("{"):
            return _portable(word, cwd)
        if not word.startswith(f"{root}/"):
            return word.replace(f"={root}/", f"={posixpath.relpath(root, cwd)}/")
        path = posixpath.relpath(word, cwd)
        return path if path.startswith(".") else f"./{path}"

    return [shortened(word) for word in words]


def _portable(text: str, cwd: str) -> str:
    """A configuration that a script wrote as JSON (Jest's), without the path of the folder in which it ran."""
    found = next(objects(text.replace("\n", " ").encode()), None)
    if found is None:
        return text
    if found.get("rootDir") == cwd:
        del found["rootDir"]  # by default the folder of the command
    return json.dumps(found, ensure_ascii=False).replace(f'"{cwd}/', '"<rootDir>/')


def _covers(use: Use, tests: Collection[str]) -> bool:
    return not tests or any(not use.folder or test.startswith(f"{use.folder}/") for test in tests)


def _is_of_another(tree: Tree, use: Use, tests: Collection[str]) -> bool:
    """Whether a call names the configuration of a project that has none of these tests. A folder below the root with a
    configuration is a project if it is a package, or if the project of a test has a configuration of that name."""
    path = posixpath.normpath(posixpath.join(use.folder, named_configuration(tree, use)))
    folder, name = posixpath.split(path)
    if path not in tree.paths or not folder or any(folder in above(test) for test in tests):
        return False
    projects = {posixpath.join(home, name) for test in tests for home in above(test) if home}
    return tree.manifest(folder) is not None or not projects.isdisjoint(tree.paths)


def _names(use: Use, tests: Collection[str]) -> bool:
    """Whether the call names one of the tests, like scripts that select the files themselves."""
    return any(posixpath.normpath(posixpath.join(use.folder, word)) in tests for word in use.call.words)


def _key(use: Use) -> tuple[Any, ...]:
    return (use.folder, use.runner, use.call.words, tuple(sorted(use.call.env.items())), use.call.node)
