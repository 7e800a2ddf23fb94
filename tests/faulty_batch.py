"""A batch of stage 02 in a real container engine, for tests of faults: limits are low, and waits are short."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import docker
import docker.errors
import factories
from tiny_library import IMPATIENT, NAMED, Pull, make_library

from pipeline.build.environments import recipe
from pipeline.build.qualify import Settings
from pipeline.build.stage import Outcome, build
from pipeline.collect.stage import collect
from pipeline.core.cache import cache_root
from pipeline.core.git import open_clone
from pipeline.core.records import Candidate, Instance
from pipeline.core.retry import Patience
from pipeline.core.store import Store, read_records
from pipeline.execution import images
from pipeline.sandbox.base import Limits
from pipeline.sandbox.docker.names import environment_image, instance_image
from pipeline.sandbox.docker.sandbox import DockerSandbox

REPO = factories.REPO
LIMITS = Limits(seconds=15, memory=256 * 2**20, processes=100, output=200_000, disk=60 * 2**20)

#: two sound pull requests
PAIR = {"menu": Pull("qualified", NAMED), "tabs": Pull("qualified", NAMED)}


def breaking(way: str, ends: str) -> Pull:
    """A pull request whose test does this without end (tiny_jest.js), and how its run ends."""
    return Pull(ends, f"{NAMED}breaks {way}\n", "works | {src} | old\n")


class Batch:
    """A collected library with these pull requests; `build` builds it and returns how each ended, by name."""

    def __init__(self, folder: Path, pulls: dict[str, Pull], base: dict[str, str] | None = None) -> None:
        self.pulls, self.store = pulls, Store(folder / "data")
        self.library = make_library(folder, pulls, base).folder
        collect(self.store, REPO, self.library)
        self.sandbox = DockerSandbox(cache_root())
        self.sandbox.check()

    def build(self, patience: Patience = IMPATIENT, jobs: int = 2) -> dict[str, str]:
        settings = Settings(self.sandbox, repeats=1, limits=LIMITS)
        outcomes = build(self.store, REPO, settings, jobs=jobs, patience=patience)
        return dict(zip(self.pulls, map(ending, outcomes), strict=True))

    def recipes(self) -> list[images.Recipe]:
        candidates = read_records(self.store.raw(REPO) / "candidates.jsonl", Candidate)
        return [recipe(open_clone(self.library), candidate) for candidate in candidates]

    def make_images(self) -> None:
        for wanted in self.recipes():
            images.ensure(self.sandbox, open_clone(self.library), wanted, print)

    def forget(self) -> None:
        """Remove images that nobody can use again."""
        remove = docker.from_env().images.remove
        for wanted in self.recipes():
            for name in (instance_image(wanted.image), environment_image(wanted.environment_digest)):
                with suppress(docker.errors.ImageNotFound):
                    remove(name, force=True)

    def said(self) -> str:
        path = self.store.qualification(REPO) / "build.log"
        return path.read_text() if path.exists() else ""

    def wait_for(self, text: str) -> None:
        while text not in self.said():
            time.sleep(0.05)


def ending(outcome: Outcome) -> str:
    return "qualified" if isinstance(outcome, Instance) else f"{outcome.reason}: {outcome.detail}"
