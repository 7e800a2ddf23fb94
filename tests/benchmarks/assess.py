"""Benchmark of the accessibility assessment: whether changes to a repository's own snapshots are classified correctly.

`just bench assess --clone PATH [--commit HEAD] [--each 80] [--seed 0] [--show] [--json FILE]`, with a browser. The
changes are those of `snapshot_mutations`. Goals: 99% of the harmless ones compare equal, and 85% of the harmful ones
in every class are detected. Writes nothing but the figures.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import click
from snapshot_mutations import KINDS, Mutation, mutations

from benchmarks.goals import Figure, report
from pipeline import browser
from pipeline.browser import Browser, Trees
from pipeline.core.git import open_clone, read_blobs
from pipeline.ecosystems.runners.jest import snapshots as snapfile
from pipeline.evaluate.assess import compare, markup
from pipeline.evaluate.assess.compare import Compared, differ


class Judged(NamedTuple):
    """A change and its assessment."""

    mutation: Mutation
    said: Compared

    @property
    def right(self) -> bool:
        return self.said.likeness == ("a11y-different" if self.mutation.kind.harmful else "cosmetic")


@click.command()
@click.option("--clone", type=click.Path(path_type=Path, exists=True), required=True, help="A clone with snapshots.")
@click.option("--commit", default="HEAD", show_default=True, help="Whose snapshots are taken.")
@click.option("--each", type=int, default=80, show_default=True, help="Changes of each class.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the choice among all that could be made.")
@click.option("--show", is_flag=True, help="Show every change that is told wrongly.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Where to write the figures.")
def main(clone: Path, commit: str, each: int, seed: int, show: bool, path: Path | None) -> None:
    """Measure the accessibility assessment against its goals."""
    snapshots = {
        f"{file}: {key}": text
        for file, content in read_blobs(open_clone(clone), commit, lambda name: name.endswith(".snap"))
        for key, text in snapfile.read(content.decode()).items()
    }
    started = time.monotonic()
    with browser.opened() as viewer:
        judged = list(judge(viewer, mutations(readable(snapshots), each, seed)))
    for judgment in judged:
        if show and not judgment.right:
            click.echo(f"{judgment.mutation.kind.name}: {judgment.mutation.key}\n{judgment.said.reason}\n", err=True)
    seconds = Figure("a comparison", (time.monotonic() - started) / len(judged) * 1000, "ms")
    report("assessment", [Figure("snapshots there are", len(snapshots), ""), *figures(judged), seconds], path)


def readable(snapshots: dict[str, str]) -> dict[str, str]:
    """The snapshots that contain elements."""
    return {key: text for key, text in snapshots.items() if markup.shows(text) and markup.parse(text).nodes}


def judge(viewer: Browser, made: Iterator[Mutation]) -> Iterator[Judged]:
    """Assess each change."""

    @cache
    def trees(text: str) -> Trees:
        return compare.trees(viewer, "a snapshot", markup.parse(text))

    for one in made:
        yield Judged(one, differ(trees(one.before), trees(one.after)))


def figures(judged: Sequence[Judged]) -> Iterator[Figure]:
    """Shares by class, with the goals."""
    yield Figure("changes", len(judged), "", ("at least", 500))
    yield Figure("snapshots changed", len({judgment.mutation.key for judgment in judged}), "", ("at least", 200))
    harmless = [judgment for judgment in judged if not judgment.mutation.kind.harmful]
    yield Figure("harmless: equal", _share(harmless), "%", ("at least", 99))
    for kind, group in groupby(judged, lambda judgment: judgment.mutation.kind):
        some = list(group)
        words = "noticed" if kind.harmful else "equal"
        yield Figure(
            f"{kind.name}: {words} of {len(some)}", _share(some), "%", ("at least", 85) if kind.harmful else None
        )
    seen = {judgment.mutation.kind.name for judgment in judged}
    yield Figure("classes without a change", sum(kind.name not in seen for kind in KINDS), "")


def _share(judged: Sequence[Judged]) -> float:
    return 100 * sum(judgment.right for judgment in judged) / len(judged)


if __name__ == "__main__":
    main()
