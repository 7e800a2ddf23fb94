"""The task and the settings: loaded, checked, typed.

Unknown fields are errors in both: a typo in the settings never goes unnoticed, and a task with more than an agent may
see (a patch, a test) is refused.
"""

from __future__ import annotations

import base64
import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveInt,
    TypeAdapter,
    ValidationError,
)

from magentless.causes import BadInput

#: extension of a picture -> its media type
PICTURES = {".png": "image/png", ".jpg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}
DEFAULT_SETTINGS = Path(__file__).with_name("settings.toml")

Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Labels = Annotated[tuple[str, ...], BeforeValidator(lambda value: () if value is None else tuple(value))]
#: context sizes in tokens by the model's name, as far as the caller knows them
Contexts = Mapping[str, int]
Kind = TypeVar("Kind", bound=BaseModel)
Value = TypeVar("Value")


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Issue(Record):
    """One linked issue. A body or labels of null are empty."""

    number: int | None = None
    title: Text
    body: Text = ""
    labels: Labels = ()
    state: Text = ""


class Picture(Record):
    """A picture of the statement; its file is in a folder beside the task."""

    address: Text = ""
    media: Text = ""
    digest: Text = ""


class Task(Record):
    """What the agent is shown of an instance."""

    schema_version: Literal[2]
    tool: str = ""
    instance_id: str
    org: str
    repo: str
    lang: str
    statement: Annotated[tuple[Issue, ...], Field(min_length=1)]
    hints: Text = ""
    pictures: tuple[Picture, ...] = ()

    @property
    def prose(self) -> str:
        """All text of the task, to compare words with."""
        return "\n".join([*(f"{issue.title}\n{issue.body}" for issue in self.statement), self.hints])


class Samples(Record):
    sets: PositiveInt
    per_set: PositiveInt
    temperature: Annotated[float, Field(ge=0)]
    reasks: NonNegativeInt

    def heat(self, number: int) -> float:
        """The temperature of a sample: the first of its kind is greedy."""
        return self.temperature if number else 0.0


class Output(Record):
    localize: PositiveInt
    repair: PositiveInt
    reasoning: dict[str, NonNegativeInt]

    def of(self, part: str, model: str) -> int:
        """The maximum tokens of a reply of `model`, including its reasoning."""
        return getattr(self, part) + closest(model, self.reasoning, 0)


class Context(Record):
    default: PositiveInt
    most: PositiveInt
    tokenizers: dict[str, str]

    def limit(self, model: str, listed: Contexts) -> int:
        """The context size of `model` in tokens, for prompt and reply together."""
        return min(listed.get(model, self.default), self.most)


class Files(Record):
    suspicious: PositiveInt
    top: PositiveInt
    with_text: NonNegativeInt
    whole_file_lines: PositiveInt
    max_file_lines: PositiveInt
    window: NonNegativeInt
    extensions: tuple[str, ...]
    excluded_folders: tuple[str, ...]
    excluded_names: tuple[str, ...]


class Retrieval(Record):
    model: str | dict[str, str]
    chunk_tokens: PositiveInt
    overlap_tokens: NonNegativeInt
    batch: PositiveInt
    parallel: PositiveInt
    limit: PositiveInt
    instructions: dict[str, str]

    @property
    def chosen(self) -> str:
        """The embedding model, once `of` has chosen it; empty for none."""
        assert isinstance(self.model, str)
        return self.model

    @property
    def instruction(self) -> str:
        """The instruction before a query that this embedding model was trained with."""
        return closest(self.model, self.instructions, "") if isinstance(self.model, str) else ""

    def of(self, model: str, listed: Contexts) -> Retrieval:
        """The settings for one answering model: the embedding model (empty: none) and its maximum tokens."""
        chosen = self.model if isinstance(self.model, str) else closest(model, self.model, "")
        return self.model_copy(update={"model": chosen, "limit": listed.get(chosen, self.limit)})


def closest(name: str, by_pattern: Mapping[str, Value], default: Value) -> Value:
    """The value of the closest pattern that fits a name: the name itself, else the longest one."""
    fitting = [pattern for pattern in by_pattern if fnmatchcase(name, pattern)]
    return by_pattern[max(fitting, key=lambda pattern: (pattern == name, len(pattern)))] if fitting else default


class Provider(Record):
    max_retries: NonNegativeInt
    timeout_seconds: Annotated[float, Field(gt=0)]


class Preamble(Record):
    text: str
    localize: bool
    index: bool
    repair: bool

    def of(self, part: str) -> str:
        """The text before the prompts of a part, followed by an empty line."""
        return f"{self.text}\n\n" if getattr(self, part) and self.text else ""


class Settings(Record):
    """All settings of `settings.toml`, which documents them."""

    samples: Samples
    output: Output
    context: Context
    files: Files
    retrieval: Retrieval
    provider: Provider
    preamble: Preamble

    def digest(self) -> str:
        """SHA-256 of the effective settings, including defaults."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


def load_task(path: Path) -> Task:
    """Load the task from a JSON file. Raises BadInput."""
    return _checked(Task, path, json.loads)


def read_contexts(text: str) -> Contexts:
    """The value of `--contexts`. Raises BadInput."""
    try:
        return TypeAdapter(dict[str, PositiveInt]).validate_json(text)
    except ValidationError as error:
        raise BadInput(f"--contexts: {error.errors()[0]['msg']}") from None


def load_pictures(folder: Path | None) -> tuple[str, ...]:
    """The pictures in a folder as data URLs, in the order of their numbers. Raises BadInput."""
    paths = folder.iterdir() if folder and folder.is_dir() else ()
    try:
        return tuple(_address(path) for path in sorted(paths, key=lambda path: int(path.stem)))
    except (KeyError, ValueError):
        raise BadInput(f"{folder}: pictures are 1.png, 2.jpg and so on ({', '.join(PICTURES)})") from None


def _address(path: Path) -> str:
    return f"data:{PICTURES[path.suffix]};base64,{base64.b64encode(path.read_bytes()).decode()}"


def load_settings(path: Path) -> Settings:
    """The default settings, overridden by a TOML file. Raises BadInput."""
    defaults = tomllib.loads(DEFAULT_SETTINGS.read_text(encoding="utf-8"))
    return _checked(Settings, path, lambda text: _overlaid(defaults, tomllib.loads(text)))


def _checked(kind: type[Kind], path: Path, parse: Callable[[str], Any]) -> Kind:
    try:
        return kind.model_validate(parse(path.read_text(encoding="utf-8-sig")))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"{path}: field '{field}': {first['msg']}") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: {error}") from None


def _overlaid(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        merged[key] = _overlaid(base[key], value) if both else value
    return merged
