"""Audits of our verdicts: every variant of gold with the verdicts that it got, and each instance's test strength."""

from __future__ import annotations

from typing import Any

from pipeline.analyze.reading.rows import Rows
from pipeline.core.audit import JUDGES, VerdictAudit
from pipeline.core.names import Repo
from pipeline.core.records import Outcome
from pipeline.core.store import Store, each_record, unique


def read(rows: Rows, store: Store, repo: Repo) -> dict[str, float]:
    """Add `audits` of a repository; returns the test strength of instances, in percent, where it was measured."""
    path, strength = store.audit(repo), {}
    for one in unique(each_record(path, VerdictAudit), path):
        _add(rows, one, repo)
        if one.hunks.share is not None:
            strength[one.instance_id] = 100 * one.hunks.share
    return strength


def _add(rows: Rows, audit: VerdictAudit, repo: Repo) -> None:
    """The variants that were judged; none of an instance that gold does not resolve."""
    for one in audit.variants if audit.gold is Outcome.RESOLVED else ():
        asked = [judge for judge in JUDGES if judge == "strict" or audit.is_checked]
        said: dict[str, Any] = {judge: one.resolved(judge) for judge in asked}
        if said["strict"] is not None and one.kind != "gold":
            rows.add("audits", Audit=audit, Variant=one, Context={"repo": repo, **said})
