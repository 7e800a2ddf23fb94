"""`a11y-bench show`: an instance with gold and answers side by side, and trajectories, in the terminal or browser."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import click

from pipeline.core.options import data_option


@click.command()
@click.argument("instance")
@click.option("--agent", default="", help="Only answers of this agent (AGENT@NAME with named settings).")
@click.option("--model", default="", help="Only answers of this model.")
@click.option("--attempt", type=click.IntRange(1), default=1, show_default=True, help="The attempt to show.")
@click.option("--trajectory", is_flag=True, help="Also show the conversation of agent and model.")
@click.option("--browser", is_flag=True, help="Open a page in the browser instead; it includes the conversations.")
@click.option("--print", "only_print", is_flag=True, help="With --browser: only write the page and print its path.")
@data_option
def command(
    instance: str, agent: str, model: str, attempt: int, trajectory: bool, browser: bool, only_print: bool, store: Any
) -> None:
    """Show INSTANCE: its statement, and the gold patch beside each answer of the newest runs.

    The answers of oracle and nop are only shown with --agent.

    --browser writes 05_analysis/shown/INSTANCE.html, one self-contained page, and opens it.

    Example: a11y-bench show grommet/grommet#7428 --model GLM-4.6 --trajectory

    Exit code: 1 if there is no answer of the named agent, model or attempt.
    """
    from pipeline.inspection.answered import newest_answers, why_missing

    if only_print and not browser:
        raise click.UsageError("--print is for the page: add --browser")
    gold = _instance(store, instance)
    answers = newest_answers(store, gold, agent, model, attempt)
    missing = "" if answers else why_missing(store, gold)
    if browser:
        _open(store, gold, answers, missing, only_print)
    else:
        _show(gold, answers, missing, trajectory)
    if missing and (agent or model or attempt > 1):
        raise SystemExit(1)


def _instance(store: Any, text: str) -> Any:
    """The instance that a user names. Raises UserError for an unknown one."""
    from pipeline.core.dataset import read_dataset
    from pipeline.core.errors import unknown
    from pipeline.core.names import parse_instance_id

    repo, number = parse_instance_id(text)
    by_name = {record.instance_id: record for record in read_dataset(store, repo)}
    name = repo.instance_id(number)
    if name not in by_name:
        raise unknown("instance", name, list(by_name))
    return by_name[name]


def _open(store: Any, gold: Any, answers: list[Any], missing: str, only_print: bool) -> None:
    """Write the page, print its path and open it."""
    from pipeline.inspection.page import write

    path = write(store, gold, answers, missing)
    click.echo(path)
    if not only_print:
        click.launch(path.as_uri())


def _show(gold: Any, answers: list[Any], missing: str, with_trajectory: bool) -> None:
    """Print everything."""
    for issue in gold.task().statement:
        number = f"#{issue.number} " if issue.number else ""  # other benchmarks' statements have none
        _print(f"{number}{issue.title}\n\n{issue.body}\n")
    for answer in answers:
        _show_beside_gold(answer, gold)
        if with_trajectory:
            _show_trajectories(answer)
    if missing:
        _print(f"{gold.fix_patch}\n{missing}")


def _print(text: str) -> None:
    """Print a text of others, which a terminal must not obey."""
    from pipeline.core.console import visible

    click.echo(visible(text))


def _show_beside_gold(answer: Any, gold: Any) -> None:
    """Print gold and an answer side by side."""
    from rich.console import Console
    from rich.markup import escape
    from rich.syntax import Syntax
    from rich.table import Table

    from pipeline.core.console import visible

    grid = Table(title=escape(visible(f"{answer.run.address}: {answer.outcome}")), title_justify="left", expand=True)
    for title in ("gold", answer.who):
        grid.add_column(escape(visible(title)), ratio=1, overflow="fold")
    patches = (visible(patch) or "(empty)" for patch in (gold.fix_patch, answer.patch))
    grid.add_row(*(Syntax(patch, "diff", word_wrap=True) for patch in patches))
    Console().print(grid)
    for kind, test, status in answer.tests:
        _print(f"{kind}: {test} ({status})")
    for test, spoken in answer.spoken.items():
        _show_spoken(test, spoken)


def _show_spoken(test: str, spoken: Any) -> None:
    """Print what a screen reader says for a test's snapshots in the base, with gold and with the answer."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from pipeline.core.console import visible

    grid = Table(title=escape(visible(f"a screen reader on {test}")), title_justify="left", expand=True)
    for title in ("base", "gold", "patch"):
        grid.add_column(title, ratio=1, overflow="fold")
    for row in zip_longest(spoken.base, spoken.gold, spoken.patch, fillvalue=""):
        grid.add_row(*(escape(visible(cell)) for cell in row))
    Console().print(grid)


def _show_trajectories(answer: Any) -> None:
    """Print the trajectories of an answer, or their paths if the format is unknown."""
    if not answer.trajectories:
        click.echo(f"no trajectory in {answer.folder}")
    for path, messages in answer.trajectories:
        lines = [f"--- {role}\n{text}" for role, text in messages]
        _print("\n".join(lines) if lines else f"trajectory: {path}")
