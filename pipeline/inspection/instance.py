"""`a11y-bench show`: an instance in the terminal, with gold and answers side by side, and trajectories."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click

from pipeline.core.options import data_option


@click.command()
@click.argument("instance")
@click.option("--agent", default="", help="Only answers of this agent (AGENT@NAME with named settings).")
@click.option("--model", default="", help="Only answers of this model.")
@click.option("--attempt", type=click.IntRange(1), default=1, show_default=True, help="The attempt to show.")
@click.option("--trajectory", is_flag=True, help="Also show the conversation of agent and model.")
@data_option
def command(instance: str, agent: str, model: str, attempt: int, trajectory: bool, store: Any) -> None:
    """Show INSTANCE: its statement, and the gold patch beside each answer of the newest runs.

    Example: a11y-bench show grommet/grommet#7428 --model GLM-4.6 --trajectory
    """
    from pipeline.core.dataset import read_dataset
    from pipeline.core.errors import unknown
    from pipeline.core.names import parse_instance_id
    from pipeline.inspection.reading import seen_runs

    repo, number = parse_instance_id(instance)
    by_name = {record.instance_id: record for record in read_dataset(store, repo)}
    name = repo.instance_id(number)
    if name not in by_name:
        raise unknown("instance", name, list(by_name))
    gold = by_name[name]
    for issue in gold.task().statement:
        click.echo(f"#{issue.number} {issue.title}\n\n{issue.body}\n")
    newest = {run.folder.parent: run for run in seen_runs(store) if run.repo == repo}
    chosen = [run for run in newest.values() if agent in ("", run.agent) and model in ("", run.model)]
    shown = [run for run in chosen if name in run.predictions(attempt)]
    for run in shown:
        _show_beside_gold(run, gold, attempt)
        if trajectory:
            _show_trajectory(store.answers(repo, name, run.predictions(attempt)[name].answer))
    if not shown:
        click.echo(f"{gold.fix_patch}\nno answer yet" if not (agent or model) else "no such answer")


def _show_beside_gold(run: Any, gold: Any, attempt: int) -> None:
    """Print gold and an answer side by side."""
    from rich.console import Console
    from rich.syntax import Syntax
    from rich.table import Table

    outcome = run.outcomes(attempt)[gold.instance_id]
    patch = run.predictions(attempt)[gold.instance_id].model_patch
    grid = Table(title=f"{run.address}: {outcome}", title_justify="left", expand=True)
    for title in ("gold", f"{run.agent} with {run.model}"):
        grid.add_column(title, ratio=1, overflow="fold")
    grid.add_row(*(Syntax(text or "(empty)", "diff", word_wrap=True) for text in (gold.fix_patch, patch)))
    Console().print(grid)
    verdict = run.verdicts(attempt).get(gold.instance_id)
    for kind in ("unfixed", "broken") if verdict else ():
        for test, status in getattr(verdict, kind).items():
            click.echo(f"{kind}: {test} ({status})")
    assessed = run.assessments(attempt).get(gold.instance_id)
    for test, spoken in (assessed.snapshot.spoken if assessed and assessed.snapshot else {}).items():
        _show_spoken(test, spoken)


def _show_spoken(test: str, spoken: Any) -> None:
    """Print what a screen reader says for a test's snapshots in the base, with gold and with the answer."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    grid = Table(title=escape(f"a screen reader on {test}"), title_justify="left", expand=True)
    for title in ("base", "gold", "patch"):
        grid.add_column(title, ratio=1, overflow="fold")
    for row in zip_longest(spoken.base, spoken.gold, spoken.patch, fillvalue=""):
        grid.add_row(*map(escape, row))
    Console().print(grid)


def _show_trajectory(folder: Path) -> None:
    """Print the trajectory of an answer, or its path if the format is unknown."""
    found = sorted(folder.glob("*traj*"))
    if not found:
        click.echo(f"no trajectory in {folder}")
    for path in found:
        lines = list(_messages(path))
        click.echo("\n".join(lines) if lines else f"trajectory: {path}")


def _messages(path: Path) -> Iterator[str]:
    """The messages of a trajectory: JSON or JSON Lines with `messages`, each with role and content."""
    try:
        text = path.read_text(encoding="utf-8")
        entries = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]
    except ValueError:
        return
    for entry in entries:
        for message in entry.get("messages") or () if isinstance(entry, dict) else ():
            yield f"--- {message.get('role', '')}\n{_text(message.get('content'))}"
        if isinstance(entry, dict) and (reply := entry.get("reply") or entry.get("answer")):
            yield f"--- reply\n{_text(reply)}"


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False) if content else ""
