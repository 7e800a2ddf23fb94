"""Agents: the folders of `vendors/` with an `agent.toml`, each a command that is run once for every task.

An agent runs on this machine, so it must not run code: `runs_code = false` is its word for it, and anything else is
refused. The command gets a task file, a checkout of one commit, a folder for its output, and in its environment the
gateway's address with the key of this instance. It never gets gold patches, test patches or later history.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

from pipeline.core.errors import UserError, unknown
from pipeline.core.store import digest
from pipeline.core.vendors import VENDORS

#: what a command may name in braces
PLACES = ("python", "task", "checkout", "out", "cache", "model", "settings")


class Agent(NamedTuple):
    """One agent's manifest."""

    name: str
    folder: Path
    version: str
    command: tuple[str, ...]
    settings: Path

    def argv(self, **places: str) -> list[str]:
        """The command for one task."""
        values = {"python": sys.executable, **places}
        return [word.format(**values) for word in self.command]

    @property
    def digest(self) -> str:
        """A digest of the agent's own files: a changed agent is another experiment."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return digest(*(part for path in files for part in (str(path.relative_to(self.folder)), path.read_bytes())))


def agents() -> dict[str, Path]:
    """The manifests by the agent's name."""
    return {path.parent.name: path for path in sorted(VENDORS.glob("*/agent.toml"))}


def load_agent(name: str, settings: Path | None = None) -> Agent:
    """The agent of that name; `settings` replaces its own file. Raises UserError for an unknown or broken one."""
    found = agents()
    if name not in found:
        raise unknown("agent", name, [*found, "oracle (as the model)", "nop (as the model)"])
    path = found[name]
    try:
        manifest = tomllib.loads(path.read_text(encoding="utf-8"))
        command = tuple(manifest["command"])
        for word in command:
            word.format(**dict.fromkeys(PLACES, ""))
        own = path.parent / manifest["settings"]
        agent = Agent(name, path.parent, manifest["version"], command, settings or own)
        runs_code = manifest["runs_code"]
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise UserError(f"no agent's manifest: {error}", path=path, hint=f"places are: {', '.join(PLACES)}") from None
    if runs_code:
        raise UserError(
            "an agent that runs code needs a container, which agents do not have yet", path=path, field="runs_code"
        )
    if not agent.settings.is_file():
        raise UserError("no such settings file", path=agent.settings)
    return agent
