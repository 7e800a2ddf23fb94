"""Where each run's answers and verdicts come from: versions, digests, settings, prices, serving models.

Reads nothing: `described` has read the runs. An imported or older run records less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pipeline.analyze.reading.answered import Run
from pipeline.analyze.reading.described import About, Served
from pipeline.analyze.reading.judged import Verdicts
from pipeline.analyze.reading.rows import Rows, Who
from pipeline.core.names import Repo

#: characters of a digest that are shown
SHOWN = 12
#: prices are given per token in the model's entry, and shown per million tokens
_PRICES = {"input_usd": "input_cost_per_token", "output_usd": "output_cost_per_token"}
_MILLION = 1_000_000


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
                **{name: _per_million(made_by.model.info.get(field)) for name, field in _PRICES.items()},
            },
        )


def _served(models: Iterable[Served]) -> str | None:
    """The providers' names of the models that answered, with fingerprints."""
    names = (" ".join(filter(None, (served.model, served.fingerprint))) for served in models)
    return ", ".join(dict.fromkeys(names)) or None


def _per_million(price: object) -> float | None:
    try:
        return round(float(str(price)) * _MILLION, 6) if price is not None else None
    except ValueError:
        return None
