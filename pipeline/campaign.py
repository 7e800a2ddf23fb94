"""`a11y-bench campaign`: stages 01 to 05 of one repository and model, as their own commands would do them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.core.options import (
    agent_option,
    data_option,
    jobs_option,
    model_argument,
    repo_argument,
    sandbox_option,
    trust_local_option,
)


@click.command()
@repo_argument
@model_argument
@agent_option
@click.option(
    "--path", type=click.Path(path_type=Path), help="Collect from this clone first [default: what is collected]."
)
@click.option("--pr", "numbers", type=int, multiple=True, help="Only this pull request (may be given several times).")
@click.option(
    "--repeats", type=click.IntRange(1), default=3, show_default=True, help="Times that each run is repeated."
)
@sandbox_option
@trust_local_option
@jobs_option
@data_option
def command(
    repo: Any,
    model: str,
    agent: str,
    path: Path | None,
    numbers: tuple[int, ...],
    repeats: int,
    sandbox: str,
    trust_local: bool,
    jobs: int,
    store: Any,
) -> None:
    """Do all stages for REPO with MODEL: collect, build, predict, evaluate, analyze.

    \b
    oracle and nop are evaluated first: what they get wrong is a fault of the dataset.
    Example: a11y-bench campaign grommet/grommet GLM-4.6 --path ~/clones/grommet
    """
    from pipeline.analyze.cli import present
    from pipeline.build.qualify import Settings
    from pipeline.build.stage import build
    from pipeline.collect.stage import collect
    from pipeline.core.cache import cache_root
    from pipeline.core.options import REFERENCES, agent_of
    from pipeline.llm.models import SHIPPED
    from pipeline.predict.stage import Predictor
    from pipeline.sandbox import open_sandbox

    who = dict.fromkeys([*REFERENCES, model])
    predictors = {name: Predictor(store, repo, agent_of(agent, name), name, models=SHIPPED, jobs=jobs) for name in who}
    place = open_sandbox(sandbox, cache_root())
    if path:
        say_stage("01 collect", str(repo))
        collect(store, repo, path, numbers=numbers)
    say_stage("02 build", str(repo))
    build(store, repo, Settings(place, repeats), numbers=numbers, trust_local=trust_local, jobs=jobs)
    for name, predictor in predictors.items():
        say_stage("03 predict", name)
        predictor.predict()
        evaluate_and_say(store, repo, agent_of(agent, name), name, place, jobs=jobs, trust_local=trust_local)
    present(store)


def say_stage(stage: str, text: str) -> None:
    """The heading of a stage, on stderr."""
    from pipeline.core.console import say

    say(f"== {stage}: {text}")


def evaluate_and_say(
    store: Any, repo: Any, agent: str, model: str, sandbox: Any, *, jobs: int, trust_local: bool = False
) -> None:
    """Evaluate one agent and model, and say how many instances are resolved.

    Raises A11yBenchError for an oracle that does not resolve every instance: a dataset that no model is asked about.
    """
    from pipeline.core.console import say
    from pipeline.core.errors import A11yBenchError
    from pipeline.core.records import Outcome
    from pipeline.evaluate.answers import Subject
    from pipeline.evaluate.cli import summary
    from pipeline.evaluate.stage import evaluate

    say_stage("04 evaluate", model)
    verdicts = evaluate(store, Subject(repo, agent, model), sandbox, jobs=jobs, trust_local=trust_local)
    say(f"{model}: {summary(verdicts)}")
    unresolved = [one.instance_id for one in verdicts if one.outcome is not Outcome.RESOLVED]
    if model == "oracle" and unresolved:
        raise A11yBenchError(f"the gold patch does not resolve {', '.join(unresolved)}: build again, or see its log")
