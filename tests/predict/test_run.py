"""Which run is gone on with, and which is displaced."""

from __future__ import annotations

from dataclasses import replace

import factories
import pytest
from tiny_library import Bench

from pipeline.core.errors import UserError
from pipeline.core.store import digest, read_json, write_records
from pipeline.llm.experiment import Experiment
from pipeline.predict.run import Run, newest, open_run, resume

REPO = factories.REPO
EXPERIMENT = Experiment(str(REPO), "model-a", "magentless", "settings-1")


def answer(run: Run, place: int = 0) -> None:
    instance = run.instances[place]
    run.unit(instance).finish({"patch": "", "outcome": "DONE"}, run=run.digest, task=digest(instance.task()))


@pytest.mark.rule("run-identity")
def test_the_same_experiment_goes_on(bench: Bench) -> None:
    """What is answered is not asked, and not paid for, again."""
    first = open_run(bench.store, EXPERIMENT)
    answer(first)
    again = open_run(bench.store, EXPERIMENT)
    assert (again.name, again.digest) == (first.name, first.digest)
    assert [one.number for one in again.missing()] == [one.number for one in first.instances[1:]]
    assert not bench.store.archive_root.exists()


@pytest.mark.rule("run-identity")
@pytest.mark.parametrize("change", ["settings", "statement", "instances", "fresh"])
def test_anything_else_is_another_run_and_displaces_the_old_one(bench: Bench, change: str) -> None:
    """Answers to other questions must not be mixed with these; nothing is thrown away."""
    first = open_run(bench.store, EXPERIMENT)
    answer(first)
    experiment = replace(EXPERIMENT, settings="settings-2") if change == "settings" else EXPERIMENT
    if change in ("statement", "instances"):
        reworded = [one.model_copy(update={"body": "another text"}) for one in first.instances]
        write_records(bench.store.dataset(REPO), reworded if change == "statement" else first.instances[1:])
    second = open_run(bench.store, experiment, fresh=change == "fresh")
    assert second.name > first.name
    assert second.missing() == list(second.instances)
    assert newest(bench.store, experiment) == second.folder and not first.folder.exists()
    (old,) = bench.store.archive_root.glob(f"*/03_predictions/repair/magentless/*/model-a/{first.name}")
    assert read_json(old / "run.json")["settings"] == "settings-1"
    assert (old / "instances" / first.instances[0].instance_id / "manifest.json").exists()


@pytest.mark.rule("nothing-overwritten")
def test_a_stop_before_the_new_run_is_there_leaves_the_old(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old runs were moved away first: a stop in between left no run at all."""

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    first = open_run(bench.store, EXPERIMENT)
    answer(first)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("pipeline.predict.run.write_json", killed)
        open_run(bench.store, EXPERIMENT, fresh=True)
    assert newest(bench.store, EXPERIMENT) == first.folder
    assert len(resume(bench.store, EXPERIMENT).missing()) == len(first.instances) - 1


def test_another_model_displaces_nothing(bench: Bench) -> None:
    first, other = open_run(bench.store, EXPERIMENT), open_run(bench.store, replace(EXPERIMENT, model="model-b"))
    assert first.folder.exists() and other.folder.parent != first.folder.parent


def test_oracles_run_follows_the_gold_patches(bench: Bench) -> None:
    """Its answers are the gold patches; an agent's run does not know them."""
    oracle = Experiment(str(REPO), "oracle", "oracle")
    before = [open_run(bench.store, one).digest for one in (oracle, EXPERIMENT)]
    instances = open_run(bench.store, oracle).instances
    write_records(bench.store.dataset(REPO), [one.model_copy(update={"fix_patch": "other"}) for one in instances])
    after = [open_run(bench.store, one).digest for one in (oracle, EXPERIMENT)]
    assert before[0] != after[0] and before[1] == after[1]


@pytest.mark.rule("bad-input")
def test_a_single_step_without_a_run_says_what_to_do(bench: Bench) -> None:
    with pytest.raises(UserError, match="no run of magentless with model-a") as error:
        resume(bench.store, EXPERIMENT)
    assert "just agt-preprocess acme/ui model-a" in str(error.value)


@pytest.mark.rule("bad-input")
def test_a_repository_without_a_dataset_lists_what_is_built(bench: Bench) -> None:
    with pytest.raises(UserError, match="acme/web has no dataset") as error:
        open_run(bench.store, replace(EXPERIMENT, repo="acme/web"))
    assert "built are: acme/ui; run: just build-run acme/web" in str(error.value)
