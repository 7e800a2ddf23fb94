"""Recipes that run on a server independently of a connection: start, list, read, stop (`job.sh`).

A job is started only once, even if the connection is lost while it starts: its name is chosen here.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

from pipeline.core.errors import UserError, unknown
from pipeline.core.store import new_stamp
from pipeline.remote.host import Host, or_exit

FOLDER = ".remote/jobs"
SCRIPT = "pipeline/remote/job.sh"
LOCAL_SCRIPT = Path(__file__).with_name("job.sh")
#: lines of a log, by default
LINES = 50
#: the name of a recipe
RECIPE = re.compile(r"[a-z][a-z0-9-]*")


class Job(NamedTuple):
    """A job. `state` is running, ended (with its exit `code`) or lost (the machine stopped). Times are in seconds."""

    name: str
    state: str
    code: str
    seconds: int
    command: str


def begin(host: Host, recipe: str) -> str:
    """Start `just RECIPE` there; returns the job's name. Raises UserError, A11yBenchError."""
    try:
        words = shlex.split(recipe)
    except ValueError as error:
        raise UserError(f"not a recipe: {error}", hint="quote it whole: remote-run HOST 'build-run org/repo'") from None
    if not words or not RECIPE.fullmatch(words[0]):
        raise UserError("no recipe is given", hint="name one: remote-run HOST 'build-run org/repo'")
    name, command = new_stamp(), shlex.join(words)
    job = f"{FOLDER}/{name}"
    run = shlex.join(["bash", SCRIPT, "run", job, "uv", "run", "--quiet", "--all-extras", "just", *words])
    start = (
        f"mkdir -p {FOLDER} && if mkdir {job} 2>/dev/null; then printf '%s\\n' {shlex.quote(command)} > {job}/command"
    )
    check = f"{host.in_project('test', '-e', SCRIPT)} {or_exit(host.absent)}"
    recipe_files = "justfile pipeline/*/*.just docker/*.just"
    unknown_recipe = or_exit(f"there is no recipe '{words[0]}' there: just --list")
    check += f"; grep -qsE '^(@|alias )?{words[0]}([ :]|$)' {recipe_files} {unknown_recipe}"
    host.run(f"{check}; {start}; setsid {run} </dev/null >/dev/null 2>&1 & fi")
    return name


def jobs(host: Host) -> list[Job]:
    """All jobs, the oldest first."""
    output = host.run(host.in_project("bash", "-s", "--", "list"), LOCAL_SCRIPT.read_bytes())
    rows = (line.split("\t", 4) for line in output.splitlines())
    return [Job(name, state, code, int(seconds), command) for name, state, code, seconds, command in rows]


def find(host: Host, name: str = "") -> Job:
    """The job of this name, without a name the newest. Raises UserError with the names of all jobs."""
    existing = jobs(host)
    found = [job for job in existing if job.name == name or not name]
    if not found:
        raise unknown("job", name, [job.name for job in existing])
    return found[-1]


def log(host: Host, job: Job, *, lines: int = LINES, follow: bool = False) -> int:
    """Show the end of a job's log, with `follow` until the job ends; returns the exit code of `tail`."""
    folder = f"{FOLDER}/{job.name}"
    tail = ["tail", "-n", str(lines), f"{folder}/log"]
    if not (follow and job.state == "running"):
        return host.follow(host.in_project(*tail))
    return host.follow(host.in_project("sh", "-c", f'exec tail -n {lines} -f --pid="$(cat {folder}/pid)" {folder}/log'))


def follow(host: Host, name: str) -> int:
    """Show a job's log until it ends; returns the job's exit code, or 1 if it is not known here."""
    log(host, find(host, name), follow=True)
    job = find(host, name)
    return int(job.code) if job.code else 1


def stop(host: Host, job: Job) -> None:
    """Ask a job to end. The same recipe resumes its work."""
    host.run(host.in_project("bash", "-s", "--", "stop", f"{FOLDER}/{job.name}"), LOCAL_SCRIPT.read_bytes())


def machine(host: Host) -> list[tuple[str, str]]:
    """The state of the server: load, memory, disk, engine."""
    script = (
        "printf 'load\\t'; cut -d' ' -f1-3 /proc/loadavg; printf 'processors\\t'; nproc; "
        "printf 'memory\\t'; free -h | awk '/^Mem/ {print $7 \" of \" $2 \" free\"}'; "
        "printf 'disk\\t'; df -h --output=avail,size . | awk 'NR==2 {print $1 \" of \" $2 \" free\"}'; "
        "printf 'engine\\t'; docker version --format '{{.Server.Version}}' 2>/dev/null || echo 'does not answer'"
    )
    rows = (line.partition("\t") for line in host.run(f"{host.in_project('true')} && {script}").splitlines())
    return [(name, value) for name, _, value in rows]
