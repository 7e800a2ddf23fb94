"""What a package runs before its test runner: the commands of its test script, and of the scripts that this one calls,
up to the first call of the runner. Installs, checks, other runners and what makes no file are left out.

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


def before_runner(tree: Tree, folder: str, runner: str = "") -> list[Part]:
    """What the first script of a package that starts a runner, this one if possible, runs before it; empty if none
    starts one."""
    if (manifest := tree.manifest(folder)) is None:
        return []
    named = [(wanted, name) for wanted in (runner, "") for name in scripts.names(manifest)]
    walks = (_Walk(tree, wanted).of_script(manifest, name, ()) for wanted, name in named)
    parts = next((parts for parts, is_started in walks if is_started), [])
    useful = [part for part in parts if _sets(part) or _makes(part)]
    return [] if all(map(_sets, useful)) else _joined(useful)


class _Walk(NamedTuple):
    """The way through the scripts of packages, up to the first call of the `runner`; of any, if it is empty."""

    tree: Tree
    runner: str

    def of_script(self, manifest: Manifest, name: str, seen: tuple[str, ...]) -> tuple[list[Part], bool]:
        """What comes before the runner in a script, and whether the script starts it. Its `pre` script runs before
        it."""
        parts, folder = list[Part](), posixpath.dirname(manifest.path)
        for script in (f"pre{name}", name):
            if script in manifest.scripts and f"{folder}:{script}" not in seen:
                inside, is_started = self._of_text(manifest, manifest.scripts[script], (*seen, f"{folder}:{script}"))
                if is_started:
                    return [*parts, *inside], True
                parts.append(Part(folder, script=script))
        return parts, False

    def _of_text(self, manifest: Manifest, text: str, seen: tuple[str, ...]) -> tuple[list[Part], bool]:
        """The same for a shell text. What another runner does is left out."""
        parts = list[Part]()
        for command in shell.commands(text, posixpath.dirname(manifest.path))[0]:
            started = self._started(manifest, command)
            if self.runner in started or started and not self.runner:
                return [*parts, *self._inside(self.tree.manifest(command.folder), command, seen)], True
            if not _is_alone(command):
                return parts, False
            if not started:
                parts.append(Part(command.folder, command.text))
        return parts, False

    def _inside(self, manifest: Manifest | None, command: shell.Command, seen: tuple[str, ...]) -> list[Part]:
        """What comes before the runner in the scripts that a command calls."""
        found, parts = list(commands(command.text)), list[Part]()
        if manifest is None or len(found) != 1:
            return []
        for name in scripts.called(found[0], manifest.scripts):
            inside, is_started = self.of_script(manifest, name, seen)
            if is_started:
                return [*parts, *inside]
            if not scripts.is_parallel(found[0]):
                parts.append(Part(command.folder, script=name))
        return []

    def _started(self, manifest: Manifest, command: shell.Command) -> set[str]:
        """The runners that a command starts."""
        calls = scripts.of_command(self.tree, manifest, tuple(uses.programs()), command)
        return {runner.name for call in calls for runner, _ in uses.started(call)}


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
