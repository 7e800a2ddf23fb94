"""`a11y-bench doctor`: what this machine has, and how to get what is missing. Changes nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from pipeline import browser
from pipeline.core.options import any_data_option


class Check(NamedTuple):
    """One check: what the part is for, whether it is required, how it is found (None: missing), and the remedy."""

    name: str
    purpose: str
    needed: bool
    find: Callable[[], str | None]
    remedy: str


class Low(str):
    """What was found, if it works but is less than recommended: it is shown with the remedy."""


class TooOld(str):
    """What was found, if it does not work: it is shown as missing."""


class Finding(NamedTuple):
    """The result of a check; `state` is `ok`, `low`, `missing` (required, or too old) or `absent` (optional)."""

    name: str
    state: str
    found: str
    purpose: str
    remedy: str


def _version(*argv: str) -> Callable[[], str | None]:
    """A function that returns the first line of a program's version output; None if it does not run or prints none."""

    def find() -> str | None:
        try:
            result = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=20)
        except (OSError, subprocess.TimeoutExpired):
            return None
        lines = (result.stdout or result.stderr).strip().splitlines()
        return lines[0] if lines and result.returncode == 0 else None

    return find


def _since(oldest: tuple[int, ...], *argv: str) -> Callable[[], str | None]:
    """The same, for a program that must be at least of this version."""

    def find() -> str | None:
        line = _version(*argv)()
        found = re.search(r"\d+(?:\.\d+)*", line or "")
        is_old = found and tuple(map(int, found[0].split("."))) < oldest
        return TooOld(line) if line and is_old else line

    return find


def _of_engine(fact: str) -> Callable[[], str | None]:
    """A function that returns a fact about the engine that the sandbox would use; `fact` is a function of
    `docker_facts`."""

    def find() -> str | None:
        from pipeline.core.errors import A11yBenchError

        try:
            from pipeline.sandbox.docker import facts as docker_facts

            answer = getattr(docker_facts, fact)(docker_facts.Engine())
        except (ImportError, A11yBenchError):
            return None
        return answer and (answer.text if answer.enough else Low(answer.text))

    return find


def _browser() -> str | None:
    program = browser.executable()
    return program and _version(program, "--version")()


def postgresql() -> Path | None:
    """The folder of PostgreSQL's programs; Debian has a folder for each version."""
    program = shutil.which("pg_ctl")
    folders = [Path(program).resolve().parent] if program else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return folders[-1] if folders else None


def _postgresql() -> str | None:
    folder = postgresql()
    return _version(str(folder / "postgres"), "--version")() if folder else None


def _gateway() -> str | None:
    """The proxy that the environment names, if it answers; otherwise `embedded`, if that proxy is installed."""
    from pipeline.core.vendors import has_environment
    from pipeline.llm.models import PROXY_URL

    if address := os.environ.get(PROXY_URL):
        return _answers(address)
    return "embedded" if has_environment("litellm") else None


def _answers(address: str) -> str | None:
    from urllib.request import urlopen

    try:
        with urlopen(f"{address.rstrip('/')}/health/readiness", timeout=5):
            return address
    except (OSError, ValueError):
        return None


def _variables(*names: str) -> Callable[[], str | None]:
    """A function that returns which of these environment variables are set, never their values."""
    return lambda: ", ".join(name for name in names if os.environ.get(name)) or None


def _disk() -> str | None:
    free = shutil.disk_usage(Path.cwd()).free / 2**30
    return f"{free:.0f} GB free" if free >= 5 else None


def _data(store: Any) -> Finding:
    """The contents of the data directory."""
    held = {stage: len(store.repositories(stage)) for stage in ("01_raw", "02_dataset")}
    contents = ", ".join(f"{stage}: {number} repositories" for stage, number in held.items())
    return Finding("data directory", "ok", f"{store.root} ({contents})", "everything that is collected and made", "")


#: the variables that `collect` reads (collect/github/limits.py)
GITHUB_TOKENS = ("GITHUB_TOKEN", "GITHUB_TOKENS")
#: everything that the stages use, in the order in which a new user needs it
CHECKS = (
    Check(
        "git",
        "reading clones, applying patches",
        True,
        _since((2, 31), "git", "--version"),
        "install git 2.31 or later",
    ),
    Check(
        "node",
        "the local sandbox, fetching Node for images",
        True,
        _since((20,), "node", "--version"),
        "install Node 20 or later",
    ),
    Check("npm", "downloads package managers and Node versions", True, _version("npm", "--version"), "install npm"),
    Check("disk", "environments take 0.1 to 2 GB each", True, _disk, "free at least 5 GB"),
    Check(
        "container engine",
        "running untrusted code",
        False,
        _of_engine("version"),
        "just engine-start, or set DOCKER_HOST",
    ),
    Check("base image", "what containers start from", False, _of_engine("base"), "just base-build"),
    Check(
        "engine: disk",
        "layers, and what tests write",
        False,
        _of_engine("disk"),
        "free space there, or give the engine another data root (A11Y_BENCH_DOCKER_ROOT, or its data-root setting)",
    ),
    Check(
        "engine: storage driver",
        "instances share the layers of their environment",
        False,
        _of_engine("storage"),
        "set the engine's storage-driver to overlay2",
    ),
    Check(
        "engine: open files",
        "browsers and watchers of a whole suite",
        False,
        _of_engine("open_files"),
        "start the engine with a higher hard limit: LimitNOFILE=infinity in its service, or ulimit -n in its shell",
    ),
    Check(
        "engine: builder",
        "for bug reports only: images are made without it",
        False,
        _of_engine("builder"),
        "just engine-start, or set DOCKER_HOST",
    ),
    Check(
        "LLM gateway",
        "every request to a model",
        False,
        _gateway,
        "embedded: made at first use; a proxy that A11Y_BENCH_PROXY_URL names: just proxy-start",
    ),
    Check("PostgreSQL", "the gateway's database mode in tests", False, _postgresql, "apt-get install postgresql"),
    Check("browser", "the page track and the accessibility assessment", False, _browser, "just browser-install"),
    Check(
        "ssh", "working on a server (docs/remote.md)", False, _version("ssh", "-V"), "apt-get install openssh-client"
    ),
    Check("rsync", "the same", False, _version("rsync", "--version"), "apt-get install rsync"),
    Check("GitHub token", "collecting from GitHub", False, _variables(*GITHUB_TOKENS), "set GITHUB_TOKEN"),
    Check(
        "provider keys",
        "models of providers",
        False,
        _variables("DEEPINFRA_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"),
        "set the key that the model's entry in docker/proxy/models.yaml names",
    ),
)


def examine(checks: tuple[Check, ...] = CHECKS) -> list[Finding]:
    """The results of all checks."""
    return [_finding(check, check.find()) for check in checks]


def _finding(check: Check, found: str | None) -> Finding:
    lacking = "missing" if check.needed else "absent"
    state = "low" if isinstance(found, Low) else "ok" if found and not isinstance(found, TooOld) else lacking
    return Finding(check.name, state, found or "", check.purpose, "" if state == "ok" else check.remedy)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@any_data_option
def command(as_json: bool, store: Any) -> None:
    """Check what this machine has, and show how to get what is missing. Changes nothing.

    Exit code: 0 if the demo can run, 1 otherwise.
    """
    from pipeline.core.console import table
    from pipeline.core.recipes import runnable

    findings = [*examine(), _data(store)]
    if as_json:
        made = [finding._replace(remedy=runnable(finding.remedy)) for finding in findings]
        click.echo(json.dumps([finding._asdict() for finding in made], indent=2))
    else:
        rows = [(finding.name, finding.state, finding.found, finding.purpose, finding.remedy) for finding in findings]
        table("This machine", ("part", "state", "found", "needed for", "what to do"), rows)
    if any(finding.state == "missing" for finding in findings):
        raise SystemExit(1)
