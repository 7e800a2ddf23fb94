"""The rating form: its fields as a page shows them, and the rating in a submitted form. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, get_args

from pydantic import ValidationError

from pipeline.core.ratings import (
    CONDITIONS,
    FLAGS,
    LABELS,
    NOTE,
    STATEMENT,
    STATUSES,
    Category,
    Difficulty,
    Label,
    Review,
    TestQuality,
)
from pipeline.core.wcag import CRITERIA, PRINCIPLES

#: status -> its meaning
MEANINGS = {
    "super": "all of S1 to S8 hold: it is built",
    "accepted": "nearly perfect; it may use explicit selectors",
    "needs-work": "can be saved; incomplete or unclear",
    "reworked": "revised by hand, with a statement of its own: it is built",
    "rejected": "not about accessibility, no fix or tests, or an external set-up",
}
#: fields with one choice -> their label, and the values
CHOICES: dict[str, tuple[str, tuple[str, ...]]] = {
    "difficulty": ("Difficulty", get_args(Difficulty)),
    "issue_category": ("Category of the issue", get_args(Category)),
    "test_quality": ("Quality of the tests", get_args(TestQuality)),
}
#: text fields -> their label, and the maximum number of characters
TEXTS = {
    "statement": ("Problem statement, without its solution", STATEMENT),
    "note": ("Notes", NOTE),
    "evaluation_note": ("Notes on the evaluation", NOTE),
}
_ANSWERS = {"yes": True, "no": False}
#: a label whose name contains a colon
_QUOTED = re.compile(r'"([^"]*:[^"]*)"\s*(?::(.*))?')


def template_data(values: Mapping[str, Any]) -> dict[str, Any]:
    """The template's data for a form with these values, which are as `submitted` returns them."""
    guidelines = groupby(CRITERIA.values(), key=lambda criterion: (criterion.principle, criterion.guideline))
    return {
        "values": values,
        "statuses": [(name, MEANINGS[name]) for name in STATUSES],
        "conditions": CONDITIONS,
        "flags": FLAGS,
        "choices": CHOICES,
        "texts": TEXTS,
        "principles": PRINCIPLES,
        "guidelines": [(*key, list(criteria)) for key, criteria in guidelines],
        "known_labels": LABELS,
    }


def values(review: Review | None) -> dict[str, Any]:
    """A rating as values of the form; empty for None."""
    if review is None:
        return {}
    fields = {name: {True: "yes", False: "no"}.get(getattr(review, name), "") for name in FLAGS}
    fields |= {name: "yes" if holds else "no" for name, holds in review.conditions.items()}
    fields |= {name: getattr(review, name) or "" for name in (*CHOICES, *TEXTS, "status")}
    lists = {name: list(getattr(review, name)) for name in ("success_criteria", "principles")}
    labels = "\n".join(map(_label_line, review.labels))
    confidence = "" if review.confidence is None else str(review.confidence).removesuffix(".0")
    return fields | lists | {"labels": labels, "confidence": confidence, "build_error": review.build_error}


def submitted(fields: Mapping[str, str], lists: Mapping[str, Iterable[str]]) -> dict[str, Any]:
    """A submitted form as values."""
    names = ("status", *FLAGS, *CONDITIONS, *CHOICES, *TEXTS, "labels", "confidence")
    entered: dict[str, Any] = {name: fields.get(name, "").strip() for name in names}
    entered |= {name: [*lists.get(name, ())] for name in ("success_criteria", "principles")}
    return entered | {"build_error": bool(fields.get("build_error"))}


def review(values: Mapping[str, Any], **about: str) -> Review | list[str]:
    """The rating in these values, or what is wrong with them, in words."""
    data: dict[str, Any] = {name: _ANSWERS[values[name]] for name in FLAGS if values.get(name) in _ANSWERS}
    data["conditions"] = {name: _ANSWERS[values[name]] for name in CONDITIONS if values.get(name) in _ANSWERS}
    data |= {name: values[name] for name in CHOICES if values.get(name)}
    data |= {name: values.get(name, "").replace("\r\n", "\n") for name in TEXTS}
    data |= {name: values.get(name, []) for name in ("success_criteria", "principles")}
    data |= {"labels": _labels(values.get("labels", "")), "build_error": values.get("build_error", False)}
    data |= {"confidence": values["confidence"]} if values.get("confidence") else {}
    if not values.get("status"):
        return ["Status: choose one"]
    try:
        return Review.model_validate({**data, "status": values["status"], **about})
    except ValidationError as error:
        return [_words(fault) for fault in error.errors()]


def _label_line(label: Label) -> str:
    """A label as a line; a name with a colon is in quotation marks."""
    name = f'"{label.name}"' if ":" in label.name else label.name
    return f"{name}: {label.hover_text}" if label.hover_text else name


def _labels(text: str) -> list[dict[str, str]]:
    """Labels, one per line, each with its tooltip after a colon; known labels have a tooltip already."""
    labels = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        quoted = _QUOTED.fullmatch(line)
        name, hover = (quoted[1], quoted[2] or "") if quoted else line.partition(":")[::2]
        labels.append({"name": name.strip(), "hover_text": hover.strip() or LABELS.get(name.strip(), "")})
    return labels


def _words(error: Mapping[str, Any]) -> str:
    message = str(error["msg"]).removeprefix("Value error, ")
    field = str(error["loc"][0]).replace("_", " ").capitalize() + ": " if error["loc"] else ""
    return field + message
