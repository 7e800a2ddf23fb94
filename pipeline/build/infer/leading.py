"""What a package runs before its test runner: the commands of its test script, and of the scripts that this one calls,
up to the first call of a runner. Installs, checks and what makes no file are left out.

Does not cover shell files, Makefiles, subshells, and commands that run beside others.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from typing import NamedTuple

from pipeline.build.infer import jobs, scripts, shell, uses
from pipeline.build.infer.services import Step
from pipeline.build.infer.tree import Manifest, Tree
from pipeline.build.infer.words import commands

#: a command that goes on in the background
_BESIDE = re.compile(r"(?<![&>])&(?![&>])")


class Part(NamedTuple):
    """A shell text, or the name of a `script` of the package in this folder."""

    folder: str
    text: str = ""
    script: str = ""


def before_runner(tree: Tree, folder: str) -> list[Part]:
    """What the first script of a package that starts a runner runs before it; empty if none starts one."""
    manifest = tree.manifest(folder)
    walks = (_of_script(tree, manifest, name, ()) for name in scripts.names(manifest)) if manifest else ()
    parts = next((parts for parts, is_started in walks if is_started), [])
    useful = [part for part in parts if _sets(part) or _makes(part)]
    return [] if all(map(_sets, useful)) else _joined(useful)


def _of_script(tree: Tree, manifest: Manifest, name: str, seen: tuple[str, ...]) -> tuple[list[Part], bool]:
    """What comes before the first runner that a script starts, and whether it starts one. Its `pre` script runs before
    it."""
    parts, folder = list[Part](), posixpath.dirname(manifest.path)
    for script in (f"pre{name}", name):
        if script in manifest.scripts and f"{folder}:{script}" not in seen:
            inside, is_started = _of_text(tree, manifest, manifest.scripts[script], (*seen, f"{folder}:{script}"))
            if is_started:
                return [*parts, *inside], True
            parts.append(Part(folder, script=script))
    return parts, False


def _of_text(tree: Tree, manifest: Manifest, text: str, seen: tuple[str, ...]) -> tuple[list[Part], bool]:
    """The same for a shell text."""
    parts = list[Part]()
    for command in shell.commands(text, posixpath.dirname(manifest.path))[0]:
        if _starts(tree, manifest, command):
            return [*parts, *_inside(tree, tree.manifest(command.folder), command, seen)], True
        if not _is_alone(command):
            return parts, False
        parts.append(Part(command.folder, command.text))
    return parts, False


def _inside(tree: Tree, manifest: Manifest | None, command: shell.Command, seen: tuple[str, ...]) -> list[Part]:
    """What comes before the runner in the scripts that a command calls."""
    found, parts = list(commands(command.text)), list[Part]()
    if manifest is None or len(found) != 1:
        return []
    for name in scripts.called(found[0], manifest.scripts):
        inside, is_started = _of_script(tree, manifest, name, seen)
        if is_started:
            return [*parts, *inside]
        if not scripts.is_parallel(found[0]):
            parts.append(Part(command.folder, script=name))
    return []


def _starts(tree: Tree, manifest: Manifest, command: shell.Command) -> bool:
    calls = scripts.of_command(tree, manifest, tuple(uses.programs()), command)
    return any(True for call in calls for _ in uses.started(call))


def _is_alone(command: shell.Command) -> bool:
    """Whether a command is whole, without a part of a subshell, and ends before the next one begins."""
    return command.text.count("(") == command.text.count(")") and not _BESIDE.search(command.text)


def _sets(part: Part) -> bool:
    """Whether a part only sets variables for the next ones."""
    return part.text.startswith("export ")


def _makes(part: Part) -> bool:
    return jobs.makes(Step(part.text or f"npm run {part.script}", part.folder, ""))


def _joined(parts: Iterable[Part]) -> list[Part]:
    """These parts, with texts in the same folder as one."""
    found = list[Part]()
    for part in parts:
        if found and part.text and found[-1].text and found[-1].folder == part.folder:
            part = part._replace(text=f"{found.pop().text} && {part.text}")
        found.append(part)
    return found
