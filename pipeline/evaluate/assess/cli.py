"""`a11y-bench assess`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.core.options import A_FILE, Usd, engine_option, is_given, models_option
from pipeline.evaluate.options import of_patches


@click.command()
@of_patches
@engine_option
@click.option("--axe", is_flag=True, help="Audit the documents of the tests with axe-core; the tests run once more.")
@click.option(
    "--stories", is_flag=True, help="Audit the stories of touched components in a browser; each patch builds them once."
)
@click.option("--judge", metavar="MODEL", help="Let this model of the model list rate every patch; costs money.")
@click.option(
    "--judge-samples", type=click.IntRange(1), default=3, show_default=True, help="The judge's ratings per patch."
)
@click.option(
    "--judge-budget",
    type=Usd(),
    help="The maximum that the judge may ever cost for REPO, in USD.",
)
@models_option
@click.option("--settings", type=A_FILE, help="The weights of the score and the judge's parameters [default: ours].")
def command(
    store: Any,
    subject: Any,
    how: Any,
    *,
    trust_local: bool,
    jobs: int,
    engine: str,
    axe: bool,
    stories: bool,
    judge: str | None,
    judge_samples: int,
    judge_budget: Any,
    models: Path | None,
    settings: Path | None,
) -> None:
    """Assess the evaluated patches of MODEL for REPO as assistive technologies see them (docs/assessment.md).

    \b
    If only snapshots fail, the tests run once more to write new ones, which a browser compares with gold's.
    --stories builds the repository's stories and audits those of touched components in a real browser.
    --judge lets a model rate the patches; its costs are in DATA/costs.csv under the agent `judge`.
    Reads the verdicts of `evaluate` and changes none.
    Writes DATA/04_evaluation/repair/<agent>/<repo>/<model>/assessments.jsonl.
    Stored test runs and ratings are reused.
    \b
    Examples: a11y-bench assess grommet/grommet GLM-4.6
              a11y-bench assess grommet/grommet GLM-4.6 --judge DeepSeek-V3.1-Terminus --judge-budget 2
    Exit code: 0 every prediction is assessed, 1 some are not (run it again, with a higher --judge-budget if that was
    reached).
    """
    from pipeline.evaluate.assess import settings as defaults
    from pipeline.evaluate.assess.report import report
    from pipeline.evaluate.assess.stage import Extras, assess
    from pipeline.llm.models import SHIPPED
    from pipeline.llm.panel import Asked

    for name in ("judge_samples", "judge_budget"):
        if not judge and is_given(name):
            raise click.UsageError(f"--{name.replace('_', '-')} is for a judge: name its model with --judge")
    judging = Asked(judge, judge_samples, judge_budget, models or SHIPPED) if judge else None
    extras = Extras(axe, stories, judging, settings or defaults.SHIPPED)
    assessments = assess(store, subject, how, trust_local=trust_local, jobs=jobs, engine=engine, extras=extras)
    report(subject, assessments)
    if any(note.startswith("not assessed") for assessment in assessments for note in assessment.notes.values()):
        raise SystemExit(1)
