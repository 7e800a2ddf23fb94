"""`a11y-bench decide`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from pipeline.core.options import PULL_REQUEST, data_option, repo_argument


@click.command()
@repo_argument
@click.option("--pr", "numbers", type=PULL_REQUEST, multiple=True, help="The pull request to decide on.")
@click.option("--exclude", metavar="REASON", help="Remove the pull request from the candidates, for this reason.")
@click.option("--include", is_flag=True, help="Include the pull request whatever the filters say; ends an exclusion.")
@click.option("--set", "fields", metavar="FIELD=VALUE", multiple=True, help="Set a field to another value.")
@click.option("--comment", metavar="TEXT", help="Add a comment.")
@click.option("--undo", is_flag=True, help="Undo the last decision that still counts.")
@click.option("--list", "list_", is_flag=True, help="Show the decisions on REPO, or on --pr.")
@click.option("--json", "as_json", is_flag=True, help="Show the decisions as JSON Lines.")
@data_option
def command(repo: Any, numbers: tuple[int, ...], list_: bool, as_json: bool, store: Any, **changes: Any) -> None:
    """Record a decision on a pull request of REPO. No later collect reverts it; --undo does.

    \b
    Appends to DATA/00_viewer/decisions/<repo>.jsonl under your name (A11Y_BENCH_AUTHOR) and rewrites
    DATA/01_raw/<repo>/. With --set, the value of a field that is not text is written as JSON. A pull request that the
    filters rejected has no patches yet; the next `collect --pr N` gets them.
    \b
    Examples: a11y-bench decide grommet/grommet --pr 7428 --exclude "only a story changes"
              a11y-bench decide grommet/grommet --pr 7428 --set title="Anchor has a name"
              a11y-bench decide grommet/grommet --list
    """
    from pipeline.core.console import say
    from pipeline.core.decisions import decided, words

    changing = any(changes.values())
    if not changing and not (list_ or as_json):
        raise click.UsageError("no decision given: use --exclude, --include, --set, --comment or --undo; or --list")
    if changes["exclude"] and changes["include"]:
        raise click.UsageError("--exclude and --include contradict each other: give one of them")
    if changing and not numbers:
        raise click.UsageError("no pull request given: use --pr N")
    if changing:
        for decision in _decide(store, repo, numbers, **changes):
            say(words(decision))
    if list_ or as_json:
        names = {repo.instance_id(number) for number in numbers}
        decisions = [decision for decision in decided(store, repo) if not names or decision.instance_id in names]
        _show(repo, decisions, as_json)


def _decide(store: Any, repo: Any, numbers: tuple[int, ...], **changes: Any) -> list[Any]:
    """Append the decisions on these pull requests, and write the files. Raises UserError before anything is decided."""
    from pipeline.collect.collected import Collected
    from pipeline.core.clones import not_collected, recollect
    from pipeline.core.console import say
    from pipeline.core.records import Candidate

    if not store.raw(repo).exists() and not store.decisions(repo).exists():
        raise not_collected(store, repo)
    with Collected(store, repo) as collected:
        decisions = [decision for number in numbers for decision in _decisions(collected, number, **changes)]
        collected.decide(decisions)
        collected.export()
        if changes["include"]:
            missing = [n for n in numbers if not isinstance(collected.database.record(n), Candidate)]
            for number in missing:
                say(f"its patches are missing: {recollect(store, repo)} --pr {number}")
    return decisions


def _decisions(
    collected: Any, number: int, exclude: str | None, include: bool, fields: Any, comment: str | None, undo: bool
) -> Iterator[Any]:
    from pipeline.core.clones import recollect
    from pipeline.core.decisions import in_force, make
    from pipeline.core.errors import UserError, unknown

    name = collected.repo.instance_id(number)
    record, source_record = collected.database.record(number), collected.database.source_record(number)
    before = [decision for decision in in_force(collected.decisions) if decision.instance_id == name]
    if record is None and (fields or not before):
        hint = f"collect it: {recollect(collected.store, collected.repo)} --pr {number}"
        raise UserError(f"{collected.repo}#{number} is not collected", hint=hint)
    if undo and not before:
        raise UserError(f"nothing is decided on {name}", hint=f"a11y-bench decide {collected.repo} --list")
    if undo:
        yield make(name, "undo", undoes=before[-1].id)
    if include:
        yield make(name, "choose" if _is_rejected(source_record) else "include")
    if exclude:
        yield make(name, "exclude", reason=exclude)
    for field, value in (_field(record, text) for text in fields):
        if field not in _settable(record):
            raise unknown("field", field, _settable(record))
        old = source_record and source_record.model_dump(mode="json").get(field)
        yield make(name, "set", field=field, value=value, before=old)
    if comment:
        yield make(name, "comment", reason=comment)


def _is_rejected(source_record: Any) -> bool:
    from pipeline.core.records import Rejection

    return isinstance(source_record, Rejection)


def _settable(record: Any) -> list[str]:
    from pipeline.collect.settle import IDENTITY

    return sorted(set(type(record).model_fields) - IDENTITY)


def _field(record: Any, text: str) -> tuple[str, Any]:
    """A field and its value from `FIELD=VALUE`. Text fields are taken as they are, others parsed as JSON if valid."""
    from pipeline.core.errors import UserError
    from pipeline.core.texts import parse_json

    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"'{text}' is not FIELD=VALUE")
    if isinstance(getattr(record, name, ""), str):
        return name, value
    try:
        found = parse_json(value)
    except ValueError:
        return name, value
    try:
        json.dumps(found, allow_nan=False)
    except ValueError:
        raise UserError(f"JSON has no number for {value}", field=f"--set {name}") from None
    return name, found


def _show(repo: Any, decisions: list[Any], as_json: bool) -> None:
    from pipeline.core.console import table
    from pipeline.core.decisions import in_force, words

    if as_json:
        click.echo("".join(f"{decision.model_dump_json()}\n" for decision in decisions), nl=False)
        return
    counting = {decision.id for decision in in_force(decisions)}
    rows = [
        (decision.id, decision.time, decision.author, words(decision), "yes" if decision.id in counting else "")
        for decision in decisions
    ]
    table(f"Decisions on {repo}", ("id", "time", "author", "what", "counts"), rows)
