"""Running an agent on this machine, in a process that gets a task, a checkout and the gateway.

For agents that only read the checkout: nothing but a clean environment isolates their process.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.core.git import checkout, opened_clone
from pipeline.core.store import write_bytes
from pipeline.core.vendors import VENDORS
from pipeline.predict import encodings
from pipeline.predict.request import Ask, Say
from pipeline.sandbox.local.process import Running, started

#: files of ours beside an agent's own
OURS = shutil.ignore_patterns("agent.log", "manifest.json")
#: the agents that run in this process, for an end at once
RUNNING = Running()
#: what an agent's process takes over from this one's environment: no token, no key
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "VIRTUAL_ENV")


def abort() -> None:
    """End the agents of this process at once."""
    RUNNING.end()


def run(ask: Ask, folder: Path, say: Say) -> int:
    """Work on one task; what the agent leaves is in `folder` then. Returns the exit code."""
    with TemporaryDirectory(prefix="a11y-bench-") as made:
        place = Path(made)
        say("checking out")
        checkout(opened_clone(ask.clone), ask.base, place / "checkout")
        write_bytes(place / "task.json", ask.task.model_dump_json(indent=2).encode())
        (place / "out").mkdir()
        for name, data in ask.pictures.items():
            write_bytes(place / "pictures" / name, data)
        say(f"{ask.agent.name} works")
        try:
            return _run(ask, place, folder / "agent.log")
        finally:
            shutil.copytree(place / "out", folder, dirs_exist_ok=True, symlinks=True, ignore=OURS)


def _run(ask: Ask, place: Path, log_path: Path) -> int:
    call = ask.agent.call
    places = {
        "python": sys.executable,
        "task": str(place / "task.json"),
        "pictures": str(place / "pictures"),
        "checkout": str(place / "checkout"),
        "out": str(place / "out"),
        "model": ask.model,
        "contexts": json.dumps(ask.contexts),
        "choices": str(ask.choices),
        "answer": ask.answer,
        "settings": str(ask.agent.settings.absolute()),
        "agent": str(ask.agent.folder),
        "base_url": ask.base_url,
        "key": ask.key,
        "cache": ask.cache,
        "shared_key": ask.shared_key or ask.key,
        "encodings": encodings.tables(ask.agent, ask.model),
    }
    Path(ask.cache).parent.mkdir(parents=True, exist_ok=True)
    env = _inherited(place) | call.variables(places)
    with (
        log_path.open("wb") as output,
        started(call.argv(places), folder=place, env=env, output=output, running=RUNNING) as process,
    ):
        return process.wait(timeout=call.seconds)


def _inherited(place: Path) -> dict[str, str]:
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {**passed, "HOME": str(place), "PYTHONPATH": str(VENDORS)}
