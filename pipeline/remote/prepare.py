"""Setting up a server: `prepare.sh` runs there, from standard input, and reports what it found and did."""

from __future__ import annotations

import shlex
from pathlib import Path

from pipeline.core.errors import A11yBenchError
from pipeline.remote.host import Host

SCRIPT = Path(__file__).with_name("prepare.sh")
#: first words of the script's lines: right already, done, would be done, left to a person
STATES = ("ok", "done", "would", "todo")


def prepare(host: Host, *, dry_run: bool = False, root: str = "", data_root: str = "") -> list[tuple[str, str]]:
    """The state and subject of everything that was checked. Raises A11yBenchError, InfrastructureError."""
    options = {"--root": root, "--data-root": data_root}
    arguments = ["--folder", host.folder, *(part for pair in options.items() if pair[1] for part in pair)]
    command = ["bash", "-s", "--", *(["--dry-run"] if dry_run else []), *arguments]
    lines = host.run(shlex.join(command), SCRIPT.read_bytes()).splitlines()
    steps = [(state, subject.strip()) for state, _, subject in (line.partition(" ") for line in lines)]
    if not steps or any(state not in STATES for state, _ in steps):
        raise A11yBenchError(f"{host.name} gave no usable answer: {lines[-1:] or 'nothing'}")
    return steps
