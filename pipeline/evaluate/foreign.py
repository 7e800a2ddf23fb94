"""Predictions made by another harness, as a run like any other.

Reads JSON Lines or one JSON document in the formats of SWE-bench and Multi-SWE-bench; writes
`03_predictions/repair/<agent>/<repo>/<model>/<run>/`. Patches are read as they are meant: `null` is empty, a missing
final newline is added, other prefixes (git's `diff.mnemonicPrefix`, or none) become `a/` and `b/`, and a part without
git's header gets one. Does not cover patches that are not diffs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.core.dataset import read_dataset
from pipeline.core.errors import UserError
from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.records import Prediction
from pipeline.core.store import Store, digest, now, read_json, write_json, write_records
from pipeline.core.texts import read_text
from pipeline.evaluate.answers import Subject

#: what git writes before a path: its own way, and with `diff.mnemonicPrefix` (index, work tree, commit, object)
_OWN = ("a/", "b/")
_MNEMONIC = ("i/", "w/", "c/", "o/", "1/", "2/")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_NOWHERE = "/dev/null"


class Given(NamedTuple):
    """One prediction of a file: where it stands (a line, or its place in a document, from 1), and what it says."""

    place: int
    instance: str
    model: str
    patch: str


def adopt(store: Store, subject: Subject, path: Path) -> Subject:
    """Make a run of a file's predictions of one model for one repository; the same file makes no second one.

    Raises UserError with file and line: for what cannot be read, an instance that is not in the dataset or stands
    there twice, and a file without a prediction of this model.
    """
    found = list(_of(path, subject))
    known = {one.instance_id for one in read_dataset(store, subject.repo)}
    first: dict[str, int] = {}
    for one in found:
        if one.instance not in known:
            hint = "a prediction is of an instance of the dataset: build it, or remove the line"
            message = f"{one.instance} is not in the dataset"
            raise UserError(message, path=path, line=one.place, field="instance_id", hint=hint)
        if one.instance in first:
            message = f"{one.instance} stands here twice, in {first[one.instance]} and {one.place}"
            raise UserError(message, path=path, line=one.place, field="instance_id", hint="keep one of them")
        first[one.instance] = one.place
    return _write(store, subject, path, found)


def _write(store: Store, subject: Subject, path: Path, found: list[Given]) -> Subject:
    folder = store.predictions(subject.repo, subject.agent, subject.model)
    key = digest(sorted((one.instance, one.patch) for one in found))
    there = max(folder.glob("*/run.json"), default=None)
    if there and read_json(there).get("digest") == key:
        return replace(subject, run=there.parent.name)
    run = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    whose: dict[str, Any] = {"model_name_or_path": subject.model, "agent": subject.agent, "run": run}
    with store.lock("predict", subject.repo, subject.agent, subject.model):
        records = [Prediction(instance_id=one.instance, model_patch=one.patch, **whose) for one in found]
        about = {"repo": str(subject.repo), "agent": subject.agent, "model": subject.model, "digest": key}
        write_json(folder / run / "run.json", {**about, "foreign": path.name, "instances": None, "started": now()})
        write_records(folder / run / "predictions.jsonl", records)
    return replace(subject, run=run)


def _of(path: Path, subject: Subject) -> Iterator[Given]:
    """The predictions of a file for a repository, by one model. Raises UserError where there is none."""
    given = [one for one in _read(path) if parse_instance_id(one.instance)[0] == subject.repo]
    models = sorted({one.model for one in given if one.model})
    found = [one for one in given if one.model in ("", subject.model)]
    if not found:
        hint = f"for {subject.repo} it holds predictions of: {', '.join(models) or 'nobody'}"
        line = given[0].place if given else None
        message = f"no prediction of {subject.model}"
        raise UserError(message, path=path, line=line, field="model_name_or_path", hint=hint)
    yield from found


def _read(path: Path) -> Iterator[Given]:
    for place, value in _values(path):
        if not isinstance(value, dict):
            raise UserError("not a JSON object", path=path, line=place, hint="each prediction is an object")
        patch = next((value[name] for name in ("model_patch", "fix_patch", "patch") if name in value), ...)
        if patch is ... or not isinstance(patch, str | None):
            hint = "a text, or null for an empty one"
            raise UserError("the patch is missing", path=path, line=place, field="model_patch", hint=hint)
        model = str(value.get("model_name_or_path") or value.get("model") or "")
        yield Given(place, _instance(path, place, value), model, normalised(patch or ""))


def _instance(path: Path, place: int, value: Mapping[str, Any]) -> str:
    """Its name in our form, from any form: SWE-bench's, Multi-SWE-bench's fields, or what people write."""
    parts = [value.get(name) for name in ("org", "repo", "number")]
    text = value.get("instance_id") or value.get("id") or ("{}/{}#{}".format(*parts) if all(parts) else "")
    try:
        repo, number = parse_instance_id(str(text))
    except UserError as error:
        raise UserError(error.message, path=path, line=place, field="instance_id", hint=error.hint) from None
    return Repo(*repo).instance_id(number)


def _values(path: Path) -> Iterator[tuple[int, Any]]:
    """What a file holds, with the line or place of each: JSON Lines, a list, or an object by instance."""
    text = read_text(path, "utf-8-sig")
    try:
        whole = json.loads(text)
    except ValueError:
        yield from _of_lines(path, text)
        return
    if isinstance(whole, dict) and not {"instance_id", "id", "org"} & whole.keys():
        patches = {name: one if isinstance(one, dict) else {"model_patch": one} for name, one in whole.items()}
        whole = [{"instance_id": name, **one} for name, one in patches.items()]
    yield from enumerate(whole if isinstance(whole, list) else [whole], 1)


def _of_lines(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError as error:
                raise UserError(
                    f"invalid JSON: {error}", path=path, line=number, hint="correct or remove the line"
                ) from None


# -- patches as they are meant ---------------------------------------------------------------------------------------
def normalised(patch: str) -> str:
    """The same patch with the prefixes `a/` and `b/`, git's header for every file, and a newline at its end."""
    if not patch.strip():
        return ""
    return "\n".join(_headed(patch.split("\n"))).rstrip("\n") + "\n"


def _headed(lines: list[str]) -> Iterator[str]:
    old = new = 0  # lines of the hunk that are still to come
    header = False
    for number, line in enumerate(lines):
        if old > 0 or new > 0:
            old -= line[:1] in ("", " ", "-")
            new -= line[:1] in ("", " ", "+")
            yield line
        elif line.startswith("diff --git "):
            header = True
            yield _git_line(line)
        elif line.startswith("--- ") and lines[number + 1 : number + 2] and lines[number + 1].startswith("+++ "):
            before, after = _pair(line[4:], lines[number + 1][4:])
            if not header:
                yield from _made(before, after)
            yield f"--- {before}"
        elif line.startswith("+++ ") and number and lines[number - 1].startswith("--- "):
            yield f"+++ {_pair(lines[number - 1][4:], line[4:])[1]}"
        else:
            if hunk := _HUNK.match(line):
                old, new = (int(1 if count is None else count) for count in hunk.groups())
                header = False
            yield line


def _git_line(line: str) -> str:
    """`diff --git` with our prefixes; one whose two names cannot be told apart stays as it is."""
    names = line[len("diff --git ") :]
    half = (len(names) - 1) // 2
    if len(names) % 2 and names[half] == " ":
        before, after = _pair(names[:half], names[half + 1 :])
        return f"diff --git {before} {after}"
    return line


def _pair(before: str, after: str) -> tuple[str, str]:
    """Old and new name with `a/` and `b/`. Two that are the same have no prefix."""
    names = [before, after]
    there = [name for name in names if name.split("\t")[0] != _NOWHERE]
    if len(there) == 2 and before == after:
        return _with(before, "a/"), _with(after, "b/")
    prefixes = _OWN if all(_bare(one).startswith(_OWN) for one in there) else _MNEMONIC
    if all(_bare(one).startswith(prefixes) for one in there):
        names = [one if one not in there else _cut(one) for one in names]
    before, after = (
        one if one.split("\t")[0] == _NOWHERE else _with(one, prefix) for one, prefix in zip(names, _OWN, strict=True)
    )
    return before, after


def _bare(name: str) -> str:
    return name.removeprefix('"')


def _cut(name: str) -> str:
    """Without its prefix of two characters."""
    return f'"{name[3:]}' if name.startswith('"') else name[2:]


def _with(name: str, prefix: str) -> str:
    return f'"{prefix}{name[1:]}' if name.startswith('"') else prefix + name


def _made(before: str, after: str) -> Iterator[str]:
    """Git's header for a part that has none."""
    before, after = before.split("\t")[0], after.split("\t")[0]
    named = after if after != _NOWHERE else before
    path = _cut(named)
    yield f"diff --git {_with(path, 'a/')} {_with(path, 'b/')}"
    if before == _NOWHERE:
        yield "new file mode 100644"
    if after == _NOWHERE:
        yield "deleted file mode 100644"
