"""Tables on repositories, counted by hand."""

from __future__ import annotations

from analyze.conftest import each_with_instances_of_its_own
from analyze.measures.conftest import rows

from pipeline import analyze
from pipeline.core.store import Store


def test_resolution_by_repository_and_model(tables):
    """A repository in which a model has no verdict has no row."""
    columns = ("repository", "model", "instances", "evaluated", "resolved", "resolved %", "incomplete")
    assert rows(tables, "repositories", *columns) == [
        "acme/forms lab/model-b 1 1 1 100.0 no",
        "acme/ui lab/model-b 3 1 1 33.3 yes",
        "acme/ui model-a 3 3 1 33.3 no",
    ]


def test_instances_that_any_or_all_models_resolve(tables):
    """Both resolve the first of acme/ui; forms is resolved by one of them, and two instances by neither."""
    assert rows(tables, "together") == ["acme/forms 1 2 1 100.0 0 0", "acme/ui 3 2 1 33.3 1 2", "all 4 2 2 50.0 1 2"]


def test_an_instance_that_one_model_was_not_asked_about_is_not_resolved_by_all(tmp_path):
    store = Store(tmp_path)
    each_with_instances_of_its_own(store)
    assert rows(analyze.tables(analyze.load(store)), "together", "by any", "by all") == ["1 0"]


def test_patches_by_repository(tables):
    assert rows(tables, "repository_patches", "repository", "model", "predicted", "non empty %", "perfect", "miss") == [
        "acme/forms lab/model-b 1 100.0 1 0",
        "acme/ui lab/model-b 2 100.0 2 0",
        "acme/ui model-a 3 66.7 1 1",
    ]


def test_the_size_of_patches_by_repository(tables):
    """Gold's own patches change one file and two lines."""
    columns = ("repository", "model", "non empty", "files mean", "lines mean", "gold lines mean")
    assert rows(tables, "repository_structure", *columns) == [
        "acme/forms lab/model-b 1 1.0 2.0 2.0",
        "acme/ui lab/model-b 2 1.0 2.0 2.0",
        "acme/ui model-a 2 1.0 2.0 2.0",
    ]
