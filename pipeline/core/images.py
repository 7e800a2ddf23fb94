"""From a commit of a clone to an instance's image: the layer of dependencies, then the layer of sources.

Names are digests of contents, so that building and evaluating agree on them without talking to each other, and an
image that was removed is made again from the clone. No patch and no history ever enters an image.
"""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import git

from pipeline.core.errors import UserError
from pipeline.core.git import checkout, open_clone, require_commit
from pipeline.core.names import Repo
from pipeline.core.records import Environment
from pipeline.core.sandbox.base import Sandbox
from pipeline.core.store import Store, digest, read_json

#: what an install needs to see of a tree
_MANIFEST = re.compile(
    r"(?:^|/)(?:package\.json|\.npmrc|\.yarnrc|\.yarnrc\.yml|\.pnpmfile\.c?js|pnpm-workspace\.yaml|lerna\.json"
    r"|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml)$"
    r"|^\.yarn/(?:releases|plugins|patches)/|^patches/"
)

_locks: dict[str, threading.Lock] = defaultdict(threading.Lock)


class Recipe(NamedTuple):
    """What an image is made of: sources of `base`, dependencies by the manifests of `manifests` (both commits)."""

    environment: Environment
    environment_digest: str
    image: str
    base: str
    manifests: str


def is_manifest(path: str) -> bool:
    """Whether an install needs to see this file."""
    return bool(_MANIFEST.search(path)) and "node_modules" not in path.split("/")


def recipe(clone: git.Repo, environment: Environment, base: str, manifests: str) -> Recipe:
    """Name the layers by what they are made of."""
    entries = clone.git.ls_tree("-r", "-z", manifests).split("\0")
    wanted = [entry for entry in entries if is_manifest(entry.partition("\t")[2])]
    key = digest(
        environment.model_dump(include={"node", "manager", "manager_version", "install", "install_env"}), wanted
    )
    return Recipe(environment, key, digest(key, clone.git.rev_parse(f"{base}^{{tree}}")), base, manifests)


def ensure(sandbox: Sandbox, clone: git.Repo, made: Recipe, say: Callable[[str], None]) -> list[str]:
    """Make both layers unless they are there; returns deviations. Raises InstallFailed, InfrastructureError, UserError.

    Threads that need the same environment wait for the first of them.
    """
    deviations: list[str] = []
    require_commit(clone, made.base)
    with TemporaryDirectory(prefix="a11y-bench-") as folder:
        with _locks[made.environment_digest]:
            manifests = Path(folder) / "manifests"
            _export_manifests(clone, made.manifests, manifests)
            deviations += sandbox.environment(made.environment, made.environment_digest, manifests, say)
        if not sandbox.has(made.image):
            say("adding the sources")
            missing = checkout(clone, made.base, Path(folder) / "checkout")
            deviations += [f"missing in the clone, left out: {path}" for path in missing]
            sandbox.instance(made.environment_digest, made.image, Path(folder) / "checkout")
    return deviations


def _export_manifests(clone: git.Repo, sha: str, target: Path) -> None:
    for blob in clone.commit(sha).tree.traverse():
        if blob.type == "blob" and is_manifest(blob.path):
            path = target / blob.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(blob.data_stream.read())


def source(store: Store, repo: Repo) -> git.Repo:
    """The clone that a repository was collected from. Raises UserError when it is not collected, or gone."""
    path = store.raw(repo) / "source.json"
    if not path.exists():
        there = ", ".join(str(one) for one in store.repositories("01_raw")) or "none"
        raise UserError(
            f"{repo} is not collected", hint=f"collected are: {there}; run: just collect-run {repo} --path CLONE"
        )
    return open_clone(Path(read_json(path)["path"]))
