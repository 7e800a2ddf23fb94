"""Prompts from the templates in `prompts/`, cut to the model's context.

Tokens are counted by tokens.py. Where room is left, pieces of material are replaced by fuller versions, the most
important first, as far as these fit. A prompt that is too long is shortened in this order: material from the least
important end, down to one piece (a piece that does not fit is skipped, a later and smaller one may still fit); hints;
the issues' bodies down to their beginnings; the rest of the bodies. Titles and labels always stay. If not even one
piece of material fits then, the attempt ends with CONTEXT_OVERFLOW. The instance's id, the issues' numbers and the
repository's name are not shown, since they lead to the published fix.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import NamedTuple

from magentless.causes import Cause, Ended
from magentless.inputs import Issue, Settings, Task
from magentless.tokens import Count

SHORT_BODY_CHARS = 2000
FRAME_TOKENS = 50  # tokens that a provider adds around messages
TEMPLATES = Path(__file__).with_name("prompts")
NO_PIECES: Mapping[int, str] = MappingProxyType({})


class Step(NamedTuple):
    """A template, the part whose output limit and preamble it uses, and the separator of its pieces of material."""

    name: str
    part: str
    joint: str


FILES = Step("files", "localize", "\n")
FOLDERS = Step("folders", "localize", "\n")
ELEMENTS = Step("elements", "localize", "\n\n")
LINES = Step("lines", "localize", "\n\n")
REPAIR = Step("repair", "repair", "\n\n")


class Prompt(NamedTuple):
    """A prompt, and the positions of the pieces of material in it."""

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

    def prompt(self, step: Step, material: Sequence[str], fuller: Mapping[int, str] = NO_PIECES) -> Prompt:
        """The prompt with as much material as fits, the most important first. `fuller` are longer versions of pieces by
        position: they never push out another piece.

        Raises Ended (CONTEXT_OVERFLOW) if no version of the prompt fits.
        """
        room = self.limit - self.settings.output.of(step.part, self.model) - FRAME_TOKENS
        sizes = [self.count(piece + step.joint) for piece in material]
        for statement in statements(self.task):
            left = room - self.count(self._filled(step, statement, ""))
            if shown := fitting(sizes, left):
                left -= sum(sizes[index] for index in shown)
                pieces = dict(enumerate(material)) | self._filling(step, sizes, shown, fuller, left)
                return Prompt(self._filled(step, statement, step.joint.join(pieces[index] for index in shown)), shown)
        raise Ended(Cause.CONTEXT_OVERFLOW, f"{step.name}: room for {room} tokens")

    def _filling(
        self, step: Step, sizes: Sequence[int], shown: Sequence[int], fuller: Mapping[int, str], room: float
    ) -> dict[int, str]:
        """The fuller versions of shown pieces for which there is room besides these pieces."""
        longer = [index for index in shown if index in fuller]
        taken = fitting([self.count(fuller[index] + step.joint) - sizes[index] for index in longer], room)
        return {longer[place]: fuller[longer[place]] for place in taken}

    def _filled(self, step: Step, statement: str, material: str) -> str:
        preamble, top = self.settings.preamble.of(step.part), self.settings.files.suspicious
        return template(step.name).substitute(preamble=preamble, statement=statement, material=material, top=top)


@cache
def template(name: str) -> Template:
    """A template of `prompts/`."""
    return Template((TEMPLATES / f"{name}.md").read_text(encoding="utf-8"))


def question(task: Task, before: str, most: int, count: Count) -> str:
    """The query of retrieval: `before`, followed by as much of the statement as fits into `most` tokens, at least the
    titles."""
    texts = [before + text for text in statements(task, delimited=False)]
    return next((text for text in texts if count(text) <= most), texts[-1])


def statements(task: Task, *, delimited: bool = True) -> Iterator[str]:
    """The statement in versions from the fullest to the shortest. For answering models it is between marks, so that
    other people's text cannot pass as our instructions."""
    hints = "From the discussion:\n\n" + task.hints.strip() if task.hints.strip() else ""
    for hint, body_chars in ((hints, None), ("", None), ("", SHORT_BODY_CHARS), ("", 0)):
        issues = [_issue(issue, body_chars) for issue in task.statement]
        parts = [*(("issue", issue) for issue in issues), *([("discussion", hint)] if hint else [])]
        yield "\n\n".join(_delimited(*part) if delimited else part[1] for part in parts)


def _delimited(mark: str, text: str) -> str:
    """A text between marks that it cannot close."""
    return f"<{mark}>\n{text.replace(f'</{mark}>', f'< /{mark}>')}\n</{mark}>"


def fitting(sizes: Sequence[int], room: float) -> tuple[int, ...]:
    """The positions of the pieces that fit into `room` if each is taken in turn while there is room for it."""
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
