"""Where each run's answers and verdicts come from: versions, digests, settings, prices, serving models.

Reads nothing: `described` has read the runs. An imported or older run records less.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal

from pipeline.analyze.reading.answered import Run
from pipeline.analyze.reading.described import About, Served, Shaping
from pipeline.analyze.reading.judged import Verdicts
from pipeline.analyze.reading.rows import Rows, Who
from pipeline.core.names import Repo

#: characters of a digest that are shown
SHOWN = 12
#: prices are given per token in the model's entry, and shown per million tokens
_PRICES = {"input_usd": "input_cost_per_token", "output_usd": "output_cost_per_token"}
_MILLION = 1_000_000
#: the parameter that is left out: it says only where the key is
KEY = "api_key"


def read(rows: Rows, runs: Mapping[tuple[Who, Repo], Run], verdicts: Verdicts) -> None:
    """Add `runs`."""
    laws: dict[tuple[Who, Repo], set[str]] = {}
    for (agent, model, name), verdict in verdicts.items():
        laws.setdefault(((agent, model), rows.known[name].repo), set()).add(verdict.law[:SHOWN])
    for ((agent, model), repo), run in sorted(runs.items(), key=lambda pair: pair[0]):
        about = run.about or About(agent=agent, model=model)
        made_by = about.shaped_by
        rows.add(
            "runs",
            Run={
                "agent": agent,
                "model": model,
                "repo": repo,
                "name": run.name,
                "started": about.started,
                "tool": made_by.tool,
                "agent_version": made_by.version,
                "settings": (about.settings or "")[:SHOWN] or None,
                "served_by": _served(about.served_by),
                "attempts": about.attempts,
                "law": ", ".join(sorted(filter(None, laws.get(((agent, model), repo), ())))) or None,
                "settings_text": made_by.settings_text,
                **_entries(made_by),
                **{name: _per_million(made_by.model.info.get(field)) for name, field in _PRICES.items()},
            },
        )


def _served(models: Iterable[Served]) -> str | None:
    """The providers' names of the models that answered, with fingerprints."""
    names = (" ".join(filter(None, (served.model, served.fingerprint))) for served in models)
    return ", ".join(dict.fromkeys(names)) or None


def _entries(made_by: Shaping) -> dict[str, str]:
    """The request parameters and the prices of all models, as JSON."""
    named = {entry.name: entry for entry in (made_by.model, *(made_by.further_models or ())) if entry.name}
    if not named:
        return {}
    parameters = {
        name: {field: value for field, value in entry.parameters.items() if field != KEY}
        for name, entry in named.items()
    }
    prices = {
        name: {field: _digits(value) for field, value in entry.info.items() if "cost" in field}
        for name, entry in named.items()
    }
    return {"parameters": json.dumps(parameters, ensure_ascii=False), "prices": json.dumps(prices, ensure_ascii=False)}


def _digits(price: object) -> str:
    """A price without an exponent."""
    try:
        return format(Decimal(str(price)), "f")
    except ArithmeticError:
        return str(price)


def _per_million(price: object) -> float | None:
    try:
        return round(float(str(price)) * _MILLION, 6) if price is not None else None
    except ValueError:
        return None
