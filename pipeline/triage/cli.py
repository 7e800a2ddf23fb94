"""`a11y-bench triage`: `serve`, `list`, `rate`, `import`, `ask`, `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.core.options import (
    A_FILE,
    PULL_REQUEST,
    Group,
    Usd,
    data_option,
    engine_option,
    jobs_option,
    repo_argument,
)

list_option = click.option(
    "--models",
    "--list",
    "path",
    type=A_FILE,
    help="The model list, in LiteLLM's format [default: docker/proxy/models.yaml].",
)
PRINCIPLES = ("perceivable", "operable", "understandable", "robust")


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Rate candidates before they are built, with WCAG 2.2 criteria.

    `build --reviewed` builds only candidates rated super or reworked. Without a sub-command, serves the viewer, like
    `triage serve`.
    """
    if context.invoked_subcommand is None:
        context.invoke(serve)


@command.command()
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on; a network address requires a token.",
)
@click.option(
    "--port", default=8011, show_default=True, type=click.IntRange(0, 65535), help="The port; 0 takes any free one."
)
@list_option
@data_option
def serve(store: Any, host: str, port: int, path: Path | None) -> None:
    """Serve the Task Instance Viewer: read candidates, rate them, ask models, decide, export."""
    from pipeline.llm.models import SHIPPED
    from pipeline.triage.web.serve import serve as run

    run(store, host, port, path or SHIPPED)


@command.command("list")
@repo_argument
@data_option
def list_(repo: Any, store: Any) -> None:
    """Show the candidates of REPO with their evidence and ratings."""
    from pipeline.core.console import table
    from pipeline.core.dataset import read_candidates
    from pipeline.core.reviews import newest_reviews

    ratings: dict[str, list[str]] = {}
    for review in newest_reviews(store, repo):
        ratings.setdefault(review.instance_id, []).append(f"{review.status} ({review.rater})")
    rows = [
        (
            candidate.instance_id,
            candidate.title,
            ", ".join(sorted({evidence.text for evidence in candidate.a11y_reason})),
            ", ".join(ratings.get(candidate.instance_id, ["-"])),
        )
        for candidate in read_candidates(store, repo)
    ]
    table(f"Candidates of {repo}", ("instance", "title", "evidence", "ratings"), rows)


@command.command()
@click.argument("instance")
@click.argument("status", type=click.Choice(["super", "accepted", "needs-work", "reworked", "rejected"]))
@click.option("--by", "rater", required=True, help="The rater.")
@click.option("--criterion", "criteria", multiple=True, help="A WCAG success criterion, such as 4.1.2.")
@click.option("--principle", "principles", multiple=True, type=click.Choice(PRINCIPLES), help="A WCAG principle.")
@click.option(
    "--difficulty", type=click.Choice(["easy", "medium", "difficult", "no-clue"]), help="How hard the task is to solve."
)
@click.option("--statement", default="", help="The problem statement that agents see, for the status reworked.")
@click.option("--note", default="", help="The reason.")
@data_option
def rate(instance: str, store: Any, **fields: Any) -> None:
    """Rate one candidate, INSTANCE in any of its forms (org__repo-N, org/repo#N)."""
    from pydantic import ValidationError

    from pipeline.core.errors import UserError, fault
    from pipeline.core.names import parse_instance_id
    from pipeline.core.records import Review
    from pipeline.triage.stage import add

    repo, number = parse_instance_id(instance)
    try:
        review = Review(instance_id=repo.instance_id(number), success_criteria=fields.pop("criteria"), **fields)
    except ValidationError as error:
        first = error.errors()[0]
        renamed = {"success_criteria": "--criterion", "rater": "--by"}
        field = renamed.get(str(first["loc"][0]), f"--{first['loc'][0]}") if first["loc"] else None
        raise UserError(fault(first), field=field) from None
    add(store, repo, [review])


@command.command("import")
@repo_argument
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--by", "rater", default="", help="The rater, if the file does not say.")
@data_option
def import_(repo: Any, file: Path, rater: str, store: Any) -> None:
    """Add the ratings in FILE to REPO.

    FILE has Review records as JSON Lines, or is the thesis's metadata.json or a file of SWE-bench Verified's
    annotations.
    """
    from pipeline.core.console import say
    from pipeline.triage.stage import import_file

    say(f"{len(import_file(store, repo, file, rater))} ratings of {repo}")


@command.command()
@repo_argument
@click.argument("models", nargs=-1, required=True)
@click.option("--pr", "numbers", type=PULL_REQUEST, multiple=True, help="Rate only this pull request (repeatable).")
@click.option("--budget", type=Usd(), help="The maximum that each model may ever cost for REPO, in USD.")
@list_option
@click.option("--dry-run", is_flag=True, help="Show the estimated cost, and send no request.")
@jobs_option
@engine_option
@data_option
def ask(repo: Any, models: tuple[str, ...], store: Any, path: Path | None, budget: Any, **options: Any) -> None:
    """Let MODELS rate the candidates of REPO; each request costs money. Existing ratings are skipped.

    Exit code: 0 all are rated, 1 some answers are missing or unreadable (run it again).
    """
    from pipeline.llm.models import SHIPPED
    from pipeline.llm.panel import Asked
    from pipeline.triage.asking import ask as run

    asked = [Asked(model, 1, budget, path or SHIPPED) for model in models]
    if not run(store, repo, asked, **options):
        raise SystemExit(1)


@command.command()
@click.option(
    "--status", "statuses", multiple=True, default=("super",), show_default=True, help="Candidates with this rating."
)
@click.option("--repo", default="", help="One repository, as org/repo.")
@click.option("--group", type=click.Choice(["repo", "status", "difficulty"]), default=None, help="Group by this field.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["python", "json", "csv", "metadata"]),
    default="python",
    show_default=True,
    help="metadata: whole ratings, as the thesis's metadata.json; others: identifiers.",
)
@click.option("--with-errors", is_flag=True, help="Include candidates that could not be built.")
@data_option
def export(store: Any, group: str | None, **options: Any) -> None:
    """Print identifiers or metadata of candidates, selected by their rating, as combined from all raters."""
    from pipeline.core.errors import unknown
    from pipeline.core.names import parse_repo
    from pipeline.core.ratings import STATUSES
    from pipeline.triage import exchange
    from pipeline.triage.catalog import Catalog

    if wrong := set(options["statuses"]) - set(STATUSES):
        raise click.UsageError(f"unknown status {sorted(wrong)[0]}; available: {', '.join(STATUSES)}")
    catalog = Catalog(store)
    if options["repo"]:
        name, known = str(parse_repo(options["repo"])), [str(shelf.repo) for shelf in catalog.shelves()]
        if name not in known:
            raise unknown("repository", name, known)
        options["repo"] = name
    selection = exchange.Selection(group=group or "", **options)
    found = exchange.chosen(catalog.search("", {}).listed, selection)

    def candidate(listed: Any) -> Any:
        return catalog.get(listed.row.instance_id)[0].candidate(listed.row)

    click.echo(exchange.export_text(found, selection, candidate), nl=False)
