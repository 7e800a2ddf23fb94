"""Reading a judge's answer."""

from __future__ import annotations

import pytest

from pipeline.evaluate.assess.judge.panel import read
from pipeline.llm.asking import BadAnswer

ONE = '{"reasoning": "it {names} it", "score": 2, "confidence": "low", "mood": "good"}'


@pytest.mark.parametrize(
    "text",
    [
        ONE,
        f"```json\n{ONE}\n```",
        f"Let me see {{braces}}. First I thought {ONE.replace('2', '1')}, but\n{ONE}\nThat is all.",
        ONE.replace("it {", "line one\nline two {"),
    ],
    ids=["bare", "fenced", "thinking aloud", "a line break in a text"],
)
def test_a_rating_is_read(text):
    rating = read(text)
    assert (rating.score, rating.confidence, rating.strengths) == (2, "low", "")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON object"),
        ("3", "no JSON object"),
        ('{"reasoning": "cut off', "no JSON object"),
        ('{"score": 3}', "reasoning: Field required"),
        ('{"reasoning": "", "score": 0}', "score: Input should be 3, 2, 1 or -1"),
        ('{"reasoning": "", "score": 2.5}', "score: Input should be"),
        ('{"reasoning": "", "score": 3, "confidence": "total"}', "confidence: Input should be"),
        ("{" * 100_000, "no JSON object"),
    ],
)
def test_an_unusable_reply_is_refused_with_the_reason(text, why):
    with pytest.raises(BadAnswer, match=why):
        read(text)
