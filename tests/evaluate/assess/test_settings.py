"""The settings of the assessment: every weight and rating, and errors that name the file and the field."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.errors import UserError
from pipeline.evaluate.assess.settings import SHIPPED, load_settings

WEIGHTS = "[weights]\ntests = 0.4\nsnapshot = 0.2\njudge = 0.25\naudit = 0.15\n"
RATINGS = "[ratings]\n3 = 0.9\n2 = 0.8\n1 = 0.5\n"
JUDGE = "[judge]\ntemperature = 0.7\n"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    return path


def test_the_shipped_settings_are_the_documented_ones() -> None:
    """docs/assessment.md has both tables."""
    settings = load_settings()
    assert settings.weights == {"tests": 0.40, "snapshot": 0.20, "judge": 0.25, "audit": 0.15}
    assert settings.ratings == {"3": 0.9, "2": 0.8, "1": 0.5}
    assert SHIPPED.is_file()


def test_a_file_of_the_same_form_is_read(tmp_path: Path) -> None:
    settings = load_settings(written(tmp_path, JUDGE + WEIGHTS.replace("0.4", "1") + RATINGS))
    assert settings.weights["tests"] == 1 and settings.judge == {"temperature": 0.7}


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("text", "field", "says"),
    [
        (WEIGHTS + RATINGS, "judge", "Field required"),
        (JUDGE + RATINGS, "weights", "Field required"),
        (JUDGE + WEIGHTS, "ratings", "Field required"),
        (JUDGE + WEIGHTS.replace("0.4", "1.4") + RATINGS, "weights.tests", "less than or equal to 1"),
        (JUDGE + WEIGHTS.replace("0.4", "-0.4") + RATINGS, "weights.tests", "greater than or equal to 0"),
        (JUDGE + WEIGHTS.replace("0.4", '"much"') + RATINGS, "weights.tests", "valid number"),
        (JUDGE + WEIGHTS + "style = 0.1\n" + RATINGS, "weights.style", "Input should be 'tests'"),
        (JUDGE + WEIGHTS.replace("audit = 0.15\n", "") + RATINGS, None, "weights of tests, snapshot, judge, audit"),
        (JUDGE + WEIGHTS + RATINGS.replace("1 = 0.5\n", ""), None, "the scores of the ratings 3, 2, 1 are expected"),
        (JUDGE + WEIGHTS + RATINGS + "4 = 1\n", "ratings.4", "Input should be '3'"),
        (JUDGE + WEIGHTS + RATINGS + "[more]\n", "more", "Extra inputs"),
    ],
)
def test_an_invalid_field_is_named(tmp_path: Path, text: str, field: str | None, says: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError) as error:
        load_settings(path)
    assert error.value.path == path and says in str(error.value)
    assert (error.value.field or "").startswith(field or "") and "settings.toml" in str(error.value.hint)


@pytest.mark.rule("bad-input")
def test_weights_that_are_all_zero_are_refused(tmp_path: Path) -> None:
    nothing = "".join(f"{name} = 0\n" for name in ("tests", "snapshot", "judge", "audit"))
    with pytest.raises(UserError, match="not all of them 0"):
        load_settings(written(tmp_path, f"{JUDGE}[weights]\n{nothing}{RATINGS}"))


@pytest.mark.rule("bad-input")
def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        load_settings(tmp_path / "none.toml")
