"""`a11y-bench models`: the list of models, and which of them can be asked from here."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

MILLION = 1_000_000


@click.command()
@click.option(
    "--models",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The model list, LiteLLM's form [default: docker/proxy/models.yaml].",
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable; prices in USD per token, as digits.")
def command(models: Path | None, as_json: bool) -> None:
    """List the models with their prices and contexts, and say which can be asked from here.

    \b
    Reads the model list, and of the environment whether the variables that it names are set, never what is in them.
    A model whose variables are missing can not be asked; the column says which to set.
    Example: a11y-bench models --json
    Exit code: 0, or 2 for a list that is wrong (file, line and field are said).
    """
    from pipeline.core.console import table
    from pipeline.llm.models import SHIPPED, load_models

    listed = load_models(models or SHIPPED)
    rows = [_row(model) for model in listed.models.values()]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
    else:
        header = ("model", "kind", "context", "in", "out", "cached", "at once", "usable")
        table(f"{listed.path}: prices in USD per million tokens", header, [_shown(row) for row in rows])


def _row(model: Any) -> dict[str, Any]:
    return {
        "model": model.name,
        "kind": model.kind,
        "context": model.context,
        "price": [format(price, "f") for price in model.price[:3]],
        "limit": model.limits.get("max_parallel_requests"),
        "missing": model.missing(os.environ),
    }


def _shown(row: dict[str, Any]) -> tuple[Any, ...]:
    usable = f"set {', '.join(row['missing'])}" if row["missing"] else "yes"
    prices = map(_per_million, row["price"])
    return (row["model"], row["kind"], row["context"] or "", *prices, row["limit"] or "", usable)


def _per_million(price: str) -> str:
    return format((Decimal(price) * MILLION).normalize(), "f")
