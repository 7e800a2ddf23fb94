"""The prompt for a judge: the rubric (`prompt.md`), the issue and the patch, but not who wrote the patch.

After PraisonAI Bench (docs/assessment.md): three grades and "cannot tell", an example of each, reasons before the
rating, rules against known biases. The judge never learns the agent, the model, the verdict, and the gold patch: a
judge who sees gold rates similarity to it, which tests and snapshots measure better. Does not cover a patch that names
its own author.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import NamedTuple

from pipeline.core.briefing import statement
from pipeline.core.records import Task
from pipeline.llm.chat import Message

RUBRIC = files(__package__).joinpath("prompt.md").read_text(encoding="utf-8")
AGAIN = "This answer cannot be read: {}. Answer again, with the JSON object and nothing else."


class Question(NamedTuple):
    """A patch, and the task that it answers."""

    task: Task
    patch: str


def messages(question: Question) -> list[Message]:
    """The rubric as the system's message, the material as the user's."""
    parts = (("Issue", statement(question.task)), ("Patch", question.patch))
    material = "\n".join(f"# {name}\n\n{_fenced(text)}" for name, text in parts)
    return [{"role": "system", "content": RUBRIC}, {"role": "user", "content": material}]


def _fenced(text: str) -> str:
    """The text between fences that do not occur in it."""
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    return f"{fence}\n{text.rstrip()}\n{fence}\n"
