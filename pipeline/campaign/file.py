"""`campaign.toml`: the file that describes a campaign (docs/campaigns.md).

Reads the file and the lists of instances that it names; paths in it are relative to its folder. Writes nothing. Errors
name the file, line and field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
    field_validator,
    model_validator,
)

from pipeline.core.errors import UserError, fault
from pipeline.core.names import Repo, parse_repo, variant
from pipeline.core.options import MOST_ANSWERS
from pipeline.core.record import Usd
from pipeline.core.records import Instance, StatementSource
from pipeline.core.store import Store
from pipeline.core.subset import Subset, parse_names, read_selection
from pipeline.core.texts import is_file, read_toml, wrong_value


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _day(text: str) -> str:
    """A date as it is compared: `2024-5-1` would be after every day of October."""
    if text and not (re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) and _is_day(text)):
        raise ValueError(f"'{text}' is not a date like 2024-05-31")
    return text


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def _as_text(value: Any) -> Any:
    """A date of TOML as text."""
    return value.isoformat() if type(value) is date else value


#: numbers and flags as TOML writes them: `true` is no number, and "no" is no flag
Whole = Annotated[int, Strict()]
Count = Annotated[Whole, Field(gt=0)]
Answers = Annotated[Whole, Field(gt=0, le=MOST_ANSWERS)]
Number = Annotated[float, Strict()]
Flag = Annotated[bool, Strict()]

#: a date, empty for none
Day = Annotated[str, BeforeValidator(_as_text), AfterValidator(_day)]


class Filter(Part):
    """A filter of instances by their records; an empty field admits all. Dates are those of the merge (2024-05-31)."""

    statement_source: tuple[StatementSource, ...] = ()
    lang: tuple[str, ...] = ()
    merged_from: Day = ""
    merged_until: Day = ""

    def admits(self, instance: Instance) -> bool:
        day = instance.merged_at[:10]
        return (
            (not self.statement_source or instance.statement_source in self.statement_source)
            and (not self.lang or instance.lang in self.lang)
            and (not self.merged_from or day >= self.merged_from)
            and (not self.merged_until or day <= self.merged_until)
        )


class Dataset(Part):
    """Instances of one repository, from a built dataset, or from one that is rebuilt from a list of `dataset lock`."""

    repo: str = ""
    lock: Path | None = None
    clone: Path | None = None
    github: Flag = False
    issues: Path | None = None
    pr: tuple[Whole, ...] = ()
    instances: str | tuple[str, ...] = Field(default=(), description="names, a file, or a subset of DATA/subsets")
    limit: Count | None = None
    filter: Filter = Filter()

    @field_validator("pr", "instances")
    @classmethod
    def _require_some(cls, value: Any) -> Any:
        if not value:
            raise ValueError("it selects no instance; leave it out to select all")
        return value

    @model_validator(mode="after")
    def _require_repo_or_lock(self) -> Dataset:
        if bool(self.repo) == bool(self.lock):
            raise ValueError("either repo or lock is expected")
        if self.repo and (self.clone or self.github or self.issues):
            raise ValueError("clone, github and issues have no effect: only a dataset with a lock is rebuilt")
        return self


class Agent(Part):
    """An agent with its settings; models and attempts default to the campaign's. `budget` applies to each repository
    and model, `cap` to each answer, both in USD."""

    agent: str = "magentless"
    name: str = ""
    settings: Path | None = None
    models: tuple[str, ...] = ()
    attempts: Answers | None = None
    budget: Usd | None = None
    cap: Usd | None = None
    filter_tests: Flag = False


class Pages(Part):
    """A set of cases of the page track; `cases` is a folder, by default our cases. `budget` applies to each model,
    in USD."""

    cases: Path | None = None
    case: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    samples: Answers = 1
    k: tuple[Count, ...] = (1,)
    seed: Whole | None = None
    temperature: Number | None = None
    max_tokens: Count | None = None
    budget: Usd | None = None
    run: str = ""


class Evaluate(Part):
    """Assessments of patches in addition to the verdict, and the limits of test runs."""

    timeout: Count = 1800
    tries: Count = 4
    assess: tuple[Literal["axe", "stories", "judge"], ...] | None = None
    judge: str = ""
    judge_samples: Count = 3
    judge_budget: Usd | None = None

    @model_validator(mode="after")
    def _judge_named(self) -> Evaluate:
        if "judge" in (self.assess or ()) and not self.judge:
            raise ValueError("`assess` includes a judge: name its model in `judge`")
        if self.judge and "judge" not in (self.assess or ()):
            raise ValueError("`judge` names a model, but `assess` includes no judge: it would not be asked")
        return self


class Campaign(Part):
    """The file. `budget` is for all answers of its datasets together, in USD, including everything spent on them
    before."""

    name: str = Field(default="campaign", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    models: tuple[str, ...] = ()
    model_list: Path | None = None
    attempts: Answers = 1
    jobs: Count = 2
    sandbox: str = "docker"
    budget: Usd | None = None
    references: Flag = True
    datasets: tuple[Dataset, ...] = ()
    agents: tuple[Agent, ...] = ()
    pages: tuple[Pages, ...] = ()
    evaluate: Evaluate = Evaluate()


#: the tables' fields that name a file or folder which must exist
_NAMING = {"datasets": ("lock", "clone", "issues"), "agents": ("settings",), "pages": ("cases",)}
#: what to do about one that does not
_BESIDE = "name an existing one; a relative path begins at the folder of this file"
#: fields with paths, relative to the file's folder
_PATHS = ("model_list", "lock", "clone", "issues", "settings", "cases")


def load_campaign(path: Path) -> Campaign:
    """Read a file. Raises UserError with file, line and field."""
    try:
        campaign = Campaign.model_validate(_resolved(read_toml(path), path.parent))
    except ValidationError as error:
        problem = error.errors()[0]
        raise wrong_value(path, problem["loc"], *_explained(problem)) from None
    _check(path, campaign)
    _check_paths(path, campaign)
    return campaign


@contextmanager
def at(path: Path, *loc: str | int) -> Iterator[None]:
    """Give the errors in this block the file, line and field of a place in the file, unless they are about another
    file."""
    try:
        yield
    except UserError as error:
        if error.path is not None:
            raise
        raise wrong_value(path, loc, error.message, error.hint) from None


def _resolved(value: Any, folder: Path, key: str = "") -> Any:
    """The same values, with paths relative to the working directory."""
    if isinstance(value, dict):
        return {name: _resolved(member, folder, name) for name, member in value.items()}
    if isinstance(value, list):
        return [_resolved(member, folder, key) for member in value]
    if key in _PATHS and isinstance(value, str):
        return str(folder / _expanded(value))
    return Decimal(str(value)) if key.endswith(("budget", "cap")) and isinstance(value, float) else value


def _expanded(path: str) -> Path:
    """The path with the user's home folder; as it is if there is no such user, so that it does not exist."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _explained(error: Any) -> tuple[str, str]:
    """One of pydantic's errors as a message, and a hint: the fields that there are, if one is unknown."""
    if error["type"] == "extra_forbidden":
        return "there is no such field", _choices(error["loc"])
    if error["type"] == "tuple_type" and error["loc"] in (("datasets",), ("agents",), ("pages",)):
        return "a list of tables is expected", f"write [[{error['loc'][0]}]]"
    return fault(error), "see docs/campaigns.md"


def _choices(loc: Sequence[str | int]) -> str:
    """The known fields at the place of an error."""
    kind: Any = Campaign
    for part in loc[:-1]:
        if isinstance(part, str) and part in kind.model_fields:
            kind = {"datasets": Dataset, "agents": Agent, "pages": Pages, "evaluate": Evaluate, "filter": Filter}.get(
                part, kind
            )
    return f"available: {', '.join(kind.model_fields)}; see docs/campaigns.md"


def _check(path: Path, campaign: Campaign) -> None:
    """Raise UserError for fields that contradict each other."""
    if not campaign.datasets and not campaign.pages:
        raise UserError(
            "the file asks for nothing", path=path, field="datasets", hint="write [[datasets]] or [[pages]]"
        )
    if campaign.agents and not campaign.datasets:
        raise wrong_value(path, ("agents", 0), "there is no dataset for this agent", "write [[datasets]]")
    for number, dataset in enumerate(campaign.datasets):
        if dataset.lock and _exists(dataset.lock) and not is_file(dataset.lock):
            hint = "name one of the lists in this folder"
            raise wrong_value(path, ("datasets", number, "lock"), f"not a file: {dataset.lock}", hint)
    for number, agent in enumerate(campaign.agents):
        if not (agent.models or campaign.models):
            raise wrong_value(path, ("agents", number, "models"), "no model is named", "here, or for the campaign")
        with at(path, "agents", number, "name"):
            variant(agent.agent, agent.name)
        if agent.settings and _exists(agent.settings) and not is_file(agent.settings):
            raise wrong_value(path, ("agents", number, "settings"), f"not a file: {agent.settings}", "name a file")
    labels = [(agent.agent, agent.name) for agent in campaign.agents]
    for number, label in enumerate(labels):
        if label in labels[:number]:
            hint = "give one of them another name: they are kept apart as AGENT@NAME"
            raise wrong_value(path, ("agents", number, "name"), f"{label[0]} is listed twice", hint)
    runs = [pages.run for pages in campaign.pages]
    for number, pages in enumerate(campaign.pages):
        try:
            _check_pages(pages)
        except UserError as error:
            hint = (error.hint or "").replace("--", "")  # fields have the names of the command's options
            raise wrong_value(path, ("pages", number, error.field or "samples"), error.message, hint) from None
        if not (pages.models or campaign.models):
            raise wrong_value(path, ("pages", number, "models"), "no model is named", "here, or for the campaign")
        if pages.run and pages.run in runs[:number]:
            raise wrong_value(path, ("pages", number, "run"), f"{pages.run} is listed twice", "give one another name")


def _check_paths(path: Path, campaign: Campaign) -> None:
    """Raise UserError for a file or folder that does not exist."""
    if campaign.model_list and not _exists(campaign.model_list):
        message = f"no such file: {campaign.model_list}"
        raise wrong_value(path, ("model_list",), message, "name a model list, or leave it out")
    for table, fields in _NAMING.items():
        for (number, part), name in product(enumerate(getattr(campaign, table)), fields):
            value = getattr(part, name, None)
            if value and not _exists(value):
                raise wrong_value(path, (table, number, name), f"no such file or folder: {value}", _BESIDE)


def _exists(path: Path) -> bool:
    """Whether a file or folder of this name exists. The name may be any text, even one that is too long for a file
    name."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _check_pages(pages: Pages) -> None:
    """Raise UserError, with the field, for invalid settings of a run of pages."""
    from pipeline.pages.runs import Asked, require_run_name

    if pages.run:
        require_run_name(pages.run)
    Asked(pages.models, pages.samples, pages.k, temperature=pages.temperature).checked()


def repo_of(dataset: Dataset) -> Repo:
    """The repository of a dataset. Raises UserError."""
    if dataset.lock:
        from pipeline.dataset.rebuild import read_list

        return read_list(dataset.lock)[0]
    return parse_repo(dataset.repo)


def names_of(store: Store, dataset: Dataset, folder: Path) -> tuple[str, ...] | None:
    """The names that a dataset selects, by a list, a file next to the campaign, or a named subset; None for all.

    Raises UserError.
    """
    value = dataset.instances
    if not value:
        return None
    if not isinstance(value, str):
        return parse_names(value)
    return read_selection(value, store, folder)


def subset_of(store: Store, dataset: Dataset, folder: Path, built: Sequence[Instance]) -> Subset:
    """The selected instances of a built dataset; with a list, only those that it lists. Raises UserError, also if none
    are left."""
    plain = Subset(dataset.pr, names_of(store, dataset, folder))
    if dataset.filter == Filter() and not dataset.lock:
        return Subset(plain.numbers, plain.names, dataset.limit)
    listed = _listed(dataset.lock) if dataset.lock else {instance.instance_id for instance in built}
    admitted = (instance.instance_id for instance in plain.of(built) if dataset.filter.admits(instance))
    names = tuple(name for name in admitted if name in listed)
    if built and not names:
        hint = "pr, instances, filter and lock together match no built instance; loosen one of them"
        raise UserError("no instance is selected", hint=hint)
    return Subset(names=names, limit=dataset.limit)


def count_listed(store: Store, dataset: Dataset, folder: Path) -> int:
    """The number of instances that a dataset will select once its list is rebuilt; at most, since a list has neither
    languages nor dates. Raises UserError."""
    from pipeline.dataset.rebuild import read_list

    repo, entries = read_list(dataset.lock or Path())
    plain, sources = Subset(dataset.pr, names_of(store, dataset, folder)), dataset.filter.statement_source
    pulls = None if plain.is_all else {repo.instance_id(number) for number in plain.pulls(repo)}
    chosen = [entry for entry in entries if pulls is None or entry.instance_id in pulls]
    return len([entry for entry in chosen if not sources or entry.statement_source in sources][: dataset.limit])


def selecting(dataset: Dataset) -> str:
    """The field that selects instances, the narrowest one if there are several."""
    fields = {"pr": dataset.pr, "instances": dataset.instances, "filter": dataset.filter != Filter()}
    return next((name for name, value in fields.items() if value), "lock" if dataset.lock else "repo")


def _listed(lock: Path) -> set[str]:
    """The instances of a list. Raises UserError."""
    from pipeline.dataset.rebuild import read_list

    return {entry.instance_id for entry in read_list(lock)[1]}
