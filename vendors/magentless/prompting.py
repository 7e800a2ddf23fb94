"""Prompts from the templates in `prompts/`, cut to the model's context.

Tokens are counted by the model's tokenizer where it is known (tokens.py). When a prompt is too long it gives up, in
this order: material from its least important end (a piece that does not fit is left out, a later and smaller one may
still go in) as long as one piece stays; then the hints, then the bodies of the issues but for their beginnings, then
those too. Titles and labels always stay. Without room for one piece of material at the end of all this, the attempt
ends with CONTEXT_OVERFLOW. The instance's id, the issues' numbers and the repository's name are not shown: they lead to
the published fix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import NamedTuple

from magentless.causes import Cause, Ended
from magentless.inputs import Issue, Settings, Task
from magentless.tokens import Count

SHORT_BODY_CHARS = 2000
FRAME_TOKENS = 50  # that a provider adds around messages
TEMPLATES = Path(__file__).with_name("prompts")


class Step(NamedTuple):
    """A template, whose limit of output and preamble it has, and what stands between its pieces of material."""

    name: str
    part: str
    joint: str


FILES = Step("files", "localize", "\n")
FOLDERS = Step("folders", "localize", "\n")
ELEMENTS = Step("elements", "localize", "\n\n")
LINES = Step("lines", "localize", "\n\n")
REPAIR = Step("repair", "repair", "\n\n")


class Prompt(NamedTuple):
    """A prompt, and which pieces of its material (by position) found room."""

    text: str
    shown: tuple[int, ...]


@dataclass(frozen=True)
class Prompter:
    """Makes the prompts of one task for one model."""

    task: Task
    settings: Settings
    limit: int
    count: Count
    model: str = ""

    def prompt(self, step: Step, material: Sequence[str]) -> Prompt:
        """The prompt with as much of the material as fits, the most important first.

        Raises Ended (CONTEXT_OVERFLOW) when no version of the prompt fits.
        """
        room = self.limit - self.settings.output.of(step.part, self.model) - FRAME_TOKENS
        sizes = [self.count(piece + step.joint) for piece in material]
        for statement in statements(self.task):
            shown = fitting(sizes, room - self.count(self._filled(step, statement, "")))
            if shown:
                pieces = step.joint.join(material[index] for index in shown)
                return Prompt(self._filled(step, statement, pieces), shown)
        raise Ended(Cause.CONTEXT_OVERFLOW, f"{step.name}: room for {room} tokens")

    def _filled(self, step: Step, statement: str, material: str) -> str:
        preamble, top = self.settings.preamble.of(step.part), self.settings.files.suspicious
        return template(step.name).substitute(preamble=preamble, statement=statement, material=material, top=top)


@cache
def template(name: str) -> Template:
    """A text of `prompts/`."""
    return Template((TEMPLATES / f"{name}.md").read_text(encoding="utf-8"))


def question(task: Task, before: str, most: int, count: Count) -> str:
    """What files are compared with in retrieval: as much of the statement as `most` tokens hold, titles at least.
    `before` stands in front of it."""
    texts = [before + text for text in statements(task, delimited=False)]
    return next((text for text in texts if count(text) <= most), texts[-1])


def statements(task: Task, *, delimited: bool = True) -> Iterator[str]:
    """What the prompt says of the issues, from the fullest version to the barest; between marks for a model that
    answers, so that what others wrote cannot pass for a question of ours."""
    hints = "From the discussion:\n\n" + task.hints.strip() if task.hints.strip() else ""
    for hint, body_chars in ((hints, None), ("", None), ("", SHORT_BODY_CHARS), ("", 0)):
        issues = [_issue(issue, body_chars) for issue in task.statement]
        parts = [*(("issue", one) for one in issues), *([("discussion", hint)] if hint else [])]
        yield "\n\n".join(_delimited(*part) if delimited else part[1] for part in parts)


def _delimited(mark: str, text: str) -> str:
    """A text between marks, which it cannot close itself."""
    return f"<{mark}>\n{text.replace(f'</{mark}>', f'< /{mark}>')}\n</{mark}>"


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
