"""How agents and models are called in figures."""

from __future__ import annotations

import pandas as pd

from pipeline.analyze.measures.model import named
from pipeline.report.figures.style import wrapped


def who(rows: pd.DataFrame) -> list[str]:
    """The models of the rows as labels, with the agent where there are several."""
    return [wrapped(name) for name in named(rows)]
