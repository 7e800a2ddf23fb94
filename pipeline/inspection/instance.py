"""`a11y-bench show`: one instance in the terminal: its statement, gold and the answers side by side, a trajectory."""

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
    by_name = {one.instance_id: one for one in read_dataset(store, repo)}
    name = repo.instance_id(number)
    if name not in by_name:
        raise unknown("instance", name, list(by_name))
    gold = by_name[name]
    for issue in gold.task().statement:
        click.echo(f"#{issue.number} {issue.title}\n\n{issue.body}\n")
    newest = {one.folder.parent: one for one in seen_runs(store) if one.repo == repo}
    chosen = [one for one in newest.values() if agent in ("", one.agent) and model in ("", one.model)]
    shown = [one for one in chosen if name in one.predictions(attempt)]
    for seen in shown:
        _beside(seen, gold, attempt)
        if trajectory:
            _say(store.answers(repo, name, seen.predictions(attempt)[name].answer))
    if not shown:
        click.echo(f"{gold.fix_patch}\nno answer yet" if not (agent or model) else "no such answer")


def _beside(seen: Any, gold: Any, attempt: int) -> None:
    """Gold and an answer, side by side where the terminal has room."""
    from rich.console import Console
    from rich.syntax import Syntax
    from rich.table import Table

    outcome = seen.outcomes(attempt)[gold.instance_id]
    patch = seen.predictions(attempt)[gold.instance_id].model_patch
    grid = Table(title=f"{seen.address}: {outcome}", title_justify="left", expand=True)
    for title in ("gold", f"{seen.agent} with {seen.model}"):
        grid.add_column(title, ratio=1, overflow="fold")
    grid.add_row(*(Syntax(one or "(empty)", "diff", word_wrap=True) for one in (gold.fix_patch, patch)))
    Console().print(grid)
    verdict = seen.verdicts(attempt).get(gold.instance_id)
    for kind in ("unfixed", "broken") if verdict else ():
        for test, status in getattr(verdict, kind).items():
            click.echo(f"{kind}: {test} ({status})")
    assessed = seen.assessments(attempt).get(gold.instance_id)
    for test, said in (assessed.snapshot.spoken if assessed and assessed.snapshot else {}).items():
        _hear(test, said)


def _hear(test: str, said: Any) -> None:
    """What a screen reader says of a test's snapshots in the base, with gold and with the answer, side by side."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    grid = Table(title=escape(f"a screen reader on {test}"), title_justify="left", expand=True)
    for title in ("base", "gold", "patch"):
        grid.add_column(title, ratio=1, overflow="fold")
    for row in zip_longest(said.base, said.gold, said.patch, fillvalue=""):
        grid.add_row(*map(escape, row))
    Console().print(grid)


def _say(folder: Path) -> None:
    """The trajectory of an answer; of one in a form of its own, where it lies."""
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
        for one in entry.get("messages") or () if isinstance(entry, dict) else ():
            yield f"--- {one.get('role', '')}\n{_text(one.get('content'))}"
        if isinstance(entry, dict) and (reply := entry.get("reply") or entry.get("answer")):
            yield f"--- reply\n{_text(reply)}"


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False) if content else ""
