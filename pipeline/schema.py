"""`a11y-bench schema`: the published JSON Schemas of all records."""

from __future__ import annotations

import json

import click


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Print the JSON Schema of record NAME, or the names of all records."""
    from pipeline.analyze.handcheck.records import HandCheck
    from pipeline.core.assessment import Assessment
    from pipeline.core.audit import VerdictAudit
    from pipeline.core.errors import unknown
    from pipeline.core.records import PUBLISHED
    from pipeline.core.review_requests import ReviewAnswer, ReviewRequest
    from pipeline.dataset.lock import Lock
    from pipeline.pages.hybrid.records import Hybrid
    from pipeline.pages.records import PageAnswer, PageVerdict

    others = (Assessment, HandCheck, Hybrid, Lock, PageAnswer, PageVerdict, ReviewAnswer, ReviewRequest, VerdictAudit)
    kinds = {kind.__name__: kind for kind in (*PUBLISHED, *others)}
    if name is None:
        click.echo("\n".join(kinds))
    elif name in kinds:
        click.echo(json.dumps(kinds[name].model_json_schema(), indent=2))
    else:
        raise unknown("record", name, list(kinds))
