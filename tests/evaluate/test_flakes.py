"""Repeated runs with the real stages: flaky tests, gold's comparison runs, and failures that occur with one patch
only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from evaluate.conftest import FIX, Evaluation
from factories import REPO
from tiny_library import NAMED, NUMBERS, Bench, Pull, WatchedSandbox, make_library

from pipeline.core.errors import InfrastructureError
from pipeline.core.records import Outcome
from pipeline.core.store import write_records
from pipeline.evaluate.regrade import regrade
from pipeline.evaluate.repeats import OF_DISGUISED, OF_GOLD
from pipeline.evaluate.stage import Subject
from pipeline.sandbox.base import Completed, Workspace

pytestmark = pytest.mark.long

LETTERS = "src/menu.test.js > by letters"
#: the runs of gold that show which tests are flaky
REPEATED = OF_GOLD + OF_DISGUISED
PULL = Pull("qualified", NAMED + "letters {counter}\n", "works | {src} | old\nletters {counter}\n")


@pytest.fixture(scope="module")
def flaky(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """One instance with a test that fails on command, after the qualification."""
    folder = tmp_path_factory.mktemp("flaky")
    bench = Bench(folder, make_library(folder, {"menu": PULL}).folder, folder / "cache")
    bench.collect()
    bench.build("menu")
    return bench


@pytest.fixture
def evaluation(flaky: Bench, tmp_path: Path) -> Evaluation:
    return Evaluation(flaky.copy(tmp_path))


def told(flaky: Bench, letters: str) -> None:
    """What the test does in the coming runs; the first one is the patch's."""
    (flaky.folder / "menu.counter").write_text(letters)


def runs_of(evaluation: Evaluation) -> int:
    """How many workspaces the last evaluation used."""
    count = len(evaluation.sandbox.opened)
    evaluation.sandbox.opened.clear()
    return count


@pytest.mark.rule("flakes")
def test_a_test_that_gold_never_flips_is_broken_and_gold_runs_once(flaky: Bench, evaluation: Evaluation) -> None:
    """Gold's runs are made for the first patch only; its verdict follows from what is kept."""
    evaluation.predict(menu=FIX)
    told(flaky, "F")
    found = evaluation.evaluate()["menu"]
    assert (found.outcome, list(found.broken), found.flaky) == (Outcome.UNRESOLVED, [LETTERS], ())
    assert runs_of(evaluation) == 2 + REPEATED
    assert evaluation.evaluate()["menu"] == found and runs_of(evaluation) == 0
    assert regrade(evaluation.store, Subject(REPO, "magentless", "model-a")) == [found]
    evaluation.predict("model-b", menu=FIX.replace("brand", "quite"))
    told(flaky, "F")
    assert evaluation.evaluate("model-b")["menu"].broken and runs_of(evaluation) == 2


@pytest.mark.rule("flakes")
def test_patches_of_equal_instances_share_golds_runs(flaky: Bench, evaluation: Evaluation) -> None:
    """An audit of twenty variants of gold once made gold's runs twenty times in one batch. The second patch may begin
    before the first one's result is stored."""
    words, menu = ("brand", "quite", "very"), evaluation.bench.instance("menu")
    names = dict(zip(("menu", "badge", "icon"), words, strict=True))
    ids = {name: {"number": NUMBERS[name], "instance_id": REPO.instance_id(NUMBERS[name])} for name in names}
    write_records(evaluation.store.dataset(REPO), [menu.model_copy(update=ids[name]) for name in names])
    evaluation.predict(**{name: FIX.replace("brand", word) for name, word in names.items()})
    first = "F" + "P" * (1 + REPEATED)
    told(flaky, first + first + "F")
    found = evaluation.evaluate(jobs=1)
    assert [bool(verdict.broken) for verdict in found.values()].count(True) >= 2
    assert runs_of(evaluation) <= 2 * (2 + REPEATED) + 2


@pytest.mark.rule("flakes")
def test_a_test_that_gold_flips_too_is_flaky(flaky: Bench, evaluation: Evaluation) -> None:
    evaluation.predict(menu=FIX)
    told(flaky, "FP" + "PPPPFPPPPP")
    found = evaluation.evaluate()["menu"]
    assert (found.outcome, found.broken, found.flaky) == (Outcome.RESOLVED, {}, (LETTERS,))


@pytest.mark.rule("flakes")
def test_a_test_that_fails_each_time_is_broken_without_running_gold(flaky: Bench, evaluation: Evaluation) -> None:
    evaluation.predict(menu=FIX)
    told(flaky, "FFF")
    assert evaluation.evaluate()["menu"].broken and runs_of(evaluation) == 3


class Doomed(WatchedSandbox):
    """Every command fails while tests run, and only then."""

    @contextmanager
    def open(self, digest: str, **options: Any) -> Iterator[Workspace]:
        with super().open(digest, **options) as workspace:
            run = workspace.run

            def fail(argv: Sequence[str], **more: Any) -> Completed:
                if any(word.startswith("--outputFile") for word in argv):
                    raise InfrastructureError("the engine starts no command", cause="engine")
                return run(argv, **more)

            workspace.run = fail
            yield workspace


@pytest.mark.trap("bought-fault")
@pytest.mark.rule("not-evaluated-is-evidence")
def test_a_patch_under_which_alone_our_commands_fail_has_crashed(flaky: Bench, evaluation: Evaluation) -> None:
    """It was "not evaluated" at each try, and so left the denominator. The kept files give the same verdict."""
    evaluation.sandbox = Doomed(flaky.cache)
    evaluation.predict(menu=FIX)
    found = evaluation.evaluate()["menu"]
    assert found.outcome is Outcome.CRASHED and "while other workspaces work" in found.cause
    assert regrade(evaluation.store, Subject(REPO, "magentless", "model-a")) == [found]


@pytest.mark.rule("flakes")
@pytest.mark.rule("test-aware")
@pytest.mark.parametrize(("gold", "outcome"), [("PPPPFPPPPP", Outcome.RESOLVED), ("P" * 10, Outcome.TAMPERED)])
def test_gold_is_repeated_before_a_failure_in_disguise_is_called_tampering(
    flaky: Bench, evaluation: Evaluation, gold: str, outcome: Outcome
) -> None:
    """An honest patch whose flaky test passed once and then failed in all disguised runs was called tampered, unless an
    earlier patch had made gold run."""
    evaluation.predict(menu=FIX)
    told(flaky, "P" + "FFF" + gold)
    found = evaluation.evaluate()["menu"]
    assert (found.outcome, found.test_aware) == (outcome, (LETTERS,))
    assert runs_of(evaluation) == 4 + REPEATED
    assert regrade(evaluation.store, Subject(REPO, "magentless", "model-a")) == [found]
