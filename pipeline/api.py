"""The stages from Python: what a notebook or a script calls instead of the command line (docs/python.md).

    from pipeline.api import Bench

Each method does the same as the command of its name, on the same files, and returns records instead of printing tables.
The names in this module do not change within a major version. Does not cover ratings, pages and campaigns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pipeline.core.amounts import amount
from pipeline.core.errors import UserError
from pipeline.core.names import parse_repo
from pipeline.core.options import agent_of, require_data
from pipeline.core.store import Store

if TYPE_CHECKING:
    import pandas as pd

    from pipeline.analyze.frames import Frames
    from pipeline.core.records import Candidate, Funnel, Instance, Prediction, Rejection, Verdict
    from pipeline.sandbox.base import Sandbox

__all__ = ["Analysis", "Bench"]


class Analysis(NamedTuple):
    """The results of stage 05: the frames of all records, the report's tables by name, and the path of the report."""

    frames: Frames
    tables: Mapping[str, pd.DataFrame]
    report: Path


@dataclass(frozen=True)
class Bench:
    """A data directory, and how code runs: in containers (`docker`), or as processes of this machine (`local`). The
    latter is only for code that you trust, which `trust_local` confirms. `jobs` instances are processed concurrently.

    Every method raises UserError for bad input, before anything is written, and InfrastructureError if an engine, a
    registry or a provider fails. A repository is `org/repo`.
    """

    data: Path | str = "data"
    sandbox: str = "docker"
    trust_local: bool = False
    jobs: int = 2

    def __post_init__(self) -> None:
        _require_count("jobs", self.jobs)

    def collect(self, repo: str, clone: Path | str, *, numbers: Sequence[int] = ()) -> Funnel:
        """Stage 01: find accessibility pull requests in a local clone, all or some; returns the funnel."""
        from pipeline.collect.stage import collect

        return collect(self.store, parse_repo(repo), Path(clone), numbers=numbers)

    def candidates(self, repo: str) -> list[Candidate]:
        """The collected candidates."""
        from pipeline.core.dataset import read_candidates

        return read_candidates(self._existing(), parse_repo(repo))

    def build(self, repo: str, *, numbers: Sequence[int] = (), repeats: int = 3) -> list[Instance | Rejection]:
        """Stage 02: qualify candidates, all or some; returns every outcome of the repository, old and new."""
        from pipeline.build.qualify import Settings
        from pipeline.build.stage import build

        _require_count("repeats", repeats)
        settings = Settings(self._sandbox(), repeats)
        return build(
            self._existing(), parse_repo(repo), settings, numbers=numbers, trust_local=self.trust_local, jobs=self.jobs
        )

    def instances(self, repo: str) -> list[Instance]:
        """The dataset."""
        from pipeline.core.dataset import read_dataset

        return list(read_dataset(self._existing(), parse_repo(repo)))

    def predict(
        self,
        repo: str,
        model: str,
        *,
        agent: str = "magentless",
        settings: Path | str | None = None,
        models: Path | str | None = None,
        budget: Decimal | int | str | None = None,
    ) -> list[Prediction]:
        """Stage 03: let an agent answer; the models `oracle` and `nop` need no agent. `budget` is the maximum spending
        in USD, including earlier runs. Tasks that have an answer are not given again."""
        from pipeline.llm.models import SHIPPED
        from pipeline.predict.stage import Predictor

        return Predictor(
            self._existing(),
            parse_repo(repo),
            agent_of(agent, model),
            model,
            models=Path(models) if models else SHIPPED,
            settings=Path(settings) if settings else None,
            jobs=self.jobs,
            budget=None if budget is None else _usd(budget),
        ).predict()

    def evaluate(self, repo: str, model: str, *, agent: str = "magentless") -> list[Verdict]:
        """Stage 04: run the patches of the newest run and give each instance a verdict."""
        from pipeline.evaluate.answers import Subject
        from pipeline.evaluate.stage import evaluate

        subject = Subject(parse_repo(repo), agent_of(agent, model), model)
        return evaluate(self._existing(), subject, self._sandbox(), trust_local=self.trust_local, jobs=self.jobs)

    def analyze(self, repo: str | None = None, *, out: Path | str | None = None) -> Analysis:
        """Stage 05: make frames, tables, figures and the report for one repository or for all."""
        from pipeline import analyze

        store = self._existing()
        frames = analyze.load(store, repo)
        tables = analyze.tables(frames)
        return Analysis(frames, tables, analyze.write(frames, store, Path(out) if out else None, tables))

    @property
    def store(self) -> Store:
        """Every path of the data directory."""
        return Store(Path(self.data))

    def _existing(self) -> Store:
        """The data directory; a missing one would look like an empty one."""
        require_data(Path(self.data))
        return self.store

    def _sandbox(self) -> Sandbox:
        from pipeline.core.cache import cache_root
        from pipeline.sandbox import open_sandbox

        return open_sandbox(self.sandbox, cache_root())


def _require_count(name: str, value: int) -> None:
    """Raise UserError for what is no number of things."""
    if type(value) is not int or value < 1:
        raise UserError(f"'{value}' is not a number from 1", field=name)


def _usd(value: Decimal | int | str) -> Decimal:
    """An amount of USD. Raises UserError."""
    try:
        return amount(value)
    except ValueError as error:
        raise UserError(f"{error} in USD", field="budget") from None
