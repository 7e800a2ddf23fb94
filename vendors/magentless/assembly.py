"""Assembling the parts of a run from the command line's arguments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

from magentless.checkout import Checkout
from magentless.inputs import Contexts, Settings, Task
from magentless.localize import Nearest
from magentless.prompting import Prompter
from magentless.provider import ChatModel, EmbeddingModel, Trajectory
from magentless.session import Session
from magentless.tokens import counter
from magentless.wire import Endpoint, Wire

#: the order of the trajectory's records; requests are answered in any order
STEPS = ("files", "folders", "index", "retrieve", "elements", "lines", "repair")

#: the most tokens that a picture takes, with all providers that document it
PICTURE_TOKENS = 2000


class Parts:
    """The parts for one model and one task in its checkout. Raises BadInput for an unusable checkout or settings."""

    def __init__(
        self,
        model: str,
        task: Task,
        checkout: Path,
        settings: Settings,
        endpoint: Endpoint,
        pictures: Sequence[str] = (),
        contexts: Contexts = MappingProxyType({}),
        choices: int = 1,
        tables: Path | None = None,
    ) -> None:
        settings = settings.model_copy(update={"retrieval": settings.retrieval.of(model, contexts)})
        self.wire, self._tables = Wire(endpoint, settings.provider), tables
        self._trajectory: Trajectory = []
        chat = ChatModel(model, self.wire, self._trajectory, pictures, choices)
        count = counter(model, settings.context.tokenizers, tables)
        limit = settings.context.limit(model, contexts) - PICTURE_TOKENS * len(pictures)
        prompter = Prompter(task, settings, limit, count, model)
        self.session = Session(task, Checkout(checkout), settings, prompter, chat)

    def nearest(self, cache: Path, answer: str = "") -> Nearest | None:
        """The ranking by retrieval; None if the settings switch it off. `answer` is the name of this run's answer."""
        session, name = self.session, self.session.settings.retrieval.chosen
        if not name:
            return None
        from magentless.retrieve import Retriever

        model = EmbeddingModel(name, self.wire, self._trajectory)
        count = counter(name, session.settings.context.tokenizers, self._tables)
        return Retriever(session.task, session.checkout, model, session.settings, cache, count, answer).nearest

    def ordered_trajectory(self) -> Trajectory:
        """A record of each answered request, by step and sample."""
        return sorted(self._trajectory, key=lambda entry: (STEPS.index(entry["step"]), entry["sample"]))
