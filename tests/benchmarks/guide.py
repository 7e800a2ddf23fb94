"""A model that always succeeds: it names places that it was shown, and its edits apply. For `predict`, on any
repository."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from math import inf

from pipeline.llm.provider import Fault, Output, Received
from pipeline.llm.scripted import ScriptedModel

STEP = re.compile(r"^Step: (\w+)")
#: which part of a prompt's material the answer to each step names: the first few places
FOLDER = re.compile(r"^(\S+/)\n((?:  \S+\n)+)", re.M)
OUTLINE = re.compile(r"^### (\S+) \(\d+ lines\)\n(.+) \(lines ", re.M)
NUMBERED = re.compile(r"^### (\S+)\n +(\d+) \|", re.M)
IMPORT = re.compile(r"^### (\S+)\n(?:(?!###).*\n)*?((?:import|export) .* from .*;)\n", re.M)


@dataclass
class Guide(ScriptedModel):
    """Answers after `latency` seconds. `area` is requests in flight times seconds since `reset`."""

    latency: float = 0

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start a new measurement with the next request."""
        self.flying, self.area, self.since, self.first, self.last = 0, 0.0, 0.0, inf, 0.0

    @property
    def mean_in_flight(self) -> float:
        """Between the first request and the last answer."""
        return self.area / (self.last - self.first)

    def receive(self, request: Received) -> Fault:
        super().receive(request)
        self._count(+1)
        return Fault(delay=self.latency)

    def answered(self) -> None:
        super().answered()
        self._count(-1)

    def _count(self, by: int) -> None:
        with self._lock:
            now = time.monotonic()
            self.area += self.flying * (now - self.since)
            self.first, self.last = min(self.first, now), now
            self.flying, self.since = self.flying + by, now

    def reply(self, prompt: str) -> Output:
        """The answer to the step in the prompt."""
        step = STEP.match(prompt)
        return Output(f"```\n{ANSWERS[step[1]](prompt)}\n```" if step else "")


def _files(prompt: str) -> str:
    folder, names = FOLDER.search(prompt).groups()
    return "\n".join(f"{folder}{name.strip()}" for name in names.splitlines()[:5])


def _elements(prompt: str) -> str:
    return "\n".join(f"{path}\n{name}" for path, name in OUTLINE.findall(prompt)[:3])


def _lines(prompt: str) -> str:
    return "\n".join(f"{path}\nline: {line}" for path, line in NUMBERED.findall(prompt)[:3])


def _repair(prompt: str) -> str:
    path, line = IMPORT.search(prompt).groups()
    return f"### {path}\n<<<<<<< SEARCH\n{line}\n=======\n{line}\nconst measured = true;\n>>>>>>> REPLACE"


ANSWERS = {"files": _files, "folders": lambda prompt: "", "elements": _elements, "lines": _lines, "repair": _repair}
