"""The assessment's settings: `settings.toml`, or a file of the same form. Writes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, ValidationError, model_validator

from pipeline.core.records import Record
from pipeline.core.texts import misfit, read_toml

SHIPPED = Path(__file__).with_name("settings.toml")

#: the parts of the score
PartName = Literal["tests", "snapshot", "judge", "audit"]
#: the ratings that have a value
Grade = Literal["3", "2", "1"]
Share = Annotated[float, Field(ge=0, le=1)]


class Settings(Record):
    """`judge` are parameters of the request, `ratings` the value of each rating."""

    judge: dict[str, Any]
    weights: dict[PartName, Share]
    ratings: dict[Grade, Share]

    @model_validator(mode="after")
    def _are_complete(self) -> Settings:
        if set(self.weights) != set(get_args(PartName)) or not sum(self.weights.values()):
            raise ValueError(f"weights of {', '.join(get_args(PartName))} are expected, and not all of them 0")
        if len(self.ratings) < len(get_args(Grade)):
            raise ValueError(f"the scores of the ratings {', '.join(get_args(Grade))} are expected")
        return self


def load_settings(path: Path = SHIPPED) -> Settings:
    """Read the settings. Raises UserError with file, line and field."""
    try:
        return Settings.model_validate(read_toml(path))
    except ValidationError as error:
        raise misfit(path, error, f"its form is that of {SHIPPED.name}") from None
