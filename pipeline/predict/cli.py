"""`a11y-bench predict`."""

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
    data_option,
    engine_option,
    jobs_option,
    model_argument,
    models_option,
    name_option,
    repo_argument,
    subset_options,
)

STEPS = ("preprocess", "runtime", "postprocess")


@click.command()
@repo_argument
@model_argument
@agent_option
@name_option
@subset_options
@attempts_option
@models_option
@click.option(
    "--settings",
    type=A_FILE,
    help="The agent's settings [default: the agent's own file]; for --agent command, how to run it.",
)
@click.option(
    "--budget",
    type=Usd(),
    help="The maximum that this experiment may ever cost, in USD [default: no limit].",
)
@cap_option
@click.option(
    "--filter-tests",
    is_flag=True,
    help="Of the agent's patches, choose the one that breaks the fewest existing tests; needs a container engine.",
)
@click.option("--step", type=click.Choice(STEPS), help="Only this step [default: all three in order].")
@click.option("--fresh", is_flag=True, help="Request all answers again, in a new run.")
@jobs_option
@engine_option
@data_option
def command(repo: Any, model: str, store: Any, step: str | None, fresh: bool, attempts: int, **options: Any) -> None:
    """Let an agent with MODEL write patches for the instances of REPO.

    \b
    MODEL is a name in the model list, or oracle (the gold patches) or nop (empty patches), which need no model.
    Writes DATA/03_predictions/repair/<agent>/<repo>/<model>/<time>/, DATA/03_predictions/answers/ and DATA/costs.csv.
    The same command resumes. An answer is stored under everything that can change it (task, agent, settings, model,
    attempt), so it is reused if you add instances or change limits or prices. Answers with other settings are stored
    beside it (--name).
    Agents that run code work in containers, which needs an engine. docs/agents.md says how to bring your own.
    Warns about instances without current verdicts of oracle and nop, since it may be impossible to resolve them.
    \b
    Examples: a11y-bench predict grommet/grommet GLM-4.6
              a11y-bench predict grommet/grommet GLM-4.6 --agent mini-swe-agent
              a11y-bench predict grommet/grommet GLM-4.6 --agent command --settings mine.toml
              a11y-bench predict grommet/grommet GLM-4.6 --settings greedy.toml --name greedy --limit 20 --attempts 3
    Exit code: 0 every selected instance has an answer, 1 some have none (run it again, with a higher --budget if that
    was reached).
    """
    if fresh and step in STEPS[1:]:
        raise click.UsageError(f"--fresh begins a run, which --step {step} does not: add it to --step {STEPS[0]}")
    predictor = _predictor(store, repo, model, attempts=attempts, **options)
    if not predictor.reference and step in (None, "runtime"):
        _warn_of_unchecked(store, repo, predictor.subset)
    if step == "preprocess":
        click.echo(predictor.preprocess(fresh=fresh).folder)
    elif step == "runtime":
        predictor.runtime(attempts=attempts)
        if pending := predictor.missing():
            _say_what_is_missing(predictor.resume(), pending)
            raise SystemExit(1)
    else:
        predictions = predictor.postprocess() if step else predictor.predict(fresh=fresh)
        _report(predictor, predictions, None if step else attempts)


def _predictor(
    store: Any,
    repo: Any,
    model: str,
    *,
    agent: str,
    models: Path | None,
    settings: Path | None,
    filter_tests: bool,
    **options: Any,
) -> Any:
    """The experiment that the options name; the others are those of `Predictor`. Raises UserError."""
    from pipeline.core.cache import cache_root
    from pipeline.core.options import agent_of
    from pipeline.llm.models import SHIPPED
    from pipeline.predict.stage import Predictor
    from pipeline.sandbox import open_sandbox

    how = {"models": models or SHIPPED, "settings": settings, **options}
    tester = open_sandbox("docker", cache_root()) if filter_tests else None
    return Predictor(store, repo, agent_of(agent, model), model, **how, tester=tester)


def _warn_of_unchecked(store: Any, repo: Any, subset: Any) -> None:
    """Say if a model is about to be asked for instances that the references were not evaluated on."""
    from pipeline.core.console import counted, say
    from pipeline.core.dataset import read_dataset
    from pipeline.predict.references import unchecked

    instances = subset.of(read_dataset(store, repo))
    if names := unchecked(store, repo, instances):
        share = f"{len(names)} of {counted(len(instances), 'instance')}, such as {names[0]}"
        text = f"warning: no verdicts show that oracle resolves and nop does not resolve {share}"
        say(f"{text}; check the dataset before you pay for answers: just dataset-check {repo}")


def _report(predictor: Any, predictions: list[Any], attempts: int | None) -> None:
    """Say what the run shows, and what is missing of the selection, up to this number of attempts."""
    from pipeline.core.console import table

    experiment = predictor.experiment
    run = predictor.resume()
    further = [prediction for attempt in range(2, run.attempts + 1) for prediction in run.predictions(attempt)]
    collected = [*predictions, *further]
    rows = [
        (prediction.instance_id, prediction.attempt, prediction.outcome, len(prediction.model_patch.splitlines()))
        for prediction in collected
    ]
    header = ("instance", "attempt", "outcome", "patch lines")
    table(f"{experiment.label} with {experiment.model} on {experiment.repo}", header, rows)
    answered = {(prediction.instance_id, prediction.attempt) for prediction in collected}
    selected = predictor.selected(run, attempts)
    if pending := [pair for pair in selected if (pair[0].instance_id, pair[1]) not in answered]:
        _say_what_is_missing(run, pending)
        raise SystemExit(1)


def _say_what_is_missing(run: Any, pending: list[Any]) -> None:
    from pipeline.llm.ledger import BUDGET_EXCEEDED, CAP_LOST, CAP_REACHED
    from pipeline.predict.runtime import why_unanswered

    names = [
        instance.instance_id if attempt == 1 else f"{instance.instance_id} attempt {attempt}"
        for instance, attempt in pending
    ]
    hint = f"see error.json in {run.answers}/INSTANCE, or {run.folder / 'run.log'}"
    click.echo(f"no answer yet: {', '.join(names)} ({hint}); run it again", err=True)
    causes = {why_unanswered(run, *attempt) for attempt in pending}
    for limit, refusals in {"budget": {BUDGET_EXCEEDED}, "cap": {CAP_REACHED, CAP_LOST}}.items():
        if causes & refusals:
            click.echo(f"the {limit} is reached; answers are kept, and a higher --{limit} continues", err=True)
