"""A repository's own program, started with our reporter, which takes over the runner that it loads."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline.ecosystems import parser

REPORT = "report.json"


def started(
    folder: Path, parser_name: str, files: Mapping[str, str], command: Sequence[str], tests: Sequence[str]
) -> subprocess.CompletedProcess[str]:
    """Write the files into the folder and start `node COMMAND` there for these tests; REPORT is the report's place."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    reporter = parser(parser_name).reporter_file()
    assert reporter
    (folder / "reporter.cjs").write_bytes(reporter.read_bytes())
    env = {"PATH": os.environ["PATH"], "TEST_REPORT": str(folder / REPORT)}
    words = ["node", "reporter.cjs", "node", *command, "--", *tests]
    return subprocess.run(words, cwd=folder, env=env, check=False, capture_output=True, text=True)
