"""Audits of our verdicts: every variant of gold patches with its verdicts, and each instance's test strength."""

from __future__ import annotations

from typing import Any

from pipeline.analyze.reading.rows import Rows
from pipeline.core.audit import JUDGES, VerdictAudit
from pipeline.core.names import Repo
from pipeline.core.records import Outcome
from pipeline.core.store import Store, each_record, unique


def read(rows: Rows, store: Store, repo: Repo) -> dict[str, float]:
    """Add `audits` of a repository; returns the test strength of instances in percent, if it was measured."""
    path, strength = store.audit(repo), {}
    for audit in unique(each_record(path, VerdictAudit), path):
        _add(rows, audit, repo)
        if audit.hunks.share is not None:
            strength[audit.instance_id] = 100 * audit.hunks.share
    return strength


def _add(rows: Rows, audit: VerdictAudit, repo: Repo) -> None:
    """Add the variants that were judged; none for an instance that gold does not resolve."""
    for variant in audit.variants if audit.gold is Outcome.RESOLVED else ():
        judges = [judge for judge in JUDGES if judge == "strict" or audit.is_checked]
        verdicts: dict[str, Any] = {judge: variant.resolved(judge) for judge in judges}
        if verdicts["strict"] is not None and variant.kind != "gold":
            rows.add("audits", Audit=audit, Variant=variant, Context={"repo": repo, **verdicts})
