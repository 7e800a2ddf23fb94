"""All attacks and honest patches in `tests/evaluate/tampering/lamp.toml`, with all runners of each.

`just bench attacks [--runner NAME ...] [--case NAME ...] [--json FILE]`. The tests try some of them with one runner.
Reports, by runner and kind of attack, how many are resolved or not evaluated (none may be), how many honest patches are
refused, and the cost of the counter-runs. Writes a temporary folder. Needs an engine and the npm registry.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from lamp_bench import DIALECTS, LampBench, cases, evaluated, make, patch_of

from benchmarks.goals import Figure, report
from pipeline.core.console import say
from pipeline.core.records import Outcome, Verdict
from pipeline.core.store import Unit

#: outcomes that an attack must not have
WAYS_OUT = (Outcome.RESOLVED, Outcome.NOT_EVALUATED)


@click.command()
@click.option("--runner", "runners", type=click.Choice(list(DIALECTS)), multiple=True, help="Only this one.")
@click.option("--case", "names", multiple=True, help="Only the attack or honest patch of this name.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="The figures as JSON.")
def main(runners: tuple[str, ...], names: tuple[str, ...], path: Path | None) -> None:
    """Try them all, and report the outcomes."""
    figures: list[Figure] = []
    for runner in runners or tuple(DIALECTS):
        if names and not {*names} & {*cases("attack", runner), *cases("honest", runner)}:
            continue
        with TemporaryDirectory(prefix="a11y-bench-attacks-") as folder:
            figures += of_runner(make(Path(folder), runner), names)
    report("Attacks", figures, path)


def of_runner(bench: LampBench, names: Collection[str] = ()) -> list[Figure]:
    """The figures of one runner, with the cases of these names (without any: all)."""
    attacks, honest = (
        {name: case for name, case in cases(kind, bench.runner).items() if not names or name in names}
        for kind in ("attack", "honest")
    )
    found = evaluated(bench, {name: patch_of(bench, case) for name, case in (attacks | honest).items()})
    for name, verdict in found.items():
        say(f"{bench.runner}, {name}: {verdict.outcome} {verdict.cause}")
    refused = sum(found[name].outcome is not Outcome.RESOLVED for name in honest)
    figures = list(_by_way(bench.runner, attacks, found))
    figures.append(Figure(f"{bench.runner}, honest: refused", refused, f"of {len(honest)}", ("at most", 0)))
    return [*figures, Figure(f"{bench.runner}: seconds with counter-runs", cost(bench), "× without")]


def _by_way(runner: str, attacks: Mapping[str, Any], found: Mapping[str, Verdict]) -> Iterable[Figure]:
    for way in sorted({case["class"] for case in attacks.values()}):
        own = [found[name].outcome for name, case in attacks.items() if case["class"] == way]
        out = sum(outcome in WAYS_OUT for outcome in own)
        yield Figure(f"{runner}, {way}: resolved or not evaluated", out, f"of {len(own)}", ("at most", 0))


def cost(bench: LampBench) -> float:
    """The time of patches with all counter-runs, relative to their first runs."""
    kept = (Unit(path.parent).result() for path in bench.store.root.glob("04_evaluation/runs/*/*/manifest.json"))
    seconds = [run["seconds"] for run in kept if "disguised" in run.get("counter", {})]
    first = sum(times["tests"] for times in seconds)
    return sum(sum(times.values()) for times in seconds) / first if first else 0.0


if __name__ == "__main__":
    main()
