"""Running an agent's command on one task, in a process that is given the task, a checkout and the gateway, no more.

A provider's failure is no empty patch: the instance stays unanswered, its cause is kept, and a resume asks again.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import git

from pipeline.core.console import Progress
from pipeline.core.git import checkout
from pipeline.core.records import Instance
from pipeline.core.store import digest, read_json, write_bytes, write_json
from pipeline.core.vendors import VENDORS
from pipeline.predict.agents import Agent
from pipeline.predict.run import Run

log = logging.getLogger(__name__)

#: sysexits.h: the agent says that what failed was not its own
EX_TEMPFAIL = 75
#: what an agent's process takes over from this one's environment: no token, no key
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "VIRTUAL_ENV")
#: seconds for one task
LIMIT = 3600
#: the cause of an answer that is owed for want of money
BUDGET_EXCEEDED = "budget_exceeded"


class Job(NamedTuple):
    """One task for one agent; `exhausted` says whether the money for it is spent, `shared_key` is the key for what
    serves several tasks of the run."""

    agent: Agent
    run: Run
    instance: Instance
    clone: git.Repo
    base_url: str
    key: str
    exhausted: Callable[[], bool] = lambda: False
    shared_key: str = ""


def work(job: Job, progress: Progress) -> None:
    """Answer one task. The instance border: what breaks is recorded as data."""
    name = job.instance.instance_id
    try:
        progress.finish(name, _answer(job, progress))
    except Exception as error:  # the instance border
        log.exception("%s", name)
        _fail(job, type(error).__name__, str(error))
        progress.finish(name, f"unanswered: {error}")


def _answer(job: Job, progress: Progress) -> str:
    if job.exhausted():
        return _fail(job, BUDGET_EXCEEDED, "the budget was reached before this task was begun")
    unit = job.run.unit(job.instance)
    shutil.rmtree(unit.folder, ignore_errors=True)
    with TemporaryDirectory(prefix="a11y-bench-") as folder:
        place = Path(folder)
        progress.step(job.instance.instance_id, "checking out")
        checkout(job.clone, job.instance.base.sha, place / "checkout")
        task = job.instance.task()
        write_bytes(place / "task.json", task.model_dump_json(indent=2).encode())
        (place / "out").mkdir()
        progress.step(job.instance.instance_id, f"{job.agent.name} works")
        try:
            code = _run(job, place, unit.folder / "agent.log")
        finally:
            shutil.copytree(place / "out", unit.folder, dirs_exist_ok=True, symlinks=True)
            for key in filter(None, (job.key, job.shared_key)):
                _hide(key, unit.folder)
    return _collect(job, code)


def _run(job: Job, place: Path, log_path: Path) -> int:
    """The agent's exit code."""
    argv = job.agent.argv(
        task=str(place / "task.json"),
        checkout=str(place / "checkout"),
        out=str(place / "out"),
        cache=str(job.run.cache.absolute()),
        model=job.run.experiment.model,
        settings=str(job.agent.settings.absolute()),
    )
    log_path.parent.mkdir(parents=True, exist_ok=True)
    with log_path.open("wb") as output:
        done = subprocess.run(
            argv,
            cwd=place,
            env=_environment(job, place),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            timeout=LIMIT,
        )
    return done.returncode


def _hide(key: str, folder: Path) -> None:
    """Take a key out of everything that the agent left: some print their environment."""
    for path in folder.rglob("*"):
        if path.is_file() and key.encode() in (data := path.read_bytes()):
            write_bytes(path, data.replace(key.encode(), b"***"))


def _environment(job: Job, place: Path) -> dict[str, str]:
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {
        **passed,
        "HOME": str(place),
        "PYTHONPATH": str(VENDORS),
        "OPENAI_BASE_URL": job.base_url,
        "OPENAI_API_KEY": job.key,
        "OPENAI_SHARED_API_KEY": job.shared_key or job.key,
    }


def _collect(job: Job, code: int) -> str:
    """Read what the agent left; returns the line for the console."""
    folder = job.run.unit(job.instance).folder
    if code == EX_TEMPFAIL:
        error = read_json(folder / "error.json") if (folder / "error.json").exists() else {"cause": "provider"}
        return _fail(job, error["cause"], error.get("message", ""))
    patch = folder / "patch.diff"
    if code or not patch.exists():
        return _fail(job, "agent_error", f"exit code {code}; see {folder / 'agent.log'}")
    outcome = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))["outcome"]
    result = {"patch": patch.read_bytes().decode("utf-8"), "outcome": outcome}
    job.run.unit(job.instance).finish(result, run=job.run.digest, task=digest(job.instance.task()))
    return outcome


def why_unanswered(run: Run, instance: Instance) -> str:
    """The cause that was kept for an instance without an answer; `not_asked` when there is none yet."""
    path = run.unit(instance).folder / "error.json"
    return read_json(path)["cause"] if path.exists() else "not_asked"


def _fail(job: Job, cause: str, message: str) -> str:
    write_json(job.run.unit(job.instance).folder / "error.json", {"cause": cause, "message": message})
    return f"unanswered: {cause}"
