"""`a11y-bench environment`: what is inferred for a repository's candidates, with evidence."""

from __future__ import annotations

import json
from typing import Any

import click

from pipeline.core.options import PULL_REQUEST, data_option, repo_argument


@click.command()
@repo_argument
@click.option("--pr", "number", type=PULL_REQUEST, help="Show one candidate: every field with its evidence.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one candidate per line.")
@data_option
def command(repo: Any, number: int | None, as_json: bool, store: Any) -> None:
    """Show the environments inferred for the candidates of REPO from the files of their base commits.

    \b
    Reads DATA/01_raw/<repo>/, the clone that it was collected from, and pipeline/build/repos/ (overrides).
    Writes nothing.
    \b
    Example: a11y-bench environment grommet/grommet --pr 7428
    Exit code: 0, even if a candidate has no environment; 2 bad input.
    """
    from pipeline.core.console import table

    found = list(_found(store, repo, number))
    if as_json:
        for candidate, outcome in found:
            click.echo(json.dumps({"instance_id": candidate.instance_id} | _plain(outcome)))
    elif number is not None:
        table(f"Environment of {repo}#{number}", ("field", "value", "evidence"), _fields(found[0][1]))
    else:
        header = ("instance", "merged", "Node", "manager", "runner", "folder", "Node by")
        table(f"Environments of {repo}", header, [_row(candidate, outcome) for candidate, outcome in found])


def _found(store: Any, repo: Any, number: int | None) -> Any:
    """The candidates in the order of merging, each with its Environment or the reason why there is none."""
    from pipeline.build import proposals
    from pipeline.build.environments import environment_of
    from pipeline.build.infer import Unsupported
    from pipeline.build.stage import candidates_of
    from pipeline.execution.images import source

    clone = source(store, repo)
    candidates = candidates_of(store, repo, [] if number is None else [number])
    for candidate in sorted(candidates, key=lambda candidate: candidate.merged_at):
        try:
            yield candidate, environment_of(clone, candidate, proposals.fixed(store, candidate))
        except Unsupported as error:
            yield candidate, error


def _plain(outcome: Any) -> dict[str, Any]:
    if reason := getattr(outcome, "reason", ""):
        return {"reason": reason, "detail": str(outcome)}
    return {"environment": outcome.model_dump(mode="json")}


def _fields(outcome: Any) -> list[tuple[str, str, str]]:
    """Every field, or the reason why there is no environment."""
    if reason := getattr(outcome, "reason", ""):
        return [("rejected", reason, str(outcome))]
    values = outcome.model_dump(exclude={"evidence"})
    return [(name, _text(value), outcome.evidence.get(name, "")) for name, value in values.items()]


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={text}" for name, text in value.items())
    return value if isinstance(value, str) else " ".join(map(_text, value))


def _row(candidate: Any, outcome: Any) -> tuple[str, ...]:
    name, day = f"#{candidate.number}", candidate.merged_at[:10]
    if reason := getattr(outcome, "reason", ""):
        return name, day, "", "", "", "", f"{reason}: {outcome}"
    manager = f"{outcome.manager} {outcome.manager_version}".strip()
    runner = f"{outcome.runner} {outcome.runner_version}".strip()
    return name, day, outcome.node, manager, runner, outcome.folder or ".", outcome.evidence["node"]
