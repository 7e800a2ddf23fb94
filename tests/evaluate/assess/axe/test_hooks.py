"""What the Jest hook keeps, with fakes of Jest's two runners. Real ones run in the demo's test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

RUNNERS = Path(__file__).with_name("runners.cjs")
PASSED, WAITED, THREW = "<b></b>", "<i></i>", "<u></u>"


def captured(folder: Path, runner: str) -> list[dict]:
    hook = shutil.copy(files("pipeline.ecosystems.runners.jest").joinpath("documents.cjs"), folder)
    command = ["node", f"--require={hook}", str(RUNNERS), runner]
    subprocess.run(command, env=os.environ | {"FOLDER": str(folder)}, check=True)
    return [json.loads(line) for line in (folder / "captured.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("runner", "named"),
    [("circus", lambda name: ["Avatar", name]), ("jasmine", lambda name: [f"Avatar {name}"])],
)
def test_each_tests_document_is_kept_before_it_is_cleaned_up(tmp_path, runner, named):
    """However the test ends, and only once, since environments inherit from each other. A test without a document
    yields none."""
    styled = [f"<style></style>\n{html}" for html in (PASSED, WAITED, THREW)]
    wanted = dict(zip(("passes", "waits", "throws"), styled, strict=True))
    assert captured(tmp_path, runner) == [
        {"file": "/repo/src/a.test.js", "names": named(name), "html": html} for name, html in wanted.items()
    ]
