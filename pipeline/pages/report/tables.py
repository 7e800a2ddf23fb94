"""The tables of the report on a run of pages. Pure functions over verdicts and answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from pipeline.pages.hybrid import formulas
from pipeline.pages.hybrid.records import Hybrid
from pipeline.pages.measures import (
    ModelRow,
    PassAtK,
    assertions,
    by_criterion,
    compared,
    counts,
    model_row,
    pass_at,
    rules,
)
from pipeline.pages.records import PageAnswer, PageVerdict
from pipeline.pages.runs import Run
from pipeline.report.page import counted
from pipeline.report.statistics import Interval
from pipeline.report.tables import Heading, Row, Table

#: result -> its letter in lists
MARKS = {"passed": "P", "failed": "F", "error": "–"}
NONE = "–"
#: the parts of the hybrid score
_PARTS = {
    "html": "Whether the page is valid HTML.",
    "functional": "How the page behaves in a browser.",
    "expected": "How much the text is like the expected one.",
    "quality": "The judge's opinion.",
}
Answers: TypeAlias = Sequence[PageAnswer]
Verdicts: TypeAlias = Sequence[PageVerdict]


def tables(
    run: Run,
    answers: Answers,
    verdicts: Verdicts,
    baseline: tuple[str, Verdicts] | None = None,
    scores: Sequence[Hybrid] = (),
) -> dict[str, list[Table]]:
    """The tables by chapter; tables without data are omitted."""
    rows = [model_row(model, answers, verdicts, run.keys) for model in run.asked.models]
    rows.sort(key=lambda row: row.place)
    found = {
        "glance": [_models(rows), _pass_at_k(run, verdicts)],
        "cases": [_cases(run, verdicts), _assertions(run, verdicts)],
        "axe": [_rules(run, verdicts), _criteria(run, verdicts)],
        "cost": [_cost(rows)],
        "hybrid": [_hybrid(scores)],
        "comparison": [_compared(*baseline, run.name, verdicts)] if baseline else [],
    }
    return {name: [table for table in listed if table.rows] for name, listed in found.items()}


def percent(share: float | None) -> str:
    return NONE if share is None else f"{100 * share:.1f}"


def between(interval: Interval | None) -> str:
    return NONE if interval is None else f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"


def _models(rows: Sequence[ModelRow]) -> Table:
    headings = [
        Heading("model", "A name of the model list."),
        Heading("pages", "Answers with a verdict.", True),
        Heading("passed %", "Pages without a violation that counts and without a failed requirement.", True),
        Heading("interval", "Wilson's, 95%; samples of a case depend on each other.", True, "%", True),
        Heading("requirements %", "Pages on which all requirements (R) hold, of those whose case has some.", True),
        Heading("best practices %", "Pages on which all best practices (BP) hold, of those whose case has some.", True),
        Heading("axe-core %", "Pages without a violation that counts.", True),
        Heading(
            "errors",
            "Pages without a verdict, because of a case, the runner or the machine: they are in no rate.",
            True,
        ),
        Heading("missing", "Pages that were asked for and have no answer yet: they are in no rate.", True),
        Heading("incomplete", "Whether errors or missing pages leave something open: do not publish such a row."),
    ]
    about = (
        "A page passes when axe-core finds no violation that counts and no requirement of its case fails. Rates are of"
        " pages with a verdict; models without a verdict on every page are listed last."
    )
    return Table("models", "Models", about, headings, [_model(row) for row in rows])


def _model(row: ModelRow) -> Row:
    cells = (
        row.model,
        str(row.passed.of),
        percent(row.passed.share),
        between(row.interval),
        percent(row.requirements.share),
        percent(row.best_practices.share),
        percent(row.clean.share),
        str(row.errors),
        str(row.missing),
        NONE if row.is_complete else "yes",
    )
    return Row(cells, _bar(row), soft=not row.is_complete)


def _bar(row: ModelRow) -> tuple[float, float, float] | None:
    if row.passed.share is None or row.interval is None:
        return None
    value, low, high = (round(100 * number, 1) for number in (row.passed.share, *row.interval))
    return value, low, high


def _pass_at_k(run: Run, verdicts: Verdicts) -> Table:
    headings = [
        Heading("model", "A name of the model list."),
        Heading("k", "The number of samples drawn.", True),
        Heading(
            "pass@k %",
            "The probability that at least one of k samples passes: the mean over cases (Chen et al. 2021).",
            True,
        ),
        Heading(
            "interval",
            "95%, by resampling the cases; for k = 1, and for cases that do not differ, from their samples.",
            True,
        ),
        Heading("cases", "Cases with at least k samples with a verdict, of all that were asked.", True),
    ]
    rows = [_at(model, rate) for model in run.asked.models for rate in pass_at(model, run.asked.ks, verdicts, run.keys)]
    samples = counted(run.asked.samples, "sample")
    about = f"{samples} of each case. Errors are not in n; cases with fewer than k samples left are omitted."
    return Table("pass-at-k", "pass@k", about, headings, rows)


def _at(model: str, rate: PassAtK) -> Row:
    return Row((model, str(rate.k), percent(rate.value), between(rate.interval), f"{rate.cases} of {rate.of}"))


def _cases(run: Run, verdicts: Verdicts) -> Table:
    headings = [Heading("case", "A prompt with its test.")]
    headings += [Heading(model, "Pages that pass, of those with a verdict.", True) for model in run.asked.models]
    by_model = {model: counts(model, verdicts) for model in run.asked.models}
    rows = [
        Row((case.name, *(_of(by_model[model].get(case.name)) for model in run.asked.models))) for case in run.cases
    ]
    return Table("cases", "Pages that pass", "Each case with each model.", headings, rows)


def _of(pair: tuple[int, int] | None) -> str:
    return NONE if pair is None else f"{pair[1]} of {pair[0]}"


def _assertions(run: Run, verdicts: Verdicts) -> Table:
    headings = [
        Heading("assertion", "Its name in the case's test."),
        Heading("case", "The case that it belongs to."),
        Heading("type", "R is a requirement, BP a best practice."),
    ]
    headings += [
        Heading(model, "Pages on which it fails, of those on which it ran.", True) for model in run.asked.models
    ]
    rows = [
        Row((row.name, row.case, row.type, *(_failed(row.failed, row.pages, model) for model in run.asked.models)))
        for row in assertions(verdicts)
        if any(row.failed.values())
    ]
    about = "Assertions that fail on some page, by model."
    return Table("assertions", "Assertions that fail", about, headings, rows, file="results.json").cut()


def _failed(failed: dict[str, int], pages: dict[str, int], model: str) -> str:
    return f"{failed.get(model, 0)} of {pages[model]}" if pages.get(model) else NONE


def _rules(run: Run, verdicts: Verdicts) -> Table:
    headings = [
        Heading("rule", "axe-core's name."),
        Heading("what it requires", "In axe-core's words."),
        Heading("criteria", "WCAG success criteria that axe-core names."),
        Heading("counts", "Whether a violation keeps a page from passing."),
    ]
    headings += [Heading(model, "Pages that violate it.", True) for model in run.asked.models]
    headings.append(Heading("elements", "Elements that violate it, on all pages.", True))
    rows = [
        Row(
            (
                row.rule,
                row.help,
                ", ".join(row.criteria) or NONE,
                "yes" if row.counts else "apart",
                *(str(row.pages.get(model, 0)) for model in run.asked.models),
                str(row.elements),
            ),
            soft=not row.counts,
        )
        for row in rules(verdicts)
    ]
    return Table("rules", "Rules", "Rules of axe-core that some page violates.", headings, rows)


def _criteria(run: Run, verdicts: Verdicts) -> Table:
    headings = [Heading("criterion", "A success criterion of WCAG.")]
    headings += [Heading(model, "Pages that violate one of its rules that count.", True) for model in run.asked.models]
    found = by_criterion(verdicts)
    rows = [Row((name, *(str(pages[model]) for model in run.asked.models))) for name, pages in found.items()]
    return Table("criteria", "Success criteria", "By the criteria that axe-core assigns to its rules.", headings, rows)


def _cost(rows: Sequence[ModelRow]) -> Table:
    headings = [
        Heading("model", "A name of the model list."),
        Heading("tokens in", "Of all answers.", True),
        Heading("tokens out", "Of all answers.", True),
        Heading("cost", "Of all answers, exact.", True, "USD"),
        Heading("per page that passes", "The same, divided by the pages that pass.", True, "USD"),
        Heading("unknown", "Answers whose usage the provider did not report: in no sum.", True),
    ]
    found = [
        Row(
            (
                row.model,
                f"{row.money.tokens_in:,}",
                f"{row.money.tokens_out:,}",
                f"{row.money.usd:f}",
                f"{row.money.usd / row.passed.hits:.6f}" if row.passed.hits else NONE,
                str(row.money.unknown),
            )
        )
        for row in rows
    ]
    return Table("cost", "Cost of the answers", "At the prices of the model list.", headings, found)


def _compared(baseline: str, theirs: Verdicts, name: str, ours: Verdicts) -> Table:
    headings = [
        Heading("model", "A name of the model list."),
        Heading("pages", "Pages of the same case, model and index that both runs judged.", True),
        Heading(f"only {baseline}", "Pages that pass only in that run.", True),
        Heading(f"only {name}", "Pages that pass only in this run.", True),
        Heading("both", "Pages that pass in both.", True),
        Heading("p", "The probability of so large a difference by chance: a permutation test over cases.", True),
    ]
    rows = [
        Row((row.model, str(row.pages), str(row.only_first), str(row.only_second), str(row.both), f"{row.p:.3f}"))
        for row in compared(theirs, ours)
    ]
    return Table("compared", f"{baseline} and {name}", "Pages that pass in only one run, and in both.", headings, rows)


def _hybrid(scores: Sequence[Hybrid]) -> Table:
    headings = [
        Heading("answer", "The test, the model and the index of the answer."),
        Heading("score", "0 to 100: the mean of the parts, by the weights of those that exist.", True),
        Heading("passes", f"Whether the score is at least {formulas.table()['passes_at']}."),
        *(Heading(name, meaning, True) for name, meaning in _PARTS.items()),
    ]
    about = "A part that does not apply, or cannot be determined, is missing, and its weight goes to the others."
    rows = [
        Row((f"{score.name}, {score.model}, sample {score.sample}", *_scored(score)), soft=score.overall_score is None)
        for score in sorted(scores, key=lambda score: (-(score.overall_score or 0), score.key))
    ]
    return Table("hybrid", "Hybrid scores", about, headings, rows)


def _scored(score: Hybrid) -> tuple[str, ...]:
    passes = {None: NONE, True: "yes", False: "no"}[score.passed]
    numbers = (score.overall_score, *(getattr(score, name).score for name in _PARTS))
    first, *parts = (NONE if number is None else str(number) for number in numbers)
    return first, passes, *parts
