"""The progress of a batch: its counts, its messages, and the view on a terminal."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from pipeline.core.progress import Progress, view
from pipeline.core.work import Event


def shown(progress: Progress, width: int = 100) -> list[str]:
    """The lines of the view on a terminal, without trailing spaces."""
    text = io.StringIO()
    Console(file=text, force_terminal=True, color_system=None, width=width).print(view(progress))
    return [line.rstrip() for line in text.getvalue().splitlines()]


def test_the_view_counts_results_and_names_running_units() -> None:
    progress = Progress("qualifying", 4, ["qualified"])
    progress.step("acme__ui-1", "building")
    progress.hear(Event("acme__ui-2", "waiting"))
    progress.hear(Event("acme__ui-2", ""))
    progress.finish("acme__ui-1", "qualified", "qualified")
    progress.note("spent", "0.0123 USD")
    whole, kinds, under_way = shown(progress)
    assert whole.startswith("qualifying") and "2 of 4" in whole and whole.endswith("spent 0.0123 USD")
    assert kinds == "qualified 2"
    assert re.fullmatch(r"  acme__ui-2 +\S+ +waiting", under_way)


@pytest.mark.parametrize("name", ["[red]menu", "a[/b]", "[/]", "m[1m]", ":smile:", "[link=x]"])
def test_names_are_shown_as_they_are(name: str) -> None:
    """Rich reads brackets as markup: a case named `a[/b]` ended the view, and `[red]` was not shown."""
    progress = Progress(name, 1)
    progress.step(name, name)
    progress.note(name, name)
    whole, under_way = shown(progress)
    assert whole.startswith(name) and f"{name} {name}" in whole
    assert under_way.startswith(f"  {name} ") and under_way.endswith(name)


def test_a_long_line_is_cut_and_not_broken() -> None:
    progress = Progress("rating", 1)
    progress.step("acme__ui-1", "a step that says more than a line can hold " * 5)
    assert len(shown(progress, 60)) == 2 and shown(progress, 60)[1].endswith("…")


def test_an_abandoned_step_is_no_longer_shown() -> None:
    progress = Progress("building", 2)
    progress.step("base image", "pulling")
    progress.leave("base image")
    progress.leave("nothing")
    assert progress.lines() == {} and "pulling" not in "".join(shown(progress))


def test_progress_of_no_units_is_shown() -> None:
    progress = Progress("rating", 0)
    assert "0 of 0" in shown(progress)[0] and progress.seconds_to_go == 0


def test_stopping_names_the_units_that_are_still_running(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress("rating", 2)
    progress.stopping()
    progress.step("acme__ui-1", "asking")
    progress.stopping()
    output = capsys.readouterr().err
    assert "stopping after: nothing;" in output and "stopping after: acme__ui-1; press Ctrl-C again" in output
