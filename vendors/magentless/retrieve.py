"""Retrieval: the files nearest to the issues, by vectors.

Separate from localize.py, since it imports numpy, which a run without retrieval does not need.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from magentless.checkout import Checkout
from magentless.index import Index, nearest
from magentless.inputs import Settings, Task
from magentless.prompting import question
from magentless.provider import EmbeddingModel
from magentless.tokens import Count
from magentless.vectors import VectorCache, unit


class Retriever:
    """Ranks the files of a checkout for a task. `cache` is the folder in which vectors are kept, `count` counts the
    tokens of the embedding model."""

    def __init__(
        self, task: Task, checkout: Checkout, model: EmbeddingModel, settings: Settings, cache: Path, count: Count
    ) -> None:
        chosen, preamble = settings.retrieval, settings.preamble.of("index")
        self._model = model
        self._question = question(task, chosen.instruction + preamble, chosen.limit, count)
        self._index = Index(checkout, model, VectorCache(cache), chosen, preamble, count)

    def nearest(self, paths: Sequence[str]) -> list[str]:
        """The readable files, the nearest first. Raises ProviderFailure."""
        vectors = self._index.vectors(paths)
        if not vectors:
            return []
        asked = self._model.embed([self._question], shared=False)
        return nearest(unit(asked)[0], vectors)
