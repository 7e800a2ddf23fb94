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

from pipeline.core import clones
from pipeline.core.background import Background
from pipeline.core.git import Clone, checkout, missing_files, read_blobs, require_commit, tree_name
from pipeline.core.git import tree as tree_of
from pipeline.core.names import Repo
from pipeline.core.records import Environment, Identity
from pipeline.core.store import Store, digest
from pipeline.ecosystems import installation
from pipeline.ecosystems.protection import is_manifest
from pipeline.execution import generated
from pipeline.sandbox import node
from pipeline.sandbox.base import InstallFailed, Sandbox
from pipeline.sandbox.images import Installed
from pipeline.sandbox.progress import reporting

#: raised whenever layers are made differently: images that were made before are not used
VERSION = 2

#: the fields that determine the layer of dependencies, besides the manifests
_INSTALLED_BY = {"node", "manager", "manager_version", "install", "install_env", "edits", "rebuild"}

#: a manager's own release in a repository, by which nothing is installed (YARN_IGNORE_PATH)
_RELEASE = re.compile(r"(?:^|/)\.yarn/releases/")

_locks: dict[str, threading.Lock] = defaultdict(threading.Lock)


class Recipe(NamedTuple):
    """What an image is made of: sources of `base`, dependencies by the manifests of `manifests` (both commits).

    `plain` is the image without the files that the environment prepares; it equals `image` if there are none.
    """

    environment: Environment
    environment_digest: str
    image: str
    base: str
    manifests: str
    plain: str


def recipe(clone: Clone, environment: Environment, base: str, manifests: str) -> Recipe:
    """Name the layers by what they are made of. Raises UnsafeTree."""
    entries = tree_of(clone, manifests)
    manifest_lines = [
        f"{entry.mode} {entry.kind} {entry.name}\t{entry.path}" for entry in entries if is_manifest(entry.path)
    ]
    shaped = {name for name in ("focus", "nested", "browser") if getattr(environment, name)}
    key = digest(VERSION, environment.model_dump(include=_INSTALLED_BY | shaped), manifest_lines)
    tree = tree_name(clone, base)
    plain = digest(key, tree)
    image = (
        digest(plain, environment.prepare, *generated.variables(environment).values()) if environment.prepare else plain
    )
    return Recipe(environment, key, image, base, manifests, plain)


class NotPrepared(InstallFailed):
    """The environment's own commands made no file, or reached a limit; `log` is the output of the first that failed."""


class Made(NamedTuple):
    """What an image was actually made of, without the limits of what runs in it, and deviations from the request."""

    ran: Identity
    deviations: tuple[str, ...]


def ensure(sandbox: Sandbox, clone: Clone, made: Recipe, say: Callable[[str], None]) -> Made:
    """Make both layers unless they exist. Raises InstallFailed, InfrastructureError, UserError.

    Threads that need the same environment wait for the first one to make it; sources are checked out meanwhile.
    """
    require_commit(clone, made.base)
    with TemporaryDirectory(prefix="a11y-bench-") as folder, Background() as background:
        exported, sources = Path(folder, "manifests"), Path(folder, "checkout")
        written = None if sandbox.images.has(made.image) else background.submit(checkout, clone, made.base, sources)
        with _locks[made.environment_digest]:
            _export_manifests(clone, made, exported)
            installed = sandbox.images.environment(
                installation.installation(made.environment), made.environment_digest, exported, say
            )
        if written:
            say("adding the sources")
            written.result()
            prepares = made.plain != made.image
            if prepares:
                _prepare(sandbox, made, sources, say)
            sandbox.images.instance(made.environment_digest, made.image, sources, generated=prepares)
    return _made(sandbox, installed, tuple(missing_files(clone, made.base)))


def _prepare(sandbox: Sandbox, made: Recipe, sources: Path, say: Callable[[str], None]) -> None:
    """Add the files that the environment's own commands make from the sources. Raises NotPrepared."""
    commands = made.environment.prepare
    with reporting(say, f"preparing: {'; '.join(' '.join(argv) for argv in commands)}"[:200]):
        if not sandbox.images.has(made.plain):
            sandbox.images.instance(made.environment_digest, made.plain, sources)
        try:
            generated.add(sandbox, made.plain, made.environment, sources)
        except InstallFailed as end:
            raise NotPrepared(str(end), end.log) from end


def _made(sandbox: Sandbox, installed: Installed, missing: tuple[str, ...]) -> Made:
    identity = sandbox.images.identity()
    ran = Identity(
        node=installed.node,
        manager=installed.tools[-1] if installed.tools else "",
        base_image=installed.base_image,
        browser=installed.browser,
        architecture=identity.architecture,
        sandbox=identity.sandbox,
        missing=missing,
    )
    return Made(ran, (*installed.deviations, *(f"missing in the clone, left out: {path}" for path in missing)))


def manifests_of(clone: Clone, sha: str) -> dict[str, bytes]:
    """What an install of a commit sees: path -> content. A manager's own release may be missing in the clone: only its
    version is used. Raises UserError if other content is."""
    absent = frozenset(filter(_RELEASE.search, missing_files(clone, sha)))
    return dict(read_blobs(clone, sha, lambda path: is_manifest(path) and path not in absent))


def _export_manifests(clone: Clone, made: Recipe, target: Path) -> None:
    edited = installation.manifests(made.environment, manifests_of(clone, made.manifests), node.registry)
    for name, content in edited.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def source(store: Store, repo: Repo) -> Clone:
    """The clone of a repository. Raises UserError if it was not collected or no clone of it is known."""
    return clones.find(store, repo)
