"""The numbers of the track: by model, case and axe-core rule. Pure functions over verdicts and answers.

Errors are not verdicts on a page: they are not in any n, and are counted separately.
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
    """A share with Wilson's interval; `share` and `interval` are None if there is nothing to count."""

    hits: int
    of: int

    @property
    def share(self) -> float | None:
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> Interval | None:
        return wilson(self.hits, self.of)


class Money(NamedTuple):
    """The cost of answers in USD and tokens. `unknown` counts answers without usage, which are in no sum."""

    usd: Decimal
    tokens_in: int
    tokens_out: int
    unknown: int


class PassAtK(NamedTuple):
    """The mean of pass@k over the cases with at least k samples: `cases` of `of` cases."""

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
    """The pages on which all assertions of a kind hold, of the pages that have some. On a page that was cut short
    before its first assertion, none holds."""
    said = [one.holds(kind) for one in verdicts]
    known = [one for one in said if one is not None]
    cut_short = [one for one in verdicts if kind == "R" and one.cause and not one.assertions]
    return Share(sum(known), len(known) + len(cut_short))


def money(answers: Iterable[PageAnswer]) -> Money:
    """The sum over answers, including those that another run paid for."""
    usages = [one.usage for one in answers]
    known = [one for one in usages if one.cost_usd is not None]
    return Money(
        total(one.cost_usd for one in usages if one.cost_usd is not None),
        sum(one.tokens_in or 0 for one in known),
        sum(one.tokens_out or 0 for one in known),
        len(usages) - len(known),
    )


def counts(model: str, verdicts: Iterable[PageVerdict]) -> dict[str, tuple[int, int]]:
    """The numbers of samples with a verdict and of samples that passed, by case."""
    found: dict[str, list[bool]] = defaultdict(list)
    for one in verdicts:
        if one.model == model:
            found[one.case] += [] if one.result == "error" else [one.passed]
    return {case: (len(passed), sum(passed)) for case, passed in found.items()}


def pass_at(model: str, ks: Sequence[int], verdicts: Sequence[PageVerdict]) -> list[PassAtK]:
    """pass@k for each k; cases with fewer samples are omitted."""
    found = counts(model, verdicts)
    rows = []
    for k in ks:
        enough = [pair for pair in found.values() if pair[0] >= k]
        value, interval = mean_pass_at_k(enough, k) if enough else (None, None)
        rows.append(PassAtK(k, value, interval, len(enough), len(found)))
    return rows


class RuleRow(NamedTuple):
    """An axe-core rule: violating pages and elements by model; `counts` says whether it affects verdicts."""

    rule: str
    help: str
    criteria: tuple[str, ...]
    counts: bool
    pages: dict[str, int]
    elements: int


def rules(verdicts: Sequence[PageVerdict]) -> list[RuleRow]:
    """All violated rules; those that count come first, then by number of pages."""
    pages: dict[str, Counter[str]] = defaultdict(Counter)
    elements: Counter[str] = Counter()
    known = {}
    for violation in verdicts:
        for decides, violations in ((True, violation.violations), (False, violation.advice)):
            for rule in {found.id for found in violations}:
                pages[rule][violation.model] += 1
            for found in violations:
                elements[found.id] += found.count
                known[found.id] = (found.help, criteria(found.tags), decides)
    rows = [RuleRow(rule, *known[rule], dict(pages[rule]), elements[rule]) for rule in pages]
    return sorted(rows, key=lambda row: (not row.counts, -sum(row.pages.values()), row.rule))


def criteria(tags: Iterable[str]) -> tuple[str, ...]:
    """The WCAG success criteria in axe-core's tags: `wcag143` is 1.4.3."""
    return tuple(".".join(found.groups()) for one in tags if (found := _CRITERION.match(one)))


def by_criterion(verdicts: Sequence[PageVerdict]) -> dict[str, Counter[str]]:
    """Success criterion -> model -> pages that violate one of its rules that count."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for one in verdicts:
        for criterion in {name for violation in one.violations for name in criteria(violation.tags)}:
            found[criterion][one.model] += 1
    return dict(sorted(found.items(), key=lambda pair: [int(part) for part in pair[0].split(".")]))


class AssertionRow(NamedTuple):
    """An assertion of a case: the number of pages on which it fails, by model."""

    case: str
    name: str
    type: Kind
    failed: dict[str, int]
    pages: dict[str, int]


def assertions(verdicts: Sequence[PageVerdict]) -> list[AssertionRow]:
    """All assertions by case, those that fail most often first."""
    rows: dict[tuple[str, str, Kind], tuple[Counter[str], Counter[str]]] = {}
    for verdict in verdicts:
        for ends in verdict.assertions:
            failed, pages = rows.setdefault((verdict.case, ends.name, ends.type), (Counter(), Counter()))
            pages[verdict.model] += 1
            failed[verdict.model] += ends.status == "fail"
    found = [AssertionRow(*key, dict(failed), dict(pages)) for key, (failed, pages) in rows.items()]
    return sorted(found, key=lambda row: (row.case, -sum(row.failed.values()), row.name))


class Compared(NamedTuple):
    """One model in two runs, over the pages that both judged: how many pages only one run passes, and the
    probability of so uneven a split by chance."""

    model: str
    pages: int
    only_first: int
    only_second: int
    both: int
    p: float


def compared(first: Sequence[PageVerdict], second: Sequence[PageVerdict]) -> list[Compared]:
    """Two runs compared by case, model and index."""
    from pipeline.report.statistics import mcnemar

    pair, other = ({each.key: each for each in verdicts if each.result != "error"} for verdicts in (first, second))
    found: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for key in sorted(pair.keys() & other.keys()):
        found[key[1]].append((pair[key].passed, other[key].passed))
    return [_compared(model, pairs, mcnemar) for model, pairs in found.items()]


def _compared(model: str, pairs: list[tuple[bool, bool]], test) -> Compared:
    only_first, only_second = pairs.count((True, False)), pairs.count((False, True))
    return Compared(
        model, len(pairs), only_first, only_second, pairs.count((True, True)), test(only_first, only_second)
    )
