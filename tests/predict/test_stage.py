"""The three steps of a prediction, separately and together. Tests with the gateway are in tests/test_pipeline.py."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import factories
import pytest
from click.testing import CliRunner
from predict.conftest import Job
from tiny_library import QUALIFIED, Bench

from pipeline.core.errors import UserError
from pipeline.core.progress import Progress
from pipeline.core.records import Task
from pipeline.core.store import read_json, read_records, write_records
from pipeline.core.subset import Subset
from pipeline.llm.embedded import EmbeddedGateway
from pipeline.llm.experiment import SHARED
from pipeline.llm.ledger import OK, Booking, Key, Ledger, key_hash
from pipeline.llm.models import DEMO, SHIPPED, load_models
from pipeline.predict.cli import command
from pipeline.predict.runtime import why_unanswered
from pipeline.predict.stage import Predictor

REPO = factories.REPO
#: allows reading the demo's model list; the model is not asked
GIVEN = {"A11Y_BENCH_SCRIPTED_URL": "http://127.0.0.1:9", "A11Y_BENCH_SCRIPTED_KEY": "none"}


def oracle(bench: Bench, **more: Any) -> Predictor:
    return Predictor(bench.store, REPO, "oracle", "oracle", models=SHIPPED, **more)


def magentless(bench: Bench, settings: Path | None = None, **more: Any) -> Predictor:
    asked = {"models": DEMO, "settings": settings or DEMO.with_name("magentless.toml"), "environ": GIVEN}
    return Predictor(bench.store, REPO, "magentless", "scripted", **asked, **more)


@pytest.mark.invariant(1)
def test_preprocess_writes_what_an_agent_may_see(bench: Bench) -> None:
    run = magentless(bench).preprocess()
    tasks = read_records(run.folder / "tasks.jsonl", Task)
    assert tasks == [bench.instance(name).task() for name in QUALIFIED]
    text = (run.folder / "tasks.jsonl").read_text()
    assert "old new" not in text and bench.instance("menu").merge_sha not in text


def test_steps_can_be_taken_one_by_one(bench: Bench) -> None:
    predictor = oracle(bench)
    run = predictor.preprocess()
    assert predictor.postprocess() == []
    unanswered = dict.fromkeys((instance.instance_id for instance in run.instances), "not_asked")
    names = {instance.instance_id: run.answer(instance) for instance in run.instances}
    about = {"outcomes": {}, "unanswered": unanswered, "answers": names}
    assert read_json(run.folder / "metadata.json") == about
    predictor.runtime()
    assert len(predictor.postprocess()) == len(QUALIFIED)
    assert read_json(run.folder / "metadata.json") == {
        "outcomes": {"REFERENCE": len(QUALIFIED)},
        "unanswered": {},
        "answers": {},
    }


@pytest.mark.trap("grown-dataset-pays-twice")
def test_a_command_asks_only_about_selected_instances(bench: Bench) -> None:
    """After a stopped run of all instances, `--limit 1` used to pay for the rest of them."""
    run = oracle(bench, attempts=2).preprocess()
    some = oracle(bench, subset=Subset(limit=1))
    assert len(some.predict()) == 1
    assert some.missing() == [] and len(run.unanswered()) == 2 * len(run.instances) - 1
    assert len(oracle(bench).predict()) == len(run.instances)
    assert len(run.unanswered()) == len(run.instances), "no second attempts"
    some.preprocess()
    some.runtime()
    assert run.is_answered(run.instances[0], 2), "the single step asks for all attempts of the run"
    oracle(bench).runtime()
    assert run.unanswered() == []


def test_a_command_reports_only_selected_instances(bench: Bench) -> None:
    oracle(bench, attempts=2).preprocess()
    words = ["acme/ui", "oracle", "--data", str(bench.store.root)]
    done = CliRunner().invoke(command, [*words, "--limit", "1"])
    assert (done.exit_code, "no answer yet" in done.output) == (0, False)
    owed = CliRunner().invoke(command, [*words, "--step", "postprocess"])
    (line,) = [line for line in owed.output.splitlines() if line.startswith("no answer yet")]
    assert owed.exit_code == 1 and line.count("acme__ui-") == 2 * len(QUALIFIED) - 1


def test_a_single_runtime_step_says_what_is_missing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ended with exit code 0, so scripts took the run for complete."""
    oracle(bench, attempts=2).preprocess()
    words = ["acme/ui", "oracle", "--data", str(bench.store.root), "--step", "runtime", "--limit", "1"]
    with monkeypatch.context() as patch:
        patch.setattr(Predictor, "_answer", lambda *_: None)
        owed = CliRunner().invoke(command, words)
    assert owed.exit_code == 1 and "no answer yet" in owed.output
    done = CliRunner().invoke(command, [*words, "--attempts", "2"])
    assert (done.exit_code, "no answer yet" in done.output) == (0, False)


def test_a_finished_run_is_not_done_again(bench: Bench) -> None:
    predictor = oracle(bench)
    first = predictor.predict()
    (path,) = bench.store.predictions(REPO, "oracle", "oracle").glob("*/predictions.jsonl")
    manifests = {manifest: manifest.stat().st_mtime_ns for manifest in path.parent.rglob("manifest.json")}
    before = path.read_bytes()
    assert predictor.predict() == first
    assert path.read_bytes() == before
    assert {manifest: manifest.stat().st_mtime_ns for manifest in manifests} == manifests


@pytest.mark.trap("errors-in-predictions")
def test_unanswered_instances_have_no_prediction(bench: Bench) -> None:
    """Other systems write an error as an empty patch, which a resume takes for done."""
    predictor = magentless(bench)
    run = predictor.preprocess()
    instance = run.instances[0]
    run.unit(instance).finish({"patch": "p", "outcome": "DONE"}, **run.inputs(instance))
    run.unit(run.instances[1]).finish({"patch": "p", "outcome": "DONE"}, run="another", task="another")
    assert [prediction.instance_id for prediction in predictor.postprocess()] == [instance.instance_id]
    assert read_json(run.folder / "metadata.json")["unanswered"].keys() == {
        one.instance_id for one in run.instances[1:]
    }


def test_a_run_names_the_models_that_served_its_own_answers(bench: Bench) -> None:
    """A fresh run also named those that had served earlier runs."""
    predictor = magentless(bench)
    old, new = predictor.preprocess(), predictor.preprocess(fresh=True)
    asked, instance = predictor.experiment, old.instances[0]
    with closing(Ledger(bench.store.ledger)) as ledger:
        for model, name in (("old", old.answer(instance)), ("new", new.answer(instance)), ("index", "")):
            owner = (asked.id, asked.repo, asked.model, asked.label, asked.settings)
            ledger.issue(model, Key(model, *owner, instance.instance_id if name else SHARED, answer=name))
            ledger.serve(model, f"{model}-2026", "")
    predictor.postprocess()
    served = read_json(new.folder / "run.json")["served_by"]
    assert [one["model"] for one in served] == ["index-2026", "new-2026"]


@pytest.mark.trap("predictions-rewritten")
def test_answers_and_predictions_are_written_once(bench: Bench) -> None:
    """Another system rewrites the file of all predictions in place at each instance: this takes quadratic time, and a
    kill loses half of it."""
    predictor = oracle(bench)
    run = predictor.preprocess()
    predictor.runtime()
    path = run.folder / "predictions.jsonl"
    assert not path.exists(), "what an instance answered is in a folder of its own"
    predictor.postprocess()
    with path.open() as reader:
        run.unit(run.instances[0]).path.unlink()
        predictor.postprocess()
        assert len(reader.readlines()) == len(QUALIFIED), "who reads sees the old file or the new one"
    assert len(path.read_text().splitlines()) == len(QUALIFIED) - 1


@pytest.mark.rule("local-sandbox")
def test_only_references_and_scripts_are_trusted(bench: Bench) -> None:
    """A real model's patch is untrusted code, even from an agent that runs here."""
    assert magentless(bench).trusted
    assert not Predictor(bench.store, REPO, "mini-swe-agent", "scripted", models=DEMO, environ=GIVEN).trusted
    keys = {"DEEPINFRA_API_KEY": "secret"}
    assert not Predictor(bench.store, REPO, "magentless", "GLM-4.6", models=SHIPPED, environ=keys).trusted


@pytest.mark.rule("run-identity")
def test_other_settings_are_another_experiment(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[samples]\nsets = 3\n[retrieval]\nmodel = ""\n')
    one, other = magentless(bench), magentless(bench, tmp_path / "mine.toml")
    assert one.experiment.settings != other.experiment.settings
    one.preprocess()
    with pytest.raises(UserError, match="the newest run is of another agent or settings") as error:
        other.runtime()
    assert "just agt-preprocess acme/ui scripted" in str(error.value)


@pytest.mark.rule("run-identity")
def test_predictions_are_the_proposals_that_existing_tests_chose(bench: Bench) -> None:
    """Answers whose proposals are still to be chosen from are incomplete. Choosing this way is another run with the
    same answers."""
    assert magentless(bench).experiment == magentless(bench, tester=bench.sandbox).experiment
    assert oracle(bench).preprocess().digest != oracle(bench, tester=bench.sandbox).preprocess().digest
    predictor = oracle(bench, tester=bench.sandbox)
    run = predictor.preprocess()
    for instance in run.instances:
        run.unit(instance).finish({"patch": "the answer", "outcome": "DONE"}, **run.inputs(instance))
    folder = run.unit(run.instances[0]).folder / "proposals"
    folder.mkdir()
    (folder / "1.diff").write_text("the proposal")
    assert predictor.postprocess() == []
    assert set(read_json(run.folder / "metadata.json")["unanswered"].values()) == {"not_chosen"}
    predictor.runtime()
    patches = [prediction.model_patch for prediction in predictor.postprocess()]
    assert patches == ["the proposal", *["the answer"] * (len(run.instances) - 1)]


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("agent", "model", "message"),
    [("nobody", "scripted", "unknown agent 'nobody'"), ("magentless", "gpt-0", "unknown model 'gpt-0'")],
)
def test_an_unknown_name_is_refused_before_anything_is_written(
    bench: Bench, agent: str, model: str, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        Predictor(bench.store, REPO, agent, model, models=DEMO)
    assert not (bench.store.root / "03_predictions").exists()


@pytest.mark.rule("bad-input")
def test_a_clone_without_the_commit_is_refused(bench: Bench) -> None:
    base = factories.Base(label="acme:main", ref="main", sha="0" * 40)
    write_records(bench.store.dataset(REPO), [bench.instance("menu").model_copy(update={"base": base})])
    predictor = magentless(bench)
    predictor.preprocess()
    with pytest.raises(UserError, match=f"the clone has no commit {base.sha}"):
        predictor.runtime()


@pytest.mark.rule("locks")
def test_the_same_model_is_refused_and_another_is_not(bench: Bench) -> None:
    """Two runs with one model would write the same files; two models may run side by side."""
    nop = Predictor(bench.store, REPO, "nop", "nop", models=SHIPPED)
    oracle(bench).preprocess()
    with bench.store.lock("predict", REPO, "oracle", "oracle"):
        for step in (oracle(bench).preprocess, oracle(bench).runtime, oracle(bench).postprocess):
            with pytest.raises(UserError, match="predict of acme/ui oracle oracle is under way"):
                step()
        assert len(nop.predict()) == len(QUALIFIED)


def test_run_json_describes_the_run(bench: Bench) -> None:
    run = oracle(bench).preprocess()
    described = json.loads((run.folder / "run.json").read_text())
    assert {"repo", "agent", "model", "settings", "digest", "started", "instances", "attempts"} <= set(described)
    assert (described["repo"], described["digest"]) == ("acme/ui", run.digest)


def test_run_json_has_all_settings_and_the_text_that_changed_some(bench: Bench, tmp_path: Path) -> None:
    """The text alone does not say what the other settings were."""
    settings = tmp_path / "few.toml"
    settings.write_text("[samples]\nsets = 1\n")
    environ = {"DEEPINFRA_API_KEY": "k"}
    predictor = Predictor(
        bench.store, REPO, "magentless", "GLM-4.6", models=SHIPPED, settings=settings, environ=environ
    )
    shaped = json.loads((predictor.preprocess().folder / "run.json").read_text())["shaped_by"]
    assert (shaped["settings_text"], shaped["settings"]["samples"]["sets"]) == (settings.read_text(), 1)
    assert shaped["settings"]["samples"]["per_set"] > 1 and "retrieval" in shaped["settings"]


@pytest.mark.rule("bad-input")
def test_a_missing_key_is_refused_before_anything_is_written(bench: Bench) -> None:
    with pytest.raises(UserError, match="needs the environment variable DEEPINFRA_API_KEY"):
        Predictor(bench.store, REPO, "magentless", "GLM-4.6", models=SHIPPED, environ={})
    assert not (bench.store.root / "03_predictions").exists()


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[samples]\nset = 1\n", "field 'samples.set': Extra inputs are not permitted"),
        ("[samples]\ntemperature = nan\n", "field 'samples.temperature'"),
    ],
)
def test_unusable_settings_are_refused_first(bench: Bench, tmp_path: Path, text: str, message: str) -> None:
    """Otherwise every task would end with exit code 2, and the model would be blamed for its missing answers."""
    mine = tmp_path / "mine.toml"
    mine.write_text(text)
    with pytest.raises(UserError, match=f"magentless cannot use its settings: {mine}: {message}"):
        magentless(bench, mine)


def test_settings_may_begin_with_a_byte_order_mark(bench: Bench, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('\ufeff[retrieval]\nmodel = ""\n')
    assert magentless(bench, mine).agent.settings == mine


@pytest.mark.invariant(4)
def test_an_agent_with_unusable_input_is_not_started_again(bench: Bench, job: Callable[[str], Job]) -> None:
    predictor = magentless(bench, jobs=1)
    run, asked = predictor.preprocess(), job("print('no such field')\nsys.exit(2)").ask
    requests = [replace(asked, task=instance.task(), answer=run.answer(instance)) for instance in run.instances]
    gateway: Any = SimpleNamespace(exhausted=lambda *_: False, ledger=Ledger(bench.store.ledger))
    with Progress("predicting", len(requests)) as progress, pytest.raises(UserError, match="its input: no such field"):
        predictor.ask(gateway, run, requests, progress)
    predictor.postprocess()
    owed = read_json(run.folder / "metadata.json")["unanswered"]
    assert (len(owed), set(owed.values())) == (len(QUALIFIED), {"bad_input"})
    assert 0 < len(list(run.answers.rglob("agent.log"))) < len(QUALIFIED)


#: an agent that reports that the provider's configuration is wrong, and one that does not say why it failed
MISCONFIGURED = '(out / "error.json").write_text(json.dumps({"cause": "configuration", "message": "no"}))\nsys.exit(75)'
FAILED = "sys.exit(75)"


@pytest.mark.invariant(4)
@pytest.mark.parametrize(
    ("code", "status", "ends"),
    [
        (MISCONFIGURED, "401", True),
        (MISCONFIGURED, "404", True),
        (MISCONFIGURED, "429", True),  # an unpaid bill
        (MISCONFIGURED, "400", False),  # the request alone may be to blame
        (MISCONFIGURED, "413", False),
        (FAILED, "401", False),
    ],
)
def test_no_other_task_is_begun_with_a_wrong_key(
    bench: Bench, job: Callable[[str], Job], code: str, status: str, ends: bool
) -> None:
    """Each task paid for two chats before its request for embeddings failed."""
    predictor = magentless(bench, jobs=1)
    run, asked = predictor.preprocess(), job(code).ask
    with closing(Ledger(bench.store.ledger)) as ledger:
        gateway = EmbeddedGateway(load_models(DEMO), ledger, GIVEN)
        keys = {one.instance_id: gateway.issue_key(predictor.experiment, one.instance_id) for one in run.instances}
        for key in keys.values():
            ledger.book(ledger.open(key_hash(key), "scripted-embedding", "embedding"), Booking(status))
        requests = [
            replace(asked, task=one.task(), answer=run.answer(one), key=keys[one.instance_id]) for one in run.instances
        ]
        message = r"the model 'scripted-embedding' cannot be asked \(configuration\): no"
        expected = pytest.raises(UserError, match=message) if ends else nullcontext()
        with Progress("predicting", len(requests)) as progress, expected:
            predictor.ask(gateway, run, requests, progress)
    owed = {why_unanswered(run, instance) for instance in run.instances}
    assert owed == {"configuration" if code == MISCONFIGURED else "provider"}
    assert (len(list(run.answers.rglob("agent.log"))) < len(QUALIFIED)) is ends


@pytest.mark.trap("bought-fault")
@pytest.mark.parametrize(
    ("status", "answered", "named"), [("401", False, True), ("401", True, False), ("429", False, False)]
)
def test_an_untrusted_agent_cannot_end_its_experiment(bench: Bench, status: str, answered: bool, named: bool) -> None:
    """Once the model has answered, the agent's own request may be to blame; so may a limit per minute."""
    asked = magentless(bench).experiment
    with closing(Ledger(bench.store.ledger)) as ledger:
        gateway = EmbeddedGateway(load_models(DEMO), ledger, GIVEN)
        key = gateway.issue_key(asked, "acme__ui-1")
        for ended in ([OK] if answered else []) + [status]:
            ledger.book(ledger.open(key_hash(key), "scripted", "llm"), Booking(ended))
        assert gateway.denied(asked, key, is_certain=False) == ("scripted" if named else "")


@pytest.mark.rule("budget")
@pytest.mark.trap("bought-fault")
def test_a_task_that_is_not_begun_keeps_its_earlier_failure(bench: Bench, job: Callable[[str], Job]) -> None:
    """With a used-up budget, the same command turned agents' failures into tasks that nobody evaluates."""
    predictor = magentless(bench, jobs=1)
    run, asked = predictor.preprocess(), job("print('broken')\nsys.exit(1)").ask
    first, *others = (replace(asked, task=one.task(), answer=run.answer(one)) for one in run.instances)
    for requests, is_exhausted in (([first], False), ([first, *others], True)):
        gateway: Any = SimpleNamespace(exhausted=lambda *_, ends=is_exhausted: ends, ledger=Ledger(bench.store.ledger))
        with Progress("predicting", len(requests)) as progress:
            predictor.ask(gateway, run, requests, progress)
    predictor.postprocess()
    owed = read_json(run.folder / "metadata.json")["unanswered"]
    assert owed.pop(first.task.instance_id) == "agent_error" and set(owed.values()) == {"budget_exceeded"}
    assert b"broken" in (run.unit(run.instances[0]).folder / "agent.log").read_bytes()


@pytest.mark.rule("bad-input")
def test_every_model_named_in_settings_is_checked_first(bench: Bench, tmp_path: Path) -> None:
    """Including embeddings: a run must not fail at them after paying for the first steps."""
    mine = tmp_path / "mine.toml"
    mine.write_text('[retrieval]\nmodel = "no-such-embedding"\n')
    with pytest.raises(UserError, match=r"mine\.toml: the agent's settings name it: unknown model 'no-such-embedding'"):
        magentless(bench, mine)
    mine.write_text("[samples]\nsets = 1\n")
    with pytest.raises(UserError, match="unknown model 'Qwen3-Embedding-4B'"):
        magentless(bench, mine)
    mine.write_text('[retrieval]\nmodel = "scripted"\n')
    with pytest.raises(UserError, match="unknown embedding model 'scripted'"):
        magentless(bench, mine)
