"""Labels of agents and models in figures."""

from __future__ import annotations

import pandas as pd

from pipeline.analyze.measures.model import model_labels
from pipeline.report.figures.style import wrapped


def who(rows: pd.DataFrame) -> list[str]:
    """The models of the rows as labels, with the agent if there are several agents."""
    return [wrapped(name) for name in model_labels(rows)]
