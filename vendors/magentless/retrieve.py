"""Retrieval: the files nearest to the issues, by vectors.

Separate from localize.py, since it imports numpy, which a run without retrieval does not need.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from magentless.checkout import Checkout
from magentless.index import Index, nearest
from magentless.inputs import Settings, Task, closest
from magentless.prompting import question
from magentless.provider import EmbeddingModel
from magentless.tokens import Count
from magentless.vectors import Matrix, VectorCache, unit


class Retriever:
    """Ranks the files of a checkout for a task. `cache` is the folder in which vectors are kept, `count` counts the
    tokens of the embedding model. The question's own vector is kept for the answer of this name: begun anew, it is not
    paid for twice, and no other answer profits."""

    def __init__(
        self,
        task: Task,
        checkout: Checkout,
        model: EmbeddingModel,
        settings: Settings,
        cache: Path,
        count: Count,
        answer: str = "",
    ) -> None:
        chosen, preamble = settings.retrieval, settings.preamble.of("index")
        self._model = model
        self._question = question(task, chosen.instruction + preamble, chosen.limit, count)
        self._cache, self._answer = VectorCache(cache), answer
        encoding = closest(model.name, settings.context.tokenizers, "")
        self._index = Index(checkout, model, self._cache, chosen, preamble, count, encoding)

    def nearest(self, paths: Sequence[str]) -> list[str]:
        """The readable files, the nearest first. Raises ProviderFailure."""
        vectors = self._index.vectors(paths)
        if not vectors:
            return []
        return nearest(self._asked(), vectors)

    def _asked(self) -> Matrix:
        """The question's vector."""
        key = hashlib.sha256(repr((self._answer, self._model.name, self._question)).encode()).hexdigest()
        kept = self._cache.get([key]) if self._answer else {}
        if key not in kept:
            kept = {key: unit(self._model.embed([self._question], shared=False))}
            self._cache.put(kept if self._answer else {})
        return kept[key][0]
