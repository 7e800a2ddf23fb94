"""Exports and imports of the viewer: lists of identifiers, `metadata.json`, ratings by other tools.

Records are matched by `instance_id`. Imports are our own ratings (JSON Lines), the thesis's `metadata.json`
(identifiers `org/repo-#N`), and annotations as published with SWE-bench Verified and Multi-SWE-bench. Writes nothing
itself.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from pipeline.core.errors import UserError, unfit
from pipeline.core.names import parse_instance_id
from pipeline.core.patches import paths
from pipeline.core.ratings import CONDITIONS, FLAGS, NOTE, STATEMENT, Label, Review
from pipeline.core.records import Candidate
from pipeline.core.store import parse_record
from pipeline.core.texts import parse_json, read_text
from pipeline.triage.catalog import Listed

#: format -> the name of its file
FORMS = {"python": "instances.py", "json": "instances.json", "csv": "instances.csv", "metadata": "metadata.json"}
#: by how much the clock of another machine may be ahead
_SKEW = timedelta(days=1)
GROUPS: dict[str, Callable[[Listed], str]] = {
    "repo": lambda listed: listed.row.repo,
    "status": lambda listed: listed.status,
    "difficulty": lambda listed: listed.standing.value("difficulty") or "unknown",
}


class Selection(NamedTuple):
    """What to export: candidates of these resolved statuses and this repository (empty: all), grouped by a key of
    `GROUPS`, in a format of `FORMS`. Candidates that cannot be built are included only `with_errors`."""

    statuses: tuple[str, ...] = ("super",)
    repo: str = ""
    group: str = ""
    form: str = "python"
    with_errors: bool = False


def has_build_error(entry: Listed) -> bool:
    """Whether stage 02 rejected the candidate, or a person marked it as not buildable."""
    reviews = (entry.standing.final,) if entry.standing.final else entry.standing.reviews
    return entry.state.startswith("rejected") or any(review.build_error for review in reviews)


def chosen(listed: Iterable[Listed], selection: Selection) -> list[Listed]:
    """The candidates to export, sorted by repository and number."""
    found = [
        entry
        for entry in listed
        if entry.standing.status in selection.statuses
        and selection.repo in ("", entry.row.repo)
        and (selection.with_errors or not has_build_error(entry))
    ]
    return sorted(found, key=lambda entry: (entry.row.repo, entry.row.number))


def export_text(listed: Sequence[Listed], selection: Selection, candidate: Callable[[Listed], Candidate]) -> str:
    """The text of an export; `candidate` reads the candidates for `metadata.json`."""
    if selection.form == "metadata":
        return _json([metadata(entry, candidate(entry)) for entry in listed])
    if selection.form == "csv":
        return _csv(listed, selection)
    names = _grouped(listed, selection)
    if selection.form == "json":
        return _json(names)
    return f"INSTANCES = {_python(names)}\n"


def metadata(entry: Listed, candidate: Candidate) -> dict[str, Any]:
    """An entry of `metadata.json`: the resolved values under the thesis's names, and every rating under `ratings`."""
    standing = entry.standing
    value = standing.value
    patch = candidate.fix_patch + candidate.test_patch
    return {
        "instance_id": entry.row.instance_id,
        "title": candidate.title,
        "review_status": standing.status,
        **{name: value(name) for name in FLAGS},
        "wcag_codes": list(value("success_criteria") or ()),
        "difficulty": value("difficulty"),
        "issue_category": value("issue_category"),
        "test_quality": value("test_quality"),
        "custom_problem_statement": value("statement") or "",
        "notes": value("note") or "",
        "evaluation_notes": value("evaluation_note") or "",
        "confidence": value("confidence"),
        "labels": [{"name": label.name, "hoverText": label.hover_text} for label in value("labels") or ()],
        "build_error": has_build_error(entry),
        "build_state": entry.state,
        "patch": {"files": len(paths(patch)), "added": entry.row.added, "removed": entry.row.removed},
        "decided_by": standing.final.rater if standing.final else None,
        "ratings": [_plain(review) for review in standing.reviews],
    }


def _plain(review: Review) -> dict[str, Any]:
    return review.model_dump(mode="json", exclude_defaults=True, exclude={"schema_version", "tool", "instance_id"})


def _grouped(listed: Sequence[Listed], selection: Selection) -> Any:
    key = GROUPS.get(selection.group)
    if key is None:
        return [entry.row.instance_id for entry in listed]
    groups = groupby(sorted(listed, key=key), key=key)
    return {name: [entry.row.instance_id for entry in members] for name, members in groups}


def _python(names: Any) -> str:
    """Python as formatters write it: one item per line, each followed by a comma."""
    if isinstance(names, dict):
        return "{\n" + "".join(f"    {_quoted(name)}: {_list(members, 4)},\n" for name, members in names.items()) + "}"
    return _list(names, 0)


def _list(names: Sequence[str], indent: int) -> str:
    inner = "".join(f"{' ' * (indent + 4)}{_quoted(name)},\n" for name in names)
    return f"[\n{inner}{' ' * indent}]" if names else "[]"


def _quoted(text: str) -> str:
    return json.dumps(text)


def _csv(listed: Sequence[Listed], selection: Selection) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["instance_id", "repo", "status", "difficulty", "success_criteria", "build_state", "decided_by"])
    for entry in listed:
        final, criteria = entry.standing.final, entry.standing.value("success_criteria") or ()
        difficulty = entry.standing.value("difficulty") or ""
        details = (difficulty, " ".join(criteria), entry.state, final.rater if final else "")
        rows.writerow([entry.row.instance_id, entry.row.repo, entry.status, *details])
    return text.getvalue()


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


# -- imports -----------------------------------------------------------------------------------------------------------
def read(path: Path, rater: str = "") -> list[Review]:
    """The ratings of a file of any format. `rater` is used for ratings that name none. Raises UserError with file,
    line or entry, and field."""
    if not path.exists():
        raise UserError("no such file", path=path)
    lines = path.read_bytes().splitlines()
    first = next((line for line in lines if line.strip()), b"")
    if _is_line(first):
        found = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
        return [_line(path, number, line, rater) for number, line in found]
    content = _document(path)
    ratings = list(content.values()) if isinstance(content, dict) else content
    if not isinstance(ratings, list) or not all(isinstance(rating, dict) for rating in ratings):
        raise UserError("a list or an object of ratings is expected", path=path)
    names = [{"instance_id": name} for name in content] if isinstance(content, dict) else [{}] * len(ratings)
    entries = [name | rating for name, rating in zip(names, ratings, strict=True)]
    return [_foreign(path, number, entry, rater) for number, entry in enumerate(entries, 1)]


def _document(path: Path) -> Any:
    try:
        return parse_json(read_text(path), unique=True)
    except ValueError as error:
        raise UserError(f"invalid JSON: {error}", path=path, line=getattr(error, "lineno", None)) from None


def _is_line(line: bytes) -> bool:
    """Whether a line is a complete object, so the file is JSON Lines."""
    try:
        return isinstance(found := parse_json(line), dict) and "instance_id" in found
    except ValueError:
        return False


def _line(path: Path, number: int, line: bytes, rater: str) -> Review:
    try:
        entry = parse_json(line, unique=True)
    except ValueError as error:
        raise UserError(f"invalid JSON: {error}", path=path, line=number) from None
    if isinstance(entry, dict) and ("status" in entry or "rater" in entry):
        review = parse_record(path, number, json.dumps({"rater": rater} | entry).encode(), Review)
        return review.model_copy(update={"time": _stored_time(path, number, review.time)}) if review.time else review
    return _foreign(path, number, entry if isinstance(entry, dict) else {}, rater)


def _stored_time(path: Path, number: int, time: str) -> str:
    """A rating's time in the form of records: the newest rating counts, so others would sort wrongly. A time without a
    time zone is in UTC. Raises UserError."""
    try:
        given = datetime.fromisoformat(time)
        given = given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        hint = "write it as 2025-01-31T12:00:00Z, or with a time zone as 2025-01-31T12:00:00+02:00"
        raise UserError(f"'{time}' is not a time", path=path, line=number, field="time", hint=hint) from None
    if given > datetime.now(UTC) + _SKEW:
        hint = "correct it: this rating would replace all that its rater gives until then"
        raise UserError(f"{time} is in the future", path=path, line=number, field="time", hint=hint)
    return given.isoformat(timespec="seconds").replace("+00:00", "Z")


#: SWE-bench Verified's words for the time that a fix takes -> our difficulty
_TIMES = {
    "<15 min fix": "easy",
    "15 min - 1 hour": "medium",
    "1-4 hours": "difficult",
    ">4 hours": "difficult",
}


def _foreign(path: Path, number: int, entry: Mapping[str, Any], rater: str) -> Review:
    """The rating in an entry of the thesis's viewer, or of an annotation. Raises UserError."""
    is_annotation = {"underspecified", "false_negative"} & entry.keys()
    try:
        name = str(entry["instance_id"])
        repo, pull = parse_instance_id(name)
        fields = _annotation(entry) if is_annotation else _seed(entry)
        return Review(
            instance_id=repo.instance_id(pull), rater=rater or str(entry.get("rater") or "imported"), **fields
        )
    except KeyError as error:
        raise UserError("it is missing", path=path, line=number, field=str(error.args[0])) from None
    except ValidationError as error:
        raise unfit(error, path=path, line=number) from None
    except UserError as error:
        raise UserError(error.message, path=path, line=number, field="instance_id", hint=error.hint) from None
    except (TypeError, ValueError, OverflowError) as error:
        raise UserError(f"not a rating of a known format: {error}", path=path, line=number) from None


def _seed(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A rating in the thesis's export or prompt, under our names, without criteria that WCAG 2.2 removed."""
    codes = _listed(entry.get("wcag_codes") or entry.get("wcag") or entry.get("wcag_categories"))
    found = [str(code.get("code", "") if isinstance(code, Mapping) else code).split(" ")[0] for code in codes]
    labels = [
        Label(name=label["name"], hover_text=label.get("hoverText", ""))
        if isinstance(label, Mapping)
        else Label(name=str(label))
        for label in _listed(entry.get("labels"))
    ]
    values = {name: entry[name] for name in (*FLAGS, "difficulty", "issue_category", "test_quality", "confidence")
             if entry.get(name) is not None}  # fmt: skip
    conditions = {name: entry[name] for name in CONDITIONS if entry.get(name) is not None}
    return values | {
        "status": entry["review_status"],
        "conditions": conditions,
        "success_criteria": tuple(dict.fromkeys(code for code in found if code != "4.1.1")),
        "labels": tuple(labels),
        "statement": str(entry.get("custom_problem_statement") or "")[:STATEMENT],
        "note": str(entry.get("notes") or "")[:NOTE],
        "evaluation_note": str(entry.get("evaluation_notes") or "")[:NOTE],
        "build_error": entry.get("build_error") or False,
        "by": "model" if entry.get("model") else "person",
    }


def _listed(value: Any) -> list[Any]:
    """A list, or a text with commas between its parts. Raises TypeError."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, list | None):
        raise TypeError(f"{value!r} is not a list")
    return value or []


def _annotation(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A rating from an annotation's grades, 0 to 3: how underspecified the issue is, and how many correct solutions the
    tests would reject. 0 and 1 are good enough. Accessibility is not graded there, so no rating is `super`."""
    worst = max(int(entry.get(name) or 0) for name in ("underspecified", "false_negative", "other_major_issues"))
    notes = (str(entry[name]) for name in sorted(entry) if name.endswith("_notes") and entry[name])
    return {
        "status": "accepted" if worst < 2 else "needs-work",
        "solvable_from_issue_and_repo": int(entry.get("underspecified") or 0) < 2,
        "difficulty": _TIMES.get(str(entry.get("difficulty"))),
        "note": " ".join(notes)[:NOTE],
    }
