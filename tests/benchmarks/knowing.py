"""Models that know the gold patches, for a rehearsal of stage 03.

They answer in magentless's format, and call mini-swe-agent's shell. If one with the skill `knows` leaves an instance
unresolved, the agent is to blame: it did not show a file, or could not make an edit. Embeddings are by words
(provider.py).
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from gzip import compress
from os.path import commonprefix
from typing import NamedTuple

from pipeline.core.git import Clone
from pipeline.core.patches import paths
from pipeline.core.records import Instance
from pipeline.dataset.applied import scratch
from pipeline.llm.provider import Output, Refusal
from pipeline.llm.scripted import ScriptedModel

STEP = re.compile(r"^Step: (\w+)")
#: the text before an issue's title in the prompts of magentless, and of agents that get the statement as text
TITLED = ("Issue: ", "# ")
#: shell commands: make a change, which prints DONE, and submit it
DONE = "the-change-is-made"
APPLY = f"echo {{}} | base64 -d | gzip -d | git apply --whitespace=nowarn && echo {DONE}"
GUESS = f"echo 'export {{{{}}}};' > rehearsal-{{}}.js && echo {DONE}"
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
#: how a model uses its knowledge: for every instance, for every second one, or only for words
SKILLS = ("knows", "guesses", "talks")


class Change(NamedTuple):
    """One file before and after; None if it does not exist."""

    path: str
    before: str | None
    after: str | None

    @property
    def span(self) -> tuple[int, int]:
        """The changed lines of the file before, from 0, without the end: enough lines to be unique."""
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
    """The titles of an instance's issues, which are in all its prompts, the changes of its gold patch, and the
    patch."""

    titles: Sequence[str]
    changes: Sequence[Change]
    patch: str

    def is_in(self, prompt: str) -> bool:
        """Whether a prompt is about this instance."""
        return any(all(f"{mark}{title}\n" in prompt for title in self.titles) for mark in TITLED)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are equal from the first on."""
    return len(commonprefix([one, other]))


def _once(lines: list[str], start: int, end: int) -> bool:
    wanted, most = lines[start:end], len(lines) - (end - start)
    alike = sum(lines[place : place + len(wanted)] == wanted for place in range(most + 1))
    return not lines or (any(map(str.strip, wanted)) and alike == 1)


def gold(clone: Clone, instance: Instance) -> list[Change]:
    """The gold patch's changes, by file. In a foreign benchmark, other commits may lie between base and merge."""
    changed = paths(instance.fix_patch)
    with scratch(clone, instance.base.sha) as index:
        before = {path: _text(index.read(path)) for path in changed}
        index.apply("gold", instance.fix_patch)
        return [Change(path, before[path], _text(index.read(path))) for path in changed]


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace")


def answer(step: str, changes: Sequence[Change]) -> str:
    """The answer to a step of magentless."""
    existing = [change for change in changes if change.before is not None]
    if step == "repair":
        return "\n".join(change.edit for change in changes)
    if step == "lines":
        return "\n".join(f"{location.path}\nline: {location.span[0] + 1}-{location.span[1]}" for location in existing)
    return "\n".join(change.path for change in existing) if step != "folders" else ""


def guess(index: int) -> list[Change]:
    """A change that applies and fixes nothing."""
    return [Change(f"rehearsal-{index}.js", None, "export {};\n")]


class Knowing(ScriptedModel):
    """Finds a prompt's instance by its issues, which are in every prompt: of several matches, the first one with the
    most issues. `skill` is one of SKILLS."""

    def __init__(self, tasks: Sequence[Known], skill: str = "knows") -> None:
        super().__init__([])
        self.tasks, self.skill = tasks, skill

    def reply(self, prompt: str) -> Output:
        found = [index for index, task in enumerate(self.tasks) if task.is_in(prompt)]
        if not found:
            raise Refusal(400, f"no instance for a prompt that begins: {prompt[:200]}")
        index = max(found, key=lambda index: len(self.tasks[index].titles))
        step = STEP.match(prompt)
        return Output(self._answer(step[1], index)) if step else self._command(prompt, index)

    def _answer(self, step: str, index: int) -> str:
        """The answer to a step of magentless."""
        changes = self.tasks[index].changes
        if step == "repair" and self.skill == "talks":
            return "The menu has to be told of by its name."
        if step == "repair" and self.skill == "guesses" and index % 2:
            changes = guess(index)
        return f"```\n{answer(step, changes)}\n```"

    def _command(self, prompt: str, index: int) -> Output:
        """The next command for the shell of mini-swe-agent."""
        if DONE in prompt or self.skill == "talks":
            command = SUBMIT
        elif self.skill == "guesses" and index % 2:
            command = GUESS.format(index)
        else:
            command = APPLY.format(b64encode(compress(self.tasks[index].patch.encode(), mtime=0)).decode())
        return Output("", ("bash", json.dumps({"command": command})))


def known(clone: Clone, instance: Instance) -> Known:
    """An instance with the model's knowledge of it."""
    titles = [issue.title for issue in instance.task().statement]
    return Known(titles, gold(clone, instance), instance.fix_patch)
