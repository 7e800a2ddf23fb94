"""Sending to a server: the project's files, clones, and the data that stages need; keys only on request.

The project's files are those that git tracks, in their current state. Data are sent to a separate folder and merged on
the server, so its new data are kept. Only differences are sent.
"""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.core import clones
from pipeline.core.console import say
from pipeline.core.errors import UserError
from pipeline.core.names import Repo, folder_name
from pipeline.core.objects import locate
from pipeline.core.store import Store, digest
from pipeline.llm.models import PROXY_KEY, PROXY_URL, SHIPPED, load_models
from pipeline.remote import jobs
from pipeline.remote.areas import filters, passes
from pipeline.remote.host import Host
from pipeline.remote.pull import counted, exchange, known_file, snapshot

PROJECT = Path(__file__).parents[2]
#: paths in the project's folder there that belong to the server
THEIRS = ("/data/*", "/clones/", "/archive/*", "/.remote/", "/.venv/", "/.secrets.env", "__pycache__/", "node_modules/")
SECRETS = ".secrets.env"
#: the parts of a clone that are read (core/objects.py). All others stay here: configurations, also those of submodules,
#: may contain credentials
READ = ("/HEAD", "/packed-refs", "/shallow", "/objects/***", "/refs/***")
TOKENS = ("GITHUB_TOKEN", "GITHUB_TOKENS", PROXY_URL, PROXY_KEY)


def push_project(host: Host, project: Path = PROJECT, *, force: bool = False) -> int:
    """Send the project's files, and remove there what git no longer tracks. Returns their number. Raises UserError;
    without `force`, also while jobs run there, which would go on with a mixture of two versions."""
    names = _tracked(project)
    host.run(f"mkdir -p {shlex.quote(host.folder)}")
    if not force:
        _require_idle(host)
    with TemporaryDirectory(prefix="a11y-bench-") as copy:
        for name in names:
            target = Path(copy) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(project / name, target, follow_symlinks=False)
        host.send(Path(copy), "", "--delete", *(f"--filter=P {pattern}" for pattern in THEIRS))
    return len(names)


def _require_idle(host: Host) -> None:
    """Raise UserError while jobs run on a server."""
    running = [job for job in jobs.jobs(host) if job.state == "running"]
    if running:
        named = "; ".join(f"{job.name} ({job.command})" for job in running)
        stop = f"just remote-stop {host.name} {running[-1].name}"
        hint = f"wait for them, stop them ({stop}), or replace their program with --force"
        raise UserError(f"jobs run on {host.name}: {named}", hint=hint)


def _tracked(project: Path) -> list[str]:
    """The files that git tracks. Others are not sent: they may be private."""
    result = subprocess.run(["git", "ls-files", "-z"], cwd=project, capture_output=True)
    if result.returncode or not result.stdout:
        raise UserError("not a git checkout of the project", path=project, hint="clone it, and run this from there")
    return [name for name in result.stdout.decode().split("\0") if name and os.path.lexists(project / name)]


def push_data(
    host: Host, store: Store, stages: Sequence[str] = (), repos: Sequence[Repo] = (), prefer: str = ""
) -> Counter[str]:
    """Send the data and merge them there; returns how many places were new, taken, merged and kept. Raises UserError
    for conflicts and while another pull or push is under way, A11yBenchError; in a conflict, both sides stay
    unchanged."""
    selection, incoming = filters(stages, repos), f"data/.remote/incoming/{_peer(store)}"
    with exchange(store):
        store.begin()
        host.run(host.in_project("mkdir", "-p", f"{incoming}/data"))
        for arguments in passes(selection, "../../../.."):
            host.send(store.root, f"{incoming}/data/", *arguments)
        if ledger := snapshot(store):
            host.send(ledger, f"{incoming}/data/ledger.sqlite")
        return _merged_there(host, incoming, known_file(store, host), prefer)


def _merged_there(host: Host, incoming: str, known: Path, prefer: str) -> Counter[str]:
    """Merge what was sent into the server's data, and fetch the record of what both sides hold now."""
    if known.exists():
        host.send(known, f"{incoming}/known.json")
    preferring = {"ours": "theirs", "theirs": "ours"}.get(prefer, "")
    decided = ["--prefer", preferring] if preferring else []
    output = host.bench(
        "remote", "merge", f"{incoming}/data", "--known", f"{incoming}/known.json", "--data", "data", "--json", *decided
    )
    host.fetch(f"{incoming}/known.json", known)
    return counted(output)


def _peer(store: Store) -> str:
    """A name for this machine and data directory, among all that push to the same server."""
    return folder_name(f"{socket.gethostname()}-{digest(str(store.root))[:8]}")


def push_clones(host: Host, store: Store, repos: Sequence[Repo] = ()) -> list[Repo]:
    """Send the clones that repositories were collected from, if they are known here; returns the repositories."""
    sent = []
    for repo in repos or store.repositories("01_raw"):
        try:
            clone = clones.find(store, repo)
        except UserError as error:
            say(f"{repo}: its clone is not sent: {error.message}")
            continue
        location = locate(clone.place)
        if location is None:
            say(f"{repo}: its clone is not sent: it no longer exists")
            continue
        folder = location.common
        if (folder / "objects/info/alternates").exists():
            say(f"{repo}: its clone is not sent: it borrows objects from another (git repack -a -d makes it complete)")
            continue
        host.run(host.in_project("mkdir", "-p", f"clones/{repo.slug}.git"))
        host.send(folder, f"clones/{repo.slug}.git/", *(f"--include={part}" for part in READ), "--exclude=*")
        sent.append(repo)
    return sent


def push_secrets(host: Host, models: Path = SHIPPED) -> list[str]:
    """Send the keys that are set here to the jobs there; returns their names. They are passed by standard input, to
    a file that only its user may read."""
    names = {*TOKENS, *(name for model in load_models(models).models.values() for name in model.environment)}
    keys = {name: os.environ[name] for name in sorted(names) if os.environ.get(name)}
    lines = "".join(f"{name}={shlex.quote(value)}\n" for name, value in keys.items())
    host.run(f"umask 077; {host.in_project('rm', '-f', SECRETS)} && cat > {SECRETS}", lines.encode())
    return list(keys)
