"""Benchmark of stage 04: what a verdict costs beside its test run, and verdicts given anew from stored logs.

`just bench evaluate [--data DIR --repo ORG/REPO] [--instances 10] [--models 10] [--jobs 2] [--json FILE]`. With a data
directory (nothing is written there) its instances are evaluated in the engine: each model's patch is gold's with a file
of its own, so that no two are the same. One at a time, a verdict is compared with a run of the tests alone, in the same
image with a filled cache. A patch that fails a test has no counter-runs, so the time without them is its time. Without
a data directory this part is left out. The report is the console program on generated runs of Jest, so start-up counts;
the reader of texts is that of `logs`. Writes a temporary folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from factories import REPO, make_instance, make_prediction

from benchmarks import logs
from benchmarks.goals import Figure, report
from pipeline.core.cache import cache_root
from pipeline.core.dataset import read_dataset
from pipeline.core.names import Repo, parse_repo
from pipeline.core.progress import Progress
from pipeline.core.records import CounterRuns, Instance, Outcome
from pipeline.core.retry import PATIENT
from pipeline.core.store import Store, digest, write_json, write_records
from pipeline.core.work import Tell
from pipeline.evaluate import kept
from pipeline.evaluate.grade import of_tested
from pipeline.evaluate.runs import How, PatchRuns, patch_runs
from pipeline.execution import counter, images
from pipeline.execution.control import Control
from pipeline.execution.run import PatchRun, TestRun
from pipeline.execution.runs import run_gold, run_patch
from pipeline.sandbox.base import DEFAULT
from pipeline.sandbox.docker.sandbox import DockerSandbox

RUN = "20240506T070809Z"
TESTS = Path(__file__).parents[1]
OWN = "diff --git a/{0} b/{0}\nnew file mode 100644\n--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+{0}\n"


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), help="A data directory with a dataset.")
@click.option("--repo", help="Whose instances are evaluated, org/repo.")
@click.option("--instances", default=10, show_default=True, help="Instances that are evaluated.")
@click.option("--models", default=10, show_default=True, help="Patches of each.")
@click.option("--jobs", default=2, show_default=True, help="Patches that are run side by side.")
@click.option("--reports", default=1000, show_default=True, help="Instances of the report.")
@click.option("--tests", default=500, show_default=True, help="Tests of each of these.")
@click.option("--megabytes", default=60, show_default=True, help="Size of the log.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Where to write the figures.")
def main(
    data: Path | None,
    repo: str | None,
    instances: int,
    models: int,
    jobs: int,
    reports: int,
    tests: int,
    megabytes: int,
    path: Path | None,
) -> None:
    """Measure stage 04 against its goals."""
    figures = [*_reported(reports, tests), *logs.figures(megabytes)]
    if data and repo:
        figures += _evaluated(data, parse_repo(repo), instances, models, jobs)
    report("evaluate", figures, path)


# -- verdicts with their runs ----------------------------------------------------------------------------------------
def _evaluated(data: Path, repo: Repo, instances: int, models: int, jobs: int) -> Iterator[Figure]:
    sandbox, chosen = DockerSandbox(cache_root()), read_dataset(Store(data), repo)[:instances]
    sandbox.check()
    clone = images.source(Store(data), repo)
    with TemporaryDirectory() as folder, Progress("evaluating", 3 * len(chosen)) as progress:
        patches = patch_runs(Store(Path(folder)), repo, How(sandbox, DEFAULT, PATIENT), clone)
        warm = {picked.instance_id: _warm(patches, picked, progress.hear) for picked in chosen}
        tests = sum(warm.values())
        plain = [picked.model_copy(update={"counter_runs": CounterRuns()}) for picked in chosen]
        started = time.monotonic()
        for one in plain:
            _graded(patches, one, "plain", progress.hear)
        alone, started = time.monotonic() - started, time.monotonic()
        for one in chosen:
            _graded(patches, one, "countered", progress.hear)
        against = time.monotonic() - started - alone
        rounds = {"failing": plain, "passing": chosen}
        asked = {
            name: [(round_, f"{name}-{number}") for number in range(models) for round_ in rounds[name]]
            for name in rounds
        }
        failing, passing = (_all_at_once(patches, pairs, jobs, progress.hear) for pairs in asked.values())
    yield Figure("one warm run of its tests, mean", tests / len(chosen), "s")
    yield Figure("a verdict, by one warm run of its tests", alone / tests, "x", ("at most", 1.3))
    yield Figure("counter-runs, by one warm run of its tests", against / tests, "x", ("at most", 2))
    yield Figure(f"{len(chosen)} instances x {models} models, {jobs} at a time", passing, "s")
    yield Figure(
        "verdicts an hour, counter-runs and all", 3600 * len(asked["passing"]) / passing, "", ("at least", 300)
    )
    yield Figure(
        "verdicts an hour, without counter-runs", 3600 * len(asked["failing"]) / failing, "", ("at least", 300)
    )


def _all_at_once(patches: PatchRuns, asked: Sequence[tuple[Instance, str]], jobs: int, hear: Tell) -> float:
    """Seconds for the patches of these models, `jobs` side by side."""
    started = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda pair: _graded(patches, pair[0], pair[1], hear), asked))
    return time.monotonic() - started


def _warm(patches: PatchRuns, instance: Instance, hear: Tell) -> float:
    """Seconds of the test command alone, with gold, in a workspace with a filled cache."""
    plan, _ = patches.request(instance, instance.fix_patch).plan(hear)
    gold = (instance.fix_patch, instance.test_patch)
    steps = [("test", instance.test_patch), ("fix", instance.fix_patch)]
    run_gold(plan, steps, cache="fill")
    run_patch(plan, "", *gold, instance.expected_files, cache="fill")
    form = counter.form_of(instance.counter_runs)
    counter.run("disguised", plan, "", *gold, instance.expected_files, form=form, cache="fill")
    return min(run_gold(plan, steps, cache="use").seconds for _ in range(2))


def _graded(patches: PatchRuns, instance: Instance, model: str, hear: Tell) -> TestRun:
    """A stored run, graded as `evaluate` does it."""
    patch = instance.fix_patch + OWN.format(model)
    tested = patches.request(instance, patch).perform(hear)
    patches.keep(instance, patch, tested)
    graded = of_tested(instance, tested)
    if graded.outcome is not Outcome.RESOLVED:
        raise SystemExit(f"{instance.instance_id}: {graded}")
    return tested.run


# -- verdicts from stored runs ---------------------------------------------------------------------------------------
def _reported(instances: int, tests: int) -> Iterator[Figure]:
    with TemporaryDirectory() as folder:
        store = Store(Path(folder) / "data")
        generate(store, instances, tests)
        command = [Path(sys.executable).with_name("a11y-bench"), "regrade", str(REPO), "model-a"]
        before, started = os.times(), time.perf_counter()
        subprocess.run([*command, "--data", str(store.root)], check=True, stdout=subprocess.DEVNULL, cwd=TESTS.parent)
        seconds, after = time.perf_counter() - started, os.times()
    yield Figure(f"report of {instances:,} instances x {tests} tests", seconds, "s", ("at most", 3))
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    yield Figure("of it the processor", processor, "s")


def generate(store: Store, count: int, tests: int) -> None:
    """Runs of Jest for as many instances; gold fixes one test of each."""
    titles = [f"case {number} keeps the focus where it was" for number in range(tests)]
    named = {f"src/Menu.test.tsx > Menu > {title}": "PPP" for title in titles} | {
        f"src/Menu.test.tsx > Menu > {titles[0]}": "PFP"
    }
    instances = [make_instance(number, tests=named) for number in range(1, count + 1)]
    predictions = [make_prediction(instance.number, model_name_or_path="model-a", run=RUN) for instance in instances]
    write_records(store.dataset(REPO), instances)
    write_records(store.predictions(REPO, "magentless", "model-a") / RUN / "predictions.jsonl", predictions)
    run, names = _run(titles), {}
    for one, prediction in zip(instances, predictions, strict=True):
        inputs = kept.run_digests(one, prediction.model_patch) | {"instance": one.instance_id}
        names[one.instance_id] = digest(inputs)
        kept.save(kept.unit_of(store.root, REPO, names[one.instance_id]), PatchRun(run), inputs)
    write_json(store.evaluation(REPO, "magentless", "model-a") / "runs.json", names)


def _run(titles: list[str]) -> TestRun:
    """The output of Jest when everything passes except the control."""
    fields = {"ancestorTitles": ["Menu"], "duration": 12, "failureMessages": [], "location": None, "status": "passed"}
    cases = [fields | {"fullName": f"Menu {title}", "title": title} for title in titles]
    cases.append(fields | {"fullName": "c0", "title": "c0", "status": "failed", "ancestorTitles": []})
    suites = [{"name": "/repo/src/Menu.test.tsx", "status": "failed", "assertionResults": cases, "message": ""}]
    counts = {"numPassedTests": len(titles), "numFailedTests": 1, "numPendingTests": 0, "numTodoTests": 0}
    report = json.dumps({"success": False, **counts, "testResults": suites}).encode()
    log, control = b"$ jest\nTest results written to: r.json\n", Control({"src/Menu.test.tsx": "c0"})
    return TestRun(code=1, place="/scratch/r.json", root="/repo", log=log, report=report, control=control)


if __name__ == "__main__":
    main()
