"""Retrieval: whose questions are paid for, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from magentless.retrieve import Retriever


class Embedding:
    """Gives every text the same embedding; `asked` counts the questions."""

    name = "embedder"

    def __init__(self) -> None:
        self.asked = 0

    def embed(self, texts: Sequence[str], *, shared: bool) -> list[list[float]]:
        self.asked += not shared
        return [[1.0, 0.0]] * len(texts)


def test_an_answer_that_is_begun_anew_pays_for_its_question_once(checkout, make_task, make_settings, tmp_path: Path):
    """Other answers do not profit: the cost of each does not depend on which one was first."""
    model, settings = Embedding(), make_settings('retrieval = {model = "embedder"}')
    for answer, asked in (("one", 1), ("one", 1), ("other", 2), ("", 3), ("", 4)):
        retriever = Retriever(make_task(), checkout, model, settings, tmp_path / "cache", len, answer)
        assert retriever.nearest(["src/theme.css"]) == ["src/theme.css"]
        assert model.asked == asked
