"""The files that decide a test run and how it is read, on this floor and below (`core.law`)."""

from __future__ import annotations

from importlib.resources import files

from pipeline.core.law import Chapter, law, register
from pipeline.core.store import digest
from pipeline.ecosystems import all_runners
from pipeline.ecosystems import parser as named
from pipeline.ecosystems.protection import patterns

register("running", "pipeline.core", "patches.py", "test-files.toml", "trees.py")
register("running", "pipeline.ecosystems", "protection.py", "runner_folder.py")
register("running", __package__, "added.py", "applying.py", "askers.cjs", "begin.cjs", "closure.py", "command.py")
register("running", __package__, "control.py", "counter.py", "document.cjs", "early.cjs", "files.cjs", "generated.py")
register("running", __package__, "imports.cjs", "keeping.cjs", "kept.cjs", "machine.cjs", "modules.cjs", "move.sh")
register("running", __package__, "reading.cjs", "reads.cjs", "reads.py", "renewing.py", "run.py", "runs.py", "scope.py")
register("running", __package__, "settle.sh", "state.sh", "texts.cjs", "tree.py", "veiling.cjs", "watching.cjs")
register("running", f"{__package__}.falsified", "nodes.py", "scripts.py", "stored.py", "tokens.toml", "values.py")
register("running", f"{__package__}.falsified", "__init__.py", "versions.py")
register("reading", "pipeline.core", "transitions.csv", "verdict.py")
register("reading", "pipeline.ecosystems", "reports.py")
register("reading", __package__, "reading.py")
for _runner in all_runners():
    _folder = f"pipeline.ecosystems.runners.{_runner}"
    register("reading", _folder, *(file.name for file in files(_folder).iterdir() if file.name.endswith(".py")))


def of_run(*chapters: Chapter, parser: str) -> str:
    """The digest of these chapters for runs whose reports this parser reads; an empty parser means no runner."""
    parts: list[str | bytes] = []
    if parser and "running" in chapters:
        parts += [*patterns(), *named(parser).decides_run()]
    if parser and "reading" in chapters:
        parts += named(parser).decides_reading()
    return digest(law(*chapters), *parts)
