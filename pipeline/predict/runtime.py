"""Asking an agent for the answer to one task, and reading what it left.

A provider's failure is no empty patch: the instance stays unanswered, its cause is kept, and a resume asks again.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from pipeline.core.progress import Progress
from pipeline.core.records import Instance
from pipeline.core.store import digest, read_json, write_bytes, write_json
from pipeline.llm.gateway import BUDGET_EXCEEDED
from pipeline.predict.job import AgentFailed, Job, Say
from pipeline.predict.run import Run

log = logging.getLogger(__name__)

#: sysexits.h: the agent says that what failed was not its own
EX_TEMPFAIL = 75
#: `runs_code` -> the module that runs such an agent
RUNNERS = {False: "pipeline.predict.host", True: "pipeline.predict.container"}


def work(job: Job, progress: Progress) -> None:
    """Answer one task. The instance border: what breaks is recorded as data."""
    name = job.instance.instance_id
    try:
        progress.finish(name, _answer(job, lambda text: progress.step(name, text)))
    except Exception as error:  # the instance border
        log.exception("%s", name)
        _fail(job, getattr(error, "cause", type(error).__name__), str(error))
        progress.finish(name, f"unanswered: {error}")


def _answer(job: Job, say: Say) -> str:
    if job.exhausted():
        return _fail(job, BUDGET_EXCEEDED, "the budget was reached before this task was begun")
    folder = job.run.unit(job.instance).folder
    shutil.rmtree(folder, ignore_errors=True)
    run: Callable[[Job, Path, Say], int] = import_module(RUNNERS[job.agent.runs_code]).run
    try:
        code = run(job, folder, say)
    finally:
        for key in filter(None, (job.key, job.shared_key)):
            _hide(key, folder)
    return _collect(job, code)


def _hide(key: str, folder: Path) -> None:
    """Take a key out of everything that the agent left: some print their environment."""
    for path in folder.rglob("*"):
        if path.is_file() and key.encode() in (data := path.read_bytes()):
            write_bytes(path, data.replace(key.encode(), b"***"))


def _collect(job: Job, code: int) -> str:
    """Read what the agent left; returns the line for the console. Raises AgentFailed for an agent that broke."""
    folder = job.run.unit(job.instance).folder
    if code == EX_TEMPFAIL:
        error = read_json(folder / "error.json") if (folder / "error.json").exists() else {"cause": "provider"}
        return _fail(job, error["cause"], error.get("message", ""))
    if why := job.given_up():
        return _fail(job, why, "the agent was left without an answer")
    patch = folder / "patch.diff"
    if code or not patch.exists():
        raise AgentFailed(f"exit code {code}; see {folder / 'agent.log'}")
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
