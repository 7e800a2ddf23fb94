"""Benchmark of growth: time and memory of every stage at 10, 100, 1,000 and 10,000 units, and how they grow.

`just bench growth [--size N]... [--only STAGE]... [--json FILE]`. Each stage is its console command in a process of its
own, so start-up counts, on data generated in a temporary folder (making them does not count). Seconds are the
processor's, which load on the machine spoils least. The exponent is that between the last two sizes: 1 is linear, 0
does not grow; where a start takes most of the time, it says little. Nothing runs in an engine: `build` ends where its
first layer would be made, and `evaluate` judges stored runs.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click
from analysis_data import Size
from analysis_data import generate as analysis
from factories import REPO, make_instance
from pages_bench import SEEN, keep, make_run

from benchmarks import evaluate, known, triage
from benchmarks.collect import REPO as MINED
from benchmarks.collect import served
from benchmarks.goals import Figure, report
from benchmarks.processes import PROGRAM, Spent, spent
from pipeline.core.store import Store, write_records
from pipeline.pages.evaluating import Evaluation

SIZES = (10, 100, 1000, 10_000)
#: tests of an instance, and lines of the longest diff
TESTS, LINES = 20, 100
#: an exponent above linear growth, with a margin for measuring errors
MOST = 1.1
MODEL = """\
  - model_name: {0}
    litellm_params: {{model: openai/{0}, api_base: "http://127.0.0.1:9", api_key: none}}
    model_info: {{mode: chat, input_cost_per_token: "0.00001", output_cost_per_token: "0.00003"}}
"""
LISTED = """\
import sys
from pathlib import Path
from pipeline.core.store import Store
from pipeline.triage.catalog import Catalog
Catalog(Store(Path(sys.argv[1]))).search("", {})
"""


class Grown(NamedTuple):
    """The cost of a stage at one size."""

    units: int
    spent: Spent


def _data(store: Store, command: str, *words: str) -> Spent:
    return spent([PROGRAM, command, *words, "--data", str(store.root)])


def _collected(folder: Path, units: int) -> Spent:
    """From a generated GitHub; pull requests are the units."""
    with served(units) as url:
        words = (PROGRAM, "collect", MINED, "--source", "github", "--data", str(folder))
        return spent(words, GITHUB_API_URL=url, GITHUB_TOKEN="benchmark")


def _mined(folder: Path, units: int) -> Spent:
    """From a clone; commits are the units."""
    known.history(folder / "clone.git", units)
    words = (PROGRAM, "collect", str(REPO), "--path", str(folder / "clone.git"), "--data", str(folder / "data"))
    return spent(words, A11Y_BENCH_CACHE=str(folder / "cache"))


def _listed(folder: Path, units: int) -> Spent:
    store = triage.generate(Store(folder / "data"), units, LINES)
    return spent([sys.executable, "-c", LISTED, str(store.root)])


def _one_planned(folder: Path, units: int) -> Spent:
    known.generate(folder, units, TESTS)
    return known.planned(folder, f"--pr={units // 2}")


def _all_planned(folder: Path, units: int) -> Spent:
    known.generate(folder, units, TESTS, built=False)
    return known.planned(folder)


def _predicted(folder: Path, units: int) -> Spent:
    store = Store(folder / "data")
    write_records(store.dataset(REPO), [make_instance(number) for number in range(1, units + 1)])
    return _data(store, "predict", str(REPO), "nop")


def _campaign_planned(folder: Path, units: int) -> Spent:
    """With each model's answers to ten instances, and a budget."""
    store, file = Store(folder / "data"), folder / "campaign.toml"
    write_records(store.dataset(REPO), [make_instance(number) for number in range(1, 11)])
    names = [f"model-{number}" for number in range(units // 10)]
    (folder / "models.yaml").write_text("model_list:\n" + "".join(map(MODEL.format, names)))
    (folder / "settings.toml").write_text('retrieval = { model = "" }\n')
    agent = '[[agents]]\nsettings = "settings.toml"\n'
    file.write_text(
        f'models = {json.dumps(names)}\nmodel_list = "models.yaml"\nbudget = 9\n[[datasets]]\nrepo = "{REPO}"\n{agent}'
    )
    return _data(store, "campaign", str(file), "--plan", "--json")


def _regraded(folder: Path, units: int) -> Spent:
    store = Store(folder / "data")
    evaluate.generate(store, units, TESTS)
    return _data(store, "regrade", str(REPO), "model-a")


def _exported(folder: Path, units: int) -> Spent:
    store = Store(folder / "data")
    write_records(store.dataset(REPO), [make_instance(number) for number in range(1, units + 1)])
    words = ("export", str(REPO), "--format", "multi-swe-bench", "--output", str(folder / "out"))
    return _data(store, "dataset", *words)


def _seen_pages(folder: Path, units: int) -> Evaluation:
    """Five pages for each case, with observations of a browser."""
    return keep(Evaluation(make_run(Store(folder / "data"), folder / "cases", cases=units // 5)), [SEEN[0]] * 5)


def _pages_judged(folder: Path, units: int) -> Spent:
    return _data(_seen_pages(folder, units).run.store, "pages", "eval")


def _pages_reported(folder: Path, units: int) -> Spent:
    evaluation = _seen_pages(folder, units)
    evaluation.evaluate()
    return _data(evaluation.run.store, "pages", "report")


def _analyzed(folder: Path, units: int) -> Spent:
    return _data(analysis(Store(folder / "data"), Size(units, 1, TESTS)), "analyze")


#: stage and its unit -> a function that measures it at a size
STAGES: dict[str, Callable[[Path, int], Spent]] = {
    "collect, pull requests of GitHub": _collected,
    "collect, commits of a clone": _mined,
    "triage, candidates listed": _listed,
    "build, candidates known and one asked for": _one_planned,
    "build, candidates asked for": _all_planned,
    "predict, instances": _predicted,
    "campaign, answers planned": _campaign_planned,
    "evaluate, stored runs": _regraded,
    "analyze, verdicts": _analyzed,
    "dataset export, instances": _exported,
    "pages, seen pages judged": _pages_judged,
    "pages report, pages": _pages_reported,
}


@click.command()
@click.option("--size", "sizes", type=int, multiple=True, default=SIZES, show_default=True, help="Units, rising.")
@click.option("--only", multiple=True, help="Stages whose name begins so [default: all].")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here too.")
def main(sizes: Sequence[int], only: Sequence[str], path: Path | None) -> None:
    """Measure how stages grow; exit code 1 where one grows faster than its units."""
    chosen = [name for name in STAGES if not only or name.startswith(tuple(only))]
    report("growth", [figure for name in chosen for figure in figures(name, sizes)], path)


def figures(stage: str, sizes: Sequence[int]) -> Iterator[Figure]:
    """Seconds and memory at every size, and their exponents."""
    grown = list(measured(partial(STAGES[stage]), sizes))
    for one in grown:
        yield Figure(f"{stage}: {one.units:,}", one.spent.processor, "s of the processor")
        yield Figure(f"{stage}: {one.units:,}", one.spent.memory / 1e6, "MB")
    yield Figure(f"{stage}: exponent of time", exponent([(a, b.processor) for a, b in grown]), "", ("at most", MOST))
    yield Figure(f"{stage}: exponent of memory", exponent([(a, b.memory) for a, b in grown]), "", ("at most", MOST))


def measured(work: Callable[[Path, int], Spent], sizes: Sequence[int]) -> Iterator[Grown]:
    """Each size in a folder of its own."""
    for units in sizes:
        with TemporaryDirectory() as folder:
            yield Grown(units, work(Path(folder), units))


def exponent(points: Sequence[tuple[int, float]]) -> float:
    """How the last value grew with its size: the slope in logarithms."""
    (size, value), (larger, most) = list(pairwise(points))[-1]
    return math.log(most / value) / math.log(larger / size)


if __name__ == "__main__":
    main()
