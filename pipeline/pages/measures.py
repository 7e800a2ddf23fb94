"""The numbers of the track: by model, case and axe-core rule. Pure functions over verdicts and answers.

Errors are not verdicts on a page: they are not in any n, and are counted separately, as are pages without an answer.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from statistics import fmean
from typing import Any, NamedTuple

from pipeline.llm.prices import total
from pipeline.pages.records import Kind, PageAnswer, PageVerdict
from pipeline.report.statistics import RESAMPLES, SEED, Interval, clustered, mean_pass_at_k, of_clusters

_CRITERION = re.compile(r"^wcag(\d)(\d)(\d+)$")


#: case, model and index of a requested page
Key = tuple[str, str, int]


class Share(NamedTuple):
    """A share of pages; `share` is None if there is nothing to count."""

    hits: int
    of: int

    @property
    def share(self) -> float | None:
        return self.hits / self.of if self.of else None


class Money(NamedTuple):
    """The cost of answers in USD and tokens. `unknown` counts answers without usage, which are in no sum."""

    usd: Decimal
    tokens_in: int
    tokens_out: int
    unknown: int


class PassAtK(NamedTuple):
    """The mean of pass@k over the cases with at least k samples: `cases` of the `of` cases that were asked. For k = 1,
    and if the cases do not differ, the interval comes from their samples."""

    k: int
    value: float | None
    interval: Interval | None
    cases: int
    of: int


class ModelRow(NamedTuple):
    """One model: verdicts by result, the rates of requirements and best practices, money. `missing` pages were asked
    for and have no answer yet; `interval` is of the passed pages."""

    model: str
    samples: int
    errors: int
    missing: int
    passed: Share
    interval: Interval | None
    requirements: Share
    best_practices: Share
    clean: Share
    money: Money

    @property
    def is_complete(self) -> bool:
        """Whether every requested page has a verdict. Otherwise, the rates only cover the pages that happen to have
        one."""
        return not self.missing and not self.errors

    @property
    def place(self) -> tuple[bool, float]:
        """The sort key of a model: the best first, incomplete ones last."""
        return not self.is_complete, -(self.passed.share or 0)


def model_row(
    model: str, answers: Sequence[PageAnswer], verdicts: Sequence[PageVerdict], keys: Iterable[Key]
) -> ModelRow:
    """The numbers of one model; `keys` are the requested pages of all models."""
    own = [verdict for verdict in verdicts if verdict.model == model]
    judged = _judged(own)
    kinds = _kinds(verdicts)
    return ModelRow(
        model=model,
        samples=len(own),
        errors=len(own) - len(judged),
        missing=len({key for key in keys if key[1] == model} - {verdict.key for verdict in own}),
        passed=Share(sum(verdict.passed for verdict in judged), len(judged)),
        interval=of_clusters(counts(model, judged).values()),
        requirements=_holding(judged, "R", kinds),
        best_practices=_holding(judged, "BP", kinds),
        clean=Share(sum(not verdict.violations and not verdict.cause for verdict in judged), len(judged)),
        money=money(answer for answer in answers if answer.model == model),
    )


def _kinds(verdicts: Sequence[PageVerdict]) -> dict[str, set[Kind]]:
    """The kinds of assertions that each case has: those on any page of any model. A case has requirements, too, unless
    a page that was not cut short shows none."""
    found: dict[str, set[Kind]] = defaultdict(set)
    known = {verdict.case for verdict in verdicts if not verdict.cause}
    for verdict in verdicts:
        found[verdict.case] |= {assertion.type for assertion in verdict.assertions}
        found[verdict.case] |= set() if verdict.case in known else {"R"}
    return found


def _holding(verdicts: Iterable[PageVerdict], kind: Kind, kinds: Mapping[str, set[Kind]]) -> Share:
    """The pages on which all assertions of a kind hold, of the pages that have some. A page that was cut short before
    the first of them holds none, if its case has some."""
    outcomes = [(verdict.holds(kind), verdict.cause and kind in kinds[verdict.case]) for verdict in verdicts]
    decided = [holds for holds, _ in outcomes if holds is not None]
    cut_short = [holds for holds, lacks in outcomes if holds is None and lacks]
    return Share(sum(decided), len(decided) + len(cut_short))


def _judged(verdicts: Iterable[PageVerdict]) -> list[PageVerdict]:
    return [verdict for verdict in verdicts if verdict.result != "error"]


def money(answers: Iterable[PageAnswer]) -> Money:
    """The sum over answers, including those that another run paid for."""
    usages = [answer.usage for answer in answers]
    known = [usage for usage in usages if usage.cost_usd is not None]
    return Money(
        total(usage.cost_usd for usage in usages if usage.cost_usd is not None),
        sum(usage.tokens_in or 0 for usage in known),
        sum(usage.tokens_out or 0 for usage in known),
        len(usages) - len(known),
    )


def counts(model: str, verdicts: Iterable[PageVerdict]) -> dict[str, tuple[int, int]]:
    """The numbers of samples with a verdict and of samples that passed, by case."""
    found: dict[str, list[bool]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.model == model:
            found[verdict.case] += [] if verdict.result == "error" else [verdict.passed]
    return {case: (len(passed), sum(passed)) for case, passed in found.items()}


def pass_at(model: str, ks: Iterable[int], verdicts: Sequence[PageVerdict], keys: Iterable[Key]) -> list[PassAtK]:
    """pass@k for each k; cases with fewer samples are omitted. `keys` are the requested pages."""
    found, asked = counts(model, verdicts), {case for case, whose, _ in keys if whose == model}
    rows = []
    for k in ks:
        enough = [pair for pair in found.values() if pair[0] >= k]
        value, interval = mean_pass_at_k(enough, k) if enough else (None, None)
        if interval and (k == 1 or interval.low == interval.high):
            interval = _of_samples(enough, k)
        rows.append(PassAtK(k, value, interval, len(enough), len(asked)))
    return rows


def _of_samples(cases: Sequence[tuple[int, int]], k: int) -> Interval:
    """The interval of pass@k from the probability p that a sample passes, as 1 - (1 - p)^k for its ends, where cases
    that do not differ cannot be resampled. Each case has the same weight, as in pass@k."""
    mean = fmean(samples for samples, _ in cases)
    alike = [(mean, mean * (passed / samples)) for samples, passed in cases]
    ends = of_clusters(cases) if len(cases) == 1 else clustered(alike)
    low, high = (1 - (1 - end) ** k for end in ends or (0, 1))
    return Interval(low, high)


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
    described = {}
    for verdict in _judged(verdicts):
        for decides, violations in ((True, verdict.violations), (False, verdict.advice)):
            for rule in {violation.id for violation in violations}:
                pages[rule][verdict.model] += 1
            for violation in violations:
                elements[violation.id] += violation.count
                described[violation.id] = (violation.help, criteria(violation.tags), decides)
    rows = [RuleRow(rule, *described[rule], dict(pages[rule]), elements[rule]) for rule in pages]
    return sorted(rows, key=lambda row: (not row.counts, -sum(row.pages.values()), row.rule))


def criteria(tags: Iterable[str]) -> tuple[str, ...]:
    """The WCAG success criteria in axe-core's tags: `wcag143` is 1.4.3."""
    return tuple(".".join(match.groups()) for tag in tags if (match := _CRITERION.match(tag)))


def by_criterion(verdicts: Sequence[PageVerdict]) -> dict[str, Counter[str]]:
    """Success criterion -> model -> pages that violate one of its rules that count."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in _judged(verdicts):
        for criterion in {name for violation in verdict.violations for name in criteria(violation.tags)}:
            found[criterion][verdict.model] += 1
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
    for verdict in _judged(verdicts):
        for assertion in verdict.assertions:
            failed, pages = rows.setdefault((verdict.case, assertion.name, assertion.type), (Counter(), Counter()))
            pages[verdict.model] += 1
            failed[verdict.model] += assertion.status == "fail"
    found = [AssertionRow(*key, dict(failed), dict(pages)) for key, (failed, pages) in rows.items()]
    return sorted(found, key=lambda row: (row.case, -sum(row.failed.values()), row.name))


class Compared(NamedTuple):
    """One model in two runs, over the pages that both judged: how many pages only one run passes, and the
    probability of so large a difference by chance."""

    model: str
    pages: int
    only_first: int
    only_second: int
    both: int
    p: float


def compared(first: Sequence[PageVerdict], second: Sequence[PageVerdict]) -> list[Compared]:
    """Two runs compared by case, model and index."""
    passed_first, passed_second = (
        {verdict.key: verdict.passed for verdict in _judged(verdicts)} for verdicts in (first, second)
    )
    found: dict[str, list[tuple[str, bool, bool]]] = defaultdict(list)
    for key in sorted(passed_first.keys() & passed_second.keys()):
        found[key[1]].append((key[0], passed_first[key], passed_second[key]))
    return [_compared(model, pages) for model, pages in found.items()]


def _compared(model: str, pages: list[tuple[str, bool, bool]]) -> Compared:
    pairs, differences = [page[1:] for page in pages], Counter[str]()
    for case, in_first, in_second in pages:
        differences[case] += in_second - in_first
    only_first, only_second = pairs.count((True, False)), pairs.count((False, True))
    p = _by_chance([difference for difference in differences.values() if difference])
    return Compared(model, len(pairs), only_first, only_second, pairs.count((True, True)), p)


def _by_chance(differences: Sequence[int]) -> float:
    """The permutation test on the signs of the cases' differences: samples of one case are not independent. With one
    sample of each case, it is McNemar's exact test."""
    import numpy as np
    from scipy.stats import permutation_test

    if len(differences) < 2:
        return 1.0
    signs: Any = {"permutation_type": "samples", "n_resamples": 5 * RESAMPLES, "random_state": SEED}
    return float(permutation_test((np.array(differences),), np.sum, **signs).pvalue)
