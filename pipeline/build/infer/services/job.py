"""A job of continuous integration: what is defined for it, and its commands in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from pipeline.build.infer import shell
from pipeline.build.infer.tree import Tree

#: how far files, templates and commands that include each other are followed
DEPTH = 4


class Step(NamedTuple):
    """A command of a job: a shell text, the folder in which it runs, and the job that it is from."""

    text: str
    folder: str
    where: str


class Job(NamedTuple):
    """A job: its name, everything that is defined for it, its commands, and the names of the jobs that come before."""

    name: str
    definition: dict[str, Any]
    steps: tuple[Step, ...]
    needs: tuple[str, ...] = ()


#: reads the jobs of a parsed file at a path, in order
Reader = Callable[[Tree, str, dict[str, Any]], Iterator[Job]]
#: the texts of a job, each with its folder; None for a folder that is unknown
Texts = Iterable[tuple[str, str | None]]


def steps(texts: Texts, path: str, name: str, *, shared: bool = False) -> tuple[Step, ...]:
    """The commands of these texts. With `shared`, all run in one shell, whose folder a text may change."""
    where, found, current = f"{path}: {name}" if name else path, list[Step](), ""
    for text, folder in texts:
        if folder is not None and text.strip():
            commands, current = shell.commands(text, current if shared else folder)
            found += [Step(command.text, command.folder, where) for command in commands]
    return tuple(found)


def whole(_: Tree, __: str, document: dict[str, Any]) -> Iterator[Job]:
    """A file as one job without commands, which may name versions."""
    yield Job("", document, ())
