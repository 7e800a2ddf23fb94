"""Benchmark of stage 02: time and disk of an instance, against one image and one install for each pull request.

`just bench build --clone PATH --repo ORG/REPO --pr N ... [--full] [--json FILE]`, with an engine. Ours is the stage
itself, one job at a time, with nothing made before but Node and the package managers; theirs is `one_by_one`, for the
instances that ours qualified. Both take one engine, the same limits, test files, repeats, manifests and commands, but
ours switches coverage off (`--same-command`: so do both). Writes a temporary folder; the images that it makes are
removed at the end. `--keep DIR` keeps ours, as the data directory DIR for `just bench evaluate --data DIR`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import click

from benchmarks.goals import Figure, report
from benchmarks.one_by_one import OneByOne, as_the_project
from pipeline.build.batch import TIMINGS
from pipeline.build.environments import environment_of, recipe
from pipeline.build.layers import USEFUL, least_useful
from pipeline.build.qualify import Settings
from pipeline.build.stage import build, candidates_of
from pipeline.collect.stage import collect
from pipeline.core.cache import cache_root
from pipeline.core.console import say
from pipeline.core.git import open_clone
from pipeline.core.names import Repo, parse_repo
from pipeline.core.records import Candidate, Instance
from pipeline.core.store import Store, digest, now, read_json
from pipeline.ecosystems.installation import installation
from pipeline.sandbox.docker.engine import Engine
from pipeline.sandbox.docker.images import DockerImages
from pipeline.sandbox.docker.sandbox import DockerSandbox
from pipeline.sandbox.images import Installed, Kept
from pipeline.sandbox.installation import Installation


class FreshImages(DockerImages):
    """Images that do not exist yet: the layers have names of their own, unless `mark` is empty."""

    def __init__(self, engine: Engine, cache: Path, mark: str) -> None:
        super().__init__(engine, cache)
        self.mark = mark
        self.names: set[str] = set()

    def named(self, name: str) -> str:
        """The name of a digest in this benchmark."""
        known = digest(self.mark, name) if self.mark else name
        self.names.add(known)
        return known

    def environment(self, spec: Installation, digest: str, manifests: Path, say: Callable[[str], None]) -> Installed:
        return super().environment(spec, self.named(digest), manifests, say)

    def has(self, digest: str) -> bool:
        return super().has(self.named(digest))

    def instance(self, environment: str, digest: str, checkout: Path, *, generated: bool = False) -> None:
        super().instance(self.named(environment), self.named(digest), checkout, generated=generated)

    def own(self) -> list[Kept]:
        """The images made by this benchmark."""
        return [layer for layer in self.kept() if layer.digest in self.names and layer.kind in USEFUL]


class FreshSandbox(DockerSandbox):
    """The sandbox with these images."""

    def __init__(self, cache: Path, mark: str) -> None:
        super().__init__(cache)
        self.mark = mark

    @cached_property
    def images(self) -> FreshImages:
        return FreshImages(Engine(), self.cache, self.mark)

    def open(self, digest: str, **more: Any) -> Any:
        return super().open(self.images.named(digest), **more)


class Ours(NamedTuple):
    """The stage's time: total seconds, seconds by kind (see core.timing), the qualified instances, and, for each one
    except the first of its environment, the seconds outside its tests and without waiting."""

    total: float
    seconds: dict[str, float]
    overhead: float
    instances: list[Instance]
    further: list[float]


class Theirs(NamedTuple):
    """One instance's cost: total seconds, the part in test processes, and the bytes of its image."""

    total: float
    tests: float
    size: int


@click.command()
@click.option("--clone", type=click.Path(path_type=Path, exists=True), required=True, help="A clone of the repository.")
@click.option("--repo", required=True, help="Its name, org/repo.")
@click.option("--pr", "numbers", type=int, multiple=True, required=True, help="A pull request (several times).")
@click.option("--repeats", type=int, default=1, show_default=True, help="Times that each run is repeated.")
@click.option("--full", is_flag=True, help="Run all tests of every instance, too: the scope `full`.")
@click.option("--same-command", is_flag=True, help="Switch coverage off one by one, too, as ours does.")
@click.option("--one-by-one", "most", type=click.IntRange(min=1), help="Take only N one by one, of all environments.")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep our dataset here, and its images.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Where to write the figures.")
def main(
    clone: Path,
    repo: str,
    numbers: Sequence[int],
    repeats: int,
    full: bool,
    same_command: bool,
    most: int | None,
    keep: Path | None,
    path: Path | None,
) -> None:
    """Measure stage 02 against its goals."""
    with TemporaryDirectory() as folder, fresh_sandbox("" if keep else now()) as sandbox:
        store, name = Store(keep or Path(folder, "data")), parse_repo(repo)
        collect(store, name, clone, numbers=numbers)
        before = {layer.digest for layer in sandbox.images.kept()}
        candidates = candidates_of(store, name, [])
        named = sandbox.images.named
        _require_new(before, (named(recipe(open_clone(clone), one).environment_digest) for one in candidates))
        _make_tools(candidates, clone, sandbox)
        ours = _ours(store, name, Settings(sandbox, repeats))
        _require_new(before, (named(instance.environment_digest) for instance in ours.instances))
        layers = {(layer.kind, layer.digest): layer for layer in sandbox.images.own()}
        whole = _ours(Store(store.root), name, Settings(sandbox, repeats, scope="full")) if full else None
        others = _of_all_environments(ours.instances)[:most]
        others = others if same_command else [as_the_project(candidate) for candidate in others]
        theirs = [_theirs(clone, candidate, _tools(sandbox, layers, candidate), repeats) for candidate in others]
        sizes = [_additional(sandbox, layers, instance) for instance in _on_others(sandbox, layers, ours.instances)]
        report("build", [*_figures(ours, theirs, sizes), *(_of_scope(ours, whole) if whole else ())], path)


@contextmanager
def fresh_sandbox(mark: str) -> Iterator[FreshSandbox]:
    """A sandbox whose layers have names of their own, from `mark`, and are removed at the end; without a mark, they
    stay."""
    sandbox = FreshSandbox(cache_root(), mark)
    sandbox.check()
    try:
        yield sandbox
    finally:
        for layer in least_useful(sandbox.images.own(), ()) if mark else ():
            sandbox.images.remove(layer)


def _require_new(before: Collection[str], environments: Iterable[str]) -> None:
    """Raise ClickException if an environment was installed before: its install would take no time."""
    if known := sorted({digest for digest in environments if digest in before}):
        raise click.ClickException(f"environments were installed before: {', '.join(known)}; remove them (gc)")


def _make_tools(candidates: Sequence[Candidate], clone: Path, sandbox: FreshSandbox) -> None:
    """Node and the package managers, which both sides start from; they are also what an install of nothing needs."""
    for candidate in candidates:
        spec = environment_of(open_clone(clone), candidate).model_copy(update={"install": ("true",), "rebuild": ()})
        with TemporaryDirectory() as folder:
            sandbox.images.environment(
                installation(spec), digest(spec.node, spec.manager, spec.manager_version), Path(folder), say
            )


def _ours(store: Store, repo: Repo, settings: Settings) -> Ours:
    started = time.monotonic()
    outcomes = build(store, repo, settings, jobs=1)
    total = time.monotonic() - started
    summary = read_json(store.qualification(repo) / "summary.json")
    instances = [outcome for outcome in outcomes if isinstance(outcome, Instance)]
    return Ours(total, summary["seconds"], summary["overhead"], instances, list(_further(store, repo, instances)))


def _further(store: Store, repo: Repo, instances: Sequence[Instance]) -> Iterator[float]:
    seen: set[str] = set()
    for instance in sorted(instances, key=lambda built_instance: built_instance.merged_at):
        if instance.environment_digest in seen:
            spent = read_json(store.qualification(repo) / "units" / instance.instance_id / TIMINGS)
            yield spent["install"] + spent["other"]
        seen.add(instance.environment_digest)


def _of_all_environments(instances: Sequence[Instance]) -> list[Instance]:
    """The instances in merge order, except that the first one of each environment comes first."""
    ordered = sorted(instances, key=lambda instance: instance.merged_at)
    firsts = list({further.environment_digest: further for further in reversed(ordered)}.values())[::-1]
    return [*firsts, *(further for further in ordered if further not in firsts)]


def _theirs(clone: Path, instance: Instance, tools: str, repeats: int) -> Theirs:
    def tell(text: str) -> None:
        say(f"  one by one, {instance.instance_id}: {text}")

    started = time.monotonic()
    way = OneByOne(Engine(), open_clone(clone), instance, tools, tell)
    with way.made() as size:
        done = list(way.runs(repeats))
        total = time.monotonic() - started
    assert all(run.results for run in done), "a run without results would flatter the other side"
    return Theirs(total, sum(run.seconds for run in done), size)


def _tools(sandbox: FreshSandbox, layers: dict[tuple[str, str], Kept], instance: Instance) -> str:
    """The image below an instance's environment."""
    return layers["environment", sandbox.images.named(instance.environment_digest)].on


def _on_others(
    sandbox: FreshSandbox, layers: dict[tuple[str, str], Kept], instances: Sequence[Instance]
) -> list[Instance]:
    """The instances of environments with several, without those that are below others."""
    shared = Counter(instance.environment_digest for instance in instances)
    below = {layer.on for layer in layers.values()}
    return [
        instance
        for instance in instances
        if shared[instance.environment_digest] > 1
        and layers["instance", sandbox.images.named(instance.image)].name not in below
    ]


def _additional(sandbox: FreshSandbox, layers: dict[tuple[str, str], Kept], instance: Instance) -> int:
    """Bytes of an instance in addition to its environment: sources and the runner's cache."""
    name = sandbox.images.named(instance.image)
    return sum(layers[kind, name].size for kind in ("instance", "cache") if (kind, name) in layers)


def _figures(ours: Ours, theirs: Sequence[Theirs], sizes: Sequence[int]) -> Iterator[Figure]:
    each, other = ours.total / len(ours.instances), mean(baseline.total for baseline in theirs)
    image = mean(baseline.size for baseline in theirs) / 2**20
    environments = len({instance.environment_digest for instance in ours.instances})
    yield Figure("instances", len(ours.instances), "")
    yield Figure("of these one by one", len(theirs), "")
    yield Figure("environments", environments, "")
    yield Figure("time of an instance, ours", each, "s")
    yield Figure("time of an instance, one by one", other, "s")
    yield Figure("one by one takes, in time", other / each, "times", ("at least", 4))
    tests, other_tests = ours.seconds["tests"] / len(ours.instances), mean(baseline.tests for baseline in theirs)
    yield Figure("of it test processes, ours", tests, "s")
    yield Figure("of it test processes, one by one", other_tests, "s")
    yield Figure("one by one takes, without test processes", (other - other_tests) / (each - tests), "times")
    yield Figure("of ours installs, all together", ours.seconds["install"], "s")
    yield Figure("of ours overhead", ours.overhead * 100, "%", ("at most", 10))
    if ours.further:
        beyond = "next instance of a known environment, beyond its tests"
        yield Figure(beyond, median(ours.further), "s", ("at most", 4))
    yield Figure("disk of an additional instance, one by one", image, "MiB")
    if sizes:
        size = mean(sizes) / 2**20
        yield Figure("disk of an additional instance, ours", size, "MiB", ("at most", 10))
        yield Figure("one by one takes, on the disk", image / size, "times", ("at least", 5))


def _of_scope(touched: Ours, full: Ours) -> Iterator[Figure]:
    count = len(touched.instances)
    for name, side in (("touched", touched), ("full", full)):
        yield Figure(f"test processes of an instance, scope {name}", side.seconds["tests"] / count, "s")
    yield Figure("the scope full takes", full.seconds["tests"] / touched.seconds["tests"], "times")


if __name__ == "__main__":
    main()
