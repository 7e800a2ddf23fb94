"""`a11y-bench schema`: the published JSON Schema of every record, as other programs read it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result
from factories import make_candidate, make_instance, make_prediction, make_rejection, make_review, make_verdict

from pipeline.core.errors import UserError
from pipeline.schema import command

RECORDS = {
    "Candidate": make_candidate(),
    "Instance": make_instance(),
    "Prediction": make_prediction(),
    "Rejection": make_rejection(),
    "Review": make_review(),
    "Verdict": make_verdict(make_prediction()),
}


def printed(*words: str) -> Result:
    return CliRunner().invoke(command, words, catch_exceptions=False)


def names() -> list[str]:
    return printed().output.split()


def test_without_a_name_all_records_are_listed() -> None:
    assert set(RECORDS) <= set(names()) and len(set(names())) == len(names())


@pytest.mark.parametrize("name", names())
def test_every_record_has_a_schema_with_title_and_properties(name: str) -> None:
    schema = json.loads(printed(name).output)
    assert schema["title"] == name and schema["type"] == "object" and schema["properties"]


@pytest.mark.parametrize("name", names())
def test_a_schema_refuses_unknown_fields(name: str) -> None:
    """A typo is never accepted as data."""
    assert json.loads(printed(name).output)["additionalProperties"] is False


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_the_fields_of_its_schema(name: str) -> None:
    schema = json.loads(printed(name).output)
    fields = RECORDS[name].model_dump(mode="json")
    assert set(fields) == set(schema["properties"]) and set(schema.get("required", ())) <= set(fields)


def test_an_unknown_record_lists_the_available_ones() -> None:
    with pytest.raises(UserError, match="unknown record 'Nobody'") as error:
        printed("Nobody")
    assert "Instance" in str(error.value.hint)
