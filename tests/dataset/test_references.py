"""Publishing needs current verdicts of both references; without them it is refused, or warns."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from factories import REPO
from tiny_library import IMPATIENT, QUALIFIED, Bench, instance_id

from pipeline.core.errors import UserError
from pipeline.core.records import Instance
from pipeline.core.store import Store, read_records, write_records
from pipeline.dataset.cli import command
from pipeline.dataset.examine import RunOptions, examine
from pipeline.dataset.references import doubts, require

MENU = instance_id("menu")


@pytest.fixture(scope="module")
def checked(tiny: Bench, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A dataset for which oracle and nop were run."""
    made = tiny.copy(tmp_path_factory.mktemp("references"))
    assert examine(made.store, REPO, RunOptions(made.sandbox, trust_local=True, patience=IMPATIENT)) == []
    return made


@pytest.fixture
def store(checked: Bench, tmp_path: Path) -> Store:
    return checked.copy(tmp_path).store


def test_a_process_that_only_publishes_registers_the_whole_law() -> None:
    """`dataset lock` imports no grading code, so each verdict was "outdated", and no dataset could be published."""
    code = "import pipeline.dataset.references; from pipeline.core.law import law; law('running', 'reading', 'grading')"
    subprocess.run([sys.executable, "-c", code], check=True)


def instances(store: Store) -> list[Instance]:
    return read_records(store.dataset(REPO), Instance)


def rewrite(store: Store, reference: str, **changes: object) -> None:
    """Change a reference's verdict on `menu`."""
    path = store.evaluation(REPO, reference, reference) / "verdicts.jsonl"
    first, *others = path.read_text().splitlines()
    assert json.loads(first)["instance_id"] == MENU
    path.write_text("\n".join([json.dumps(json.loads(first) | changes), *others]) + "\n")


def with_menu(store: Store, **changes: object) -> Sequence[Instance]:
    first, *others = instances(store)
    return [first.model_copy(update=changes), *others]


def called(store: Store, *words: str) -> tuple[BaseException | None, str]:
    result = CliRunner().invoke(command, [*words, "--data", str(store.root)])
    return result.exception, result.stderr


@pytest.mark.invariant(2)
def test_a_dataset_with_passing_references_is_published(store: Store, tmp_path: Path) -> None:
    assert doubts(store, REPO, instances(store)) == {}
    assert called(store, "lock") == (None, f"written: {store.published(REPO)}\n")
    assert called(store, "export", "--format", "swe-bench", "--output", str(tmp_path / "out"))[0] is None


@pytest.mark.invariant(2)
def test_without_verdicts_on_the_references_nothing_is_published(tiny: Bench, tmp_path: Path) -> None:
    """An export contains other people's code and is not to be published, so it only warns."""
    bench = tiny.copy(tmp_path)
    error, _ = called(bench.store, "lock")
    assert isinstance(error, UserError)
    count = len(QUALIFIED)
    more = f"no verdict: {MENU} and {count - 1} more"
    doubted = f"{count} of {count} instances without current proof that oracle resolves them and nop does not"
    assert f"{doubted}: oracle: {more}; nop: {more}" in str(error)
    assert "just agt-run acme/ui oracle and just eval-run acme/ui oracle, and the same with nop" in str(error)
    assert not bench.store.published(REPO).exists()
    for words in (("lock", "--unchecked"), ("export", "--format", "swe-bench", "--output", str(tmp_path / "out"))):
        error, output = called(bench.store, *words)
        assert error is None and "without current proof that oracle resolves" in output
    assert (tmp_path / "out").exists() and bench.store.published(REPO).exists()


@pytest.mark.invariant(2)
@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda store: rewrite(store, "oracle", outcome="unresolved"), "oracle: the outcome unresolved"),
        (lambda store: rewrite(store, "oracle", outcome="not_evaluated"), "oracle: the outcome not_evaluated"),
        (lambda store: rewrite(store, "nop", outcome="resolved"), "nop: the outcome resolved"),
        (lambda store: rewrite(store, "nop", patch_digest="0"), "nop: an outdated verdict"),
        (lambda store: rewrite(store, "oracle", law="0"), "oracle: an outdated verdict"),
        (lambda store: rewrite(store, "oracle", image="0"), "oracle: an outdated verdict"),
        (lambda store: rewrite(store, "oracle", fixed=["another test"]), "oracle: an outdated verdict"),
    ],
)
def test_a_wrong_or_outdated_verdict_on_a_reference_does_not_count(
    store: Store, spoil: Callable[[Store], None], reason: str
) -> None:
    spoil(store)
    assert doubts(store, REPO, instances(store)) == {reason: [MENU]}


@pytest.mark.invariant(2)
@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        ({"stale": "its commits changed"}, ["it must be built again, since its commits changed"]),
        ({"fix_patch": "another"}, ["oracle: an outdated verdict"]),
        ({"test_patch": "another"}, ["oracle: an outdated verdict"]),
        ({"image": "0"}, ["oracle: an outdated verdict", "nop: an outdated verdict"]),
    ],
)
def test_a_verdict_on_an_earlier_instance_does_not_count(
    store: Store, changes: dict[str, object], reasons: list[str]
) -> None:
    assert doubts(store, REPO, with_menu(store, **changes)) == {reason: [MENU] for reason in reasons}


@pytest.mark.invariant(2)
def test_only_published_instances_count_and_stale_ones_must_be_rebuilt(store: Store) -> None:
    write_records(store.dataset(REPO), with_menu(store, stale="its commits changed"))
    require(store, REPO, instances(store)[1:])
    with pytest.raises(UserError, match="run: just build-run acme/ui, then just agt-run acme/ui oracle"):
        require(store, REPO, instances(store))
