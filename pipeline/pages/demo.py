"""The page track on this machine alone: a scripted model whose answers are the examples of our cases.

Reads our cases and the demo's model list; writes a data directory. The results must be those that the examples expect,
so this is also a check that the track works here.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

from pipeline.core.errors import A11yBenchError
from pipeline.core.store import Store
from pipeline.llm.models import DEMO, PROXY_URL
from pipeline.llm.provider import Fault, Output, Received, Refusal
from pipeline.llm.scripted import ScriptedModel
from pipeline.pages.cases import OWN, Case, Example, load_cases, set_name
from pipeline.pages.evaluating import Evaluation
from pipeline.pages.generate import Generation, count_causes
from pipeline.pages.records import PageVerdict
from pipeline.pages.report import write
from pipeline.pages.runs import Asked, Run
from pipeline.pages.verdict import outcomes

#: the demo's model, its first seed, and the number of answers to each prompt
MODEL, SEED, SAMPLES = "scripted", 42, 3
#: pages that run in parallel: on a bad page, a test mostly waits for something that never happens
JOBS = 4
#: text that a model may write around a page, by the number of the sample
WRAPPED = ("{}", "```html\n{}\n```", "Here is the page:\n\n```html\n{}\n```\n\nIt was written by hand.")


class PagesModel(ScriptedModel):
    """Answers a case's prompt with the case's examples, one after another by the request's seed."""

    def __init__(self, cases: Sequence[Case]) -> None:
        super().__init__([])
        self._cases, self._local = cases, threading.local()

    def receive(self, request: Received) -> Fault:
        self._local.sample = int(request.body.get("seed") or SEED) - SEED
        return super().receive(request)

    def reply(self, prompt: str) -> Output:
        for case in self._cases:
            if case.prompt in prompt:
                sample = self._local.sample
                return Output(WRAPPED[sample % len(WRAPPED)].format(example_of(case, sample).html))
        raise Refusal(400, f"no case has this prompt: {prompt[:200]}")


def example_of(case: Case, sample: int) -> Example:
    """The example that answers a case: a good one first, then those with the fewest faults. Faults cost time, since
    tests wait for what they do not find."""
    ordered = sorted(case.examples, key=lambda example: (not example.is_good, -faults(example)))
    return ordered[0] if sample == 0 else ordered[-sample % len(ordered)]


def faults(example: Example) -> int:
    """The assertions that an example fails."""
    return list(example.expected.values()).count("fail")


def run_demo(store: Store, *, jobs: int = JOBS) -> tuple[Path, list[str]]:
    """Run everything from prompts to the report. Returns the report's path, and results that are not as expected.

    Raises A11yBenchError if the scripted model did not answer.
    """
    cases = load_cases(OWN)
    with PagesModel(cases) as model:
        inherited = {name: value for name, value in os.environ.items() if name != PROXY_URL}
        environ = {**inherited, "A11Y_BENCH_SCRIPTED_URL": model.url, "A11Y_BENCH_SCRIPTED_KEY": "scripted"}
        asked = Asked((MODEL,), SAMPLES, (1, SAMPLES), SEED, temperature=0.8)
        run, causes = Generation(store, set_name(OWN, cases), cases, asked, models=DEMO, environ=environ).generate()
    if causes:
        raise A11yBenchError(f"the scripted model did not answer: {count_causes(causes)}")
    evaluation = Evaluation(run, jobs=jobs)
    verdicts = evaluation.evaluate()
    return write(evaluation, verdicts), [problem for verdict in verdicts for problem in _problems(run, verdict)]


def _problems(run: Run, verdict: PageVerdict) -> list[str]:
    """The expectations of an example that its page does not meet."""
    example = example_of(run.by_name[verdict.case], verdict.sample)
    actual = outcomes(verdict.assertions)
    problems = [
        f"'{name}': {actual.get(name)}, not {status}"
        for name, status in example.expected.items()
        if actual.get(name) != status
    ]
    if example.is_good and not verdict.passed:
        problems.append(
            f"{verdict.result} {verdict.cause} {', '.join(violation.id for violation in verdict.violations)}"
        )
    return [f"{verdict.case}: {example.name}: {problem}" for problem in problems]
