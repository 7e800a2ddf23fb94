"""Agents: the folders of `vendors/` with an `agent.toml`, each a command that is run once for every task.

An agent that says `runs_code = true` works in the container of its instance (container.py), any other on this machine
(host.py) and must only read the checkout. Both get a task, a checkout of one commit, a folder for their output and the
gateway's address with the key of this instance; neither ever gets gold patches, test patches or later history.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from tokenize import TokenError
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError

from pipeline.core.errors import UserError, fault, unknown
from pipeline.core.law import without_remarks
from pipeline.core.store import digest
from pipeline.core.texts import read_toml
from pipeline.core.vendors import VENDORS

#: what a command and its variables may name in braces (docs/agents.md says what each is), by `runs_code`
EVERYWHERE = (
    *(
        "task",
        "pictures",
        "checkout",
        "out",
        "model",
        "contexts",
        "choices",
        "answer",
        "settings",
        "agent",
        "base_url",
        "key",
    ),
)
PLACES = {
    False: (*EVERYWHERE, "python", "cache", "shared_key", "encodings"),
    True: (*EVERYWHERE, "prompt", "statement"),
}
#: a place in a text; a shell's `${name}`, and braces around anything but one word, are left as they are
PLACE = re.compile(r"(?<!\$)\{([a-z_]+)\}")
#: ends of names of files that change no agent
FOR_PEOPLE = (".md", ".pyc")
#: where every agent finds the model
MODEL = {"OPENAI_BASE_URL": "{base_url}", "OPENAI_API_KEY": "{key}"}


class Call(BaseModel):
    """How an agent is run: its command, the script that installs what it needs in a container, variables beside MODEL,
    the prompt (where STATEMENT stands for the task's), and the seconds that it may take for one task."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: tuple[str, ...] = ()
    install: str = ""
    environment: dict[str, str] = {}
    prompt: str = "STATEMENT"
    seconds: PositiveInt = 3600

    def argv(self, places: Mapping[str, str]) -> list[str]:
        """The command for one task."""
        return [_fill(word, places) for word in self.command]

    def variables(self, places: Mapping[str, str]) -> dict[str, str]:
        """The variables for one task."""
        return {name: _fill(value, places) for name, value in (MODEL | self.environment).items()}


class Manifest(Call):
    """An `agent.toml`. One without a command takes its whole call from the settings.

    `asks` are the settings that name further models, such as `retrieval.model`; `tokenizers` those that name the
    encodings of models. Each is one value for all models, or a table by pattern of the model's name.
    """

    name: str
    summary: str
    version: str
    licence: str
    source: str
    settings: str
    runs_code: bool
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    asks: tuple[str, ...] = ()
    tokenizers: tuple[str, ...] = ()


class Agent(NamedTuple):
    """An agent that can be run."""

    name: str
    folder: Path
    settings: Path
    call: Call
    runs_code: bool = False
    version: str = ""
    asks: tuple[Mapping[str, str], ...] = ()
    tokenizers: tuple[Mapping[str, str], ...] = ()

    def further(self, model: str) -> tuple[str, ...]:
        """The models that it asks beside `model`."""
        return tuple(filter(None, dict.fromkeys(chosen(model, by_pattern) for by_pattern in self.asks)))

    def counts_exactly(self, model: str) -> bool:
        """Whether its settings name an encoding for `model` or for a further one."""
        names = (model, *self.further(model))
        return any(chosen(name, by_pattern) for by_pattern in self.tokenizers for name in names)

    @property
    def digest(self) -> str:
        """A digest of the agent's own files: a changed agent is another experiment. What is written for people is none
        of it."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file() and path.suffix not in FOR_PEOPLE)
        return digest(*(part for path in files for part in (str(path.relative_to(self.folder)), _decisive(path))))

    @property
    def settings_digest(self) -> str:
        """A digest of what the settings say."""
        return digest(_decisive(self.settings))


def agents() -> dict[str, Path]:
    """The manifests by the agent's name."""
    return {path.parent.name: path for path in sorted(VENDORS.glob("*/agent.toml"))}


def load_agent(name: str, settings: Path | None = None) -> Agent:
    """The agent of that name; `settings` replaces its own file. Raises UserError for an unknown or broken one."""
    found = agents()
    if name not in found:
        raise unknown("agent", name, [*found, "oracle (as the model)", "nop (as the model)"])
    path = found[name]
    manifest = _read(path, Manifest)
    chosen = settings or path.parent / manifest.settings
    if not chosen.is_file():
        raise UserError("no such settings file", path=chosen, hint=f"name one that {name} knows: --settings FILE")
    call, where = (manifest, path) if manifest.command else (_read(chosen, Call), chosen)
    if not call.command:
        raise UserError("it is missing", path=where, field="command", hint="see docs/agents.md")
    _check_places(call, where, PLACES[manifest.runs_code])
    asks, tokenizers = (
        _by_pattern(keys, chosen, path.parent / manifest.settings) for keys in (manifest.asks, manifest.tokenizers)
    )
    return Agent(name, path.parent, chosen, call, manifest.runs_code, manifest.version, asks, tokenizers)


def _decisive(path: Path) -> bytes:
    """A file without comments where its form is known, as it is where it is not, or broken."""
    data = path.read_bytes()
    try:
        if path.suffix == ".py":
            return without_remarks(data.decode()).encode()
        return digest(tomllib.loads(data.decode())).encode() if path.suffix == ".toml" else data
    except (ValueError, SyntaxError, TokenError):
        return data


def chosen(model: str, by_pattern: Mapping[str, str]) -> str:
    """What stands beside the closest pattern of a model's name: the longest one, and its own name before all; empty
    where none fits."""
    fitting = [one for one in by_pattern if fnmatchcase(model, one)]
    return by_pattern[max(fitting, key=lambda one: (one == model, len(one)))] if fitting else ""


def _by_pattern(keys: tuple[str, ...], given: Path, default: Path) -> tuple[Mapping[str, str], ...]:
    """The values of settings by pattern of the model's name: the tables of the file `given`, laid over the default."""
    found = []
    for key in keys:
        value, own = _look_up(given, key), _look_up(default, key)
        merged = own if value is None else value
        if isinstance(value, dict) and isinstance(own, dict):
            merged = {**own, **value}
        found.append(merged if isinstance(merged, dict) else {"*": merged or ""})
    return tuple(found)


def _look_up(path: Path, key: str) -> str | dict[str, str] | None:
    """A text, or a table of texts, in a TOML file; None where there is neither."""
    value: object = read_toml(path)
    for name in key.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, dict):
        return {name: text for name, text in value.items() if isinstance(text, str)}
    return value if isinstance(value, str) else None


Read = TypeVar("Read", bound=BaseModel)


def _read(path: Path, kind: type[Read]) -> Read:
    try:
        return kind.model_validate(read_toml(path))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise UserError(fault(first), path=path, field=field, hint="see docs/agents.md") from None


def _check_places(call: Call, path: Path, places: tuple[str, ...]) -> None:
    """Raise UserError for a place that there is not."""
    named = {name for text in (*call.command, *call.environment.values()) for name in PLACE.findall(text)}
    if more := sorted(named - set(places)):
        raise UserError(f"there is no '{{{more[0]}}}'", path=path, hint=f"placeholders: {', '.join(places)}")


def _fill(text: str, places: Mapping[str, str]) -> str:
    return PLACE.sub(lambda match: places[match[1]], text)
