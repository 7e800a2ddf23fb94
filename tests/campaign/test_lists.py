"""Whether a dataset equals its list."""

from __future__ import annotations

from pathlib import Path

from factories import REPO, make_instance

from pipeline.campaign.lists import differing
from pipeline.core.store import Store, write_records
from pipeline.dataset.lock import lock


def test_a_dataset_is_compared_with_its_list_fact_by_fact(tmp_path: Path) -> None:
    """Instances that the list does not have are no difference."""
    store, path = Store(tmp_path / "data"), tmp_path / "ui.jsonl"
    built = [make_instance(number) for number in (1, 2, 3)]
    write_records(path, [lock(instance) for instance in built[:2]])
    assert {(fact.instance, fact.rebuilt) for fact in differing(store, REPO, path)} == {
        ("acme__ui-1", "not built"),
        ("acme__ui-2", "not built"),
    }
    write_records(store.dataset(REPO), built)
    assert differing(store, REPO, path) == []
    changed = built[1].model_copy(update={"fix_patch": "another"})
    write_records(store.dataset(REPO), [built[0], changed, built[2]])
    assert [(fact.instance, fact.fact) for fact in differing(store, REPO, path)] == [("acme__ui-2", "fix_patch")]
