"""Runs of the page track: named views of answers, which are stored by everything they depend on and shared by runs.

03_predictions/pages/<run>/run.json           what was asked, of whom, how often
                           cases/<case>/      the cases as they were
                           raw/<case>/<model>__s<idx>.html      the pages; without the suffix for one sample
                           answers.jsonl      `PageAnswer`, when the run is complete or was stopped
03_predictions/pages/kept/<digest>/           one answer as it came, by model, prompts, seed, parameters and index
04_evaluation/pages/<run>/                    verdicts.jsonl, results.json, screenshots/
04_evaluation/pages/kept/<digest>/            the engine's observation of one page with one case under one law
04_evaluation/pages/opinions/                 judges' opinions of answers (the hybrid score)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from pipeline.core.console import counted
from pipeline.core.errors import UserError, fault, unknown
from pipeline.core.names import folder_name
from pipeline.core.store import (
    Store,
    Unit,
    digest,
    each_record,
    now,
    read_field,
    read_object,
    unique,
    write_bytes,
    write_json,
)
from pipeline.pages.cases import Case, load_cases
from pipeline.pages.records import PageAnswer

#: the fields that make the key of a requested page
KEY = ("case", "model", "sample")
#: the folders beside the runs, in whatever case: no run may have these names
KEPT, OPINIONS = "kept", "opinions"
#: the system prompt, as in the public harness
SYSTEM = (
    "You are generating a single standalone HTML document. "
    "Do NOT wrap output in markdown fences. Include <head> and <body>. "
    "Do NOT explain the code, just output it."
)


@dataclass(frozen=True)
class Asked:
    """What a run asks: which models, how often, and with which parameters of OpenAI's API.

    `seed` is the first sample's; each further sample adds one. `ks` are the k of pass@k. `fresh` ignores stored
    answers. `checked` raises UserError, with the field, for a k above the number of samples, and for a temperature
    that is no number from 0.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    models: tuple[str, ...]
    samples: int = 1
    ks: tuple[int, ...] = (1,)
    seed: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    fresh: bool = False
    system: str = SYSTEM

    def checked(self) -> Asked:
        for k in self.ks:
            if k < 1:
                raise UserError("k must be at least 1", field="k", hint="give numbers such as 1,5,10")
            if k > self.samples:
                hint = f"the run has {counted(self.samples, 'sample')}; give more with --samples"
                raise UserError(f"pass@{k} needs at least {k} samples", field="k", hint=hint)
        if self.temperature is not None and not 0 <= self.temperature < inf:
            raise UserError(f"'{self.temperature}' is not a temperature", field="temperature", hint="give 0 or more")
        return replace(self, models=tuple(dict.fromkeys(self.models)), ks=tuple(sorted(set(self.ks))))

    def parameters(self, sample: int) -> dict[str, Any]:
        """The parameters of the request for one sample."""
        found = {
            "seed": None if self.seed is None else self.seed + sample,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
        }
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class Run:
    """A run's folder, its cases and what it asks. `case_set` is the name of the cases, for people and for costs."""

    store: Store
    name: str
    case_set: str
    asked: Asked
    cases: tuple[Case, ...]

    @property
    def folder(self) -> Path:
        return self.store.pages(self.name)

    @property
    def evaluated(self) -> Path:
        return self.store.pages_evaluated(self.name)

    @cached_property
    def by_name(self) -> dict[str, Case]:
        return {case.name: case for case in self.cases}

    @property
    def keys(self) -> list[tuple[str, str, int]]:
        """Case, model and index of every requested answer, in order."""
        samples = range(self.asked.samples)
        return [(case.name, model, sample) for case in self.cases for model in self.asked.models for sample in samples]

    def html(self, case: str, model: str, sample: int) -> Path:
        """The path of a page in the run's folder."""
        suffix = f"__s{sample}" if self.asked.samples > 1 else ""
        return Path("raw", folder_name(case), f"{folder_name(model)}{suffix}.html")

    def screenshot(self, case: str, model: str, sample: int) -> Path:
        """The path of a screenshot in the folder of the verdicts: the public harness's, or with a digest if names
        contain the separator."""
        suffix = f"__s{sample}" if self.asked.samples > 1 else ""
        names = folder_name(case), folder_name(model)
        mark = f"~{digest(*names)[:16]}" if any("__" in name for name in names) else ""
        return Path("screenshots", f"{'__'.join(names)}{mark}{suffix}.png")

    def answers(self) -> list[PageAnswer]:
        """The existing answers. Raises UserError for one that is there twice, or that was not requested."""
        path = self.folder / "answers.jsonl"
        found = list(unique(each_record(path, PageAnswer), path, KEY))
        if others := sorted({answer.key for answer in found} - set(self.keys)):
            case, model, sample = others[0]
            hint = "remove this line"
            raise UserError(f"the run did not ask for {case} {model} {sample}", path=path, hint=hint)
        return found

    def page(self, answer: PageAnswer) -> str:
        """The page of an answer. Raises UserError if its file is missing or was changed: a verdict on it would be kept
        as one on the answer."""
        path = self.folder / answer.html
        page = path.read_bytes().decode(errors="replace") if path.is_file() else ""
        if digest(page) != answer.digest:
            hint = f"repeat the command that made the run, with --run {self.name}: it writes the page again"
            raise UserError("this is not the page of the answer", path=path, hint=hint)
        return page


def kept_answer(store: Store, inputs: dict[str, str]) -> Unit:
    """The unit of one answer, by everything that the answer depends on."""
    return Unit(store.pages(KEPT) / digest(inputs))


def open_run(store: Store, case_set: str, cases: list[Case], asked: Asked, entries: dict[str, Any], name: str) -> Run:
    """The run with exactly these questions, created if there is none; `entries` are the models' entries in the model
    list.

    A complete run of fresh answers is not resumed. Raises UserError for the name of a different run.
    """
    key = digest(asdict(asked), [(case.name, case.prompt, case.digest) for case in cases], entries)
    existing = {folder.name: read_object(folder / "run.json", "digest", "started") for folder in _folders(store)}
    if name in existing and existing[name]["digest"] != key:
        hint = "give another --run, or none"
        raise UserError("a different run has this name", path=store.pages(name) / "run.json", hint=hint)
    same = [
        candidate
        for candidate, about in sorted(existing.items(), key=lambda item: (item[1]["started"], item[0]))
        if about["digest"] == key and (not name or candidate == name)
    ]
    if asked.fresh and not name:
        same = [candidate for candidate in same if not _is_complete(store, candidate)]
    if same:
        return load_run(store, same[-1])
    run = Run(store, name or datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ"), case_set, asked, tuple(cases))
    require_run_name(run.name)
    store.displace(run.folder / "cases")  # of a command that was killed before it wrote run.json
    copy_cases(cases, run.folder / "cases")
    about = {"track": "pages", "case_set": case_set, "cases": [case.name for case in cases], "asked": asdict(asked)}
    write_json(run.folder / "run.json", {**about, "models": entries, "digest": key, "started": now()})
    return run


def require_run_name(name: str) -> None:
    """Raise UserError for a name that no run may have."""
    if name.lower() in (KEPT, OPINIONS) or folder_name(name) != name:
        raise UserError(f"'{name}' cannot name a run", field="run", hint="letters, digits, '.', '_' and '-'")


def load_run(store: Store, name: str = "") -> Run:
    """A run, by default the newest. Raises UserError if there is none."""
    runs = sorted((read_field(folder / "run.json", "started", str), folder.name) for folder in _folders(store))
    if not runs:
        raise UserError("there is no page run", path=store.pages(), hint="run: just pages-run MODEL")
    chosen = name or runs[-1][1]
    if chosen not in {run_name for _, run_name in runs}:
        raise unknown("run of pages", name, [run_name for _, run_name in runs])
    about = read_object(store.pages(chosen) / "run.json", "asked", "case_set", "cases")
    cases = {case.name: case for case in load_cases(store.pages(chosen) / "cases")}
    path = store.pages(chosen) / "run.json"
    try:
        asked = TypeAdapter(Asked).validate_python(about["asked"])
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, ("asked", *first["loc"])))
        raise UserError(f"it does not say what was asked: {fault(first)}", path=path, field=field) from None
    missing = sorted(set(map(str, about["cases"])) - set(cases))
    if missing:
        raise UserError(f"the run's copy lacks {', '.join(missing)}", path=path.parent / "cases", field="cases")
    return Run(store, chosen, about["case_set"], asked, tuple(cases[case_name] for case_name in about["cases"]))


def with_cases(run: Run, folder: Path) -> Run:
    """The same answers with the cases of another folder, which must have the same names."""
    replacements = {case.name: case for case in load_cases(folder)}
    missing = sorted({case.name for case in run.cases} - set(replacements))
    if missing:
        raise UserError(
            f"no case {', '.join(missing)}", path=folder, hint="the run's own cases are used without --cases"
        )
    return replace(run, cases=tuple(replacements[case.name] for case in run.cases))


def _folders(store: Store) -> list[Path]:
    return sorted(path.parent for path in store.pages().glob("*/run.json"))


def _is_complete(store: Store, name: str) -> bool:
    run = load_run(store, name)
    return len(run.answers()) == len(run.keys)


def copy_cases(cases: Sequence[Case], folder: Path) -> None:
    """Copy cases with their examples, and the helpers that they share."""
    for case in cases:
        for path in sorted(case.folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                write_bytes(folder / case.folder.name / path.relative_to(case.folder), path.read_bytes())
        for name, path in case.helpers.items():
            write_bytes(folder / name, path.read_bytes())
