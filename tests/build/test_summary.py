"""The figures of a build: how many bases are healthy, and what is said about candidates that were not evaluated."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import factories
import pytest

from pipeline.build.summary import show, summarize
from pipeline.core.records import Health, Instance, Rejection

WELL, SICK = Health(files=2, loaded=2, tests=3, passed=3), Health(files=2, loaded=1, tests=1, passed=0)


def rejected(number: int, reason: str, health: Health | None = None) -> Rejection:
    return Rejection(instance_id=f"acme__ui-{number}", stage="build", reason=reason, health=health)


@pytest.mark.rule("base-is-well")
def test_a_base_that_met_a_limit_is_not_well(tmp_path: Path) -> None:
    """A runner in watch mode never ends; leaving it out would raise the share of healthy bases."""
    outcomes: list[Instance | Rejection] = [
        factories.make_instance(1).model_copy(update={"health": WELL}),
        rejected(2, "environment_failed", SICK),
        rejected(3, "timeout"),
        rejected(4, "timeout", WELL),
        rejected(5, "dependency_gone"),
    ]
    decided = {outcome.instance_id: outcome for outcome in outcomes}
    units = [SimpleNamespace(name=name, unit=SimpleNamespace(folder=tmp_path)) for name in [*decided, "acme__ui-6"]]
    bases = summarize(units, decided, SimpleNamespace(used=0, limit=None))["bases"]
    assert bases == {"installed": 4, "well": 2, "sick": ["acme__ui-2", "acme__ui-3"]}


def test_a_lack_of_memory_names_the_option_for_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    details = {"acme__ui-1": "out_of_memory in run, after 7 s", "acme__ui-2": "registry: 503"}
    outcomes = [
        Rejection(instance_id=name, stage="build", reason="not_evaluated", detail=detail)
        for name, detail in details.items()
    ]
    units = [SimpleNamespace(name=name, unit=SimpleNamespace(folder=tmp_path)) for name in details]
    decided = {outcome.instance_id: outcome for outcome in outcomes}
    show(factories.REPO, summarize(units, decided, SimpleNamespace(used=0, limit=None)))
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("not evaluated")]
    assert lines == [
        "not evaluated: acme__ui-1: out_of_memory in run, after 7 s; give each run more with --memory",
        "not evaluated: acme__ui-2: registry: 503",
    ]
