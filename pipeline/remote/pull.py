"""Fetching results from a server: the data of stages 00 to 04 and the ledger, merged into ours.

`.remote/<host>/incoming/` in the data directory is a copy of the server's data: an interrupted transfer resumes there,
and unchanged files are not sent again. It may be deleted. `known.json` beside it records what both sides held at the
last merge.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from pipeline.core.cache import lock
from pipeline.core.errors import A11yBenchError, UserError
from pipeline.core.names import Repo, folder_name
from pipeline.core.store import Store
from pipeline.llm.ledger_file import PATIENCE, readable
from pipeline.remote.areas import filters, passes
from pipeline.remote.host import Host
from pipeline.remote.merge import merge

#: the copy of the ledger that is transferred, in the data directory
OUTGOING = ".remote/outgoing/ledger.sqlite"


def pull(
    host: Host, store: Store, stages: Sequence[str] = (), repos: Sequence[Repo] = (), prefer: str = ""
) -> Counter[str]:
    """Fetch and merge; returns how many places were new, taken, merged and kept. Raises UserError for conflicts and
    while another pull or push is under way, A11yBenchError, InfrastructureError."""
    selection, incoming = filters(stages, repos), known_file(store, host).with_name("incoming")
    with exchange(store):
        incoming.mkdir(parents=True, exist_ok=True)
        ledger = counted(host.bench("remote", "snapshot", "--data", "data"))["ledger"]
        for arguments in passes(selection, str(store.root)):
            host.fetch("data/", incoming, *arguments)
        if ledger:
            host.fetch(f"data/{OUTGOING}", incoming / "ledger.sqlite")
        return merge(store, incoming, known_file(store, host), prefer)


@contextmanager
def exchange(store: Store) -> Iterator[None]:
    """Let no other pull or push of these data begin, which could take a unit that is still being transferred for a
    finished one. Raises UserError while one is under way."""
    import filelock

    held = lock(store.root / ".remote" / "exchange.lock")
    try:
        acquired = held.acquire(timeout=0)
    except filelock.Timeout:
        hint = "wait for it or stop it; if its process has ended, the lock is already released"
        raise UserError("another pull or push is under way", path=held.lock_file, hint=hint) from None
    with acquired:
        yield


def known_file(store: Store, host: Host) -> Path:
    """The file that records what both sides held at the last merge."""
    return store.root / ".remote" / folder_name(f"{host.name}:{host.folder}") / "known.json"


def snapshot(store: Store) -> Path | None:
    """Make a consistent copy of the ledger, even while it is written; None without a ledger. Creates the data
    directory."""
    store.begin()
    if not store.ledger.exists():
        return None
    target = store.root / OUTGOING
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    with (
        readable(store.ledger),
        closing(sqlite3.connect(store.ledger, timeout=PATIENCE)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    return target


def counted(output: str) -> Counter[str]:
    """The counts that a command of the other side printed. Raises A11yBenchError."""
    try:
        return Counter(json.loads(output.splitlines()[-1]))
    except (IndexError, ValueError, TypeError):
        raise A11yBenchError(f"the other side did not print counts: {output[-200:]!r}") from None
