"""An instance whose environment a model proposed is rebuilt from its list, without the model."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from factories import REPO
from tiny_library import LIMITS, Bench, instance_id

from pipeline.build import proposals
from pipeline.build.proposals import ACCEPTED, Proposal
from pipeline.build.qualify import Settings
from pipeline.collect.sources import Options, open_source
from pipeline.core.errors import UserError
from pipeline.core.records import Instance
from pipeline.core.store import read_records
from pipeline.dataset.cli import command
from pipeline.dataset.lock import Lock, lines, lock
from pipeline.dataset.rebuild import Difference, rebuild
from pipeline.dataset.set_up import proposed, restore

NAME = instance_id("chip")
#: a model's possible answer: `chip` of the tiny library depends on an archive that does not exist
TEXT = """\
# the archive is gone
[[override]]
set.edits = [{ kind = "drop", name = "gone" }]
set.install = ["npm", "install"]
"""


def keep(bench: Bench, text: str) -> None:
    fields = {"instance_id": NAME, "model": "scripted", "number": 1, "rejected": "r", "ended": ACCEPTED}
    proposals.keep(bench.store, REPO, Proposal(text=text, **fields))


@pytest.fixture(scope="module")
def built(tiny: Bench, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    made = tiny.copy(tmp_path_factory.mktemp("set-up"))
    keep(made, TEXT)
    assert isinstance(made.build("chip")["chip"], Instance)
    return made


@pytest.fixture
def entry(built: Bench) -> Lock:
    instance = built.instance("chip")
    return lock(instance, proposed(built.store, REPO, [instance, built.instance("menu")])[NAME])


def again(bench: Bench, entry: Lock) -> list[Difference]:
    source = open_source("git", REPO, Options(bench.library))
    return rebuild(bench.store, source, REPO, [entry], Settings(bench.sandbox, limits=LIMITS), trust_local=True)


@pytest.mark.rule("rebuild")
def test_an_environment_set_up_by_a_model_is_rebuilt_from_its_list(tiny: Bench, entry: Lock, tmp_path: Path) -> None:
    fresh = Bench(tmp_path, tiny.library, tiny.cache)
    assert again(fresh, entry) == []
    instance = fresh.instance("chip")
    assert instance.set_up_by == "scripted"
    assert lines([instance], proposed(fresh.store, REPO, [instance])) == f"{entry.model_dump_json()}\n".encode()
    restore(fresh.store, REPO, [entry])
    assert len(proposals.read(fresh.store, REPO)) == 1


@pytest.mark.rule("rebuild")
def test_without_the_proposal_the_instance_is_rejected(tiny: Bench, entry: Lock, tmp_path: Path) -> None:
    fresh = Bench(tmp_path, tiny.library, tiny.cache)
    (found,) = again(fresh, entry.model_copy(update={"proposed": ""}))
    assert (found.fact, found.rebuilt) == ("outcome", "rejected: environment_failed")


@pytest.mark.rule("lists-not-datasets")
def test_a_list_has_the_fields_and_not_the_models_text(built: Bench, entry: Lock, tmp_path: Path) -> None:
    words = ["lock", "--unchecked", "--output", str(tmp_path), "--data", str(built.store.root)]
    assert CliRunner().invoke(command, words).exit_code == 0
    listed = {entry.instance_id: entry for entry in read_records(tmp_path / "acme__ui.jsonl", Lock)}
    assert listed[NAME] == entry and [name for name, other in listed.items() if other.proposed] == [NAME]
    assert proposals.checked(entry.proposed) == proposals.checked(TEXT)
    assert "archive" not in entry.proposed


def test_a_proposal_that_was_replaced_is_added(built: Bench, entry: Lock, tmp_path: Path) -> None:
    bench = built.copy(tmp_path)
    keep(bench, '[[override]]\nset.node = "20"\n')
    restore(bench.store, REPO, [entry])
    assert [row.text for row in proposals.read(bench.store, REPO)][2:] == [entry.proposed]


@pytest.mark.invariant(5)
def test_a_list_cannot_set_what_a_model_may_not_set(tiny: Bench, entry: Lock, tmp_path: Path) -> None:
    fresh = Bench(tmp_path, tiny.library, tiny.cache)
    forged = '[[override]]\nset.install = ["sh", "-c", "forge"]\n'
    with pytest.raises(UserError, match="install calls 'sh'"):
        again(fresh, entry.model_copy(update={"proposed": forged}))
    assert not fresh.store.dataset(REPO).exists() and proposals.read(fresh.store, REPO) == []
