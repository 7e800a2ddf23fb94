"""`a11y-bench remote`: a server for work that is too large for this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from pipeline.core.options import Group, new_data_option


@click.group(cls=Group)
def command() -> None:
    """Work on a server: HOST is a name that `ssh` knows (docs/remote.md)."""


def host_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """`HOST --folder DIR`: passes `host`."""

    @wraps(function)
    def wrapper(*args: Any, host: str, folder: str, **kwargs: Any) -> Any:
        from pipeline.remote.host import Host

        return function(*args, host=Host(host, folder), **kwargs)

    folder = click.option(
        "--folder",
        default="a11y-bench",
        show_default=True,
        envvar="A11Y_BENCH_REMOTE_FOLDER",
        show_envvar=True,
        help="The project's folder on the server, relative to the home folder.",
    )
    return click.argument("host")(folder(wrapper))


def _repos(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> Any:
    from pipeline.core.names import parse_repo

    return [parse_repo(value) for value in values]


stages_option = click.option("--stage", "stages", multiple=True, help="Only data of this stage: triage, collect, ...")
repos_option = click.option("--repo", "repos", multiple=True, callback=_repos, help="Only data of this repository.")
prefer_option = click.option(
    "--prefer",
    type=click.Choice(["ours", "theirs"]),
    default=None,
    help="For data that both sides changed, take this side's and archive the other's [default: an error].",
)


@command.command()
@host_argument
@click.option("--dry-run", is_flag=True, help="Show what would be done, and change nothing.")
@click.option("--root", default="", help="Write the server's configuration below this folder, and change nothing else.")
@click.option("--data-root", default="", help="The folder where the server's engine keeps images and containers.")
def setup(host: Any, dry_run: bool, root: str, data_root: str) -> None:
    """Check and prepare a Debian or Ubuntu server: packages, Node, uv, limits, engine, folders.

    Changes only what is missing or wrong, so it can be repeated. Exit code: 1 if something is left for you to do.
    """
    from pipeline.core.console import table
    from pipeline.remote.prepare import prepare

    steps = prepare(host, dry_run=dry_run, root=root, data_root=data_root)
    table(host.name, ("state", "what"), steps)
    if any(state == "todo" for state, _ in steps):
        raise SystemExit(1)


@command.command()
@host_argument
@stages_option
@repos_option
@prefer_option
@click.option("--with-secrets", is_flag=True, help="Also send the keys that are set here.")
@click.option(
    "--models",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The model list that names these keys, in LiteLLM's format [default: docker/proxy/models.yaml].",
)
@click.option("--without-clones", is_flag=True, help="Do not send clones.")
@click.option("--without-data", is_flag=True, help="Send only the project.")
@click.option("--force", is_flag=True, help="Replace the project there even while jobs run.")
@new_data_option
def push(
    host: Any,
    store: Any,
    stages: Sequence[str],
    repos: Sequence[Any],
    prefer: str | None,
    with_secrets: bool,
    models: Path | None,
    force: bool,
    **without: bool,
) -> None:
    """Send the project, the data and the clones; new data on the server are kept.

    \b
    Only differences are sent. Nothing is sent while jobs run there, unless --force is given.
    Exit code: 2 if both sides changed the same data; they are listed, and no data are written.
    """
    from pipeline.core.console import say
    from pipeline.llm.models import SHIPPED, load_models
    from pipeline.remote import push as pushing

    if models and not with_secrets:
        raise click.UsageError("--models names the keys of --with-secrets, which is not given")
    if without["without_data"] and (stages or repos or prefer):
        raise click.UsageError("--without-data sends no data, so --stage, --repo and --prefer have no effect")
    load_models(models or SHIPPED)  # a wrong list ends this before anything is sent
    say(f"the project: {pushing.push_project(host, force=force)} files")
    if with_secrets:
        say(f"keys: {', '.join(pushing.push_secrets(host, models or SHIPPED)) or 'none set here'}")
    if without["without_data"]:
        return
    say("merging the data there; the first time, this installs the program's packages, which takes minutes")
    _print_counts(pushing.push_data(host, store, stages, repos, prefer or ""))
    if not without["without_clones"]:
        say(f"clones: {', '.join(map(str, pushing.push_clones(host, store, repos))) or 'none'}")


@command.command()
@host_argument
@stages_option
@repos_option
@prefer_option
@new_data_option
def pull(host: Any, store: Any, stages: Sequence[str], repos: Sequence[Any], prefer: str | None) -> None:
    """Fetch the data of stages 00 to 04 and the ledger, and merge them into the data here.

    \b
    Reads DATA on the server; writes DATA here, and costs.csv from all requests. Replaced files are archived first.
    Exit code: 2 if both sides changed the same data; they are listed, and no data are written.
    """
    from pipeline.remote.pull import pull as pulled

    _print_counts(pulled(host, store, stages, repos, prefer or ""))


@command.command()
@host_argument
@click.argument("recipe")
@click.option("--follow", is_flag=True, help="Show the job's log until it ends; Ctrl-C does not stop the job.")
def run(host: Any, recipe: str, follow: bool) -> None:
    """Start a recipe on a server ('build-run org/repo --jobs 8') and print the job's name.

    \b
    The job continues if the connection ends. Exit code: with --follow, that of the recipe.
    """
    from pipeline.remote import jobs

    name = jobs.begin(host, recipe)
    click.echo(name)
    if follow:
        raise SystemExit(jobs.follow(host, name))


@command.command()
@host_argument
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(host: Any, as_json: bool) -> None:
    """Show a server's jobs and its state."""
    from pipeline.core.console import clock, table
    from pipeline.remote import jobs

    listed, machine = jobs.jobs(host), jobs.machine(host)
    if as_json:
        click.echo(json.dumps({"machine": dict(machine), "jobs": [job._asdict() for job in listed]}, indent=2))
        return
    table(host.name, ("what", "how"), machine)
    rows = [(job.name, job.state, job.code, clock(job.seconds), job.command) for job in listed]
    table("Jobs", ("job", "state", "exit code", "time", "recipe"), rows)


@command.command()
@host_argument
@click.argument("job", default="")
@click.option("--follow", is_flag=True, help="Follow until the job ends.")
@click.option(
    "--lines", type=click.IntRange(1), default=50, show_default=True, help="The number of lines, from the end."
)
def logs(host: Any, job: str, follow: bool, lines: int) -> None:
    """Show what a job printed [default: the newest job]."""
    from pipeline.remote import jobs

    raise SystemExit(jobs.log(host, jobs.find(host, job), lines=lines, follow=follow))


@command.command()
@host_argument
@click.argument("job")
def stop(host: Any, job: str) -> None:
    """Ask a job to end; the same recipe resumes."""
    from pipeline.remote import jobs

    jobs.stop(host, jobs.find(host, job))


@command.command()
@click.argument("incoming", metavar="FOLDER", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--known",
    type=click.Path(path_type=Path),
    required=True,
    help="A file that records what both sides held after the last exchange; made if missing.",
)
@prefer_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@new_data_option
def merge(incoming: Path, known: Path, prefer: str | None, as_json: bool, store: Any) -> None:
    """Merge a copy of another data directory into this one (used by push and pull)."""
    from pipeline.remote.merge import merge as merged

    counts = merged(store, incoming, known, prefer or "")
    click.echo(json.dumps(counts)) if as_json else _print_counts(counts)


@command.command()
@new_data_option
def snapshot(store: Any) -> None:
    """Copy the ledger, whose file alone may lack the latest writes (used by push and pull)."""
    from pipeline.remote.pull import snapshot as taken

    click.echo(json.dumps({"ledger": int(taken(store) is not None)}))


def _print_counts(counts: Any) -> None:
    from pipeline.core.console import say

    parts = [f"{counts[name]} {name}" for name in ("new", "taken", "merged", "kept") if counts[name]]
    say(f"data: {', '.join(parts) or 'none'}")
