"""What comes back from a server: the data of stages 00 to 04, the ledger and with it the costs, merged into ours.

A copy of what the server has lies in `.remote/<host>/incoming/` of the data directory: a transfer that was cut off
goes on there, and what did not change is not sent again. It may be deleted. Beside it `known.json` notes what both
sides held when they last met.
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
from pipeline.remote.areas import filters
from pipeline.remote.host import Host
from pipeline.remote.merge import merge

#: where a ledger is copied to before it travels, in the data directory
OUTGOING = ".remote/outgoing/ledger.sqlite"


def pull(
    host: Host, store: Store, stages: Sequence[str] = (), repos: Sequence[Repo] = (), prefer: str = ""
) -> Counter[str]:
    """Fetch and merge; how many places were new, taken, merged and kept. Raises UserError where both sides changed the
    same, A11yBenchError, InfrastructureError."""
    incoming = known_file(store, host).with_name("incoming")
    incoming.mkdir(parents=True, exist_ok=True)
    ledger = counted(host.bench("remote", "snapshot", "--data", "data"))["ledger"]
    linked = f"--link-dest={store.root}"
    host.fetch("data/", incoming, "--delete-excluded", "--filter=P .rsync-partial/", *filters(stages, repos), linked)
    if ledger:
        host.fetch(f"data/{OUTGOING}", incoming / "ledger.sqlite")
    return merge(store, incoming, known_file(store, host), prefer)


def known_file(store: Store, host: Host) -> Path:
    """What both sides held when they last met."""
    return store.root / ".remote" / folder_name(f"{host.name}:{host.folder}") / "known.json"


def snapshot(store: Store) -> Path | None:
    """A whole copy of the ledger, whoever writes it meanwhile; None where there is none. Makes the data directory."""
    store.begin()
    if not store.ledger.exists():
        return None
    target = store.root / OUTGOING
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    with closing(sqlite3.connect(store.ledger, timeout=30)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    return target


def counted(said: str) -> Counter[str]:
    """The counts that a command of the other side printed. Raises A11yBenchError."""
    try:
        return Counter(json.loads(said.splitlines()[-1]))
    except (IndexError, ValueError, TypeError):
        raise A11yBenchError(f"the other side said something else than counts: {said[-200:]!r}") from None
