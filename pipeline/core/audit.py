"""The result of an audit of our verdicts: variants of gold whose correct verdict is known, and the verdicts they got.

Written by `dataset audit`, read by the analysis. This module counts; confidence intervals are in `report`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from pydantic import Field

from pipeline.core.records import Outcome, Record, Versioned

#: gold itself; a variant that means the same; one that is harmful; gold without one of its hunks
Kind = Literal["gold", "same", "harmful", "hunk"]
#: who judges: the tests, or the tests with the accessibility assessment (*checker*)
Judge = Literal["strict", "checked"]
JUDGES: tuple[Judge, ...] = ("strict", "checked")


class Variant(Record):
    """A variant of gold, how it differs, and its verdict; the outcome is None if it was not run."""

    kind: Kind
    rule: str = Field(default="", description="its class")
    path: str = ""
    line: int = Field(default=0, description="in gold's text, from 1")
    before: str = Field(default="", description="what gold says there, cut")
    after: str = Field(default="", description="what the variant says, cut")
    patch_digest: str
    outcome: Outcome | None = None
    cause: str = ""
    checked: bool | None = Field(
        default=None, description="resolved with the accessibility assessment; none: not assessed"
    )
    note: str = Field(default="", description="why there is no assessment")

    def resolved(self, judge: Judge) -> bool | None:
        """A judge's verdict, or None if there is none. Without an assessment, the tests decide."""
        if self.outcome in (None, Outcome.NOT_EVALUATED):
            return None
        strict = self.outcome is Outcome.RESOLVED
        return strict if judge == "strict" or self.checked is None else self.checked


class VerdictAudit(Versioned):
    """The audit of one instance. The same seed draws the same variants."""

    instance_id: str
    image: str
    seed: int
    wanted: int = Field(description="variants of each kind that were asked for")
    left_out: dict[str, int] = Field(default={}, description="drawn and left out, by kind and reason")
    variants: tuple[Variant, ...] = ()
    law: str = Field(default="", description="digest of all that decided the verdicts: code and tables (core.law)")

    @property
    def gold(self) -> Outcome | None:
        """The outcome of gold itself: if it is not resolved, its variants prove nothing."""
        return next((variant.outcome for variant in self.variants if variant.kind == "gold"), None)

    @property
    def is_checked(self) -> bool:
        """Whether any of its variants was assessed."""
        return any(variant.checked is not None or variant.note for variant in self.variants)

    def of(self, kind: Kind) -> tuple[Variant, ...]:
        """The variants of a kind, run or not."""
        return tuple(variant for variant in self.variants if variant.kind == kind)

    @property
    def hunks(self) -> Tally:
        """Gold's hunks, each left out once: how many omissions a test noticed. The share is the tests' strength."""
        missed = tally([self], "hunk", "strict")
        return Tally(missed.of - missed.wrong, missed.of)


class Tally(NamedTuple):
    """A count out of a total."""

    wrong: int
    of: int

    @property
    def share(self) -> float | None:
        """From 0 to 1; None if the total is 0."""
        return self.wrong / self.of if self.of else None


def judged(audits: Iterable[VerdictAudit], kind: Kind, judge: Judge) -> Iterator[tuple[VerdictAudit, Variant, bool]]:
    """Every variant of a kind that got a verdict, and whether that verdict is wrong. Counts only instances that gold
    resolves and that were shown to the judge."""
    for audit in audits:
        was_asked = judge == "strict" or audit.is_checked
        for variant in audit.of(kind) if was_asked and audit.gold is Outcome.RESOLVED else ():
            resolved = variant.resolved(judge)
            if resolved is not None:
                yield audit, variant, resolved is not (kind in ("gold", "same"))


def tally(audits: Iterable[VerdictAudit], kind: Kind, judge: Judge) -> Tally:
    """How many verdicts on a kind are wrong: false negatives of `same`, false positives of `harmful` and `hunk`."""
    counts = Counter(wrong for *_, wrong in judged(audits, kind, judge))
    return Tally(counts[True], counts.total())


def by_rule(audits: Iterable[VerdictAudit], kind: Kind, judge: Judge) -> dict[str, Tally]:
    """The same by class, in order of their names."""
    found: dict[str, list[bool]] = {}
    for _, variant, wrong in judged(audits, kind, judge):
        found.setdefault(variant.rule, []).append(wrong)
    return {rule: Tally(sum(found[rule]), len(found[rule])) for rule in sorted(found)}
