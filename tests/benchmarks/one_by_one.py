"""Multi-SWE-bench's way to run an instance, built from our own parts: pull requests share nothing.

One image for each, with its sources and an install that keeps its downloads; for each run, a container with network
that installs again, and tests that start without a cache. It uses the manifests, commands and limits that our build
found to work, so both do the same work. Coverage stays as the repository has it (`as_the_project`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from docker.models.containers import Container

from pipeline.core.git import Clone, checkout
from pipeline.core.patches import select
from pipeline.core.records import Instance
from pipeline.ecosystems import edits
from pipeline.ecosystems.installation import installation
from pipeline.ecosystems.protection import is_protected
from pipeline.execution import images, runs
from pipeline.execution.applying import apply
from pipeline.execution.runs import Plan, TestRun
from pipeline.sandbox import install, node
from pipeline.sandbox.base import DEFAULT
from pipeline.sandbox.docker import tar
from pipeline.sandbox.docker.commands import execute
from pipeline.sandbox.docker.engine import Engine, commit, put, start
from pipeline.sandbox.docker.names import HOME, LAYER, PARENT, REPO, RUNNER_CACHE, SCRATCH
from pipeline.sandbox.docker.workspace import DockerWorkspace

#: the options that our build adds to switch coverage off
COVERAGE_OFF = ("--coverage=false", "--coverage.enabled=false")
#: where downloads stay, as in the home folder of the installing user
DOWNLOADS = ".downloads"


def as_the_project(instance: Instance) -> Instance:
    """The instance with a command that measures coverage if its repository does so."""
    test = tuple(word for word in instance.environment.test if word not in COVERAGE_OFF)
    environment = instance.environment.model_copy(update={"test": test})
    return instance.model_copy(update={"environment": environment})


class OneByOne:
    """One instance; `tools` is the image with its Node and package manager. `say` takes progress lines."""

    def __init__(
        self, engine: Engine, clone: Clone, instance: Instance, tools: str, say: Callable[[str], None]
    ) -> None:
        self.engine, self.clone, self.instance, self.tools, self.say = engine, clone, instance, tools, say
        self.image = f"a11y-bench/one-by-one:{instance.image}"
        self.base = images.manifests_of(clone, instance.base.sha)
        wanted = images.manifests_of(clone, instance.manifests)
        self.manifests = edits.apply(instance.environment.edits, wanted, node.registry)

    @contextmanager
    def made(self) -> Iterator[int]:
        """Make the image and return its size in bytes without its tools. It is removed at the end."""
        self.say("image and install")
        with self._container(self.tools) as container, TemporaryDirectory() as folder:
            checkout(self.clone, self.instance.base.sha, Path(folder, "repo"))
            put(container, PARENT, tar.of_folder(Path(folder, "repo"), "repo"))
            ca = install.host_ca()
            kept = {DOWNLOADS: None} | ({f"{DOWNLOADS}/{ca.name}": ca.read_bytes()} if ca else {})
            put(container, HOME, tar.of_entries(kept))
            execute(container, ["mkdir", "-p", SCRATCH, RUNNER_CACHE], folder=PARENT, env={}, limits=DEFAULT)
            self._install(container)
            commit(container, self.image, {LAYER: "instance"})
        try:
            yield self.engine.size(self.image) - self.engine.size(self.tools)
        finally:
            self.engine.containers.settle()
            self.engine.api.remove_image(self.image)

    def runs(self, repeats: int) -> Iterator[TestRun]:
        """The three kinds of runs, repeated equally often. Raises InstallFailed, PatchFailed and
        InfrastructureError."""
        configuration = select(self.instance.fix_patch, is_protected)
        test = [("gold configuration", configuration), ("test", self.instance.test_patch)]
        fix = ("fix", select(self.instance.fix_patch, lambda path: not is_protected(path)))
        for name, steps in (("run", []), ("test", test), ("fix", [*test, fix])):
            for number in range(1, repeats + 1):
                self.say(f"{name} {number} of {repeats}")
                yield self._run(steps)

    def _run(self, steps: list[tuple[str, str]]) -> TestRun:
        plan = Plan(None, self.image, self.instance.environment, self.instance.selected)
        with self._container(self.image) as container:
            self._install(container)
            workspace = DockerWorkspace(container, DEFAULT)
            for name, patch in steps:
                apply(workspace, patch, name)
            return runs.run_tests(workspace, plan)

    @contextmanager
    def _container(self, image: str) -> Iterator[Container]:
        with self.engine.container(image, "benchmark", install.LIMITS, network_mode="bridge") as container:
            start(container)
            yield container

    def _install(self, container: Container) -> None:
        """Uses the working manifests instead of the base's, if they differ."""
        spec, ca, registry = installation(self.instance.environment), install.host_ca(), node.registry()
        bundle = f"{HOME}/{DOWNLOADS}/{ca.name}" if ca else None
        env = {"HOME": HOME} | install.variables(spec, f"{HOME}/{DOWNLOADS}", registry, bundle)
        self._put(container, self.manifests)
        run = partial(execute, container, folder=REPO, env=env, limits=install.LIMITS)
        install.run_all(spec, registry, run)
        self._put(container, self.base)

    def _put(self, container: Container, files: dict[str, bytes]) -> None:
        if self.manifests != self.base:
            put(container, REPO, tar.of_entries(files))
