"""Options and arguments that several commands share, with the same names and checks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import click
from click.core import ParameterSource

#: the number of a pull request; a commit that stands for one has a number of up to 2**53 (docs/mining.md)
PULL_REQUEST = click.IntRange(1, 2**53)
#: answers per task, or samples per prompt, at most
MOST_ANSWERS = 10_000

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def is_given(name: str) -> bool:
    """Whether the current command was called with this parameter, even if with its default."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


class Group(click.Group):
    """A group of commands, whose overview shows the whole first sentence of each, however narrow the terminal."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(limit=1000)) for name, command in self._listed(ctx)])

    def _listed(self, ctx: click.Context) -> list[tuple[str, click.Command]]:
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        return [(name, command) for name, command in commands if command]


class Usd(click.ParamType):  # type: ignore[type-arg]  # generic in the stubs alone
    """An amount of USD, as an exact decimal."""

    name = "usd"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from pipeline.core.amounts import amount

        try:
            return amount(value)
        except ValueError as error:
            self.fail(f"{error} in USD", param, ctx)


def data_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--data DIR`: passes `store`, an existing data directory. Raises UserError if it does not exist."""
    return _data_option(function, require_data)


def new_data_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a command that may create a data directory. Raises UserError if it cannot be written."""
    return _data_option(function, _require_writable)


def any_data_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a command that reports what exists: the directory may be missing."""
    return _data_option(function, lambda _: None)


def require_data(folder: Path) -> None:
    """Raise UserError if a data directory does not exist."""
    if not folder.is_dir():
        from pipeline.core.errors import UserError

        hint = "name the data directory with --data; a new one begins with: just collect-run REPO --path CLONE"
        raise UserError("no such data directory", path=folder, field="--data", hint=hint)


def _require_writable(folder: Path) -> None:
    """Raise UserError if no file can be written to a folder; leaves nothing behind."""
    from pipeline.core.errors import UserError

    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        message = f"nothing can be written there: {error.strerror}"
        raise UserError(message, path=folder, field="--data", hint="name another folder with --data") from None
    finally:
        for path in missing:
            with suppress(OSError):
                path.rmdir()


def _data_option(function: Callable[..., Any], check: Callable[[Path], None]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, data: Path, **kwargs: Any) -> Any:
        from pipeline.core.store import Store

        check(data)
        return function(*args, store=Store(data), **kwargs)

    return click.option(
        "--data",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path("data"),
        show_default=True,
        envvar="A11Y_BENCH_DATA",
        show_envvar=True,
        help="The data directory.",
    )(wrapper)


def _repo(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
    from pipeline.core.names import parse_repo

    return parse_repo(value) if value else None


def _repos(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> Any:
    from pipeline.core.names import parse_repo

    return [parse_repo(value) for value in values]


repo_argument: Decorator = click.argument("repo", callback=_repo)
repos_argument: Decorator = click.argument("repos", nargs=-1, callback=_repos)
#: languages that the thesis's commands name between repository and model; here the repository's files tell
LANGUAGES = ("ts", "tsx", "typescript", "js", "jsx", "javascript", "vue", "html", "css")


def _model(context: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> str:
    """MODEL, or the thesis's form LANGUAGE MODEL."""
    *languages, model = words
    if languages and (len(languages) > 1 or languages[0].lower() not in LANGUAGES):
        raise click.UsageError(f"one MODEL is expected, not {len(words)}: {' '.join(words)}", context)
    if languages:
        click.echo(f"'{languages[0]}' is ignored: the repository's files say what it is written in", err=True)
    return model


model_argument: Decorator = click.argument("model", nargs=-1, required=True, callback=_model, metavar="MODEL")

sandbox_option: Decorator = click.option(
    "--sandbox",
    default="docker",
    show_default=True,
    envvar="A11Y_BENCH_SANDBOX",
    show_envvar=True,
    help="Where code runs: docker, or local (on this machine, for trusted code only).",
)

trust_local_option: Decorator = click.option(
    "--trust-local",
    is_flag=True,
    help="Let the local sandbox run any code. It is NOT isolated from this machine.",
)


def size_option(name: str, help: str) -> Decorator:
    """An option that takes a size like `60GB` and passes bytes."""

    def parse(_context: click.Context, _parameter: click.Parameter, value: str | None) -> int | None:
        from pipeline.core.sizes import parse_size

        return parse_size(value) if value else None

    return click.option(name, metavar="SIZE", callback=parse, help=help)


tries_option: Decorator = click.option(
    "--tries",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    help="Attempts per instance when the machine fails (engine, registry, disk), with growing waits.",
)

jobs_option: Decorator = click.option(
    "--jobs",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Instances, candidates or pages to work on in parallel.",
)

engine_option: Decorator = click.option(
    "--engine",
    type=click.Choice(["threads", "processes", "dask"]),
    default="threads",
    show_default=True,
    help="Where units of work run: in threads of this process, in separate processes, or (dask) on the "
    "workers of the scheduler that A11Y_BENCH_SCHEDULER names.",
)

name_option: Decorator = click.option(
    "--name",
    default="",
    help="A name for these settings, shown as AGENT@NAME in files and tables.",
)

cap_option: Decorator = click.option(
    "--cap", type=Usd(), help="The maximum that one answer may cost, in USD, all tries included."
)

attempts_option: Decorator = click.option(
    "--attempts",
    type=click.IntRange(1, MOST_ANSWERS),
    default=1,
    show_default=True,
    help="Answers per task, for pass@k; existing answers are kept.",
)


def subset_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--pr`, `--instances` and `--limit`: pass `subset`, the selected instances."""

    @functools.wraps(function)
    def wrapper(*args: Any, numbers: tuple[int, ...], instances: str | None, limit: int | None, **kwargs: Any) -> Any:
        from pipeline.core.store import Store
        from pipeline.core.subset import Subset, read_selection

        store = Store(click.get_current_context().params["data"])
        names = None if instances is None else read_selection(instances, store)
        subset = Subset(numbers, names, limit)
        return function(*args, subset=subset, **kwargs)

    for option in (
        click.option("--limit", type=click.IntRange(1), help="Only the first N instances."),
        click.option(
            "--instances",
            metavar="FILE|LIST",
            help="Only these instances: a file, a named subset such as lite, or names separated by commas.",
        ),
        click.option("--pr", "numbers", type=PULL_REQUEST, multiple=True, help="Only this pull request (repeatable)."),
    ):
        wrapper = option(wrapper)
    return wrapper


#: a file that must exist, whether or not it is then needed
A_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)

models_option: Decorator = click.option(
    "--models", type=A_FILE, help="The model list, in LiteLLM's format [default: docker/proxy/models.yaml]."
)

agent_option: Decorator = click.option(
    "--agent", default="magentless", show_default=True, help="The agent: a folder in vendors/ with an agent.toml."
)


#: names in place of a model: the gold patch, and no patch (docs/rules.md, Running)
REFERENCES = ("oracle", "nop")


def agent_of(agent: str, model: str, name: str = "") -> str:
    """The agent that a command names, with the name of its settings. References are agents of their own.

    Raises UserError for a reference with an agent that does not exist, since no agent is read then to notice.
    """
    from pipeline.core.names import variant

    if model not in REFERENCES:
        return variant(agent, name)
    _require_agent(agent)
    return model


def _require_agent(agent: str) -> None:
    from pipeline.core.errors import unknown
    from pipeline.core.vendors import VENDORS

    names = [path.parent.name for path in VENDORS.glob("*/agent.toml")]
    if agent not in (*names, *REFERENCES):
        raise unknown("agent", agent, names)
