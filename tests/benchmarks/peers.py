"""Benchmark against the peers themselves: the packages multi-swe-bench and swebench beside us, on the same logs.

`just bench peers [--instances 1000] [--tests 500] [--megabytes 20] [--json FILE]`. Each package has an environment of
its own in the cache folder (`vendors/`), made at first use. Logs and predictions are generated in a temporary folder:
the text of Jest, with titles that occur once, which all three read. Seconds are the processor's, of all processes. What
the peers read or resolve otherwise than we is said, since a reader that skips lines is quick.

Rows: `start` imports what evaluates; `read` reads one large log; `report` judges results that are read already and
writes their reports; `evaluate` does it from stored runs, with their logs, as a program of its own. Making datasets and
names for the peers is not measured.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click
from factories import REPO, make_environment, make_instance, make_prediction

from benchmarks.goals import Figure, report
from benchmarks.processes import PROGRAM, Spent, spent
from pipeline.core.records import Instance, Outcome
from pipeline.core.store import Store, digest, write_json, write_records
from pipeline.core.vendors import vendor_python
from pipeline.ecosystems import parser
from pipeline.evaluate import kept
from pipeline.evaluate.final_report import final_report
from pipeline.evaluate.grade import of_run, sign
from pipeline.execution.reading import read
from pipeline.execution.run import PatchRun, TestRun

ROOT, RUN, OURS = "/workspace/repo", "20240506T070809Z", "a11y-bench"
#: package -> its script, and the module that its evaluation imports
PEERS = {
    "multi-swe-bench": ("peer_multi_swe_bench.py", "multi_swe_bench.harness.gen_report"),
    "swebench": ("peer_swebench.py", "swebench.harness.run_evaluation"),
}
#: tests in a file of the generated log
EACH = 20
#: the output of a component that warns
PRINTED = """\
  console.error
    Warning: An update to Part%d inside a test was not wrapped in act(...).

    When testing, code that causes React state updates should be wrapped into act(...):

        at Button (/workspace/repo/src/js/components/Button/Button.js:31:9)

      at printWarning (node_modules/react-dom/cjs/react-dom.development.js:86:30)

"""


class Told(NamedTuple):
    """Processor seconds, and how many tests or instances were found."""

    seconds: float
    count: int


@click.command()
@click.option("--instances", default=1000, show_default=True)
@click.option("--tests", default=500, show_default=True, help="Tests of each instance.")
@click.option("--megabytes", default=20, show_default=True, help="Size of the large log.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here too.")
def main(instances: int, tests: int, megabytes: int, path: Path | None) -> None:
    """Measure the peers and us; exit code 1 if one of them is faster."""
    report("peers", list(figures(instances, tests, megabytes)), path)


def figures(instances: int, tests: int, megabytes: int) -> Iterator[Figure]:
    """Every row for us, for each peer, and the ratio of the two."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        names = [REPO.instance_id(number) for number in range(1, instances + 1)]
        write_json(folder / "instances.json", names)
        for name, failed in (("run", 0), ("test", 5), ("fix", 0)):
            (folder / f"{name}.log").write_bytes(jest_log(tests, failed))
        (folder / "large.log").write_bytes(jest_log(_tests_of(megabytes), 0))
        what = f"{instances:,} x {tests}"
        rows: dict[str, tuple[str, Callable[[], Told]]] = {
            "start": ("start: what evaluates is imported", _start),
            "read": (f"read: a log of {megabytes} MB", lambda: _read(folder)),
            "report": (f"report: {what} from results", lambda: _report(folder, instances)),
            "evaluate": (f"evaluate: {what} from stored runs", lambda: _evaluate(folder, instances)),
        }
        _peer("multi-swe-bench", "prepare", folder)
        for action, (title, ours) in rows.items():
            yield from _row(title, ours(), {peer: _asked(peer, action, folder) for peer in PEERS})


def _row(title: str, ours: Told, peers: dict[str, Told]) -> Iterator[Figure]:
    yield Figure(f"{title}, {OURS}", ours.seconds, "s")
    for peer, told in peers.items():
        other = "" if told.count == ours.count else f" ({told.count:,} of our {ours.count:,})"
        yield Figure(f"{title}, {peer}{other}", told.seconds, "s")
        yield Figure(f"{title}, {peer} takes", told.seconds / ours.seconds, "times", ("at least", 1))


# -- the peers -------------------------------------------------------------------------------------------------------
def _asked(peer: str, action: str, folder: Path) -> Told:
    if action == "start":
        return Told(_importing(_python(peer), PEERS[peer][1]), 0)
    done = _peer(peer, action, folder)
    lines = [json.loads(line) for line in done.said.splitlines() if line.startswith('{"')]
    told = {key: value for line in lines for key, value in line.items()}
    seconds = {"read": told["whole"], "report": told.get("seconds"), "evaluate": done.processor}[action]
    return Told(seconds, told["count"])


def _peer(peer: str, action: str, folder: Path) -> Spent:
    """A peer's script, in a copy of the folder of its own."""
    own = folder / f"{peer}-{'work' if action in ('prepare', 'evaluate') else action}"
    own.mkdir(exist_ok=True)
    for one in (*folder.glob("*.log"), folder / "instances.json"):
        if not (own / one.name).exists():
            (own / one.name).symlink_to(one)
    return spent([_python(peer), str(Path(__file__).with_name(PEERS[peer][0])), action, str(own)])


@cache
def _python(peer: str) -> str:
    return str(vendor_python(peer, lambda text: click.echo(text, err=True)))


def _importing(python: str, module: str) -> float:
    """Processor seconds in addition to an empty interpreter's, once the byte code exists."""
    spent([python, "-c", f"import {module}"])
    return spent([python, "-c", f"import {module}"]).processor - spent([python, "-c", ""]).processor


# -- ours ------------------------------------------------------------------------------------------------------------
def _start() -> Told:
    return Told(_importing(sys.executable, "pipeline.evaluate.cli_regrade, pipeline.evaluate.regrade"), 0)


def _read(folder: Path) -> Told:
    log, started = (folder / "large.log").read_bytes(), time.process_time()
    found = parser("jest-text").read(log, ROOT).tests
    return Told(time.process_time() - started, len(found))


def _report(folder: Path, instances: int) -> Told:
    made, run = _instances(folder, instances), _run(folder, "fix")
    store, started = Store(folder / "ours-report"), time.process_time()
    graded = [sign(instance, "magentless", "model-a", RUN, None, of_run(instance, run)) for instance in made]
    write_records(store.evaluation(REPO, "magentless", "model-a") / "verdicts.jsonl", graded)
    write_json(store.evaluation(REPO, "magentless", "model-a") / "final_report.json", final_report(graded))
    return Told(time.process_time() - started, sum(verdict.outcome is Outcome.RESOLVED for verdict in graded))


def _evaluate(folder: Path, instances: int) -> Told:
    store, made = Store(folder / "ours"), _instances(folder, instances)
    predictions = [make_prediction(instance.number, model_name_or_path="model-a", run=RUN) for instance in made]
    place = store.predictions(REPO, "magentless", "model-a") / RUN
    write_records(store.dataset(REPO), made)
    write_records(place / "predictions.jsonl", predictions)
    run, names = _run(folder, "fix"), {}
    for one, prediction in zip(made, predictions, strict=True):
        inputs = kept.run_digests(one, prediction.model_patch) | {"instance": one.instance_id}
        names[one.instance_id] = digest(inputs)
        kept.save(kept.unit_of(store.root, REPO, names[one.instance_id]), PatchRun(run), inputs)
    write_json(store.evaluation(REPO, "magentless", "model-a") / "runs.json", names)
    done = spent([PROGRAM, "regrade", str(REPO), "model-a", "--data", str(store.root)])
    told = json.loads((store.evaluation(REPO, "magentless", "model-a") / "final_report.json").read_text())
    return Told(done.processor, told["resolved_instances"])


def _instances(folder: Path, count: int) -> list[Instance]:
    """Every test of the fixed log is expected; those that failed before count as fixed."""
    after, before = _run(folder, "fix").results, _run(folder, "test").results
    tests = {name: "PPP" if before[name] is status else "PFP" for name, status in after.items()}
    files = tuple(sorted({name.partition(" > ")[0] for name in tests}))
    environment = make_environment(parser="jest-text")
    return [make_instance(number, tests=tests, environment=environment, files=files) for number in range(1, count + 1)]


@cache
def _run(folder: Path, name: str) -> TestRun:
    """A stored run of the log, already read."""
    log = (folder / f"{name}.log").read_bytes()
    failed = b" failed," in log.rpartition(b"\nTests: ")[2]
    return read("jest-text", TestRun(code=int(failed), place="-", root=ROOT, log=b"$ jest\n" + log, report=log))


# -- the logs --------------------------------------------------------------------------------------------------------
def jest_log(tests: int, failed: int) -> bytes:
    """Jest's output for that many tests, of which the first `failed` fail; each title occurs once."""
    parts = []
    for first in range(0, tests, EACH):
        numbers = range(first, min(first + EACH, tests))
        part, word = first // EACH, "FAIL" if first < failed else "PASS"
        rows = "".join(f"    {'✕' if n < failed else '✓'} case {n} keeps the focus ({n % 9} ms)\n" for n in numbers)
        parts.append(f"{PRINTED % part}{word} src/js/Part{part}/Part{part}-test.tsx (5.1 s)\n  Part{part}\n{rows}\n")
    files, broken = len(parts), -(-failed // EACH)
    counts = (f"{broken} failed, " if failed else "", f"{failed} failed, " if failed else "")
    suites = f"Test Suites: {counts[0]}{files - broken} passed, {files} total\n"
    return "".join([*parts, suites, f"Tests:       {counts[1]}{tests - failed} passed, {tests} total\n"]).encode()


def _tests_of(megabytes: int) -> int:
    """Tests whose log has about that size."""
    return round(megabytes * 1e6 / len(jest_log(1000, 0)) * 1000)


if __name__ == "__main__":
    main()
