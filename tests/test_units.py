"""Every kind of unit is plain data: it survives cloudpickle, and gives the same results in threads and elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import factories
import pytest
from dask_double import Dask
from evaluate.assess.judge.conftest import convened, question
from evaluate.assess.test_stage import EQUIVALENT
from evaluate.conftest import FIX, WRONG, Evaluation
from tiny_library import IMPATIENT, LIMITS, Bench

from pipeline.build.qualify import Settings, request
from pipeline.core import cluster
from pipeline.core.git import open_clone
from pipeline.core.retry import PATIENT
from pipeline.core.store import Store
from pipeline.core.work import ENGINES, Request, each, silent
from pipeline.evaluate.assess.evidence import audits_of, snapshots_of
from pipeline.evaluate.assess.request import Assessed, Examine
from pipeline.evaluate.assess.stories.part import look
from pipeline.evaluate.grade import of_tested, sign
from pipeline.evaluate.runs import How, patch_runs
from pipeline.llm.experiment import Experiment
from pipeline.predict import regression
from pipeline.predict.agents import Agent, Call
from pipeline.predict.request import Ask
from pipeline.predict.run import open_run
from pipeline.sandbox.base import DEFAULT


@pytest.fixture(params=["processes", pytest.param("dask", marks=pytest.mark.engine("git"))])
def engines(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Threads, and another engine to compare with: processes, or two Dask workers."""
    assert {"threads", "processes", "dask"} == set(ENGINES)
    if request.param == "processes":
        yield ["threads", request.param]
        return
    with Dask(tmp_path) as dask:
        monkeypatch.setenv(cluster.ADDRESS, dask.address)
        yield ["threads", request.param]


#: pull requests that together end in each way; logs of installs contain times and are left out
SOME = ("menu", "badge", "toggle", "alert", "dialog", "icon", "grid")


def qualify(bench: Bench, folder: Path) -> Request[Any]:
    settings = Settings(bench.sandbox, repeats=1)
    return request(settings, open_clone(bench.library), bench.candidate("alert"), "an environment")


def run_patch(bench: Bench, folder: Path) -> Request[Any]:
    clone = open_clone(bench.library)
    runs = patch_runs(bench.store, factories.REPO, How(bench.sandbox, DEFAULT, PATIENT), clone)
    return runs.request(bench.instance("menu"), FIX)


def ask(bench: Bench, folder: Path) -> Request[Any]:
    script = folder / "agent.py"
    script.write_text(
        "import json, pathlib, sys\nout = pathlib.Path(sys.argv[1])\n(out / 'patch.diff').write_text('a patch')\n"
        "(out / 'metadata.json').write_text(json.dumps({'outcome': 'DONE'}))\n"
    )
    instance = bench.instance("menu")
    agent = Agent("fake", folder, script, Call(command=("{python}", str(script), "{out}")))
    clone, url = str(open_clone(bench.library).place), "http://127.0.0.1:9/v1"
    return Ask(agent, "a", instance.task(), instance.base.sha, clone, url, "a key", str(folder / "cache"))


def choose(bench: Bench, folder: Path) -> Request[Any]:
    run = open_run(bench.store, Experiment(str(factories.REPO), "model-a", "fake", "settings"))
    menu = bench.instance("menu")
    run.unit(menu).finish({"patch": FIX, "outcome": "DONE"})
    return regression.request(bench.sandbox, open_clone(bench.library), run, menu)


def examine(bench: Bench, folder: Path, name: str = "toggle", patch: str = EQUIVALENT) -> Request[Any]:
    """All parts of the evidence; the folder contains no earlier results."""
    how = How(bench.sandbox, LIMITS, IMPATIENT)
    runs = patch_runs(Store(folder / "evidence"), factories.REPO, how, open_clone(bench.library))
    instance = bench.instance(name)
    tested = runs.request(instance, patch).perform(silent)
    verdict = sign(instance, "magentless", "model-a", "run", None, of_tested(instance, tested))
    parts = {"snapshot": snapshots_of, "axe": audits_of, "stories": look}
    return Examine(Assessed(instance, verdict, patch), runs, parts)


@pytest.mark.parametrize("make", [qualify, run_patch, ask, choose, examine])
def test_requests_and_results_survive_cloudpickle(
    tiny: Bench, tmp_path: Path, make: Callable[[Bench, Path], Request[Any]]
) -> None:
    """Engines for several machines send them this way."""
    survives(make(tiny.copy(tmp_path), tmp_path))


@pytest.mark.parametrize("make", [qualify, run_patch, ask, choose, examine])
def test_a_request_names_its_clone(tiny: Bench, tmp_path: Path, make: Callable[[Bench, Path], Request[Any]]) -> None:
    """A worker without the clone is sent its objects."""
    made: Any = make(tiny.copy(tmp_path), tmp_path)
    assert made.clone == str(open_clone(tiny.library).place)


def test_samples_of_a_question_survive_cloudpickle(tmp_path: Path) -> None:
    with convened(tmp_path) as court:
        here = court(3, 2, "no rating")
        survives(here.panel().request(here.gateway, question("patch")))


def survives(made: Request[Any]) -> None:
    again = cloudpickle.loads(cloudpickle.dumps(made))
    assert again == made
    result = again.perform(silent)
    assert cloudpickle.loads(cloudpickle.dumps(result)) == result
    assert cloudpickle.loads(cloudpickle.dumps(made.failed(ValueError("a mistake")))) == made.failed(
        ValueError("a mistake")
    )


def test_keys_are_not_in_the_repr_of_requests(tiny: Bench, tmp_path: Path) -> None:
    assert "a key" not in repr(ask(tiny.copy(tmp_path), tmp_path))
    with convened(tmp_path) as court:
        here = court(3)
        sample = here.panel().request(here.gateway, question("patch"))
        assert sample.request.key and sample.request.key not in repr(sample)


@pytest.mark.invariant(3)
def test_a_build_gives_the_same_bytes_everywhere(tiny: Bench, tmp_path: Path, engines: list[str]) -> None:
    written = {}
    for engine in engines:
        fresh = Bench(tmp_path / engine, tiny.library, tiny.cache)
        fresh.collect()
        fresh.build(*SOME, engine=engine, jobs=2)
        folder = fresh.store.root / "02_dataset"
        written[engine] = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.suffix in (".jsonl", ".toml")
        }
        units = sorted(str(path.relative_to(folder)) for path in folder.glob("*/units/*/*"))
        written[engine]["units"] = json.dumps(units).encode()
    assert written["threads"] == written[engines[1]]
    assert f"{factories.REPO.slug}.jsonl" in written["threads"]


@pytest.mark.invariant(3)
def test_verdicts_are_the_same_bytes_everywhere(tiny: Bench, tmp_path: Path, engines: list[str]) -> None:
    written = []
    for engine in engines:
        evaluation = Evaluation(tiny.copy(tmp_path / engine))
        evaluation.predict(menu=FIX, badge=WRONG, toggle=FIX)
        evaluation.evaluate(engine=engine)
        (path,) = evaluation.store.root.glob("04_evaluation/**/verdicts.jsonl")
        written.append(path.read_bytes())
    assert written[0] == written[1]


@pytest.mark.invariant(3)
def test_evidence_is_the_same_bytes_everywhere(tiny: Bench, tmp_path: Path, engines: list[str]) -> None:
    """The result is complete: the unit itself keeps nothing."""
    bench, found = tiny.copy(tmp_path), {}
    requests = [examine(bench, tmp_path), examine(bench, tmp_path, "menu", bench.instance("menu").fix_patch)]
    for engine in engines:
        results = {request.name: result for request, result in each(requests, jobs=2, engine=engine)}
        found[engine] = [results[request.name] for request in requests]
    first, second = ([result._replace(tested=None) for result in found[engine]] for engine in engines)
    assert first == second
    toggle, menu = found[engines[1]]
    assert (len(toggle.made), toggle.tested.run.end) == (4, "ran")
    assert toggle.evidence.updated.new != toggle.evidence.base.new
    assert (menu.tested, menu.evidence.updated, sorted(menu.evidence.notes)) == (None, None, ["axe", "stories"])
    assert not (tmp_path / "evidence").exists()


@pytest.mark.invariant(3)
def test_ratings_are_the_same_everywhere(tmp_path: Path, engines: list[str]) -> None:
    found = []
    for engine in engines:
        with convened(tmp_path / engine) as court:
            here = court(3)
            panel = here.panel()
            assert here.ask(panel, "a patch", "another", jobs=2, engine=engine) == {}
            found.append([panel.judgement(question(patch)) for patch in ("a patch", "another")])
            assert len(here.speaker.requests) == 6
    assert found[0] == found[1]
    assert [len(result.ratings) for result in found[0]] == [3, 3]
