"""How a part that stands apart (the judge, the stories, the score) is put beside the rest of an assessment."""

from __future__ import annotations

from typing import Any, NamedTuple

from pipeline.core.assessment import Assessment


class Said(NamedTuple):
    """What a part says of one prediction; `note` is why it says nothing, or less than it should."""

    value: Any = None
    note: str = ""


NOTHING = Said()


def beside(assessment: Assessment, name: str, said: Said) -> Assessment:
    """The assessment with this part."""
    notes = assessment.notes | ({name: said.note} if said.note else {})
    return assessment.model_copy(update={name: said.value, "notes": notes})
