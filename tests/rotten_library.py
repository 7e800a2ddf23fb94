"""A small library whose manifests need packages that do not exist: collected, and built in the given sandbox.

Its runner is `tiny_jest.js`. It has two pull requests, `menu` (1) and `tabs` (2), between which no manifest changes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from factories import REPO
from histories import History
from tiny_library import LIMITS

from pipeline.build.learned import Learned
from pipeline.build.qualify import Settings
from pipeline.build.stage import Outcome, build
from pipeline.collect.stage import collect
from pipeline.core.retry import Patience
from pipeline.core.store import Store, read_records
from pipeline.sandbox.base import Sandbox

JEST = Path(__file__).with_name("tiny_jest.js")


class Rotten:
    """The library below `folder`; `manifest` holds tables of dependencies of its package.json."""

    def __init__(self, folder: Path, sandbox: Sandbox, **manifest: Any) -> None:
        self.store, self.sandbox = Store(folder / "data"), sandbox
        asked = {"name": folder.name, "private": True, "devDependencies": {"jest": "file:./jest"}}
        tables = {table: asked.get(table, {}) | wanted for table, wanted in manifest.items()}
        history = History(folder / "library")
        history.commit("first", {
            "package.json": json.dumps(asked | tables),
            "jest/package.json": '{"name": "jest", "version": "29.0.0"}',
            "jest/bin/jest.js": JEST.read_bytes(),
            ".npmrc": "fetch-retries=0\n",
        } | self.pull("menu", "old", "old") | self.pull("tabs", "old", "old"))  # fmt: skip
        for number, name in enumerate(("menu", "tabs"), 1):
            history.commit(f"Add an aria label to {name} (#{number})", self.pull(name, "new", "new"))
        collect(self.store, REPO, history.folder)

    @staticmethod
    def pull(name: str, source: str, test: str) -> dict[str, str]:
        return {f"src/{name}.js": source, f"src/{name}.test.js": f"works | src/{name}.js | {test}\n"}

    def build(self, *numbers: int) -> list[Outcome]:
        settings = Settings(self.sandbox, repeats=1, limits=LIMITS)
        return build(self.store, REPO, settings, numbers=numbers, trust_local=True, patience=Patience(tries=1))

    def logs(self, number: int) -> set[str]:
        folder = self.store.qualification(REPO) / "units" / REPO.instance_id(number)
        return {path.name.removesuffix(".log.gz") for path in folder.glob("*.log.gz")}

    def learned(self) -> list[Learned]:
        path = self.store.qualification(REPO) / "learned.jsonl"
        return read_records(path, Learned) if path.exists() else []
