"""A scripted rater, a gateway without a proxy, and an answer with a complete rating."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from pipeline.core.ratings import CONDITIONS, FLAGS
from pipeline.llm.experiment import Experiment
from pipeline.llm.gateway import Gateway
from pipeline.llm.provider import Output
from pipeline.llm.scripted import ScriptedModel

#: the environment that the demo's list of models asks for
GIVEN = {"A11Y_BENCH_SCRIPTED_URL": "unused", "A11Y_BENCH_SCRIPTED_KEY": "unused"}
GOOD: dict[str, Any] = {
    "review_status": "super",
    "conditions": dict.fromkeys(CONDITIONS, True),
    **{name: name not in ("insufficient_evidence", "requires_external_setup") for name in FLAGS},
    "wcag_codes": ["4.1.2"],
    "difficulty": "easy",
    "issue_category": "bug-fix",
    "test_quality": "Good Tests",
    "labels": [{"name": "menu", "hoverText": "About menus"}],
    "custom_problem_statement": "The menu has no name.",
    "notes": "",
    "evaluation_notes": "It is clear.",
    "confidence": 0.9,
}


@dataclass
class Speaker(ScriptedModel):
    """Gives its answers one after the other, and repeats the last one."""

    answers: list[Any] = field(default_factory=list)

    def reply(self, prompt: str) -> Output:
        text = self.answers.pop(0) if self.answers[1:] else self.answers[0]
        return Output(text if isinstance(text, str) else json.dumps(text))


class Direct(Gateway):
    """A gateway without a proxy: its keys open everything and cost nothing."""

    def _new_key(self, experiment: Experiment, holder: str, budget_usd: object) -> str:
        return secrets.token_hex(8)

    def settle(self, experiment: Experiment | None = None) -> None:
        """No costs are recorded."""
