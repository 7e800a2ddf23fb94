"""`a11y-bench models`: the list of models, and which of them can be used from here."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from pipeline.core.options import models_option

MILLION = 1_000_000


@click.command()
@models_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON; prices are in USD per token, as strings.")
def command(models: Path | None, as_json: bool) -> None:
    """List the models with prices and context sizes, and show which can be used from here.

    \b
    Reads the model list, and checks whether the variables that it names are set; their values are never read.
    A model with missing variables cannot be used; the table names the variables to set.
    Example: a11y-bench models --json
    Exit code: 0, or 2 for an error in the list (with file, line and field).
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
        "batch": model.in_batches,
        "context": model.context,
        "price": [format(price, "f") for price in model.price[:3]],
        "limit": model.limits.get("max_parallel_requests"),
        "missing": model.missing(os.environ),
    }


def _shown(row: dict[str, Any]) -> tuple[Any, ...]:
    usable = f"set {', '.join(row['missing'])}" if row["missing"] else "yes"
    prices = map(_per_million, row["price"])
    kind = f"{row['kind']}, in batches" if row["batch"] else row["kind"]
    return (row["model"], kind, row["context"] or "", *prices, row["limit"] or "", usable)


def _per_million(price: str) -> str:
    return format((Decimal(price) * MILLION).normalize(), "f")
