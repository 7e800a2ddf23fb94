"""`a11y-bench regrade`."""

from __future__ import annotations

from typing import Any

import click

from pipeline.core.options import agent_option, data_option, model_argument, name_option, repo_argument
from pipeline.evaluate.cli import say
from pipeline.evaluate.options import run_option


@click.command()
@repo_argument
@model_argument
@agent_option
@name_option
@run_option
@data_option
def command(repo: Any, model: str, agent: str, name: str, run: str, store: Any) -> None:
    """Recompute the verdicts of MODEL for REPO from the logs and reports that `evaluate` stored.

    \b
    Needs no engine and no clone: nothing is run.
    Writes DATA/04_evaluation/repair/<agent>/<repo>/<model>/: verdicts.jsonl, final_report.json.
    \b
    Example: a11y-bench regrade grommet/grommet oracle
    Exit code: 0 every instance has a verdict, 1 some have no stored run (evaluate first).
    """
    from pipeline.core.options import agent_of
    from pipeline.evaluate.answers import Subject, attempts
    from pipeline.evaluate.regrade import regrade

    subject = Subject(repo, agent_of(agent, model, name), model, run)
    say([(attempt, regrade(store, attempt)) for attempt in attempts(store, subject) or [subject]])
