"""Setting a server up: `prepare.sh` runs there, from the standard input, and says what it found and did."""

from __future__ import annotations

import shlex
from pathlib import Path

from pipeline.core.errors import A11yBenchError
from pipeline.remote.host import Host

SCRIPT = Path(__file__).with_name("prepare.sh")
#: what a line of the script begins with: right already, done, would be done, for a person
STATES = ("ok", "done", "would", "todo")


def prepare(host: Host, *, dry_run: bool = False, root: str = "", data_root: str = "") -> list[tuple[str, str]]:
    """State and subject of all that was looked at. Raises A11yBenchError, InfrastructureError."""
    given = {"--root": root, "--data-root": data_root}
    arguments = ["--folder", host.folder, *(part for pair in given.items() if pair[1] for part in pair)]
    command = ["bash", "-s", "--", *(["--dry-run"] if dry_run else []), *arguments]
    lines = host.run(shlex.join(command), SCRIPT.read_bytes()).splitlines()
    found = [(state, rest.strip()) for state, _, rest in (line.partition(" ") for line in lines)]
    if not found or any(state not in STATES for state, _ in found):
        raise A11yBenchError(f"{host.name} gave no usable answer: {lines[-1:] or 'nothing'}")
    return found
