"""`a11y-bench pages`: the page track."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from pipeline.core.options import (
    MOST_ANSWERS,
    Decorator,
    Group,
    Usd,
    data_option,
    engine_option,
    jobs_option,
    new_data_option,
)
from pipeline.pages.cli_hybrid import hybrid


@click.group(cls=Group)
def command() -> None:
    """The page track: can a model write an accessible page? Cases with prompts, run in a real browser."""


command.add_command(hybrid)


def _cases(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Path:
    from pipeline.pages.cases import OWN

    return value or OWN


case_option: Decorator = click.option(
    "--case", "names", multiple=True, help="A case in the folder, by name (repeatable) [default: all]."
)
#: the tags of axe-core's rules
TAG = re.compile(r"best-practice|experimental|deprecated|review-item|ACT|(?:wcag|TT|cat\.|section508|EN-|RGAA).*")


def _apart(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for tag in values:
        if tag != "none" and not TAG.fullmatch(tag):
            raise click.BadParameter(f"'{tag}' is no tag of axe-core; tags are best-practice, wcag2aaa, cat.color, ...")
    return tuple(tag for tag in values if tag != "none")


apart_option: Decorator = click.option(
    "--apart",
    multiple=True,
    default=("best-practice",),
    show_default=True,
    callback=_apart,
    help="An axe-core tag whose rules are counted separately (repeatable); 'none' lets all rules count.",
)


def _ks(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[int, ...]:
    try:
        return tuple(int(k) for k in value.split(",")) if value else ()
    except ValueError:
        raise click.BadParameter("numbers separated by commas, such as 1,5,10") from None


def _cases_option(default: str) -> Decorator:
    folder = click.Path(path_type=Path, file_okay=False)
    return click.option("--cases", type=folder, help=f"The folder of cases [default: {default}].")


run_option: Decorator = click.option("--run", "name", default="", help="The run, by name [default: the newest].")
k_option: Decorator = click.option("--k", "ks", callback=_ks, help="The k of pass@k, separated by commas.")


@command.command()
@click.argument("models", nargs=-1)
@click.option(
    "--models-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="More models to ask: YAML with models: [{name: NAME}] and, optionally, defaults: {temperature, max_tokens};"
    " or a model list.",
)
@click.option(
    "--models",
    "model_list",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The model list, in LiteLLM's format [default: docker/proxy/models.yaml].",
)
@_cases_option("ours")
@case_option
@click.option(
    "--samples", type=click.IntRange(1, MOST_ANSWERS), default=1, show_default=True, help="Answers to each prompt."
)
@k_option
@click.option("--base-seed", type=int, help="The seed of the first sample; each further sample adds one.")
@click.option("--temperature", type=float, help="The temperature [default: the provider's].")
@click.option("--max-tokens", type=click.IntRange(1), help="The maximum length of an answer [default: the provider's].")
@click.option(
    "--system",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A file with the system prompt [default: the public harness's].",
)
@click.option("--disable-cache", is_flag=True, help="Request all answers again, in a new run, even stored ones.")
@click.option(
    "--budget",
    type=Usd(),
    help="The maximum that each model may ever spend on these cases with these settings, in USD.",
)
@click.option("--run", "name", default="", help="A name for the run [default: its time].")
@click.option("--jobs", type=click.IntRange(1), default=4, show_default=True, help="Requests to send in parallel.")
@new_data_option
def run(models: tuple[str, ...], models_file: Path | None, model_list: Path | None, **options: Any) -> None:
    """Let MODELS answer the prompts of the cases, several times each.

    \b
    Writes DATA/03_predictions/pages/<run>/ and DATA/costs.csv. The same command resumes, and stored answers cost
    nothing. Then: a11y-bench pages eval
    Examples: a11y-bench pages run GLM-4.6
              a11y-bench pages run GLM-4.6 --samples 20 --k 1,5,10 --base-seed 42 --temperature 0.8 --budget 5
    Exit code: 0 every prompt has its answers, 1 some are missing (run it again).
    """
    from pipeline.llm.models import SHIPPED
    from pipeline.pages.generate import count_causes

    listed, defaults = file_of_models(models_file) if models_file else ([], {})
    names = (*models, *listed)
    _require_model_list(model_list)
    if not names:
        raise click.UsageError("name a model, or give --models-file")
    options |= {name: value for name, value in defaults.items() if options[name] is None}
    page_run, causes = _generation(names, model_list or SHIPPED, **options).generate()
    click.echo(f"{page_run.folder}: {len(page_run.answers())} of {len(page_run.keys)} answers")
    if causes:
        click.echo(f"no answer yet: {count_causes(causes)}; run it again", err=True)
        raise SystemExit(1)


def _generation(
    models: tuple[str, ...],
    model_list: Path,
    /,
    *,
    cases: Path | None,
    names: tuple[str, ...],
    samples: int,
    ks: tuple[int, ...],
    base_seed: int | None,
    system: Path | None,
    disable_cache: bool,
    name: str,
    store: Any,
    **options: Any,
) -> Any:
    from pipeline.core.texts import read_text
    from pipeline.pages.cases import OWN, load_cases, set_name
    from pipeline.pages.generate import Generation
    from pipeline.pages.runs import SYSTEM, Asked

    folder = cases or OWN
    chosen = load_cases(folder, names)
    text = read_text(system).strip() if system else SYSTEM
    sampling = {"temperature": options.pop("temperature"), "max_tokens": options.pop("max_tokens")}
    asked = Asked(models, samples, ks or (1,), base_seed, **sampling, fresh=disable_cache, system=text)
    return Generation(store, set_name(folder, chosen), chosen, asked, models=model_list, run=name, **options)


def _require_model_list(path: Path | None) -> None:
    """Raise UserError for a file of models in the public harness's format, where this option has the same name."""
    from pipeline.core.errors import UserError
    from pipeline.core.texts import parse_yaml, read_text

    data = parse_yaml(read_text(path), path).value if path else None
    if isinstance(data, dict) and "models" in data and "model_list" not in data:
        hint = f"give it as --models-file {path}"
        raise UserError("these are names of models, not a model list", path=path, field="models", hint=hint)


def file_of_models(path: Path) -> tuple[list[str], dict[str, Any]]:
    """The names in a file of models, in the public harness's format or as a model list, and the options that it sets.
    Raises UserError."""
    from pipeline.core.errors import UserError
    from pipeline.core.store import is_list_of_texts
    from pipeline.core.texts import parse_yaml, read_text

    hint = "write 'models:' and, below it, '- name: NAME' for each model"
    found = parse_yaml(read_text(path), path, hint)
    try:
        entries = found.value.get("models") or found.value.get("model_list")
        names = [entry if isinstance(entry, str) else entry.get("name") or entry["model_name"] for entry in entries]
        if not is_list_of_texts(names):
            raise TypeError("a name is a text")
    except (AttributeError, KeyError, TypeError) as error:
        raise UserError(f"not a list of models: {error}", path=path, hint=hint) from None
    _require_only_names(found, path)
    return names, _defaults(found.value.get("defaults") or {}, path)


def _require_only_names(found: Any, path: Path) -> None:
    """Raise UserError for a setting of one model, which would be ignored. A model list has its own fields."""
    from pipeline.core.errors import UserError

    for number, entry in enumerate(found.value.get("models") or ()):
        for name in () if isinstance(entry, str) else sorted(entry.keys() - {"name", "model_name"}, key=str):
            hint = "set it for all models, below 'defaults:' or as an option; to ask models differently, make two runs"
            line, field = found.line(("models", number, str(name))), f"models.{number}.{name}"
            raise UserError("a model only has a name here", path=path, line=line, field=field, hint=hint)


#: the defaults that a file of models may set
_DEFAULTS = {"temperature": (int, float), "max_tokens": (int,)}


def _defaults(defaults: Any, path: Path) -> dict[str, Any]:
    """Defaults that are possible. Raises UserError."""
    from pipeline.core.errors import UserError

    hint = f"known defaults: {', '.join(_DEFAULTS)}"
    if not isinstance(defaults, dict):
        raise UserError("not a table of defaults", path=path, field="defaults", hint=hint)
    for name, value in defaults.items():
        if name not in _DEFAULTS:
            raise UserError(f"no default '{name}'", path=path, field="defaults", hint=hint)
        is_number = isinstance(value, _DEFAULTS[name]) and not isinstance(value, bool)
        if value is not None and not (is_number and value >= (name == "max_tokens")):
            raise UserError(f"'{value}' is not possible", path=path, field=f"defaults.{name}", hint="give a number")
    return defaults


@command.command(name="eval")
@run_option
@_cases_option("the run's copy of its cases")
@apart_option
@k_option
@click.option("--renew", is_flag=True, help="Run pages again that ran in another version of Chromium.")
@jobs_option
@engine_option
@data_option
def evaluate(name: str, cases: Path | None, ks: tuple[int, ...], store: Any, **options: Any) -> None:
    """Check the pages of a run with the tests of their cases in a real browser, and give each page a verdict.

    \b
    Writes DATA/04_evaluation/pages/<run>/: verdicts.jsonl, results.json, screenshots/. Pages with
    stored results get a new verdict without running again, also if they ran in another version of Chromium (see
    --renew). --cases tests the pages with other cases of the same names.
    Examples: a11y-bench pages eval
              a11y-bench pages eval --apart none
    Exit code: 0 every requested page has a verdict, 1 answers are missing, or errors of a case, the runner or the
    machine.
    """
    from pipeline.pages.evaluating import Evaluation, is_of_other_browser, with_k
    from pipeline.pages.runs import load_run, with_cases

    page_run = with_k(load_run(store, name), ks)
    page_run = with_cases(page_run, cases) if cases else page_run
    verdicts = Evaluation(page_run, **options).evaluate()
    _summary(page_run, verdicts)
    if others := sum(is_of_other_browser(verdict.ran) for verdict in verdicts):
        click.echo(f"{others} of {len(verdicts)} pages ran in another version of Chromium; --renew runs them again")
    if len(verdicts) < len(page_run.keys) or any(verdict.result == "error" for verdict in verdicts):
        raise SystemExit(1)


@command.command()
@run_option
@click.option("--against", default="", help="A run to compare with, by name.")
@k_option
@data_option
def report(name: str, against: str, ks: tuple[int, ...], store: Any) -> None:
    """Write the report on an evaluated run: tables, figures, and a page for each sample.

    \b
    Writes DATA/04_evaluation/pages/<run>/report.html, samples/ and figures/.
    Examples: a11y-bench pages report
              a11y-bench pages report --run tuned --against plain --k 1,5,10
    """
    from pipeline.pages.evaluating import evaluated, with_k
    from pipeline.pages.report import Baseline, write
    from pipeline.pages.runs import load_run

    evaluation, verdicts = evaluated(with_k(load_run(store, name), ks))
    baseline = Baseline(against, *evaluated(load_run(store, against))) if against else None
    click.echo(write(evaluation, verdicts, baseline))


@command.command()
@click.option("--jobs", type=click.IntRange(1), help="Pages to check in parallel [default: 4].")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("data/demo/out/pages"),
    show_default=True,
    help="The data directory of the demo.",
)
def demo(jobs: int | None, data: Path) -> None:
    """Run the whole track with a scripted model and a real browser; needs no tokens or keys.

    \b
    The model's answers are examples of our cases, so the right results are known.
    Exit code: 0 all results are as expected, 1 some are not.
    """
    from pipeline.core.store import Store
    from pipeline.pages.demo import JOBS, run_demo

    path, problems = run_demo(Store(data), jobs=jobs or JOBS)
    for problem in problems:
        click.echo(problem, err=True)
    click.echo(path)
    if problems:
        raise SystemExit(1)


def _summary(run: Any, verdicts: list[Any]) -> None:
    from pipeline.core.console import table
    from pipeline.pages.measures import model_row, pass_at

    answers, rows = run.answers(), []
    for model in run.asked.models:
        row = model_row(model, answers, verdicts, run.keys)
        rates = [
            f"pass@{rate.k} {'–' if rate.value is None else f'{rate.value:.3f}'}"
            for rate in pass_at(model, run.asked.ks, verdicts, run.keys)
        ]
        shares = (f"{share.hits} of {share.of}" for share in (row.passed, row.requirements, row.best_practices))
        rows.append((model, *shares, row.errors, row.missing, ", ".join(rates), f"{row.money.usd:f}"))
    table(run.name, ("model", "passed", "R", "BP", "errors", "missing", "pass@k", "USD"), rows)
    click.echo(run.evaluated / "results.json")


@command.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), required=False, callback=_cases)
@case_option
@apart_option
@jobs_option
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def check(folder: Path, names: tuple[str, ...], apart: tuple[str, ...], jobs: int, as_json: bool) -> None:
    """Check the cases in FOLDER (default: ours): every expectation of every example.

    \b
    Also checks that every assertion both passes and fails in some example, and that no empty or unrelated page passes.
    Writes nothing. Examples: a11y-bench pages check
                              a11y-bench pages check cases/ --case modal-dialog
    Exit code: 0 no findings, 1 findings.
    """
    from pipeline.core.errors import UserError
    from pipeline.pages.cases import load_cases
    from pipeline.pages.checking import Finding
    from pipeline.pages.checking import check as checked

    faults: list[tuple[str, UserError]] = []
    result = checked(load_cases(folder, names, faults), jobs=jobs, apart=apart)
    unread = [Finding(name, Path(error.path).name if error.path else "", error.message) for name, error in faults]
    result = result._replace(findings=(*unread, *result.findings))
    _show(result, as_json)
    if result.findings:
        raise SystemExit(1)


def _show(result: Any, as_json: bool) -> None:
    import json

    from pipeline.core.console import table

    if as_json:
        click.echo(
            json.dumps({**result._asdict(), "findings": [finding._asdict() for finding in result.findings]}, indent=2)
        )
        return
    if result.findings:
        table("Findings", ("case", "where", "what"), result.findings)
    click.echo(f"{result.examples} examples, {result.held} of {result.expectations} expectations hold")
