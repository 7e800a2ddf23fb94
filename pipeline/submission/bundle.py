"""A submission's bundle: a folder that holds all that a claim stands on, and says so by digests.

    submission.json      whose it is, of which instances, what came of it, and the digest of every file
    data/                predictions, answers (trajectories, logs), verdicts and stored test runs, as in a data
    directory

`verify` needs the bundle alone; `regrade` the dataset too, from which it gives every verdict anew out of the stored
runs: nothing is run. Writes the bundle's folder. Not covered: who made it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from pydantic import Field, ValidationError

from pipeline import __version__
from pipeline.core.errors import A11yBenchError, UserError, fault
from pipeline.core.names import parse_repo
from pipeline.core.records import Outcome, Prediction, Record, Verdict
from pipeline.core.store import Store, digest, now, of_attempt, read_json, read_records, write_json
from pipeline.evaluate import kept
from pipeline.evaluate.answers import Subject, attempts
from pipeline.evaluate.regrade import regrade as give_anew
from pipeline.llm.ledger import Ledger
from pipeline.llm.prices import total

#: the file that says what a bundle is, and the folder that is laid out as a data directory
ABOUT, DATA = "submission.json", "data"
#: what a run's folder has that only its own machine needs
LOCAL = ("gateway.log", "run.log", "tasks.jsonl", "cache")


class Submission(Record):
    """What a bundle claims. `outcomes` are those of the first attempts; `files` are digests (SHA-256) by path."""

    schema_version: int = 1
    tool: str
    made: str
    repo: str
    agent: str
    model: str
    run: str
    attempts: Annotated[int, Field(ge=1)] = 1
    instances: tuple[str, ...]
    outcomes: dict[str, int]
    cost_usd: Decimal | None
    settings: str = ""
    law: tuple[str, ...]
    files: dict[str, str]
    digest: str = ""

    @property
    def subject(self) -> Subject:
        return Subject(parse_repo(self.repo), self.agent, self.model, self.run)

    @property
    def resolved(self) -> int:
        return self.outcomes.get(Outcome.RESOLVED, 0)

    @property
    def is_complete(self) -> bool:
        """Whether every instance was evaluated."""
        return not self.outcomes.get(Outcome.NOT_EVALUATED, 0)

    def signed(self) -> str:
        """A digest of all that it says, its own left out."""
        return digest(json.loads(self.model_dump_json(exclude={"digest"})))


def pack(store: Store, subject: Subject, folder: Path) -> Submission:
    """Write the bundle of a run. Raises UserError where something is there, or nothing was evaluated."""
    if folder.exists() and any(folder.iterdir()):
        raise UserError("there is something already", path=folder, hint="name another folder")
    tries = attempts(store, subject)
    if not tries:
        raise UserError(f"no run of {subject.agent} with {subject.model} on {subject.repo}")
    for source in _sources(store, tries):
        _copy(source, folder / DATA / source.relative_to(store.root))
    verdicts = _verdicts(Store(folder / DATA), tries[0])
    made = Submission(
        tool=__version__,
        made=now(),
        repo=str(subject.repo),
        agent=subject.agent,
        model=subject.model,
        run=tries[0].run,
        attempts=len(tries),
        instances=tuple(one.instance_id for one in verdicts),
        outcomes=_counted(verdicts),
        cost_usd=_cost(store, tries[0]),
        settings=read_json(_run(store, tries[0]) / "run.json").get("settings", ""),
        law=tuple(sorted({one.law for one in verdicts})),
        files=_digests(folder),
    )
    made = made.model_copy(update={"digest": made.signed()})
    write_json(folder / ABOUT, json.loads(made.model_dump_json()))
    return made


def load(folder: Path) -> Submission:
    """What a bundle claims. Raises UserError for what is none."""
    try:
        return Submission.model_validate(read_json(folder / ABOUT))
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(fault(first), path=folder / ABOUT, field=".".join(map(str, first["loc"]))) from None


def verify(folder: Path) -> list[str]:
    """All that is wrong with a bundle, one line each. Raises UserError for what is none."""
    said = load(folder)
    found = list(_altered(folder, said))
    if said.signed() != said.digest:
        found.append(f"{ABOUT}: its digest is not that of what it says")
    return found or list(_contradicted(folder, said))


def regrade(folder: Path, dataset: Path) -> list[str]:
    """Where the verdicts differ that the stored runs give, by the dataset that is in a data directory. Raises
    UserError."""
    said = load(folder)
    subject, claimed = said.subject, Store(folder / DATA)
    with TemporaryDirectory(prefix="a11y-bench-") as place:
        store = Store(Path(place) / "data")
        store.begin()
        shutil.copytree(folder / DATA, store.root, dirs_exist_ok=True)
        _copy(Store(dataset).dataset(subject.repo), store.dataset(subject.repo))
        return [line for one in attempts(store, subject) for line in _differing(store, claimed, one)]


def _differing(store: Store, claimed: Store, subject: Subject) -> Iterator[str]:
    before = {one.instance_id: one for one in _verdicts(claimed, subject)}
    for one in give_anew(store, subject):
        was = before.pop(one.instance_id, None)
        if was is None or was.outcome != one.outcome:
            claim = was.outcome if was else "nothing"
            yield f"{one.instance_id}, attempt {subject.attempt}: claims {claim}, the stored run gives {one.outcome}"
    yield from (f"{name}, attempt {subject.attempt}: is not in the dataset" for name in before)


# -- what is packed ---------------------------------------------------------------------------------------------------
def _sources(store: Store, tries: list[Subject]) -> Iterator[Path]:
    """The files and folders of the data directory that a bundle has."""
    first = tries[0]
    yield from (path for path in sorted(_run(store, first).iterdir()) if path.name not in LOCAL)
    for one in tries:
        folder = one.folder(store)
        for name in ("verdicts.jsonl", "final_report.json", "runs.json"):
            if not (folder / name).exists():
                hint = f"run: just eval-run {one.repo} {one.model} --agent {one.agent}"
                raise UserError("nothing was evaluated", path=folder / name, hint=hint)
            yield folder / name
        for name in dict.fromkeys(read_json(folder / "runs.json").values()):
            place = kept.unit_of(store.root, one.repo, name)
            yield from (path for path in (place.folder, place.path) if path.exists())
        for prediction in _predictions(store, one):
            kept_answer = store.answers(one.repo, prediction.instance_id, prediction.answer)
            if prediction.answer and kept_answer.exists():
                yield kept_answer


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True)
    elif source.exists():
        shutil.copyfile(source, target)
    else:
        raise UserError(
            "there is no dataset to judge by", path=source, hint="--data names the data directory that has it"
        )


def _run(store: Store, subject: Subject) -> Path:
    return store.predictions(subject.repo, subject.agent, subject.model) / subject.run


def _predictions(store: Store, subject: Subject) -> list[Prediction]:
    return read_records(of_attempt(_run(store, subject), subject.attempt) / "predictions.jsonl", Prediction)


def _verdicts(store: Store, subject: Subject) -> list[Verdict]:
    return read_records(subject.folder(store) / "verdicts.jsonl", Verdict)


def _cost(store: Store, subject: Subject) -> Decimal | None:
    """USD of the first attempts, every try at them; None where no ledger tells."""
    if not store.ledger.exists():
        return None
    ledger = Ledger(store.ledger)
    try:
        return total(ledger.spent_on(one.answer) for one in _predictions(store, subject) if one.answer)
    finally:
        ledger.close()


def _digests(folder: Path) -> dict[str, str]:
    """Every file of a bundle but the one that says so."""
    files = (path for path in sorted((folder / DATA).rglob("*")) if path.is_file() or path.is_symlink())
    return {str(path.relative_to(folder)): _digest(path) for path in files}


def _digest(path: Path) -> str:
    """A link is none of our files: it counts as what it points to, as text."""
    data = f"link {path.readlink()}".encode() if path.is_symlink() else path.read_bytes()
    return hashlib.sha256(data).hexdigest()


def _counted(verdicts: list[Verdict]) -> dict[str, int]:
    return {str(name): count for name, count in sorted(Counter(one.outcome for one in verdicts).items())}


# -- what is verified -------------------------------------------------------------------------------------------------
def _altered(folder: Path, said: Submission) -> Iterator[str]:
    there = _digests(folder)
    yield from (f"{name}: is missing" for name in sorted(said.files.keys() - there.keys()))
    yield from (f"{name}: is not in {ABOUT}" for name in sorted(there.keys() - said.files.keys()))
    changed = (name for name in said.files.keys() & there.keys() if said.files[name] != there[name])
    yield from (f"{name}: was changed" for name in sorted(changed))


def _contradicted(folder: Path, said: Submission) -> Iterator[str]:
    """Where what a bundle claims is not what its records say."""
    store = Store(folder / DATA)
    try:
        tries = attempts(store, said.subject)
        if len(tries) != said.attempts:
            yield f"it claims {said.attempts} attempts and holds {len(tries)}"
        for one in tries:
            yield from _unsupported(store, one, said)
    except A11yBenchError as error:
        yield str(error)


def _unsupported(store: Store, subject: Subject, said: Submission) -> Iterator[str]:
    verdicts, predictions = _verdicts(store, subject), _predictions(store, subject)
    patches: Mapping[str, str] = {one.instance_id: digest(one.model_patch) for one in predictions}
    place = f"attempt {subject.attempt}"
    if len(patches) != len(predictions) or len({one.instance_id for one in verdicts}) != len(verdicts):
        yield f"{place}: an instance stands there twice"
    if subject.attempt == 1 and (_counted(verdicts) != said.outcomes or _names(verdicts) != sorted(said.instances)):
        yield f"{place}: the verdicts are not what it claims"
    for one in verdicts:
        whose = (one.agent, one.model, one.run) == (subject.agent, subject.model, subject.run)
        if not whose or one.patch_digest != patches.get(one.instance_id, ""):
            yield f"{place}: {one.instance_id}: the verdict is of another patch"
    yield from (f"{place}: {name}: has no verdict" for name in sorted(patches.keys() - set(_names(verdicts))))


def _names(verdicts: list[Verdict]) -> list[str]:
    return sorted(one.instance_id for one in verdicts)


def described(said: Submission) -> dict[str, Any]:
    """What a bundle claims, for a program, without the files."""
    return json.loads(said.model_dump_json(exclude={"files"}))
