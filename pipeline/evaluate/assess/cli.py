"""`a11y-bench assess`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.core.options import Usd, engine_option
from pipeline.evaluate.options import of_patches

A_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@of_patches
@engine_option
@click.option("--axe", is_flag=True, help="Audit what the tests render with axe-core: they run once more.")
@click.option("--stories", is_flag=True, help="Audit the touched stories in a browser: each patch builds them once.")
@click.option("--judge", metavar="MODEL", help="Let this model of the model list rate every patch, for its price.")
@click.option(
    "--judge-samples", type=click.IntRange(1), default=3, show_default=True, help="Ratings of each patch by the judge."
)
@click.option(
    "--judge-budget",
    type=Usd(),
    help="The most that the judge may cost for REPO, in USD, from its first day.",
)
@click.option("--models", type=A_FILE, help="The model list, LiteLLM's form [default: docker/proxy/models.yaml].")
@click.option("--settings", type=A_FILE, help="Weights of the score, and how the judge is asked [default: our own].")
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
    """Look at the evaluated patches of MODEL for REPO as assistive technologies do (docs/assessment.md).

    \b
    Where all that fails are snapshots, the tests run once more with new ones, which a browser compares with gold's.
    --stories builds the repository's stories and audits those that show what the patches touch in a real browser.
    --judge lets a model rate the patches; its costs stand in DATA/costs.csv under the agent `judge`.
    Reads the verdicts of `evaluate`, and changes none.
    Writes DATA/04_evaluation/repair/<agent>/<repo>/<model>/assessments.jsonl.
    What was run or rated already is not again.
    \b
    Examples: a11y-bench assess grommet/grommet GLM-4.6
              a11y-bench assess grommet/grommet GLM-4.6 --judge DeepSeek-V3.1-Terminus --judge-budget 2
    Exit code: 0 every prediction is assessed, 1 some are not (run it again; a budget that is reached wants a higher
    --judge-budget).
    """
    from pipeline.evaluate.assess import settings as own
    from pipeline.evaluate.assess.report import report
    from pipeline.evaluate.assess.stage import More, assess
    from pipeline.llm.models import SHIPPED
    from pipeline.llm.panel import Asked

    asked = Asked(judge, judge_samples, judge_budget, models or SHIPPED) if judge else None
    more = More(axe, stories, asked, settings or own.SHIPPED)
    assessments = assess(store, subject, how, trust_local=trust_local, jobs=jobs, engine=engine, more=more)
    report(subject, assessments)
    if any(note.startswith("not assessed") for one in assessments for note in one.notes.values()):
        raise SystemExit(1)
