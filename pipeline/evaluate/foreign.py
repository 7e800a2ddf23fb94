"""Predictions made by another harness, as a run like any other.

Reads JSON Lines or one JSON document in the formats of SWE-bench and Multi-SWE-bench; writes
`03_predictions/repair/<agent>/<repo>/<model>/<run>/`. Patches are normalized: `null` is empty, a missing
final newline is added, other prefixes (git's `diff.mnemonicPrefix`, or none) become `a/` and `b/`, a part without
git's header gets one, and parts of binary files without their content are left out. Does not cover patches that are
not diffs.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.core.console import say
from pipeline.core.dataset import read_dataset
from pipeline.core.errors import UserError
from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.records import Prediction
from pipeline.core.run_record import read_run
from pipeline.core.store import Store, digest, now, write_json, write_records
from pipeline.core.texts import RepeatedKey, parse_json, read_text
from pipeline.evaluate.answers import Subject

#: git's prefixes of paths: the default, and those of `diff.mnemonicPrefix` (index, work tree, commit, object)
_OWN = ("a/", "b/")
_MNEMONIC = ("i/", "w/", "c/", "o/", "1/", "2/")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
#: the beginning of a file's part, a binary file without its content, and any content
_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)
_STUB = re.compile(r"^Binary files .+ differ(?=\r?$)", re.MULTILINE)
_CONTENT = re.compile(r"^(?:@@ -|GIT binary patch\r?$)", re.MULTILINE)
_NOWHERE = "/dev/null"
#: half of a character, which no record can hold
_HALF = re.compile("[\ud800-\udfff]")


class Place(NamedTuple):
    """The place of a prediction in its file, from 1: a line, or an entry of one document."""

    path: Path
    line: int | None = None
    entry: int | None = None

    def __str__(self) -> str:
        return f"line {self.line}" if self.line else f"entry {self.entry}"

    def wrong(self, message: str, field: str | None = None, hint: str | None = None) -> UserError:
        """The error for the prediction at this place."""
        text = f"entry {self.entry}: {message}" if self.entry else message
        return UserError(text, path=self.path, line=self.line, field=field, hint=hint)


class ForeignPrediction(NamedTuple):
    """One prediction of a file and its place."""

    place: Place
    instance: str
    model: str
    patch: str


def adopt(store: Store, subject: Subject, path: Path) -> Subject:
    """Make a run of a file's predictions of one model for one repository. The same file makes no second run.

    Raises UserError with file and line if the file cannot be read, an instance is not in the dataset or occurs twice,
    or there is no prediction of this model.
    """
    return _adopt(store, subject, path)[0]


@contextmanager
def adopted(store: Store, subject: Subject, path: Path) -> Iterator[Subject]:
    """The run of `adopt`, for an evaluation in this block. If that refuses its input, a run made for it is removed,
    unless another command evaluates it."""
    folder = store.predictions(subject.repo, subject.agent, subject.model)
    made, is_new = _adopt(store, subject, path)
    try:
        yield made
    except UserError:
        if is_new:
            with suppress(UserError), store.lock("evaluate", subject.repo, subject.agent, subject.model):
                shutil.rmtree(folder / made.run)
                with suppress(OSError):  # those that hold other runs stay
                    for empty in (folder, *list(folder.parents)[:2]):
                        empty.rmdir()
        raise


def _adopt(store: Store, subject: Subject, path: Path) -> tuple[Subject, bool]:
    """The run of `adopt`, and whether it is new: another command may have made it meanwhile."""
    predictions = list(_of_model(path, subject))
    known = {instance.instance_id for instance in read_dataset(store, subject.repo)}
    first: dict[str, Place] = {}
    for prediction in predictions:
        if prediction.instance not in known:
            hint = "build the instance, or remove the line"
            message = f"{prediction.instance} is not in the dataset"
            raise prediction.place.wrong(message, "instance_id", hint)
        if prediction.instance in first:
            message = f"{prediction.instance} occurs twice, in {first[prediction.instance]} and {prediction.place}"
            raise prediction.place.wrong(message, "instance_id", "keep one of them")
        first[prediction.instance] = prediction.place
    return _write(store, subject, path, predictions)


def _write(store: Store, subject: Subject, path: Path, predictions: list[ForeignPrediction]) -> tuple[Subject, bool]:
    folder = store.predictions(subject.repo, subject.agent, subject.model)
    key = digest(sorted((prediction.instance, prediction.patch) for prediction in predictions))
    with store.lock("predict", subject.repo, subject.agent, subject.model):
        latest = max(folder.glob("*/run.json"), default=None)
        if latest and read_run(latest.parent).digest == key:
            return replace(subject, run=latest.parent.name), False
        run = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        origin: dict[str, Any] = {"model_name_or_path": subject.model, "agent": subject.agent, "run": run}
        records = [
            Prediction(instance_id=prediction.instance, model_patch=prediction.patch, **origin)
            for prediction in predictions
        ]
        about = {"repo": str(subject.repo), "agent": subject.agent, "model": subject.model, "digest": key}
        write_records(folder / run / "predictions.jsonl", records)
        write_json(folder / run / "run.json", {**about, "foreign": path.name, "instances": None, "started": now()})
    return replace(subject, run=run), True


def _of_model(path: Path, subject: Subject) -> Iterator[ForeignPrediction]:
    """The predictions of a file by one model for a repository. Raises UserError if there are none."""
    all_predictions = [
        prediction._replace(instance=subject.repo.instance_id(number))
        for prediction in _read(path)
        for repo, number in [parse_instance_id(prediction.instance)]
        if str(repo).lower() == str(subject.repo).lower()  # as on GitHub
    ]
    models = sorted({prediction.model for prediction in all_predictions if prediction.model})
    predictions = [prediction for prediction in all_predictions if prediction.model in ("", subject.model)]
    if not predictions:
        hint = f"for {subject.repo} it holds predictions of: {', '.join(models) or 'nobody'}"
        place = all_predictions[0].place if all_predictions else Place(path)
        raise place.wrong(f"no prediction of {subject.model}", "model_name_or_path", hint)
    yield from predictions


def _read(path: Path) -> Iterator[ForeignPrediction]:
    for place, value in _values(path):
        if not isinstance(value, dict):
            raise place.wrong("not a JSON object", hint="each prediction is an object")
        patch = next((value[name] for name in ("model_patch", "fix_patch", "patch") if name in value), ...)
        if patch is ... or not isinstance(patch, str | None) or _HALF.search(patch or ""):
            hint = "a text, or null for an empty one"
            raise place.wrong("the patch is missing", "model_patch", hint)
        model = str(value.get("model_name_or_path") or value.get("model") or "")
        instance = _instance(place, value)
        for stub in stubs(patch or ""):
            say(f"{instance}: left out, since the patch lacks the content: {stub}")
        yield ForeignPrediction(place, instance, model, normalized(patch or ""))


def _instance(place: Place, value: Mapping[str, Any]) -> str:
    """The instance's name in our form, from SWE-bench's, Multi-SWE-bench's fields, or what people write."""
    parts = [value.get(name) for name in ("org", "repo", "number")]
    text = value.get("instance_id") or value.get("id") or ("{}/{}#{}".format(*parts) if all(parts) else "")
    try:
        repo, number = parse_instance_id(str(text))
    except UserError as error:
        raise place.wrong(error.message, "instance_id", error.hint) from None
    return Repo(*repo).instance_id(number)


def _values(path: Path) -> Iterator[tuple[Place, Any]]:
    """The values of a file (JSON Lines, a list, or an object by instance), each with its place."""
    text = read_text(path)
    try:
        whole = parse_json(text, unique=True)
    except RepeatedKey as error:
        raise UserError(str(error), path=path, hint="remove one of them") from None
    except ValueError:
        yield from _of_lines(path, text)
        return
    if isinstance(whole, dict) and not {"instance_id", "id", "org"} & whole.keys():
        patches = {
            name: answer if isinstance(answer, dict) else {"model_patch": answer} for name, answer in whole.items()
        }
        whole = [{"instance_id": name, **answer} for name, answer in patches.items()]
    if not isinstance(whole, list):
        yield Place(path, 1), whole
        return
    yield from ((Place(path, entry=number), entry) for number, entry in enumerate(whole, 1))


def _of_lines(path: Path, text: str) -> Iterator[tuple[Place, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield Place(path, number), parse_json(line, unique=True)
            except ValueError as error:
                raise UserError(
                    f"invalid JSON: {error}", path=path, line=number, hint="correct or remove the line"
                ) from None


# -- normalized patches ---------------------------------------------------------------------------------------------
def normalized(patch: str) -> str:
    """The same patch with the prefixes `a/` and `b/`, git's header for every file, and a newline at its end.

    Parts of binary files without their content are left out, since git would refuse the whole patch.
    """
    patch = "".join(part for part in _FILE.split(patch) if not _is_stub(part))
    if not patch.strip():
        return ""
    text = "\n".join(_headed(patch.split("\n")))
    return text if text.endswith("\n") else text + "\n"


def stubs(patch: str) -> list[str]:
    """The lines of a patch about binary files of which it lacks the content (`git diff` without `--binary`)."""
    return [match[0] for part in _FILE.split(patch) if _is_stub(part) and (match := _STUB.search(part))]


def _is_stub(part: str) -> bool:
    """Whether nothing of a file's part can be applied."""
    return bool(part.startswith("diff --git ") and _STUB.search(part)) and not _CONTENT.search(part)


def _headed(lines: list[str]) -> Iterator[str]:
    old = new = 0  # lines of the hunk that are still to come
    header: tuple[str, str] | None = None  # the names in git's header of this file
    for number, line in enumerate(lines):
        if old > 0 or new > 0:
            old -= line[:1] in ("", " ", "-")
            new -= line[:1] in ("", " ", "+")
            yield line
        elif line.startswith("diff --git "):
            header = _git_names(line)
            yield "diff --git {} {}".format(*_pair(*header)) if header[1] else line
        elif line.startswith("--- ") and lines[number + 1 : number + 2] and lines[number + 1].startswith("+++ "):
            before, after = _pair(line[4:], lines[number + 1][4:], header)
            if not header:
                yield from _header(before, after)
            yield f"--- {before}"
        elif line.startswith("+++ ") and number and lines[number - 1].startswith("--- "):
            yield f"+++ {_pair(lines[number - 1][4:], line[4:], header)[1]}"
        else:
            if hunk := _HUNK.match(line):
                old, new = (int(1 if count is None else count) for count in hunk.groups())
                header = None
            yield line


def _git_names(line: str) -> tuple[str, str]:
    """Both names of a line `diff --git`. The second is empty if they cannot be separated."""
    names = line[len("diff --git ") :].removesuffix("\r")
    half = (len(names) - 1) // 2
    return (names[:half], names[half + 1 :]) if len(names) % 2 and names[half] == " " else (names, "")


def _pair(before: str, after: str, header: tuple[str, str] | None = None) -> tuple[str, str]:
    """Old and new name with `a/` and `b/`. Two equal names, here or in git's header, have no prefix yet."""
    names = [before, after]
    present = [name for name in names if _alone(name) != _NOWHERE]
    prefixes = _OWN if all(_bare(name).startswith(_OWN) for name in present) else _MNEMONIC
    is_plain = (len(present) == 2 and before == after) or (header is not None and header[0] == header[1])
    if not is_plain and all(_bare(name).startswith(prefixes) for name in present):
        names = [name if name not in present else _cut(name) for name in names]
    before, after = (
        name if _alone(name) == _NOWHERE else _with(name, prefix) for name, prefix in zip(names, _OWN, strict=True)
    )
    return before, after


def _alone(name: str) -> str:
    """A name without the time after it, and without the CR of a line of DOS."""
    return re.split(r"[\t\r]", name, maxsplit=1)[0]


def _bare(name: str) -> str:
    return name.removeprefix('"')


def _cut(name: str) -> str:
    """The name without its prefix of two characters."""
    return f'"{name[3:]}' if name.startswith('"') else name[2:]


def _with(name: str, prefix: str) -> str:
    return f'"{prefix}{name[1:]}' if name.startswith('"') else prefix + name


def _header(before: str, after: str) -> Iterator[str]:
    """Git's header for a file's part that has none."""
    before, after = _alone(before), _alone(after)
    name = after if after != _NOWHERE else before
    path = _cut(name)
    yield f"diff --git {_with(path, 'a/')} {_with(path, 'b/')}"
    if before == _NOWHERE:
        yield "new file mode 100644"
    if after == _NOWHERE:
        yield "deleted file mode 100644"
