"""What `campaign` and `run` share: headings of stages, and an evaluation with its summary."""

from __future__ import annotations

from typing import Any


def say_stage(stage: str, text: str) -> None:
    """Print the heading of a stage to stderr."""
    from pipeline.core.console import say

    say(f"== {stage}: {text}")


def evaluate_and_say(store: Any, repo: Any, agent: str, model: str, sandbox: Any, **how: Any) -> list[str]:
    """Evaluate every attempt of one agent and model, and print how many instances are resolved. `how` goes to
    `evaluate`.

    Returns a line for each attempt with patches that could not be evaluated because of the machine. Raises
    A11yBenchError if oracle does not resolve every instance, or nop resolves one. `run` then ends before a model is
    asked; `campaign` records it as a failure and continues.
    """
    from pipeline.core.console import say
    from pipeline.core.errors import A11yBenchError
    from pipeline.core.records import Outcome
    from pipeline.evaluate.answers import Subject, attempts
    from pipeline.evaluate.cli import summary
    from pipeline.evaluate.stage import NOT_SELECTED, evaluate
    from pipeline.predict.references import REQUIRED

    unevaluated = []
    say_stage("04 evaluate", model)
    for subject in attempts(store, Subject(repo, agent, model)):
        verdicts = evaluate(store, subject, sandbox, **how)
        suffix = f", attempt {subject.attempt}" if subject.attempt > 1 else ""
        say(f"{model}{suffix}: {summary(verdicts)}")
        chosen = [verdict for verdict in verdicts if verdict.cause != NOT_SELECTED]
        required = REQUIRED.get(model)
        wrong = [f"{verdict.instance_id} is {verdict.outcome}" for verdict in chosen if verdict.outcome is not required]
        answered = [verdict for verdict in chosen if verdict.patch_digest]
        missing = [verdict for verdict in answered if verdict.outcome is Outcome.NOT_EVALUATED]
        if required and wrong:
            advice = f"run it again ({missing[0].cause})" if missing else "build again, or see its log"
            text = f"with {model}, every instance must be {required}, but {', '.join(wrong)}"
            raise A11yBenchError(f"{text}: {advice}")
        if missing:
            text = f"{len(missing)} of {len(answered)} patches not evaluated: {missing[0].cause}"
            unevaluated.append(f"{model}{suffix}: {text}")
    return unevaluated
