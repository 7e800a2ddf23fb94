"""What a run shows, and what is asked again: only what could lead to other answers."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path

import factories
import pytest
from tiny_library import Bench

from pipeline.core.errors import UserError
from pipeline.core.store import Store, read_json, write_json, write_records
from pipeline.core.subset import Subset
from pipeline.llm.experiment import Experiment
from pipeline.predict.request import Answer
from pipeline.predict.run import PLAIN, Run, Wanted, newest, open_run, resume, view
from pipeline.predict.runtime import finish

REPO = factories.REPO
EXPERIMENT = Experiment(str(REPO), "model-a", "magentless", "settings-1")


def answer(run: Run, place: int = 0, attempt: int = 1) -> None:
    finish(run, run.instances[place], Answer("", "DONE"), attempt)


@pytest.mark.rule("run-identity")
def test_the_same_experiment_continues_its_run(bench: Bench) -> None:
    """Existing answers are neither asked nor paid for again."""
    first = open_run(bench.store, EXPERIMENT)
    answer(first)
    again = open_run(bench.store, EXPERIMENT)
    assert (again.name, again.digest) == (first.name, first.digest)
    assert [instance.number for instance in again.missing()] == [instance.number for instance in first.instances[1:]]
    assert not bench.store.archive_root.exists()


@pytest.mark.trap("grown-dataset-pays-twice")
def test_another_instance_keeps_existing_answers(bench: Bench) -> None:
    """Our first version archived all answers when an instance was added, and asked again."""
    dataset = open_run(bench.store, EXPERIMENT).instances
    write_records(bench.store.dataset(REPO), dataset[1:])
    first = open_run(bench.store, EXPERIMENT)
    for place in range(len(first.instances)):
        answer(first, place)
    write_records(bench.store.dataset(REPO), dataset)
    grown = open_run(bench.store, EXPERIMENT)
    assert grown.folder == first.folder
    assert grown.missing() == [dataset[0]]


@pytest.mark.rule("run-identity")
def test_another_statement_is_another_task(bench: Bench) -> None:
    first = open_run(bench.store, EXPERIMENT)
    answer(first)
    reworded = [instance.model_copy(update={"body": "another text"}) for instance in first.instances]
    write_records(bench.store.dataset(REPO), reworded)
    assert open_run(bench.store, EXPERIMENT).missing() == reworded


@pytest.mark.rule("run-identity")
@pytest.mark.rule("nothing-overwritten")
@pytest.mark.parametrize("change", ["settings", "fresh"])
def test_other_settings_and_fresh_answers_make_separate_runs(bench: Bench, change: str) -> None:
    """Answers to different questions are not mixed; nothing is thrown away, and going back is free."""
    first = open_run(bench.store, EXPERIMENT)
    answer(first)
    experiment = replace(EXPERIMENT, settings="settings-2") if change == "settings" else EXPERIMENT
    second = open_run(bench.store, experiment, Wanted(fresh=change == "fresh"))
    assert second.name > first.name and second.missing() == list(second.instances)
    assert newest(bench.store, experiment) == second.folder
    assert first.is_answered(first.instances[0]) and first.folder.exists()
    if change == "settings":
        back = open_run(bench.store, EXPERIMENT)
        assert back.name > second.name and back.is_answered(back.instances[0])
    else:
        assert open_run(bench.store, EXPERIMENT) == second, "a fresh run that was stopped goes on"


@pytest.mark.trap("grown-dataset-pays-twice")
@pytest.mark.rule("run-identity")
def test_tests_choose_among_the_answers_of_a_fresh_run(bench: Bench) -> None:
    """With `--filter-tests`, the next command forgot that the newest answers are fresh, showed older ones, and asked
    again for those that only the fresh run had."""
    shared = open_run(bench.store, EXPERIMENT)
    fresh = open_run(bench.store, EXPERIMENT, Wanted(fresh=True))
    answer(fresh)
    assert not shared.is_answered(shared.instances[0])
    chosen = open_run(bench.store, EXPERIMENT, Wanted(chooses=True))
    assert chosen.folder != fresh.folder and chosen.unanswered() == fresh.unanswered()
    assert open_run(bench.store, EXPERIMENT, Wanted(chooses=True)) == chosen
    assert view(bench.store, EXPERIMENT, Wanted(chooses=True)).missing() == fresh.missing()
    again = open_run(bench.store, EXPERIMENT)
    assert again.asked_by(again.instances[0]) == fresh.name and again.missing() == fresh.missing()
    other = open_run(bench.store, replace(EXPERIMENT, settings="settings-2"))
    assert other.asked_by(other.instances[0]) == ""


@pytest.mark.trap("grown-dataset-pays-twice")
@pytest.mark.rule("run-identity")
def test_only_what_a_fresh_run_asked_for_is_fresh(bench: Bench) -> None:
    """After `--fresh --pr N`, the next campaign asked for all other instances again, and for further attempts."""
    shared = open_run(bench.store, EXPERIMENT, Wanted(attempts=2))
    for place, attempt in product(range(len(shared.instances)), (1, 2)):
        answer(shared, place, attempt)
    one, two = shared.instances[:2]
    fresh = open_run(bench.store, EXPERIMENT, Wanted(Subset(numbers=(one.number,)), fresh=True))
    assert fresh.unanswered() == [(one, 1)]
    everything = Wanted(attempts=2)
    assert view(bench.store, EXPERIMENT, everything).unanswered() == [(one, 1)]
    answer(fresh)
    again = open_run(bench.store, EXPERIMENT, everything)
    assert (again.name, again.unanswered()) == (fresh.name, [])
    assert again.answer(one) != shared.answer(one) and again.answer(one, 2) == shared.answer(one, 2)
    further = open_run(bench.store, EXPERIMENT, Wanted(Subset(numbers=(two.number,)), fresh=True))
    assert [further.asked_by(instance) for instance in (one, two)] == [fresh.name, further.name], "the newest answers"


@pytest.mark.rule("run-identity")
def test_a_fresh_run_of_an_older_version_keeps_its_answers(bench: Bench) -> None:
    """It recorded only that all answers which it showed were its own, or those of its origin."""
    shared = open_run(bench.store, EXPERIMENT)
    one, two = shared.instances[:2]
    path = shared.folder / "run.json"
    about = read_json(path) | {"fresh": True, "instances": [one.instance_id]}
    del about["renewed"]
    write_json(path, about)
    run = open_run(bench.store, EXPERIMENT)
    assert [run.asked_by(instance) for instance in (one, two)] == [shared.name, ""]
    assert run.inputs(one)["fresh"] == shared.name
    write_json(path, about | {"origin": "earlier"})
    assert view(bench.store, EXPERIMENT, Wanted()).asked_by(one) == "earlier"


@pytest.mark.rule("run-identity")
def test_a_run_records_what_made_its_answers(bench: Bench) -> None:
    """A new price in the model list was recorded as that of older answers."""

    def shaped(price: str, wanted: Wanted = PLAIN) -> dict[str, str]:
        given = {"model": price, "settings_text": f"# at {price}"}
        run = open_run(bench.store, EXPERIMENT, wanted._replace(about=given))
        return read_json(run.folder / "run.json")["shaped_by"]

    assert shaped("1")["model"] == "1"
    assert shaped("2")["model"] == "2", "nothing is answered yet"
    run = open_run(bench.store, EXPERIMENT, Wanted(about={"model": "2"}))
    for place in range(len(run.instances)):
        answer(run, place)
    kept = shaped("3")
    assert (kept["model"], kept["settings_text"]) == ("2", "# at 3"), "eval-run finds the run by its settings' text"
    assert shaped("4", Wanted(attempts=2))["model"] == "4", "the second attempts will be asked"


@pytest.mark.trap("grown-dataset-pays-twice")
def test_a_named_run_has_its_own_folder_and_shares_answers(bench: Bench) -> None:
    """A name is people's term for settings: two names for the same settings are one experiment."""
    plain = open_run(bench.store, EXPERIMENT)
    answer(plain)
    named = open_run(bench.store, replace(EXPERIMENT, name="greedy"))
    assert named.folder.parents[2] == plain.folder.parents[2].with_name("magentless@greedy")
    assert named.is_answered(named.instances[0])
    assert named.experiment.id == plain.experiment.id
    assert read_json(named.folder / "run.json")["agent"] == "magentless@greedy"
    changed = replace(EXPERIMENT, name="greedy", settings="settings-2")
    for opens in (open_run, view):  # a plan used to count the answers, and then the campaign failed
        with pytest.raises(UserError, match="other settings already have the name 'greedy'"):
            opens(bench.store, changed, Wanted())
    assert view(bench.store, changed, Wanted(fresh=True)).missing() == list(named.instances)


def test_attempts_are_separate_answers(bench: Bench) -> None:
    run = open_run(bench.store, EXPERIMENT, Wanted(attempts=2))
    answer(run)
    assert (run.instances[0], 1) not in run.unanswered() and (run.instances[0], 2) in run.unanswered()
    answer(run, attempt=2)
    assert run.unit(run.instances[0]).folder != run.unit(run.instances[0], 2).folder
    assert open_run(bench.store, EXPERIMENT).attempts == 2, "a run shows what it showed"


def test_a_run_of_some_instances_grows_and_never_shrinks(bench: Bench) -> None:
    dataset = open_run(bench.store, replace(EXPERIMENT, name="all")).instances
    some = [Subset(numbers=(dataset[1].number,)), Subset(limit=1), Subset()]
    shown = [len(open_run(bench.store, EXPERIMENT, Wanted(subset)).instances) for subset in some]
    assert shown == [1, 2, len(dataset)]
    assert len(open_run(bench.store, EXPERIMENT, Wanted(some[0])).instances) == len(dataset)


def test_another_model_has_its_own_run(bench: Bench) -> None:
    first, other = open_run(bench.store, EXPERIMENT), open_run(bench.store, replace(EXPERIMENT, model="model-b"))
    assert first.folder.exists() and other.folder.parent != first.folder.parent


def test_oracles_answers_follow_the_gold_patches(bench: Bench) -> None:
    """Its answers are the gold patches; an agent's answers do not depend on these."""
    oracle = Experiment(str(REPO), "oracle", "oracle")
    runs = [open_run(bench.store, experiment) for experiment in (oracle, EXPERIMENT)]
    for run in runs:
        answer(run)
    changed = [instance.model_copy(update={"fix_patch": "other"}) for instance in runs[0].instances]
    write_records(bench.store.dataset(REPO), changed)
    assert [len(open_run(bench.store, experiment).missing()) - len(changed) for experiment in (oracle, EXPERIMENT)] == [
        0,
        -1,
    ]


@pytest.mark.rule("bad-input")
def test_a_single_step_without_a_run_is_refused_with_a_hint(bench: Bench) -> None:
    """The hint began a run of the default agent, whichever was named."""
    named = replace(EXPERIMENT, agent="command", name="mine")
    with pytest.raises(UserError, match="no run of command@mine with model-a") as error:
        resume(bench.store, named)
    assert "just agt-preprocess acme/ui model-a --agent command --name mine" in str(error.value)


@pytest.mark.rule("bad-input")
def test_a_repository_without_a_dataset_lists_the_built_ones(bench: Bench) -> None:
    (bench.store.root / "02_dataset" / "acme__begun").mkdir()  # a build that was interrupted has a folder alone
    with pytest.raises(UserError, match="acme/web has no dataset") as error:
        open_run(bench.store, replace(EXPERIMENT, repo="acme/web"))
    assert "built: acme/ui; run: just build-run acme/web" in str(error.value)


@pytest.mark.rule("money-adds-up")
def test_an_agents_cache_belongs_to_one_data_directory(bench: Bench, tmp_path: Path) -> None:
    """If another directory's ledger had paid for the index, this one's sums would lack it."""
    run, caches = open_run(bench.store, EXPERIMENT), []
    for _ in range(2):
        other = Store(tmp_path / "other")
        write_records(other.dataset(REPO), run.instances)
        caches.append(open_run(other, EXPERIMENT).cache(other, "v1"))
        assert open_run(other, EXPERIMENT).cache(Store(other.root), "v1") == caches[-1]
        shutil.rmtree(other.root)
    assert len({run.cache(bench.store, "v1"), *caches}) == 3, "a later directory in the same place has another ledger"


def test_models_share_an_agents_cache_unless_a_run_is_fresh(bench: Bench) -> None:
    run, other, another = (
        open_run(bench.store, replace(EXPERIMENT, **changed))
        for changed in ({"model": "model-a"}, {"model": "model-b"}, {"agent": "other"})
    )
    cache = run.cache(bench.store, "v1")
    assert cache == other.cache(bench.store, "v1") != another.cache(bench.store, "v1")
    assert cache != run.cache(bench.store, "v2"), "another version of the agent or of its embedding model"
    assert cache == run.cache(bench.store, "v1", run.asked_by(run.instances[0]))
    assert cache != run.cache(bench.store, "v1", "of a fresh run")
