"""Prompts from the templates in `prompts/`, cut to the model's context.

Tokens are estimated as characters / 3.5, on the safe side for code. When a prompt is too long it gives up, in this
order: material from its least important end (a piece that does not fit is left out, a later and smaller one may still
go in), then the hints, then the bodies of the issues but for their beginnings, then those too. Titles always stay.
Without room for one piece of material at the end of all this, the attempt ends with CONTEXT_OVERFLOW.
The instance's id, the issues' numbers and the repository's name are not shown: they lead to the published fix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from magentless.causes import Cause, Ended
from magentless.inputs import Issue, Settings, Task

CHARS_PER_TOKEN = 3.5
SHORT_BODY_CHARS = 2000
TEMPLATES = Path(__file__).with_name("prompts")


@dataclass(frozen=True)
class Prompt:
    """A prompt, and which pieces of its material (by position) found room."""

    text: str
    shown: tuple[int, ...]


@dataclass(frozen=True)
class Prompter:
    """Makes the prompts of one task for one model."""

    task: Task
    model: str
    settings: Settings

    def localize(self, paths: Sequence[str]) -> Prompt:
        """The prompt that asks for files among `paths`, the most promising first."""
        return self._fitted("localize", paths, "\n", self.settings.output.localize)

    def repair(self, views: Sequence[str]) -> Prompt:
        """The prompt that asks for edits of the files in `views`, the most important first."""
        return self._fitted("repair", views, "\n\n", self.settings.output.repair)

    def _fitted(self, step: str, material: Sequence[str], joint: str, reply_tokens: int) -> Prompt:
        """Raises Ended (CONTEXT_OVERFLOW) when no version of the prompt fits."""
        room = (self.settings.context.limit(self.model) - reply_tokens) * CHARS_PER_TOKEN
        for statement in statements(self.task):
            frame = self._filled(step, statement, "")
            shown = fitting([len(piece) + len(joint) for piece in material], room - len(frame))
            if shown:
                return Prompt(self._filled(step, statement, joint.join(material[index] for index in shown)), shown)
        raise Ended(Cause.CONTEXT_OVERFLOW, f"{step}: room for {room:.0f} characters")

    def _filled(self, step: str, statement: str, material: str) -> str:
        template = Template((TEMPLATES / f"{step}.md").read_text(encoding="utf-8"))
        preamble = self.settings.prompt.preamble
        return template.substitute(
            preamble=preamble, statement=statement, material=material, top=self.settings.files.top
        )


def statements(task: Task) -> Iterator[str]:
    """What the prompt says of the issues, from the fullest version to the barest."""
    hints = f"\n\nFrom the discussion:\n\n{task.hints}" if task.hints.strip() else ""
    for hint, body_chars in ((hints, None), ("", None), ("", SHORT_BODY_CHARS), ("", 0)):
        yield "\n\n".join(_issue(issue, body_chars) for issue in task.statement) + hint


def fitting(sizes: Sequence[int], room: float) -> tuple[int, ...]:
    """Positions of the pieces that fit into `room` when each in turn is taken if there is room left for it."""
    taken = []
    for index, size in enumerate(sizes):
        if size <= room:
            taken.append(index)
            room -= size
    return tuple(taken)


def _issue(issue: Issue, body_chars: int | None) -> str:
    labels = f"Labels: {', '.join(issue.labels)}" if issue.labels else ""
    body = issue.body.strip()[:body_chars]
    return "\n".join(part for part in (f"Issue: {issue.title}", labels, f"\n{body}" if body else "") if part)
