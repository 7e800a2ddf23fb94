"""Which form a place has: what is merged how."""

from __future__ import annotations

import pytest

from pipeline.remote.forms import INSTANCE, derived, form_of, keep_ours, opaque

RUN = "03_predictions/repair/magentless/acme__ui/model-a/20240506T070809Z"


@pytest.mark.parametrize(
    ("place", "form"),
    [
        (f"{RUN}/predictions.jsonl", INSTANCE),
        (f"{RUN}/attempts/2/predictions.jsonl", INSTANCE),
        (f"{RUN}/metadata.json", derived),
        (f"{RUN}/run.json", opaque),
        ("03_predictions/responses/cache.db", keep_ours),
        ("04_evaluation/repair/magentless/acme__ui/model-a/attempts/2/verdicts.jsonl", INSTANCE),
    ],
)
def test_what_stage_03_and_04_leave(place: str, form: object) -> None:
    assert form_of(place) is form
