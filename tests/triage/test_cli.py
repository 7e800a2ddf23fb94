"""The command `a11y-bench triage`."""

from __future__ import annotations

from pathlib import Path

import factories
import pytest
from click.testing import CliRunner, Result

from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Review
from pipeline.core.store import Store, read_records, write_json, write_records
from pipeline.triage.cli import command


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "data")
    write_records(made.raw(factories.REPO) / "candidates.jsonl", [factories.make_candidate(1)])
    return made


def call(store: Store, *words: str) -> Result:
    return CliRunner().invoke(command, [*words, "--data", str(store.root)])


@pytest.mark.rule("names")
@pytest.mark.parametrize("name", ["acme__ui-1", "acme/ui#1", "acme/ui:1", "acme/ui-#1"])
def test_a_candidate_is_rated_by_any_form_of_its_name(store: Store, name: str) -> None:
    metadata = ("--criterion", "4.1.2", "--principle", "robust", "--difficulty", "easy", "--note", "clear")
    assert call(store, "rate", name, "super", "--by", "ann", *metadata).exit_code == 0
    (found,) = read_records(store.reviews(factories.REPO), Review)
    assert found == factories.make_review(1, difficulty="easy", note="clear", time=found.time)


def test_the_list_shows_evidence_and_ratings(store: Store) -> None:
    call(store, "rate", "acme__ui-1", "accepted", "--by", "ann")
    shown = call(store, "list", "acme/ui").output
    assert all(text in shown for text in ("acme__ui-1", "Add aria-label to Menu", "aria", "accepted (ann)"))


def test_a_file_is_imported(store: Store, tmp_path: Path) -> None:
    write_records(tmp_path / "ratings.jsonl", [factories.make_review(1)])
    assert call(store, "import", "acme/ui", str(tmp_path / "ratings.jsonl")).exit_code == 0
    assert len(read_records(store.reviews(factories.REPO), Review)) == 1


@pytest.mark.rule("bad-input")
def test_an_unknown_candidate_is_bad_input(store: Store) -> None:
    result = call(store, "rate", "acme__ui-7", "accepted", "--by", "ann")
    assert isinstance(result.exception, UserError) and "available: acme__ui-1" in str(result.exception)


@pytest.mark.rule("bad-input")
def test_an_unknown_criterion_is_refused(store: Store) -> None:
    """Otherwise every later analysis would refuse it, far from where it was written."""
    result = call(store, "rate", "acme__ui-1", "accepted", "--by", "ann", "--criterion", "contrast")
    assert isinstance(result.exception, UserError) and result.exception.field == "--criterion"
    assert not store.reviews(factories.REPO).exists()


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("rater", ["", "Zo\udceb"], ids=["empty", "not UTF-8"])
def test_a_rater_without_a_name_is_refused(store: Store, rater: str) -> None:
    """The error names the option, which was once called `--rater`."""
    result = call(store, "rate", "acme__ui-1", "accepted", "--by", rater)
    assert isinstance(result.exception, UserError) and result.exception.field == "--by"
    assert not store.reviews(factories.REPO).exists()


def test_a_reworked_candidate_has_a_statement(store: Store) -> None:
    """The status requires one, and no option gave it."""
    words = ("rate", "acme__ui-1", "reworked", "--by", "ann")
    assert "reworked needs a problem statement" in str(call(store, *words).exception)
    assert call(store, *words, "--statement", "The menu has no name.").exit_code == 0
    (found,) = read_records(store.reviews(factories.REPO), Review)
    assert (found.status, found.statement) == ("reworked", "The menu has no name.")


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(("name", "says"), [("nobody__nothing", "unknown repository"), ("nobody", "not a repository")])
def test_an_export_of_an_unknown_repository_is_refused(store: Store, name: str, says: str) -> None:
    """A misspelled one exported nothing, like one without `super` candidates."""
    assert says in str(call(store, "export", "--repo", name).exception)
    call(store, "rate", "acme__ui-1", "super", "--by", "ann")
    assert '"acme__ui-1"' in call(store, "export", "--repo", "acme__ui").output


@pytest.mark.rule("bad-input")
def test_a_repository_without_candidates_says_how_to_collect(store: Store) -> None:
    other = Repo("acme", "forms")
    for about, options in (({}, "--path CLONE"), ({"kind": "github"}, "--source github --path CLONE")):
        write_json(store.raw(other) / "source.json", about)
        result = call(store, "ask", str(other), "any", "--dry-run")
        assert f"just collect-run acme/forms {options}" in str(result.exception)
