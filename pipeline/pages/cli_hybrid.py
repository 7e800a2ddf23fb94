"""`a11y-bench pages hybrid`: the hybrid score."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from pipeline.core.options import Usd, jobs_option, new_data_option

_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


def _timeout(_context: click.Context, _parameter: click.Parameter, value: float | None) -> float | None:
    from pipeline.pages.hybrid.suite import LONGEST_TIMEOUT

    if value is None or 0 < value <= LONGEST_TIMEOUT:
        return value
    raise click.BadParameter(f"a number of seconds above 0, at most {LONGEST_TIMEOUT}")


@click.command(name="hybrid")
@click.option("--suite", type=_FILE, help="A suite as YAML: tests with name, prompt and optionally expected.")
@click.option(
    "--model", default="", help="The model that answers the suite [default: the configuration's default_model]."
)
@click.option("--run", "name", default="", help="Score an existing run, by name, instead of a suite.")
@click.option("--judge-model", default="", help="The judge [default: the configuration's, or the model itself].")
@click.option("--no-llm-judge", is_flag=True, help="Ask no judge; its weight goes to the other parts.")
@click.option("--no-eval", is_flag=True, help="Only let the model answer, and score nothing.")
@click.option(
    "--config",
    "configuration",
    type=_FILE,
    help="YAML with use_llm_judge, judge_model, default_model and timeout.",
)
@click.option("--extract", "results", type=_FILE, help="Only write the HTML from a JSON file of results to --output.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("output"),
    help="The folder for --extract.",
)
@click.option(
    "--timeout",
    type=float,
    callback=_timeout,
    help="Seconds for a page without its audits, and for its load [default: the configuration's, or 60 with audits, "
    "and 15 for the load].",
)
@click.option(
    "--budget", type=Usd(), help="The maximum that the model, and the judge, may each spend on the suite, in USD."
)
@click.option(
    "--models",
    "model_list",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The model list, in LiteLLM's format [default: docker/proxy/models.yaml].",
)
@jobs_option
@new_data_option
def hybrid(
    suite: Path | None, configuration: Path | None, results: Path | None, output: Path, name: str, **options: Any
) -> None:
    """Score answers by four parts: HTML validity, browser behavior, expected text, and a judge.

    \b
    Writes DATA/04_evaluation/pages/<run>/hybrid.jsonl and, for a suite, the run. The score does not change the
    verdicts of `pages eval`.
    Examples: a11y-bench pages hybrid --suite tests.yaml --model GLM-4.6
              a11y-bench pages hybrid --suite tests.yaml --model GLM-4.6 --no-llm-judge
              a11y-bench pages hybrid --run 20260101T120000Z --judge-model GLM-4.6
    Exit code: 0 every answer has a score, 1 some answers or scores are missing.
    """
    from pipeline.pages.hybrid.suite import extract, load_configuration

    if results:
        written = extract(results, output)
        click.echo(f"{output}: {len(written)} pages")
        return
    if bool(suite) == bool(name):
        raise click.UsageError("give --suite or --run")
    settings = load_configuration(configuration)
    run, complete = _run(suite, name, settings, options)
    if not options["no_eval"]:
        complete = _score(run, settings, options) and complete
    if not complete:
        raise SystemExit(1)


def _run(suite: Path | None, name: str, settings: Any, options: dict[str, Any]) -> tuple[Any, bool]:
    """The run, and whether all its answers exist."""
    from pipeline.pages.runs import load_run

    if suite is None:
        run = load_run(options["store"], name)
        return run, len(run.answers()) == len(run.keys)
    model = options["model"] or settings.default_model
    if not model:
        raise click.UsageError("name a model with --model, or in the configuration")
    with _cases(suite) as (folder, cases):
        return _answered(suite, folder, cases, model, options)


@contextmanager
def _cases(suite: Path) -> Iterator[tuple[Path, list[Any]]]:
    from tempfile import TemporaryDirectory

    from pipeline.pages.cases import load_cases
    from pipeline.pages.hybrid.suite import as_cases, load_suite

    tests = load_suite(suite)
    with TemporaryDirectory(prefix="a11y-bench-suite-") as folder:
        as_cases(tests, Path(folder))
        yield Path(folder), load_cases(Path(folder))


def _answered(suite: Path, folder: Path, cases: list[Any], model: str, options: dict[str, Any]) -> tuple[Any, bool]:
    from pipeline.core.names import folder_name
    from pipeline.llm.models import SHIPPED
    from pipeline.pages.cases import set_name
    from pipeline.pages.generate import Generation, count_causes
    from pipeline.pages.runs import Asked, load_run

    case_set = set_name(folder.with_name(folder_name(suite.stem)), cases)
    model_list = options["model_list"] or SHIPPED
    generation = Generation(
        options["store"],
        case_set,
        cases,
        Asked((model,)),
        models=model_list,
        jobs=options["jobs"],
        budget=options["budget"],
    )
    run, causes = generation.generate()
    click.echo(f"{run.folder}: {len(run.answers())} of {len(run.keys)} answers")
    if causes:
        click.echo(f"no answer yet: {count_causes(causes)}; run it again", err=True)
    return load_run(options["store"], run.name), not causes


def _score(run: Any, settings: Any, options: dict[str, Any]) -> bool:
    """Score a run and show the result; returns whether every answer has a score."""
    from pipeline.core.console import table
    from pipeline.pages.hybrid.formulas import PARTS
    from pipeline.pages.hybrid.records import SCORES
    from pipeline.pages.hybrid.stage import Scoring

    limits = _limits(options["timeout"] or settings.timeout)
    scored = Scoring(run, _judge(run, settings, options), options["jobs"], limits).score()
    rows = [
        (record.name, record.model, *(_score_text(getattr(record, part).score) for part in PARTS), _verdict(record))
        for record in scored
    ]
    table(run.name, ("test", "model", *PARTS, "score"), rows)
    click.echo(run.evaluated / SCORES)
    return all(record.overall_score is not None for record in scored)


def _limits(timeout: float | None) -> Any:
    from pipeline.pages.engine import Limits

    # a page's two audits have limits of their own, since they do not affect its score
    return Limits(page=timeout + 2 * Limits.audit, load=timeout) if timeout else Limits()


def _judge(run: Any, settings: Any, options: dict[str, Any]) -> Any:
    from pipeline.llm.models import SHIPPED
    from pipeline.llm.panel import Asked

    if options["no_llm_judge"] or not settings.use_llm_judge:
        return None
    model = options["judge_model"] or settings.judge_model or run.asked.models[0]
    return Asked(model, 1, options["budget"], options["model_list"] or SHIPPED)


def _score_text(score: int | None) -> str:
    return "–" if score is None else str(score)


def _verdict(scored: Any) -> str:
    words = {True: "passed", False: "failed", None: "not scored"}[scored.passed]
    return f"{_score_text(scored.overall_score)} {words}"
