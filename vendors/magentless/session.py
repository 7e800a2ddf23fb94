"""What all steps of a task share, and how they ask the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from magentless.causes import Ended
from magentless.checkout import Checkout
from magentless.inputs import Settings, Task
from magentless.prompting import Prompter, Step
from magentless.provider import Ask, ChatModel, Messages


@dataclass(frozen=True)
class Session:
    """One task in one checkout with one model. Safe to share between threads."""

    task: Task
    checkout: Checkout
    settings: Settings
    prompter: Prompter
    model: ChatModel

    def ask(self, step: Step, prompt: str, sample: int = 0, temperature: float = 0.0) -> str:
        """The answer to a prompt. Raises Ended and ProviderFailure."""
        return self.converse(step, [message("user", prompt)], sample, temperature)

    def converse(self, step: Step, messages: Messages, sample: int, temperature: float) -> str:
        """The answer to a conversation. Raises Ended and ProviderFailure."""
        return self.model.ask(self._question(step, sample, temperature), messages)

    def several(self, step: Step, messages: Messages, samples: Sequence[int], temperature: float) -> list[str | Ended]:
        """An answer for each sample, or why there is none. Raises ProviderFailure."""
        return self.model.ask_several(self._question(step, samples[0], temperature), messages, samples)

    def _question(self, step: Step, sample: int, temperature: float) -> Ask:
        most = self.settings.output.of(step.part, self.model.name)
        return Ask(step.name, sample, temperature, most, step.part == "localize")


def message(role: str, text: str) -> dict[str, str]:
    """One message of a conversation."""
    return {"role": role, "content": text}
