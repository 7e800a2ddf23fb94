"""The numbers of the track: per model, per case, per rule of axe-core. Pure functions over verdicts and answers.

Errors are no verdicts on a page: they leave every n, and stand in a count of their own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

from pipeline.llm.prices import total
from pipeline.pages.records import Kind, PageAnswer, PageVerdict
from pipeline.report.statistics import Interval, mean_pass_at_k, wilson

_CRITERION = re.compile(r"^wcag(\d)(\d)(\d+)$")


class Share(NamedTuple):
    """How many of how many, with Wilson's interval; `share` and `interval` are None where there is nothing to count."""

    hits: int
    of: int

    @property
    def share(self) -> float | None:
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> Interval | None:
        return wilson(self.hits, self.of)


class Money(NamedTuple):
    """What answers cost, in USD and tokens. `unknown` are those without usage: they are in no sum."""

    usd: Decimal
    tokens_in: int
    tokens_out: int
    unknown: int


class PassAtK(NamedTuple):
    """The mean of pass@k over the cases that have k samples; `cases` of `of`."""

    k: int
    value: float | None
    interval: Interval | None
    cases: int
    of: int


class ModelRow(NamedTuple):
    """One model: verdicts by result, the rates of requirements and best practices, money."""

    model: str
    samples: int
    errors: int
    passed: Share
    requirements: Share
    best_practices: Share
    clean: Share
    money: Money


def model_row(model: str, answers: Sequence[PageAnswer], verdicts: Sequence[PageVerdict]) -> ModelRow:
    """The numbers of one model."""
    mine = [one for one in verdicts if one.model == model]
    judged = [one for one in mine if one.result != "error"]
    return ModelRow(
        model=model,
        samples=len(mine),
        errors=len(mine) - len(judged),
        passed=Share(sum(one.passed for one in judged), len(judged)),
        requirements=_holding(judged, "R"),
        best_practices=_holding(judged, "BP"),
        clean=Share(sum(not one.violations and not one.cause for one in judged), len(judged)),
        money=money(one for one in answers if one.model == model),
    )


def _holding(verdicts: Iterable[PageVerdict], kind: Kind) -> Share:
    """The pages all of whose assertions of a kind hold, of those that have such. A page that was cut short before its
    first assertion holds none."""
    said = [one.holds(kind) for one in verdicts]
    known = [one for one in said if one is not None]
    cut_short = [one for one in verdicts if kind == "R" and one.cause and not one.assertions]
    return Share(sum(known), len(known) + len(cut_short))


def money(answers: Iterable[PageAnswer]) -> Money:
    """The sum over answers, those that another run paid for included: what it takes to have them."""
    usages = [one.usage for one in answers]
    known = [one for one in usages if one.cost_usd is not None]
    return Money(
        total(one.cost_usd for one in usages if one.cost_usd is not None),
        sum(one.tokens_in or 0 for one in known),
        sum(one.tokens_out or 0 for one in known),
        len(usages) - len(known),
    )


def counts(model: str, verdicts: Iterable[PageVerdict]) -> dict[str, tuple[int, int]]:
    """Samples that got a verdict and those that passed, by case."""
    found: dict[str, list[bool]] = defaultdict(list)
    for one in verdicts:
        if one.model == model:
            found[one.case] += [] if one.result == "error" else [one.passed]
    return {case: (len(passed), sum(passed)) for case, passed in found.items()}


def pass_at(model: str, ks: Sequence[int], verdicts: Sequence[PageVerdict]) -> list[PassAtK]:
    """pass@k for each k; of a case that has fewer samples nothing is said."""
    found = counts(model, verdicts)
    rows = []
    for k in ks:
        enough = [pair for pair in found.values() if pair[0] >= k]
        value, interval = mean_pass_at_k(enough, k) if enough else (None, None)
        rows.append(PassAtK(k, value, interval, len(enough), len(found)))
    return rows


class RuleRow(NamedTuple):
    """A rule of axe-core: the pages that violate it and its elements there, by model; `counts` whether it decides."""

    rule: str
    help: str
    criteria: tuple[str, ...]
    counts: bool
    pages: dict[str, int]
    elements: int


def rules(verdicts: Sequence[PageVerdict]) -> list[RuleRow]:
    """All rules that some page violates, those that count and that most pages violate first."""
    pages: dict[str, Counter[str]] = defaultdict(Counter)
    elements: Counter[str] = Counter()
    known = {}
    for one in verdicts:
        for decides, violations in ((True, one.violations), (False, one.advice)):
            for rule in {found.id for found in violations}:
                pages[rule][one.model] += 1
            for found in violations:
                elements[found.id] += found.count
                known[found.id] = (found.help, criteria(found.tags), decides)
    rows = [RuleRow(rule, *known[rule], dict(pages[rule]), elements[rule]) for rule in pages]
    return sorted(rows, key=lambda row: (not row.counts, -sum(row.pages.values()), row.rule))


def criteria(tags: Iterable[str]) -> tuple[str, ...]:
    """WCAG's success criteria in axe-core's tags: `wcag143` is 1.4.3."""
    return tuple(".".join(found.groups()) for one in tags if (found := _CRITERION.match(one)))


def by_criterion(verdicts: Sequence[PageVerdict]) -> dict[str, Counter[str]]:
    """Success criterion -> model -> pages that violate one of its rules that count."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for one in verdicts:
        for criterion in {name for violation in one.violations for name in criteria(violation.tags)}:
            found[criterion][one.model] += 1
    return dict(sorted(found.items(), key=lambda pair: [int(part) for part in pair[0].split(".")]))


class AssertionRow(NamedTuple):
    """An assertion of a case: of how many pages it fails, by model."""

    case: str
    name: str
    type: Kind
    failed: dict[str, int]
    pages: dict[str, int]


def assertions(verdicts: Sequence[PageVerdict]) -> list[AssertionRow]:
    """All assertions in the order of cases, those that fail most first."""
    rows: dict[tuple[str, str, Kind], tuple[Counter[str], Counter[str]]] = {}
    for one in verdicts:
        for said in one.assertions:
            failed, pages = rows.setdefault((one.case, said.name, said.type), (Counter(), Counter()))
            pages[one.model] += 1
            failed[one.model] += said.status == "fail"
    found = [AssertionRow(*key, dict(failed), dict(pages)) for key, (failed, pages) in rows.items()]
    return sorted(found, key=lambda row: (row.case, -sum(row.failed.values()), row.name))


class Compared(NamedTuple):
    """One model in two runs, over the pages that both judged: how many only one of them passes, and how likely so
    uneven a split is by chance."""

    model: str
    pages: int
    only_first: int
    only_second: int
    both: int
    p: float


def compared(first: Sequence[PageVerdict], second: Sequence[PageVerdict]) -> list[Compared]:
    """Two runs, by case, model and index."""
    from pipeline.report.statistics import mcnemar

    one, other = ({each.key: each for each in verdicts if each.result != "error"} for verdicts in (first, second))
    found: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for key in sorted(one.keys() & other.keys()):
        found[key[1]].append((one[key].passed, other[key].passed))
    return [_compared(model, pairs, mcnemar) for model, pairs in found.items()]


def _compared(model: str, pairs: list[tuple[bool, bool]], test) -> Compared:
    only_first, only_second = pairs.count((True, False)), pairs.count((False, True))
    return Compared(
        model, len(pairs), only_first, only_second, pairs.count((True, True)), test(only_first, only_second)
    )
