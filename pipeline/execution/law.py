"""What decides a test run and how it is read, as far as the floors up to this one know it (`core.law`)."""

from __future__ import annotations

from pipeline.core.law import Chapter, law, register

register("running", "pipeline.core", "patches.py", "patterns.toml")
register("running", __package__, "applying.py", "command.py", "control.js", "control.py", "run.py", "runs.py")
register("reading", "pipeline.core", "transitions.csv", "verdict.py")
register("reading", __package__, "reading.py")


def of_run(*chapters: Chapter, parser: str) -> str:
    """The digest of these chapters for the runs whose reports this parser reads."""
    return law(*chapters, more=())
