"""Named subsets: seeded, shared out among repositories, and versioned."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from factories import REPO, make_instance, make_review

from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.store import Store, write_records
from pipeline.core.subset import read_names
from pipeline.dataset.cli import command
from pipeline.dataset.subsets import Sampling, make

KIT = Repo("acme", "kit")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two repositories, with thirty instances and three."""
    store = Store(tmp_path / "data")
    store.begin()
    write_records(store.dataset(REPO), [make_instance(number) for number in range(1, 31)])
    write_records(store.dataset(KIT), [make_instance(number, KIT) for number in range(1, 4)])
    return store


def test_lite_is_a_sample_in_which_every_repository_has_its_share(store: Store) -> None:
    made = make(store, "lite", [REPO, KIT], Sampling(11))
    assert (len(made.names), sum("kit" in name for name in made.names)) == (11, 1)
    assert make(store, "lite", [REPO, KIT], Sampling(11)) == made
    assert make(store, "lite", [REPO, KIT], Sampling(11, seed=1)).names != made.names
    assert len(make(store, "lite", [REPO, KIT], Sampling(99)).names) == 33


def test_lite_has_every_small_repository_if_the_size_allows(store: Store) -> None:
    """The instances beyond their share were cut off at the end, and whole repositories with them."""
    small = [Repo("acme", f"small-{letter}") for letter in "abcdef"]
    for repo in small:
        write_records(store.dataset(repo), [make_instance(1, repo)])
    names = make(store, "lite", [REPO, *small], Sampling(8)).names
    assert (len(names), sum("small" in name for name in names)) == (8, 6)
    assert len(make(store, "lite", [REPO, *small], Sampling(5)).names) == 5


def test_a_larger_sample_contains_the_smaller_one(store: Store) -> None:
    """So answers for the smaller one are not asked again for the larger one."""
    few, more = (set(make(store, "lite", [REPO], Sampling(size)).names) for size in (5, 9))
    assert few < more


def test_other_instances_make_a_new_version_and_keep_the_old_one(store: Store) -> None:
    first = make(store, "lite", [REPO], Sampling(5))
    second = make(store, "lite", [REPO], Sampling(6))
    assert (first.version, second.version) == (1, 2)
    assert read_names(str(store.subset("lite-v1"))) == first.names
    assert read_names(str(store.subset("lite"))) == second.names
    assert make(store, "lite", [REPO], Sampling(5)).version == 1, "the same instances are the same version"
    assert "# lite, version 1: 5 instances" in store.subset("lite").read_text()


def test_reviewed_has_the_instances_that_raters_accepted(store: Store) -> None:
    store.reviews(REPO).parent.mkdir(parents=True, exist_ok=True)
    kept, dropped = make_review(1), make_review(2, status="rejected")
    write_records(store.reviews(REPO), [kept, dropped])
    assert make(store, "reviewed", [REPO, KIT]).names == (REPO.instance_id(1),)


@pytest.mark.rule("bad-input")
def test_an_impossible_subset_is_refused(store: Store) -> None:
    with pytest.raises(UserError, match="has no instance"):
        make(store, "reviewed", [REPO])
    with pytest.raises(UserError, match="subset"):
        make(store, "verified", [REPO])


def test_the_command_writes_it(store: Store) -> None:
    done = CliRunner().invoke(command, ["subset", "lite", "--size", "4", "--data", str(store.root)])
    assert done.exit_code == 0 and len(read_names(str(store.subset("lite")))) == 4
