"""The layers of images that come before the sources: Node, its package manager, and a repository's dependencies.

    base (docker/base/build.sh)  ->  a11y-bench/node:VERSION  ->  a11y-bench/node:VERSION-MANAGERS  ->  a11y-bench/env:DIGEST

Each is a container, an archive put into it and a commit: no Dockerfile, no builder, no image registry. Files of the
install that are the host's (its CA bundle) or of no use later (downloads) lie in one folder that is gone before the
commit, and variables are given to the one command only; so neither is in an image.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from docker.models.containers import Container

from pipeline.core.errors import InfrastructureError
from pipeline.core.names import folder_name
from pipeline.core.records import Environment
from pipeline.core.sandbox import install, node, tar
from pipeline.core.sandbox.base import Limits
from pipeline.core.sandbox.docker_engine import Engine, commit, put
from pipeline.core.sandbox.docker_exec import execute
from pipeline.core.sandbox.once import lock
from pipeline.core.sandbox.progress import telling
from pipeline.core.store import digest as digest_of

PARENT, REPO, SCRATCH, HOME = "/workspace", "/workspace/repo", "/workspace/scratch", "/home/bench"
RUNNER_CACHE = f"{HOME}/.cache/runner"

LAYER, DIGEST, ENVIRONMENT, DEVIATIONS = (f"a11y-bench.{name}" for name in ("layer", "digest", "environment", "deviations"))

INSTALL_FOLDER = "a11y-install"

#: architectures, as the engine and as npm packages call them
ARCHITECTURES = {"amd64": "x64", "arm64": "arm64"}


def base_image() -> str:
    """The image that all stand on: A11Y_BENCH_BASE_IMAGE, else the one that docker/base/build.sh makes."""
    return os.environ.get("A11Y_BENCH_BASE_IMAGE") or "a11y-bench/base:bookworm"


class Layers:
    """Makes layers in `engine`, each once; what is fetched for them is kept in `cache`."""

    def __init__(self, engine: Engine, cache: Path) -> None:
        self.engine, self.cache = engine, cache

    def make(self, image: str, layer: str, digest: str, build: Callable[[], dict[str, str]], parent: str, limits=install.LIMITS) -> dict[str, str]:
        ...
