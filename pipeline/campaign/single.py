"""`a11y-bench run`: stages 01 to 05 for one repository and model, the same as by their own commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.core.options import (
    A_FILE,
    Usd,
    agent_option,
    attempts_option,
    cap_option,
    jobs_option,
    model_argument,
    models_option,
    name_option,
    new_data_option,
    repo_argument,
    sandbox_option,
    subset_options,
    trust_local_option,
)


@click.command()
@repo_argument
@model_argument
@agent_option
@name_option
@click.option(
    "--path", type=click.Path(path_type=Path), help="Collect from this clone first [default: use what is collected]."
)
@subset_options
@attempts_option
@models_option
@click.option("--settings", type=A_FILE, help="The agent's settings [default: the agent's own file].")
@click.option("--budget", type=Usd(), help="The maximum that MODEL may ever spend with these settings, in USD.")
@cap_option
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="How often each of the three runs is repeated.",
)
@sandbox_option
@trust_local_option
@jobs_option
@new_data_option
def command(
    repo: Any,
    model: str,
    agent: str,
    path: Path | None,
    subset: Any,
    repeats: int,
    sandbox: str,
    trust_local: bool,
    jobs: int,
    store: Any,
    **options: Any,
) -> None:
    """Run all stages for REPO with MODEL: collect, build, predict, evaluate, analyze.

    \b
    oracle and nop are evaluated first; if they fail, the dataset is at fault.
    --pr, --instances and --limit select the instances to answer and evaluate; --pr also selects what is collected and
    built.
    Example: a11y-bench run grommet/grommet GLM-4.6 --path ~/clones/grommet
    """
    from pipeline.analyze.cli import present
    from pipeline.build.qualify import Settings
    from pipeline.build.stage import build
    from pipeline.campaign.steps import evaluate_and_say, say_stage
    from pipeline.collect.stage import collect
    from pipeline.core.cache import cache_root
    from pipeline.core.errors import A11yBenchError
    from pipeline.sandbox import open_sandbox

    predictors = _predictors(store, repo, agent, model, jobs=jobs, subset=subset, **options)
    test_sandbox, numbers = open_sandbox(sandbox, cache_root()), subset.pulls(repo)
    if path:
        say_stage("01 collect", str(repo))
        collect(store, repo, path, numbers=numbers)
    say_stage("02 build", str(repo))
    build(store, repo, Settings(test_sandbox, repeats), numbers=numbers, trust_local=trust_local, jobs=jobs)
    unevaluated, how = [], {"jobs": jobs, "trust_local": trust_local, "subset": subset}
    for solver, predictor in predictors.items():
        say_stage("03 predict", solver)
        predictor.predict()
        unevaluated += evaluate_and_say(store, repo, predictor.experiment.label, solver, test_sandbox, **how)
    present(store)
    if unevaluated:
        raise A11yBenchError("; ".join([*unevaluated, "run the same command again"]))


def _predictors(
    store: Any, repo: Any, agent: str, model: str, *, models: Path | None, jobs: int, subset: Any, **options: Any
) -> dict[str, Any]:
    """The experiments, by model: the references, which have no options of their own, then the model. Raises
    UserError."""
    from pipeline.core.options import REFERENCES, agent_of
    from pipeline.llm.models import SHIPPED
    from pipeline.predict.stage import Predictor

    how = {"models": models or SHIPPED, "jobs": jobs, "subset": subset}
    given = {solver: {} if solver in REFERENCES else options for solver in (*REFERENCES, model)}
    return {
        solver: Predictor(store, repo, agent_of(agent, solver), solver, **how, **own) for solver, own in given.items()
    }
