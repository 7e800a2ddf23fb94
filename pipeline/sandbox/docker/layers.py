"""The layers of images: Node, package managers, a repository's dependencies, and the sources of an instance.

    base (docker/base/build.sh) -> [a11y-bench/browser:SUITE]
        -> a11y-bench/node:VERSION -> a11y-bench/node:VERSION-MANAGERS
        -> a11y-bench/env:DIGEST   -> a11y-bench/instance:DIGEST [-> a11y-bench/instance:DIGEST]

Each is made by starting a container, putting archives into it and committing it: without Dockerfile, builder and image
registry. Files of the host (its CA bundle) and downloads are in one folder, which is removed before the commit, and the
variables of an install are set only for that command, so images contain neither. The first instance of an environment
is below the others, which have only what differs from it (sources.py). A layer of dependencies that the registry of
A11Y_BENCH_REGISTRY has is pulled instead.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from docker.models.containers import Container

from pipeline.core.cache import lock
from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.names import folder_name
from pipeline.core.store import digest as digest_of
from pipeline.core.timing import timed
from pipeline.sandbox import install, node
from pipeline.sandbox.base import Limits
from pipeline.sandbox.docker import browser, fence, sources, tar
from pipeline.sandbox.docker.commands import execute
from pipeline.sandbox.docker.engine import Engine, commit, put, start
from pipeline.sandbox.docker.fence import Routes
from pipeline.sandbox.docker.names import (
    BROWSER,
    DIGEST,
    ENVIRONMENT,
    HOME,
    INSTALLED,
    LAYER,
    PARENT,
    REPO,
    RUNNER_CACHE,
    SCRATCH,
    base_image,
    environment_image,
    instance_image,
)
from pipeline.sandbox.images import Installed
from pipeline.sandbox.installation import Installation, Package
from pipeline.sandbox.progress import reporting

REGISTRY = "A11Y_BENCH_REGISTRY"
INSTALL_FOLDER = "a11y-install"
DELETE = ("-exec", "rm", "-f", "{}", "+")

Say = Callable[[str], None]
Fill = Callable[[Container], None]


class Layers:
    """Makes layers in `engine`, each once; downloads for them are kept in `cache`."""

    def __init__(self, engine: Engine, cache: Path) -> None:
        self.engine, self.cache = engine, cache

    def environment(self, spec: Installation, digest: str, manifests: Path, say: Say) -> Installed:
        """Make the layer of dependencies. Returns the versions that it was made with, which are labels of the image."""
        image = environment_image(digest)
        if registry := os.environ.get(REGISTRY):
            self._pull(registry, digest, say)
        if (existing := self.engine.image(image)) and INSTALLED in existing.labels:
            version, tools, base, deviations, *browser = json.loads(existing.labels[INSTALLED])
            return Installed(version, tuple(tools), base, tuple(deviations), *browser)
        parent, installed = self._tools(spec, say)
        labels = {LAYER: "environment", DIGEST: digest, INSTALLED: json.dumps(installed)}
        routes = fence.routes(node.registry(), fence.manifests_in(manifests), reaches=fence.reaches)

        def fill(container: Container) -> None:
            self._install(container, spec, manifests, routes, say)

        self._layer(image, parent, labels, fill, extra_hosts=routes.hosts)
        say(f"made {image}: {self.engine.size(image) / 10**6:.0f} MB with Node and the base")
        return installed

    def _pull(self, registry: str, digest: str, say: Say) -> None:
        """Pull the layer of dependencies if it is missing here. If the registry cannot be used, this is only
        reported. Raises InfrastructureError if the engine's disk is full."""
        from pipeline.sandbox.docker.registry import Registry  # its HTTP client is slow to import

        with lock(self.cache / "locks" / folder_name(environment_image(digest))):
            try:
                Registry(self.engine, registry).pull("environment", digest, say)
            except UserError as error:
                say(f"{error.message}: making the layer here")
            except InfrastructureError as error:
                if error.cause == "disk":
                    raise
                say(f"the registry {registry} gives no layer ({error}): making it here")

    def instance(self, environment: str, digest: str, checkout: Path, *, generated: bool = False) -> None:
        """Make the layer of sources, with the digest of its environment as a label. It has what differs from the
        environment's reference, or everything if it becomes the reference or has generated files."""
        name, labels = instance_image(digest), {LAYER: "instance", DIGEST: digest, ENVIRONMENT: environment}
        parent, fill = environment_image(environment), partial(_write, checkout)
        if not generated:
            paths = sources.listing(checkout)
            make = partial(self._layer, name, parent, labels, fill)
            reference = self._reference(environment, sources.Reference(name, "", paths), make)
            differing = sources.difference(reference.paths, paths) if reference.name != name else None
            if differing is not None:
                parent, fill = reference.name, partial(_change, checkout, differing)
        self._layer(name, parent, labels, fill)

    def _reference(self, environment: str, new: sources.Reference, make: Callable[[], str]) -> sources.Reference:
        """The environment's reference; if it has none, `new` becomes it, whose image `make` makes."""
        with lock(self.cache / "locks" / folder_name(f"reference:{environment}")):
            known = sources.recorded(self.cache, environment)
            if known and (image := self.engine.image(known.name)) and image.id == known.image:
                return known
            make()
            made = self.engine.image(new.name)
            assert made and made.id, "it was just made"
            sources.record(self.cache, environment, new._replace(image=made.id))
            return new

    def _layer(self, image: str, parent: str, labels: dict[str, str], fill: Fill, **options: Any) -> str:
        with lock(self.cache / "locks" / folder_name(image)):
            existing = self.engine.image(image)
            if not existing or not labels.items() <= existing.labels.items():
                options |= {"network_mode": "none"}
                with self.engine.container(parent, "build", install.LIMITS, **options) as container:
                    fill(container)
                    commit(container, image, labels)
        return image

    # -- tools ------------------------------------------------------------------------------------------------------
    def _tools(self, spec: Installation, say: Say) -> tuple[str, Installed]:
        """The image with Node and the package manager, and the versions in it."""
        architecture = node.ARCHITECTURES[self.engine.architecture]
        runtime = node.runtime(spec.node, architecture)
        release = node.exact(self.cache, runtime)
        requested = spec.tools(release.version, architecture)
        managers = [node.exact(self.cache, package) for package in requested]
        start = browser.image(self.engine, self.cache, say) if spec.browser else base_image()
        image = self._node(release, start, say)
        pairs = zip((runtime, *requested), (release, *managers), strict=True)
        deviations = tuple(node.deviations({str(a): str(b) for a, b in pairs}))
        base = self.engine.image(start)
        labels = base.labels if base else {}
        ran = ((base.id or "") if base else "", deviations, labels.get(BROWSER, ""))
        return self._managers(image, managers, say), Installed(release.version, tuple(map(str, managers)), *ran)

    def _node(self, package: Package, parent: str, say: Say) -> str:
        def fill(container: Container) -> None:
            with reporting(say, f"fetching {package}"):
                program = node.prefix(self.cache, package) / "lib" / "node_modules" / package.name / "bin"
                put(container, "/usr/local", tar.of_folder(program, "bin", tar.ROOT))

        name = f"a11y-bench/node:{package.version}" + ("" if parent == base_image() else "-browser")
        return self._tool_layer(name, parent, [package], fill)

    def _managers(self, parent: str, packages: list[Package], say: Say) -> str:
        def fill(container: Container) -> None:
            with reporting(say, f"fetching {', '.join(map(str, packages))}"):
                tools = node.prefix(self.cache, *packages)
                put(container, "/usr", tar.of_folder(tools, "local", tar.ROOT))

        name = "-".join((parent, *(_tag(package) for package in packages)))
        return self._tool_layer(name, parent, packages, fill)

    def _tool_layer(self, image: str, parent: str, packages: list[Package], fill: Fill) -> str:
        """A layer that is made again for another parent: a new base image gets new tools."""
        base = self.engine.image(parent)
        labels = {LAYER: "node", DIGEST: digest_of(base.id if base else "", *map(str, packages))}
        return self._layer(image, parent, labels, fill)

    # -- dependencies -----------------------------------------------------------------------------------------------
    def _install(self, container: Container, spec: Installation, manifests: Path, routes: Routes, say: Say) -> None:
        start(container)
        scratch, ca = f"/tmp/{INSTALL_FOLDER}", install.host_ca()
        put(container, PARENT, tar.of_folder(manifests, "repo"))
        put(container, "/tmp", tar.of_entries({INSTALL_FOLDER: None} | _bundle(ca)))
        bundle = f"{scratch}/{ca.name}" if ca else None
        registry = routes.registry
        env = {"HOME": HOME} | install.variables(spec, scratch, registry, bundle)
        run = partial(execute, container, folder=REPO, env=env, limits=install.LIMITS)
        progress = reporting(say, f"installing: {' '.join(spec.commands[0])}")
        with progress, timed("install"), fence.fenced(container, routes, scratch):
            install.run_all(spec, registry, run)
        if spec.browser:
            put(container, scratch, tar.of_entries({browser.LINKS.name: browser.LINKS.read_bytes()}))
            _settle(container, ["node", f"{scratch}/{browser.LINKS.name}", REPO])
        _settle(container, ["rm", "-rf", scratch])
        # only node_modules stays: manifests return with the sources, other files of the package manager do not
        _settle(container, ["find", REPO, "-name", "node_modules", "-prune", "-o", "!", "-type", "d", *DELETE])
        _settle(container, ["mkdir", "-p", SCRATCH, RUNNER_CACHE])


def _tag(package: node.Package) -> str:
    """A package in characters that an image's tag allows; the image's labels have the exact versions."""
    return re.sub(r"[^A-Za-z0-9.-]+", "_", str(package)).strip("._")


def _bundle(ca: Path | None) -> dict[str, bytes | None]:
    return {f"{INSTALL_FOLDER}/{ca.name}": ca.read_bytes()} if ca else {}


def _write(checkout: Path, container: Container) -> None:
    """Add all sources of the checkout."""
    put(container, PARENT, tar.of_folder(checkout, "repo"))


def _change(checkout: Path, differing: sources.Difference, container: Container) -> None:
    """Turn the reference's sources into those of the checkout."""
    if differing.files or differing.folders:
        start(container)
        for paths, remove in (
            (differing.files, ["rm", "-f", "--"]),
            (differing.folders, ["rmdir", "--ignore-fail-on-non-empty", "--"]),
        ):
            listed = {INSTALL_FOLDER: None, f"{INSTALL_FOLDER}/paths": os.fsencode("\0".join(paths))}
            put(container, "/tmp", tar.of_entries(listed))
            _settle(container, ["xargs", "-0", "-r", "-a", f"/tmp/{INSTALL_FOLDER}/paths", *remove], REPO)
        _settle(container, ["rm", "-rf", f"/tmp/{INSTALL_FOLDER}"])
    put(container, PARENT, tar.of_folder(checkout, "repo", only=differing.written))


def _settle(container: Container, argv: list[str], folder: str = PARENT) -> None:
    completed = execute(container, argv, folder=folder, env={}, limits=Limits(seconds=600))
    if completed.code:
        output = completed.output.decode(errors="replace")
        raise InfrastructureError(f"{argv[0]} failed while an image was made: {output}", cause="engine")
