"""Parts that are made separately (by the judge, the stories, the screen reader) and then added to an assessment."""

from __future__ import annotations

from typing import Any, NamedTuple

from pipeline.core.assessment import Assessment


class PartResult(NamedTuple):
    """What a part found about one prediction. `note` says why it found nothing, or less than it should."""

    value: Any = None
    note: str = ""


NOTHING = PartResult()


def with_part(assessment: Assessment, name: str, result: PartResult) -> Assessment:
    """The assessment, completed by this part."""
    notes = assessment.notes | ({name: result.note} if result.note else {})
    return assessment.model_copy(update={name: result.value, "notes": notes})
