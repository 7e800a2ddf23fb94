"""Agents: the folders of `vendors/` with an `agent.toml`, each a command that runs once for every task.

An agent with `runs_code = true` works in the container of its instance (container.py), any other on this machine
(host.py), where it must only read the checkout. Both get a task, a checkout of one commit, a folder for their output,
and the gateway's address with the key of this instance. Neither ever gets gold patches, test patches or later history.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError

from pipeline.core.errors import UserError, unknown
from pipeline.core.law import without_remarks
from pipeline.core.store import digest
from pipeline.core.texts import misfit, read_toml
from pipeline.core.vendors import VENDORS
from pipeline.llm.prices import Usage

#: the placeholders of a command and its variables, in braces (docs/agents.md describes each), by `runs_code`
EVERYWHERE = (
    *("task", "pictures", "checkout", "out", "model", "contexts", "choices", "answer", "settings", "agent"),
    *("base_url", "key"),
)
PLACEHOLDERS = {
    False: (*EVERYWHERE, "python", "cache", "shared_key", "encodings"),
    True: (*EVERYWHERE, "prompt", "statement"),
}
#: a placeholder in a text; a shell's `${name}`, and braces around anything but one word, stay as they are
PLACEHOLDER = re.compile(r"(?<!\$)\{([a-z_]+)\}")
#: the manifest's name, and the folder with settings files that people may copy
MANIFEST, EXAMPLES = "agent.toml", "examples"
#: names of files and folders, and fields of a manifest, that do not change an agent: what is for people, compiled, or
#: left by editors and file managers
INCIDENTAL = ("README.md", "*.pyc", "__pycache__", ".*", "*~", "*.orig", "#*#")
ABOUT = ("summary", "licence", "source", "reads", "writes", "check", "shapes_nothing", "typical")
#: the variables by which every agent finds the model
MODEL = {"OPENAI_BASE_URL": "{base_url}", "OPENAI_API_KEY": "{key}"}


class Call(BaseModel):
    """How an agent is run: its command, the script that installs what it needs in a container, variables besides MODEL,
    the prompt (in which STATEMENT is replaced by the task's), and the limit for one task in seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: tuple[str, ...] = ()
    install: str = ""
    environment: dict[str, str] = {}
    prompt: str = "STATEMENT"
    seconds: PositiveInt = 3600

    def argv(self, values: Mapping[str, str]) -> list[str]:
        """The command for one task."""
        return [_fill(word, values) for word in self.command]

    def variables(self, values: Mapping[str, str]) -> dict[str, str]:
        """The variables for one task."""
        return {name: _fill(value, values) for name, value in (MODEL | self.environment).items()}


class Manifest(Call):
    """An `agent.toml`. Without a command, the whole call comes from the settings. With `overrides`, a settings file
    overrides single values of the agent's own; otherwise it replaces them.

    `check` is a command that answers whether a settings file can be used, by its exit code and what it prints.

    `asks` are the settings that name further models, such as `retrieval.model`; `tokenizers` those that name the
    encodings of models. Each is one value for all models, or a table by pattern of the model's name. `shapes_nothing`
    are the settings that change no answer, such as the seconds of a request. `typical` are the tokens that an answer
    takes on average, for the plan of a campaign before there are any answers.
    """

    name: str
    summary: str
    version: str
    licence: str
    source: str
    settings: str
    check: tuple[str, ...] = ()
    overrides: bool = False
    runs_code: bool
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    asks: tuple[str, ...] = ()
    tokenizers: tuple[str, ...] = ()
    shapes_nothing: tuple[str, ...] = ()
    typical: Usage | None = None


class Agent(NamedTuple):
    """An agent that can be run. `effect` is what its settings say, with the defaults of those that they leave out or
    that change no answer; None if that is not known. `check` is the command that checks its settings; the agent's own
    need none."""

    name: str
    folder: Path
    settings: Path
    call: Call
    runs_code: bool = False
    version: str = ""
    asks: tuple[Mapping[str, str], ...] = ()
    tokenizers: tuple[Mapping[str, str], ...] = ()
    effect: Mapping[str, Any] | None = None
    check: tuple[str, ...] = ()
    typical: Usage | None = None

    def further(self, model: str) -> tuple[str, ...]:
        """The models that it asks besides `model`."""
        return tuple(filter(None, dict.fromkeys(chosen(model, by_pattern) for by_pattern in self.asks)))

    def counts_exactly(self, model: str) -> bool:
        """Whether its settings name an encoding for `model` or for a further one."""
        names = (model, *self.further(model))
        return any(chosen(name, by_pattern) for by_pattern in self.tokenizers for name in names)

    @property
    def digest(self) -> str:
        """A digest of the agent's own files: a changed agent is another experiment. Documentation, examples and hidden
        files do not count."""
        by_name = {path.relative_to(self.folder): path for path in sorted(self.folder.rglob("*")) if path.is_file()}
        names = [name for name in by_name if name.parts[0] != EXAMPLES and not any(map(_is_incidental, name.parts))]
        return digest(*(part for name in names for part in (str(name), _decisive(by_name[name]))))

    @property
    def settings_digest(self) -> str:
        """A digest of the settings' effect: comments, order, and a default that is written out do not count."""
        return digest(_decisive(self.settings) if self.effect is None else digest(self.effect).encode())


def agents() -> dict[str, Path]:
    """The manifests by the agent's name."""
    return {path.parent.name: path for path in sorted(VENDORS.glob(f"*/{MANIFEST}"))}


def load_agent(name: str, settings: Path | None = None) -> Agent:
    """The agent of that name; `settings` replaces its own settings file. Raises UserError if it is unknown or
    broken."""
    manifests = agents()
    if name not in manifests:
        raise unknown("agent", name, [*manifests, "oracle (as the model)", "nop (as the model)"])
    path = manifests[name]
    manifest = _read(path, Manifest)
    settings_file = settings or path.parent / manifest.settings
    if not settings and not settings_file.is_file():
        hint = "describe your agent in a settings file: --settings FILE; see docs/agents.md"
        raise UserError(f"the agent '{name}' needs settings", field="settings", hint=hint)
    if not settings_file.is_file():
        raise UserError(
            "no such settings file", path=settings_file, hint=f"name one that {name} knows: --settings FILE"
        )
    call, source = (manifest, path) if manifest.command else (_read(settings_file, Call), settings_file)
    if not call.command:
        raise UserError("it is missing", path=source, field="command", hint="see docs/agents.md")
    _check_placeholders(call, source, PLACEHOLDERS[manifest.runs_code])
    own = path.parent / manifest.settings
    effect = _effect(settings_file, own, manifest, call)
    defaults = read_toml(own) if manifest.shapes_nothing else {}
    for key in manifest.shapes_nothing:
        effect = _with_default(effect, defaults, key.split("."))
    asks, tokenizers = (_by_pattern(keys, effect) for keys in (manifest.asks, manifest.tokenizers))
    check = tuple(_fill(word, {"python": sys.executable, "settings": str(settings_file)}) for word in manifest.check)
    kind = manifest.runs_code, manifest.version
    own_check = check if settings else ()
    return Agent(name, path.parent, settings_file, call, *kind, asks, tokenizers, effect, own_check, manifest.typical)


def _effect(settings: Path, own: Path, manifest: Manifest, call: Call) -> Mapping[str, Any]:
    """What a settings file says, with the defaults of the agent's own file; without those of a call."""
    if not manifest.command:
        return call.model_dump(exclude_defaults=True)
    return _overlaid(read_toml(own), read_toml(settings)) if manifest.overrides else read_toml(settings)


def _with_default(effect: Mapping[str, Any], own: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
    """The settings with the value that the agent's own file has for one of them, however deep it is in tables."""
    first, *rest = names
    inner, default = effect.get(first), own.get(first)
    if rest and isinstance(inner, Mapping) and isinstance(default, Mapping):
        return {**effect, first: _with_default(inner, default, rest)}
    return {**effect, first: default}


def _overlaid(base: Any, over: Any) -> Any:
    """The values `over` replace those of the same names in `base`, table by table. A whole number in place of a
    fraction becomes a fraction."""
    if isinstance(base, dict) and isinstance(over, dict):
        return base | {name: _overlaid(base.get(name), value) for name, value in over.items()}
    return float(over) if isinstance(base, float) and type(over) is int else over


def _is_incidental(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in INCIDENTAL)


def _decisive(path: Path) -> bytes:
    """A file without comments, and a manifest without its fields about the agent, if it can be parsed; otherwise
    unchanged."""
    data = path.read_bytes()
    try:
        if path.suffix == ".py":
            return _without_remarks(data)
        return digest(_deciding(path, tomllib.loads(data.decode()))).encode() if path.suffix == ".toml" else data
    except (ValueError, SyntaxError, TokenError):
        return data


@lru_cache(maxsize=1024)  # a campaign asks for the same agents in each of its experiments
def _without_remarks(data: bytes) -> bytes:
    return without_remarks(data.decode()).encode()


def _deciding(path: Path, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a file that can change answers."""
    return {name: value for name, value in fields.items() if path.name != MANIFEST or name not in ABOUT}


def chosen(model: str, by_pattern: Mapping[str, str]) -> str:
    """The value of the closest pattern that matches a model's name: the name itself, else the longest pattern; empty if
    none matches."""
    fitting = [pattern for pattern in by_pattern if fnmatchcase(model, pattern)]
    return by_pattern[max(fitting, key=lambda pattern: (pattern == model, len(pattern)))] if fitting else ""


def _by_pattern(keys: tuple[str, ...], settings: Mapping[str, Any]) -> tuple[Mapping[str, str], ...]:
    """The values of settings by pattern of the model's name."""
    values = [_look_up(settings, key) for key in keys]
    return tuple(value if isinstance(value, dict) else {"*": value or ""} for value in values)


def _look_up(settings: Mapping[str, Any], key: str) -> str | dict[str, str] | None:
    """A text, or a table of texts, in settings; None if the key has neither."""
    value: object = settings
    for name in key.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if isinstance(value, dict):
        return {name: text for name, text in value.items() if isinstance(text, str)}
    return value if isinstance(value, str) else None


Read = TypeVar("Read", bound=BaseModel)


def _read(path: Path, kind: type[Read]) -> Read:
    try:
        return kind.model_validate(read_toml(path))
    except ValidationError as error:
        raise misfit(path, error, "see docs/agents.md") from None


def _check_placeholders(call: Call, path: Path, allowed: tuple[str, ...]) -> None:
    """Raise UserError for an unknown placeholder."""
    used = {name for text in (*call.command, *call.environment.values()) for name in PLACEHOLDER.findall(text)}
    if unknown_names := sorted(used - set(allowed)):
        raise UserError(f"there is no '{{{unknown_names[0]}}}'", path=path, hint=f"placeholders: {', '.join(allowed)}")


def _fill(text: str, values: Mapping[str, str]) -> str:
    return PLACEHOLDER.sub(lambda match: values[match[1]], text)
