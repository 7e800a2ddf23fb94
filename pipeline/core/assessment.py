"""Further findings on one prediction, next to its verdict and never in place of it (docs/assessment.md)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pipeline.core.records import Record, Versioned

#: whether two snapshots tell assistive technologies the same
Likeness = Literal["cosmetic", "a11y-different", "unparsable"]


class Spoken(Record):
    """What a virtual screen reader announces for a test's snapshot, phrase by phrase; empty if it is not markup."""

    base: tuple[str, ...] = Field(default=(), description="without any patch")
    gold: tuple[str, ...] = ()
    patch: tuple[str, ...] = ()


class SnapshotVerdict(Record):
    """How the snapshots that a patch makes compare with gold's, for every expected test that failed."""

    likeness: Likeness = Field(description="of all tests: the worst")
    tests: dict[str, Likeness]
    reasons: dict[str, str] = Field(default={}, description="what differs, or why nothing can be said, by test")
    spoken: dict[str, Spoken] = Field(
        default={}, description="what a screen reader would say of base, gold and patch, by test; decides nothing"
    )


class Violation(Record):
    """One violation that axe-core finds in a page."""

    rule: str = Field(description="axe-core's")
    criteria: tuple[str, ...] = Field(description="WCAG's success criteria, as 1.1.1")
    element: str = Field(description="roles and names on the way to it, never a class; a second one ends in [2]")
    tests: tuple[str, ...] = Field(description="the tests, or stories, that render it")


class AxeDelta(Record):
    """How a patch changes what axe-core finds in everything that the touched tests render."""

    base: int = Field(ge=0, description="violations without any patch")
    gold: int = Field(ge=0, description="violations with the gold patch")
    candidate: int = Field(ge=0, description="violations with the patch")
    fixed: tuple[Violation, ...] = Field(description="in the base only")
    remaining: tuple[Violation, ...] = Field(description="in the base and with the patch")
    introduced: tuple[Violation, ...] = Field(description="with the patch only")
    tests: int | None = Field(default=None, ge=0, description="how many tests' documents, or stories, were audited")


#: PraisonAI Bench's scale (docs/assessment.md): 3 solves all, 2 most, 1 misses what matters, -1 cannot tell
Rated = Literal[3, 2, 1, -1]
UNTOLD: Rated = -1


class Rating(Record):
    """One rating of a patch by a judge."""

    reasoning: str
    score: Rated
    strengths: str = ""
    weaknesses: str = ""
    confidence: Literal["high", "medium", "low"] | None = None


class Judgement(Record):
    """A judge's opinion of a patch: the ratings of all samples and the score they add up to."""

    model: str
    settings: str = Field(description="digest of the prompt, the parameters and the model's entry")
    score: Rated = Field(description="the median of those that could tell; -1 where half or more could not")
    agreement: float | None = Field(description="share of pairs of ratings that are equal; None for one rating")
    ratings: tuple[Rating, ...]
    missing: tuple[str, ...] = Field(default=(), description="why a sample has no rating, for each that has none")


class Part(Record):
    """One part of the hybrid score: a value from 0 to 1, or None if the part does not apply."""

    value: float | None
    weight: float = Field(description="as the settings declare it")
    share: float = Field(description="of the score: the weight among the parts that say something")


class Assessment(Versioned):
    """All findings on one prediction; a part that is None was not requested or does not apply (see `notes`)."""

    instance_id: str
    agent: str
    model: str
    run: str
    patch_digest: str
    image: str
    resolved: bool = Field(description="the strict verdict")
    resolved_equivalent: bool = Field(description="resolved, or all that fails are snapshots that differ cosmetically")
    snapshot: SnapshotVerdict | None = None
    axe: AxeDelta | None = None
    stories: AxeDelta | None = None
    judge: Judgement | None = None
    score: float | None = Field(default=None, description="the hybrid score, from 0 to 1")
    parts: dict[str, Part] = Field(default={}, description="of the score, by name")
    notes: dict[str, str] = Field(default={}, description="why a part is missing, by its name")
    browser: str = Field(default="", description="which browser looked at snapshots")
