"""Files of instances or candidates: records of their own repository, each under its own name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from factories import REPO, make_candidate, make_instance

from pipeline.core.dataset import read_candidates, read_dataset
from pipeline.core.errors import UserError
from pipeline.core.names import Repo, commit_number, is_canonical
from pipeline.core.store import Store, write_bytes, write_records

OTHER = Repo("acme", "web")


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"instance_id": "../../../escape"}, "not the name of an instance"),
        ({"instance_id": "acme__ui-01"}, "not the name of an instance"),
        ({"instance_id": "acme__ui-2"}, "acme__ui-2 is not the name of acme/ui#1"),
        ({"number": -1}, "greater than 0"),
        ({"org": ".."}, "is not the name of"),
    ],
)
def test_an_instance_has_its_own_name(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """Many paths contain the name: one with `..` wrote outside the data directory."""
    store = Store(tmp_path)
    text = make_instance(1).model_copy(update=changes).model_dump_json()
    write_bytes(store.dataset(REPO), text.encode())
    with pytest.raises(UserError, match=message):
        read_dataset(store, REPO)


def test_a_change_without_a_pull_request_has_a_name() -> None:
    number = commit_number("f" * 40)
    assert make_instance(number).instance_id == REPO.instance_id(number) and is_canonical(REPO.instance_id(number))


@pytest.mark.rule("bad-input")
def test_a_record_of_another_repository_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    write_records(store.dataset(REPO), [make_instance(1), make_instance(2, OTHER)])
    write_records(store.raw(REPO) / "candidates.jsonl", [make_candidate(1, OTHER)])
    with pytest.raises(UserError, match="record 2 is of acme/web, and the file of acme/ui"):
        read_dataset(store, REPO)
    with pytest.raises(UserError, match="record 1 is of acme/web, and the file of acme/ui"):
        read_candidates(store, REPO)


@pytest.mark.rule("bad-input")
def test_a_candidate_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    """It used to be built twice."""
    store = Store(tmp_path)
    write_records(store.raw(REPO) / "candidates.jsonl", [make_candidate(1), make_candidate(1)])
    with pytest.raises(UserError, match="acme__ui-1 is in this file twice, as record 1 and 2"):
        read_candidates(store, REPO)
