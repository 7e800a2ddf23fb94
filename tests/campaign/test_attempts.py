"""Attempts from the first command to the last; no model is asked, since a reference answers by itself."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner
from tiny_library import Bench

from pipeline.core.store import of_attempt
from pipeline.evaluate.cli import command as evaluate
from pipeline.predict.cli import command as predict


def said(command: object, bench: Bench, *words: str) -> str:
    given = {"A11Y_BENCH_CACHE": str(bench.cache)}
    result = CliRunner().invoke(command, ["acme/ui", "nop", "--data", str(bench.store.root), *words], env=given)
    assert result.exit_code == 0, result.output
    return result.output


def test_every_command_names_the_attempt(tiny: Bench, tmp_path: Path) -> None:
    bench = tiny.copy(tmp_path)
    table = said(predict, bench, "--limit", "2", "--attempts", "2")
    cells = [[cell.strip() for cell in line.split("│")[1:3]] for line in table.splitlines() if "│ acme__ui-" in line]
    names = [instance.instance_id for instance in (bench.instance("menu"), bench.instance("badge"))]
    assert cells == [[name, str(attempt)] for attempt in (1, 2) for name in names]
    tables = said(evaluate, bench, "--sandbox", "local", "--trust-local")
    assert tables.count("nop with nop on acme/ui") == 2 and "nop with nop on acme/ui, attempt 2" in tables
    folder = bench.store.evaluation(bench.instance("menu").repository, "nop", "nop")
    written = [(of_attempt(folder, attempt) / "verdicts.jsonl").read_text() for attempt in (1, 2)]
    assert [text.count('"outcome":"empty"') for text in written] == [2, 2]
