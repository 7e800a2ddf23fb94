"""One pull request of the demo, qualified in a real container engine. Writes below the given folder."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import git

from pipeline.build.qualify import Settings
from pipeline.build.stage import build
from pipeline.collect.stage import collect
from pipeline.core.cache import cache_root
from pipeline.core.git import open_clone
from pipeline.core.names import Repo
from pipeline.core.records import Instance
from pipeline.core.store import Store
from pipeline.core.trust import DEMO
from pipeline.demo.history import build_history
from pipeline.sandbox.docker.sandbox import DockerSandbox

REPO = Repo("a11y-bench", "harbor-ui")


class Bench(NamedTuple):
    store: Store
    sandbox: DockerSandbox
    clone: git.Repo
    instance: Instance


def make(folder: Path, number: int = 19) -> Bench:
    """Collect everything and build one; #19's gold patch makes the Toggle a switch."""
    store, sandbox = Store(folder / "data"), DockerSandbox(cache_root())
    build_history(DEMO, folder / "harbor-ui.git")
    collect(store, REPO, folder / "harbor-ui.git", DEMO / "issues.jsonl")
    (outcome,) = build(store, REPO, Settings(sandbox, repeats=1), numbers=[number])
    assert isinstance(outcome, Instance), outcome
    return Bench(store, sandbox, open_clone(folder / "harbor-ui.git"), outcome)
