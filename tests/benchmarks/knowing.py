"""Models that know the gold patches, in the form that magentless reads: a dress rehearsal of stage 03.

What the one that `knows` does not solve is no model's fault: a file that the agent does not show, an edit that it
cannot make. Embeddings are by words (provider.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from os.path import commonprefix
from typing import NamedTuple

import git

from pipeline.core.git import changed_files, show
from pipeline.core.patches import sections
from pipeline.core.records import Instance
from pipeline.llm.provider import Output, Refusal
from pipeline.llm.scripted import ScriptedModel

STEP = re.compile(r"^Step: (\w+)")
#: what a model makes of what it knows: the gold patches, those of every second instance, or nothing but words
SKILLS = ("knows", "guesses", "talks")


class Change(NamedTuple):
    """One file before and after; None where there is none."""

    path: str
    before: str | None
    after: str | None

    @property
    def span(self) -> tuple[int, int]:
        """The changed lines of the file before, from 0, the end excluded: as many as it takes to be there once."""
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        start, end = _common(old, new), len(old)
        end -= min(_common(old[::-1], new[::-1]), end - start, len(new) - start)
        while not _once(old, start, end) and end - start < len(old):
            start, end = max(start - 1, 0), min(end + 1, len(old))
        return start, end

    @property
    def edit(self) -> str:
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        start, end = self.span
        put = new[start : len(new) - (len(old) - end)]
        return "\n".join(
            [f"### {self.path}", "<<<<<<< SEARCH", *old[start:end], "=======", *put, ">>>>>>> REPLACE", ""]
        )


class Known(NamedTuple):
    """What is in the prompts of an instance and in no other's, and what its gold patch changes."""

    markers: Sequence[str]
    changes: Sequence[Change]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are the same from the first on."""
    return len(commonprefix([one, other]))


def _once(lines: list[str], start: int, end: int) -> bool:
    wanted, most = lines[start:end], len(lines) - (end - start)
    alike = sum(lines[place : place + len(wanted)] == wanted for place in range(most + 1))
    return not lines or (any(map(str.strip, wanted)) and alike == 1)


def gold(clone: git.Repo, instance: Instance) -> list[Change]:
    """What the gold patch changes, file by file."""
    tests = {path for path, _ in sections(instance.test_patch)}
    paths = [path for path in changed_files(clone, instance.base.sha, instance.merge_sha) if path not in tests]
    return [Change(path, show(clone, instance.base.sha, path), show(clone, instance.merge_sha, path)) for path in paths]


def answer(step: str, changes: Sequence[Change]) -> str:
    """What magentless asks for in a step."""
    there = [change for change in changes if change.before is not None]
    if step == "repair":
        return "\n".join(change.edit for change in changes)
    if step == "lines":
        return "\n".join(f"{one.path}\nline: {one.span[0] + 1}-{one.span[1]}" for one in there)
    return "\n".join(change.path for change in there) if step != "folders" else ""


def guess(place: int) -> list[Change]:
    """A change that applies and mends nothing."""
    return [Change(f"rehearsal-{place}.js", None, "export {};\n")]


class Knowing(ScriptedModel):
    """Knows the instance of a prompt by its issues, which are in every one: of several that fit, the first of those
    with the most issues. `skill` is one of SKILLS."""

    def __init__(self, tasks: Sequence[Known], skill: str = "knows") -> None:
        super().__init__([])
        self.tasks, self.skill = tasks, skill

    def reply(self, prompt: str) -> Output:
        step = STEP.match(prompt)
        found = [place for place, one in enumerate(self.tasks) if all(marker in prompt for marker in one.markers)]
        if not step or not found:
            raise Refusal(400, f"no instance for a prompt that begins: {prompt[:200]}")
        return Output(self._said(step[1], max(found, key=lambda place: len(self.tasks[place].markers))))

    def _said(self, step: str, place: int) -> str:
        changes = self.tasks[place].changes
        if step == "repair" and self.skill == "talks":
            return "The menu has to be told of by its name."
        if step == "repair" and self.skill == "guesses" and place % 2:
            changes = guess(place)
        return f"```\n{answer(step, changes)}\n```"


def known(clone: git.Repo, instance: Instance) -> Known:
    """An instance as a model knows it."""
    return Known([f"Issue: {one.title}\n" for one in instance.task().statement], gold(clone, instance))
