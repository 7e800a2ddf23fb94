"""Existing tests choose among an agent's proposals: which tests are run, and which proposal is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import factories
import pytest
from tiny_library import IMPATIENT, Bench

from pipeline.core.errors import InfrastructureError
from pipeline.core.git import open_clone
from pipeline.core.progress import Progress
from pipeline.llm.experiment import Experiment
from pipeline.predict import regression
from pipeline.predict.regression import Choice, choose, chosen, missing, request
from pipeline.predict.run import Run, open_run


def patch(text: str, path: str = "src/menu.js") -> str:
    """A patch that replaces the content of `path`."""
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-old\n+{text}\n"


BREAKS, KEEPS, ALSO_KEEPS, STALE = (
    patch("new"),
    patch("old new"),
    patch("old, and new"),
    patch("x").replace("-old", "-y"),
)
Choose = Callable[..., Choice | None]


@pytest.fixture
def run(bench: Bench) -> Run:
    return open_run(bench.store, Experiment(str(factories.REPO), "model-a", "fake", "settings"))


@pytest.fixture
def chosen_of(bench: Bench, run: Run) -> Iterator[Choose]:
    """`choose(proposals)`: the choice for an answer to `menu`, or None. The sandbox counts runs."""
    clone = open_clone(bench.library)
    menu = bench.instance("menu")

    def made(proposals: Sequence[str] = ()) -> Choice | None:
        unit = run.unit(menu)
        (unit.folder / "proposals").mkdir(parents=True, exist_ok=True)
        for number, text in enumerate(proposals, 1):
            (unit.folder / "proposals" / f"{number}.diff").write_text(text)
        unit.finish({"patch": "the answer", "outcome": "DONE"}, **run.inputs(menu))
        bench.sandbox.opened.clear()
        with Progress("choosing", 1) as progress:
            choose(
                run, [request(bench.sandbox, clone, run, instance, IMPATIENT) for instance in missing(run)], progress, 1
            )
        result = chosen(run, menu).result() if menu not in missing(run) else None
        if result:
            assert result["patch"] == (proposals or ["the answer"])[result["number"]]
        return result and Choice(result["number"], tuple(result["broken"]))

    return made


@pytest.mark.parametrize(
    ("proposals", "taken", "broken"),
    [
        ((BREAKS, KEEPS, ALSO_KEEPS), 1, (1, 0)),
        ((KEEPS, BREAKS), 0, (0,)),
        ((STALE, BREAKS), 0, (1, 1)),
        ((STALE, KEEPS), 1, (1, 0)),
    ],
)
def test_the_first_proposal_that_breaks_fewest_tests_is_chosen(
    chosen_of: Choose, proposals, taken: int, broken: tuple[int, ...]
) -> None:
    """Votes decide between equal proposals; of two that break the same number of tests, the first has more votes."""
    assert chosen_of(proposals) == Choice(taken, broken)


def test_proposals_without_a_choice_run_no_tests(chosen_of: Choose, bench: Bench) -> None:
    """An agent with no proposal or only one, and files that no existing test belongs to."""
    for proposals in ((), (BREAKS,), (patch("a", "src/none.js"), patch("b", "src/none.js"))):
        assert chosen_of(proposals) == Choice(0)
        assert bench.sandbox.opened == []


@pytest.mark.invariant(1)
def test_gold_tests_are_not_used_to_choose(chosen_of: Choose) -> None:
    """The pull request's own test would choose the fix: `named` passes only with the second proposal."""
    assert chosen_of((patch("old or so"), KEEPS)) == Choice(0, (0,))


def test_changes_of_tests_by_a_proposal_do_not_count(chosen_of: Choose) -> None:
    """Otherwise a proposal that rewrites the test it breaks would be the first to break none."""
    line = "works | src/menu.js | "
    rewritten = patch(f"{line}new", "src/menu.test.js").replace("-old", f"-{line}old")
    assert chosen_of((BREAKS + rewritten, KEEPS)) == Choice(1, (1, 0))


@pytest.mark.invariant(7)
def test_other_files_beside_proposals_are_ignored(chosen_of: Choose, bench: Bench, run: Run) -> None:
    """A file with another name is no proposal, nor is one that is not a text: neither makes the answer fail."""
    folder = run.unit(bench.instance("menu")).folder / "proposals"
    folder.mkdir(parents=True)
    (folder / "notes.diff").write_text("mine")
    assert chosen_of((BREAKS, KEEPS)) == Choice(1, (1, 0))
    (folder / "3.diff").write_bytes(b"\xff")
    assert chosen_of((BREAKS, KEEPS)) == Choice(1, (1, 0))


def test_an_agent_cannot_keep_the_tests_running(chosen_of: Choose, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each proposal takes a run of the tests, so those after the first and those that are too long are ignored."""
    monkeypatch.setattr(regression, "MOST", 2)
    assert chosen_of((BREAKS, BREAKS + "\n", KEEPS)) == Choice(0, (1, 1))
    monkeypatch.setattr(regression, "LONGEST", len(KEEPS))
    assert chosen_of((KEEPS, KEEPS + "\n")) == Choice(0)


def test_a_choice_is_kept_until_proposals_change(chosen_of: Choose, bench: Bench) -> None:
    chosen_of((BREAKS, KEEPS))
    assert chosen_of((BREAKS, KEEPS)) == Choice(1, (1, 0)) and bench.sandbox.opened == []
    assert chosen_of((KEEPS, BREAKS)) == Choice(0, (0,)) and bench.sandbox.opened


@pytest.mark.invariant(4)
@pytest.mark.rule("not-evaluated-is-retried")
def test_a_broken_machine_keeps_the_answer(chosen_of: Choose, bench: Bench, run: Run) -> None:
    """Nothing is chosen, the model's answer stays, and the next run chooses."""
    menu = bench.instance("menu")
    bench.sandbox.broken[menu.image] = InfrastructureError("the engine is gone", cause="engine")
    assert chosen_of((BREAKS, KEEPS)) is None
    assert menu not in run.missing()
    bench.sandbox.broken.clear()
    assert chosen_of((BREAKS, KEEPS)) == Choice(1, (1, 0))
