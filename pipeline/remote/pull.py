"""Fetching results from a server: the data of stages 00 to 04 and the ledger, merged into ours.

`.remote/<host>/incoming/` in the data directory is a copy of the server's data: an interrupted transfer resumes there,
and unchanged files are not sent again. It may be deleted. `known.json` beside it records what both sides held at the
last merge.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from pipeline.core.errors import A11yBenchError
from pipeline.core.names import Repo, folder_name
from pipeline.core.store import Store
from pipeline.llm.ledger_file import PATIENCE, readable
from pipeline.remote.areas import filters
from pipeline.remote.host import Host
from pipeline.remote.merge import merge

#: the copy of the ledger that is transferred, in the data directory
OUTGOING = ".remote/outgoing/ledger.sqlite"


def pull(
    host: Host, store: Store, stages: Sequence[str] = (), repos: Sequence[Repo] = (), prefer: str = ""
) -> Counter[str]:
    """Fetch and merge; returns how many places were new, taken, merged and kept. Raises UserError for conflicts,
    A11yBenchError, InfrastructureError."""
    incoming = known_file(store, host).with_name("incoming")
    incoming.mkdir(parents=True, exist_ok=True)
    ledger = counted(host.bench("remote", "snapshot", "--data", "data"))["ledger"]
    linked = f"--link-dest={store.root}"
    host.fetch("data/", incoming, "--delete-excluded", "--filter=P .rsync-partial/", *filters(stages, repos), linked)
    if ledger:
        host.fetch(f"data/{OUTGOING}", incoming / "ledger.sqlite")
    return merge(store, incoming, known_file(store, host), prefer)


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
