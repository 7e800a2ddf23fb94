"""A submission's bundle: a folder with everything that a claim rests on, secured by digests.

    submission.json      agent, model, instances and outcomes, and the digest of every file
    data/                predictions, answers (trajectories, logs), verdicts and stored test runs, laid out as a data
                         directory

`verify` needs only the bundle. `regrade` also needs the dataset, and recomputes every verdict from the stored runs;
nothing is run. Writes the bundle's folder. Does not cover who made it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from pipeline import __version__
from pipeline.core.console import counted
from pipeline.core.errors import A11yBenchError, UserError
from pipeline.core.names import parse_repo
from pipeline.core.record import Usd
from pipeline.core.records import Instance, Outcome, Prediction, Record, Verdict
from pipeline.core.run_record import read_run
from pipeline.core.store import (
    Store,
    digest,
    each_record,
    now,
    of_attempt,
    read_record,
    read_records,
    write_json,
    writing_folder,
)
from pipeline.evaluate import kept
from pipeline.evaluate.answers import Subject, attempts, failed, read_answers
from pipeline.evaluate.grade import law_for
from pipeline.evaluate.regrade import regrade as give_anew
from pipeline.llm.costs import requests
from pipeline.llm.experiment import SHARED
from pipeline.llm.prices import total

#: the file that describes a bundle, and the folder that is laid out as a data directory
ABOUT, DATA = "submission.json", "data"
#: files of a run's folder that only its own machine needs
LOCAL = ("gateway.log", "run.log", "tasks.jsonl", "cache")
#: fields that older bundles do not have
ADDED = ("draft", "images")


def _segment(name: str) -> str:
    """A name that is one part of a path: a bundle's run is in the bundle."""
    if name in ("", ".", "..") or re.search(r"[/\\\0]", name):
        raise ValueError(f"{name!r} does not name a folder of runs")
    return name


class Submission(Record):
    """What a bundle claims. `outcomes` are those of the first attempts; `files` are digests (SHA-256) by path; `images`
    is the digest of the images in which the instances ran. A `draft` may lack verdicts; no leaderboard ranks it."""

    schema_version: int = 1
    tool: str
    made: str
    repo: str
    agent: str
    model: str
    run: Annotated[str, AfterValidator(_segment)]
    attempts: Annotated[int, Field(ge=1)] = 1
    instances: tuple[str, ...]
    outcomes: dict[str, int]
    cost_usd: Usd | None
    settings: str = ""
    law: tuple[str, ...]
    files: dict[str, str]
    draft: bool = False
    images: str = ""
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
        """The digest of all fields but `digest`. Fields that older bundles do not have count only if they are set."""
        left_out = {"digest"} | {name for name in ADDED if not getattr(self, name)}
        return digest(json.loads(self.model_dump_json(exclude=left_out)))


def pack(store: Store, subject: Subject, folder: Path, *, draft: bool = False) -> Submission:
    """Write the bundle of a run. Raises UserError if the folder is not empty, there is no such run, nothing was
    evaluated, the verdicts are on other answers, or an instance has no verdict and it is not a draft."""
    if folder.exists() and any(folder.iterdir()):
        raise UserError("the folder is not empty", path=folder, hint="name another folder")
    read_answers(store, subject)
    tries = attempts(store, subject)
    sources = list(_sources(store, tries))
    if not draft:
        _require_complete(store, tries)
    _require_consistent(store, tries)
    with writing_folder(folder) as made:
        for source in sources:
            _copy(source, made / DATA / source.relative_to(store.root))
        submission = _described(store, subject, tries, made, draft=draft)
        write_json(made / ABOUT, json.loads(submission.model_dump_json()))
    return submission


def _described(store: Store, subject: Subject, tries: list[Subject], folder: Path, *, draft: bool) -> Submission:
    """What a bundle claims whose data are in a folder."""
    made = Submission(
        tool=__version__,
        made=now(),
        repo=str(subject.repo),
        agent=subject.agent,
        model=subject.model,
        run=tries[0].run,
        attempts=len(tries),
        cost_usd=_cost(store, tries[0]),
        **_recorded(Store(folder / DATA), tries[0]),
        files=_digests(folder),
        draft=draft,
    )
    return made.model_copy(update={"digest": made.signed()})


def judged_differently(store: Store, subject: Subject) -> list[str]:
    """The instances of the dataset with a verdict by another law: another version of the program gave it."""
    path = store.dataset(subject.repo)
    laws = {
        verdict.instance_id: verdict.law for tried in attempts(store, subject) for verdict in _verdicts(store, tried)
    }
    instances = each_record(path, Instance) if path.exists() else ()
    return [
        instance.instance_id
        for instance in instances
        if laws.get(instance.instance_id, "") not in ("", law_for(instance))
    ]


def load(folder: Path) -> Submission:
    """What a bundle claims. Raises UserError for an invalid bundle, one whose data are elsewhere, and one with what
    would never end if it was read, such as a pipe."""
    if (folder / DATA).is_symlink():
        raise UserError("the data of a bundle are a link", path=folder / DATA, hint="ask for the bundle itself")
    for path in (folder / ABOUT, *(folder / DATA).rglob("*")):
        if path.exists() and not (path.is_dir() or path.is_file()):
            raise UserError("neither a file nor a folder", path=path, hint="ask for the bundle itself")
    return read_record(folder / ABOUT, Submission)


def verify(folder: Path) -> list[str]:
    """The problems of a bundle, one line each. Raises UserError for an invalid bundle."""
    submission = load(folder)
    found = list(_altered(folder, submission))
    if submission.signed() != submission.digest:
        found.append(f"{ABOUT}: its digest does not match its content")
    return found or list(_contradicted(folder, submission))


def regrade(folder: Path, dataset: Path) -> list[str]:
    """Where verdicts differ when they are recomputed from the stored runs, by the dataset in the data directory
    `dataset`. Raises UserError."""
    submission = load(folder)
    subject, claimed = submission.subject, Store(folder / DATA)
    with TemporaryDirectory(prefix="a11y-bench-") as scratch:
        store = Store(Path(scratch) / "data")
        store.begin()
        shutil.copytree(folder / DATA, store.root, dirs_exist_ok=True, ignore=_links)
        _copy(Store(dataset).dataset(subject.repo), store.dataset(subject.repo))
        names = set(submission.instances)
        return [line for attempt in attempts(store, subject) for line in _differing(store, claimed, attempt, names)]


def _links(folder: str, names: list[str]) -> list[str]:
    """The links in a folder. They are not allowed: a bundle comes from others, and a link would lead to files of this
    machine."""
    return [name for name in names if Path(folder, name).is_symlink()]


def _differing(store: Store, claimed: Store, subject: Subject, names: Container[str]) -> Iterator[str]:
    """Where an attempt's verdicts differ; only of the bundle's instances, since the dataset may have grown."""
    claimed_verdicts = {verdict.instance_id: verdict for verdict in _verdicts(claimed, subject)}
    for verdict in give_anew(store, subject):
        if verdict.instance_id not in names:
            continue
        claim = claimed_verdicts.pop(verdict.instance_id, None)
        if claim is None or claim.outcome != verdict.outcome:
            where = f"{verdict.instance_id}, attempt {subject.attempt}"
            yield f"{where}: claims {claim.outcome if claim else 'nothing'}, {_given(verdict, claim)}"
    yield from (f"{name}, attempt {subject.attempt}: is not in the dataset" for name in claimed_verdicts)


def _given(verdict: Verdict, claim: Verdict | None) -> str:
    """What a recomputed verdict says instead of the claimed one. That other code judged is no fault of the bundle."""
    if verdict.outcome is not Outcome.NOT_EVALUATED:
        return f"the stored run gives {verdict.outcome}"
    is_older = claim is not None and claim.law != verdict.law
    hint = "; another version of the program gave the verdict (another law): regrade with that one" if is_older else ""
    return f"cannot be recomputed: {verdict.cause}{hint}"


# -- what is packed ---------------------------------------------------------------------------------------------------
def _require_complete(store: Store, tries: list[Subject]) -> None:
    """Raise UserError if an instance was not evaluated in one of the attempts."""
    for attempt in tries:
        verdicts = _verdicts(store, attempt)
        missing = [verdict for verdict in verdicts if verdict.outcome is Outcome.NOT_EVALUATED]
        if missing:
            first, where = missing[0], f" in attempt {attempt.attempt}" if len(tries) > 1 else ""
            share = f"{len(missing)} of {counted(len(verdicts), 'instance')}"
            message = f"the run is incomplete: {share} not evaluated{where}, as {first.instance_id}: {first.cause}"
            command = f"{attempt.command('eval-run')} (just agt-run first, if answers are missing)"
            hint = f"evaluate it again: {command}; or add --draft"
            raise UserError(message, path=attempt.folder(store) / "verdicts.jsonl", hint=hint)


def _require_consistent(store: Store, tries: list[Subject]) -> None:
    """Raise UserError if the verdicts are not on the answers that the run has now."""
    for attempt in tries:
        if found := next(_inconsistent(store, attempt), ""):
            path = attempt.folder(store) / "verdicts.jsonl"
            raise UserError(found, path=path, hint=f"evaluate the run again: {attempt.command('eval-run')}")


def _recorded(store: Store, subject: Subject) -> dict[str, Any]:
    """The claims of a bundle that follow from its records, by field."""
    verdicts = _verdicts(store, subject)
    return {
        "instances": tuple(verdict.instance_id for verdict in verdicts),
        "outcomes": _counted(verdicts),
        "settings": read_run(_run(store, subject)).settings,
        "law": tuple(sorted({verdict.law for verdict in verdicts})),
        "images": digest(sorted((verdict.instance_id, verdict.image) for verdict in verdicts)),
    }


def _sources(store: Store, tries: list[Subject]) -> Iterator[Path]:
    """The files and folders of the data directory that go into a bundle."""
    first = tries[0]
    yield from (path for path in sorted(_run(store, first).iterdir()) if path.name not in LOCAL)
    for attempt in tries:
        folder = attempt.folder(store)
        for name in ("verdicts.jsonl", "final_report.json", "runs.json"):
            if not (folder / name).exists():
                raise UserError("nothing was evaluated", path=folder / name, hint=f"run: {attempt.command('eval-run')}")
            yield folder / name
        for name in dict.fromkeys(kept.names(folder / "runs.json").values()):
            stored = kept.unit_of(store.root, attempt.repo, name)
            yield from (path for path in (stored.folder, stored.path) if path.exists())
        for prediction in _predictions(store, attempt):
            kept_answer = store.answers(attempt.repo, prediction.instance_id, prediction.answer)
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
            "there is no dataset to regrade with", path=source, hint="--data names the data directory that has it"
        )


def _run(store: Store, subject: Subject) -> Path:
    return store.predictions(subject.repo, subject.agent, subject.model) / subject.run


def _predictions(store: Store, subject: Subject) -> list[Prediction]:
    return read_records(of_attempt(_run(store, subject), subject.attempt) / "predictions.jsonl", Prediction)


def _verdicts(store: Store, subject: Subject) -> list[Verdict]:
    return read_records(subject.folder(store) / "verdicts.jsonl", Verdict)


def _cost(store: Store, subject: Subject) -> Decimal | None:
    """USD of the first attempts, with all tries and work that several answers share, as tables count it; None without a
    ledger, and for predictions made elsewhere."""
    answers = {prediction.answer for prediction in _predictions(store, subject)} | failed(_run(store, subject))
    if "" in answers or not os.path.lexists(store.ledger):
        return None
    shared = (SHARED, read_run(_run(store, subject)).experiment)
    rows = requests(store.ledger)
    return total(row.cost_usd for row in rows if row.answer in answers or (row.holder, row.experiment) == shared)


def _digests(folder: Path) -> dict[str, str]:
    """The digest of every file of a bundle, except the one that lists them."""
    files = (path for path in sorted((folder / DATA).rglob("*")) if path.is_file() or path.is_symlink())
    return {str(path.relative_to(folder)): _digest(path) for path in files}


def _digest(path: Path) -> str:
    """The digest of a file; of a link, the digest of its target as text, since the target may be foreign."""
    data = f"link {path.readlink()}".encode() if path.is_symlink() else path.read_bytes()
    return hashlib.sha256(data).hexdigest()


def _counted(verdicts: list[Verdict]) -> dict[str, int]:
    return {str(name): count for name, count in sorted(Counter(verdict.outcome for verdict in verdicts).items())}


# -- what is verified -------------------------------------------------------------------------------------------------
def _altered(folder: Path, submission: Submission) -> Iterator[str]:
    digests = _digests(folder)
    yield from (f"{name}: is missing" for name in sorted(submission.files.keys() - digests.keys()))
    yield from (f"{name}: is not in {ABOUT}" for name in sorted(digests.keys() - submission.files.keys()))
    changed = (name for name in submission.files.keys() & digests.keys() if submission.files[name] != digests[name])
    yield from (f"{name}: was changed" for name in sorted(changed))


def _contradicted(folder: Path, submission: Submission) -> Iterator[str]:
    """Where the claims of a bundle differ from its records."""
    store = Store(folder / DATA)
    try:
        tries = attempts(store, submission.subject)
        if len(tries) != submission.attempts:
            yield f"it claims {submission.attempts} attempts and holds {len(tries)}"
        if not tries:
            return
        for attempt in tries:
            yield from _inconsistent(store, attempt)
        recorded = _recorded(store, tries[0])
        claimed = {name for name in recorded if name not in ADDED or getattr(submission, name)}
        differing = [name for name in recorded if name in claimed and getattr(submission, name) != recorded[name]]
        yield from (f"{ABOUT}: the records differ from what it claims: {name}" for name in differing)
    except A11yBenchError as error:
        yield str(error)


def _inconsistent(store: Store, subject: Subject) -> Iterator[str]:
    """Where the records of an attempt contradict each other."""
    verdicts, predictions = _verdicts(store, subject), _predictions(store, subject)
    patches: Mapping[str, str] = {prediction.instance_id: digest(prediction.model_patch) for prediction in predictions}
    prefix = f"attempt {subject.attempt}"
    if len(patches) != len(predictions) or len({verdict.instance_id for verdict in verdicts}) != len(verdicts):
        yield f"{prefix}: an instance is there twice"
    for verdict in verdicts:
        matches = (verdict.agent, verdict.model, verdict.run) == (subject.agent, subject.model, subject.run)
        if not matches or verdict.patch_digest != patches.get(verdict.instance_id, ""):
            yield f"{prefix}: {verdict.instance_id}: the verdict is on another patch"
    judged = {verdict.instance_id for verdict in verdicts}
    yield from (f"{prefix}: {name}: has no verdict" for name in sorted(patches.keys() - judged))


def described(submission: Submission) -> dict[str, Any]:
    """What a bundle claims, as plain data, without the files."""
    return json.loads(submission.model_dump_json(exclude={"files"}))
