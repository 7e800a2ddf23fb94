"""Running an agent on this machine, in a process that gets a task, a checkout and the gateway.

For agents that only read the checkout: nothing but a clean environment isolates their process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.core.errors import UserError
from pipeline.core.git import checkout, opened_clone
from pipeline.core.store import MANIFEST, write_bytes
from pipeline.core.vendors import VENDORS
from pipeline.predict import encodings
from pipeline.predict.agents import Agent
from pipeline.predict.request import Ask, Say
from pipeline.sandbox.local.process import Running, started

#: the name of an agent's settings file, wherever it comes from
SETTINGS = "settings.toml"
#: our files next to an agent's own
OURS = shutil.ignore_patterns("agent.log", MANIFEST)
#: the agents that this process runs, to be ended at once
RUNNING = Running()
#: the variables that an agent's process inherits from this one: no token, no key
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "VIRTUAL_ENV")


def abort() -> None:
    """End the agents of this process at once."""
    RUNNING.end()


def checked(agent: Agent) -> Agent:
    """The agent, once it has found its settings usable. Raises UserError with what it says of them."""
    if agent.check and (refusal := _refusal(agent.check, agent.settings.read_bytes())):
        raise UserError(f"{agent.name} cannot use its settings: {refusal}", hint="correct the file: docs/agents.md")
    return agent


@lru_cache(maxsize=1024)  # a campaign asks for the same settings in each of its experiments
def _refusal(check: tuple[str, ...], settings: bytes) -> str:
    """Why an agent cannot use settings, of this content, according to its command; empty if it can."""
    with TemporaryDirectory(prefix="a11y-bench-") as home:
        ended = subprocess.run(check, env=_inherited(Path(home)), capture_output=True, text=True, errors="replace")
    return (ended.stderr.strip() or f"exit code {ended.returncode}") if ended.returncode else ""


def run(ask: Ask, folder: Path, say: Say) -> int:
    """Let the agent work on one task; its files are then in `folder`. Returns the exit code."""
    with TemporaryDirectory(prefix="a11y-bench-") as temporary:
        workplace = Path(temporary)
        say("checking out")
        checkout(opened_clone(ask.clone), ask.base, workplace / "checkout")
        write_bytes(workplace / "task.json", ask.task.model_dump_json(indent=2).encode())
        write_bytes(workplace / SETTINGS, ask.settings)
        (workplace / "out").mkdir()
        for name, data in ask.pictures.items():
            write_bytes(workplace / "pictures" / name, data)
        say(f"{ask.agent.name} works")
        try:
            return _run(ask, workplace, folder / "agent.log")
        finally:
            shutil.copytree(workplace / "out", folder, dirs_exist_ok=True, symlinks=True, ignore=OURS)


def _run(ask: Ask, workplace: Path, log_path: Path) -> int:
    call = ask.agent.call
    values = {
        "python": sys.executable,
        "task": str(workplace / "task.json"),
        "pictures": str(workplace / "pictures"),
        "checkout": str(workplace / "checkout"),
        "out": str(workplace / "out"),
        "model": ask.model,
        "contexts": json.dumps(ask.contexts),
        "choices": str(ask.choices),
        "answer": ask.answer,
        "settings": str(workplace / SETTINGS),
        "agent": str(ask.agent.folder),
        "base_url": ask.base_url,
        "key": ask.key,
        "cache": ask.cache,
        "shared_key": ask.shared_key or ask.key,
        "encodings": encodings.tables(ask.agent, ask.model),
    }
    Path(ask.cache).parent.mkdir(parents=True, exist_ok=True)
    env = _inherited(workplace) | call.variables(values)
    with (
        log_path.open("wb") as output,
        started(call.argv(values), folder=workplace, env=env, output=output, running=RUNNING) as process,
    ):
        return process.wait(timeout=call.seconds)


def _inherited(home: Path) -> dict[str, str]:
    variables = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {**variables, "HOME": str(home), "PYTHONPATH": str(VENDORS)}
