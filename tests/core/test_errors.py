"""The text of an error: where, what, and what to do about it; and pydantic's messages in terms that people know."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError, field_validator

from pipeline.core.errors import A11yBenchError, InfrastructureError, UserError, fault, unfit, unknown


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ({}, "it is wrong"),
        ({"path": "a.toml"}, "a.toml: it is wrong"),
        ({"path": Path("a.toml"), "line": 3}, "a.toml:3: it is wrong"),
        ({"path": "a.toml", "line": 3, "field": "x.y"}, "a.toml:3: field 'x.y': it is wrong"),
        ({"field": "x"}, "field 'x': it is wrong"),
        ({"hint": "mend it"}, "it is wrong\n  mend it"),
        ({"path": "a", "hint": "mend it"}, "a: it is wrong\n  mend it"),
    ],
)
def test_an_error_shows_its_place_and_hint(where: dict[str, object], text: str) -> None:
    assert str(UserError("it is wrong", **where)) == text


def test_the_parts_of_an_error_can_be_read() -> None:
    error = UserError("it is wrong", path=Path("a"), line=1, field="x", hint="mend it")
    assert (error.message, error.path, error.line, error.field, error.hint) == (
        "it is wrong",
        Path("a"),
        1,
        "x",
        "mend it",
    )


@pytest.mark.parametrize(
    ("choices", "hint"), [(["b", "a"], "available: a, b"), ([], "available: none yet"), (["one"], "available: one")]
)
def test_an_unknown_name_lists_the_available_ones(choices: list[str], hint: str) -> None:
    error = unknown("agent", "nobody", choices)
    assert error.message == "unknown agent 'nobody'" and error.hint == hint


def test_bad_input_and_faults_of_the_machine_have_different_types() -> None:
    for error in (UserError("x"), InfrastructureError("x", cause="disk")):
        assert isinstance(error, A11yBenchError)
    assert InfrastructureError("full", cause="disk").cause == "disk"
    assert not isinstance(InfrastructureError("x", cause="disk"), UserError)


class Written(BaseModel):
    """A model of a file that people write."""

    models: tuple[str, ...] = ()
    amount: int = 0

    @field_validator("amount")
    @classmethod
    def _is_positive(cls, amount: int) -> int:
        if amount < 0:
            raise ValueError("give 0 or more")
        return amount


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"models": "one"}, "Input should be a list"),
        ({"models": [1]}, "Input should be a valid string"),
        ({"amount": -1}, "give 0 or more"),
        ({"amount": "much"}, "Input should be a valid integer, unable to parse string as an integer"),
    ],
)
def test_messages_speak_of_lists_instead_of_tuples(fields: dict[str, object], words: str) -> None:
    """The author of a campaign once read "Input should be a valid tuple"."""
    with pytest.raises(ValidationError) as error:
        Written.model_validate(fields)
    assert fault(error.value.errors()[0]) == words


def test_the_error_for_an_unfit_record_names_the_first_field() -> None:
    with pytest.raises(ValidationError) as error:
        Written.model_validate({"models": ["one", 2], "amount": -1})
    assert str(unfit(error.value, path="a.json", line=3, hint="correct it")) == (
        "a.json:3: field 'models.1': Input should be a valid string\n  correct it"
    )
