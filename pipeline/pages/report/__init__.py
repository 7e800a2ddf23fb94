"""The report on a run of pages: a file with tables and figures, and a page per sample, loaded when opened.

    tables            the tables
    plots             the figures
    frames            both for notebooks
    report.html.j2    the file; sample.html.j2 a sample's page: assertions, violations, screenshot, source, cost

Components, content security policy and styles come from the report floor. `write` writes `report.html`, `samples/` and
`figures/` beside the verdicts; the rest writes nothing.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.core.console import counted
from pipeline.core.errors import UserError
from pipeline.core.store import now, read_records, write_bytes
from pipeline.pages.evaluating import Evaluation
from pipeline.pages.hybrid.formulas import PARTS
from pipeline.pages.hybrid.records import SCORES, Hybrid
from pipeline.pages.measures import compared, criteria, money
from pipeline.pages.records import Observed, PageAnswer, PageVerdict
from pipeline.pages.report.plots import plots
from pipeline.pages.report.tables import MARKS, tables
from pipeline.pages.runs import Run
from pipeline.pages.verdict import CAUSES
from pipeline.report.page import environment, policed

STYLES = (("pipeline.report", "page.css"), (__name__, "pages.css"), ("pipeline.report", "texts.css"))
SCRIPTS = (("pipeline.report", "tables.js"), ("pipeline.report", "contents.js"))
#: chapter -> its title and subject
CHAPTERS = {
    "glance": ("At a glance", "Models, the best first."),
    "cases": ("Cases", "Where models did well, and what their pages lack."),
    "axe": ("axe-core", "Which rules and success criteria pages violate."),
    "cost": ("Cost", "The cost of the answers, including those that other runs paid for."),
    "hybrid": ("Hybrid score", "A second view of the same answers, in four parts; it changes no verdict."),
    "comparison": ("Comparison", "The same pages of another run: by case, model and index."),
}


class Sample(NamedTuple):
    """One sample with everything that its page shows; `file` is that page, relative to the report's folder, and `score`
    the hybrid score, if there is one."""

    answer: PageAnswer
    verdict: PageVerdict
    seen: Observed | None
    file: str
    score: Hybrid | None = None

    @property
    def title(self) -> str:
        return f"{self.answer.case}, {self.answer.model}, sample {self.answer.sample}"


class Baseline(NamedTuple):
    """Another run, to compare this one with: how it was evaluated, and its verdicts."""

    name: str
    evaluation: Evaluation
    verdicts: Sequence[PageVerdict]

    def checked(self, ours: Evaluation) -> Baseline:
        """The same. Raises UserError if other rules of axe-core counted there."""
        if set(self.evaluation.apart) == set(ours.apart):
            return self
        apart = " ".join(f"--apart {tag}" for tag in ours.apart or ("none",))
        hint = f"run: just pages-eval --run {self.name} {apart}"
        raise UserError(f"in '{self.name}', other rules of axe-core count", field="against", hint=hint)

    def compared(self, ours: Sequence[PageVerdict]) -> list[PageVerdict]:
        """Its verdicts by the same tests as ours."""
        digests = {verdict.case: verdict.case_digest for verdict in ours}
        return [verdict for verdict in self.verdicts if digests.get(verdict.case) == verdict.case_digest]

    def notes(self, evaluation: Evaluation, ours: Sequence[PageVerdict]) -> list[str]:
        """What prevents a comparison of the runs, or may distort it."""
        laws = [{verdict.law for verdict in verdicts} for verdicts in (self.verdicts, ours)]
        cases, same = {verdict.case for verdict in ours}, {verdict.case for verdict in self.compared(ours)}
        others = sorted(cases & {verdict.case for verdict in self.verdicts} - same)
        texts = [f"Not compared with {self.name}, which has other tests: {', '.join(others)}."] if others else []
        if not compared(self.compared(ours), ours):
            texts.append(f"Not compared with {self.name}: no page was judged in both runs.")
        run, theirs = evaluation.run, self.evaluation.run
        texts += _only("models", run.asked.models, theirs.asked.models, self.name)
        texts += _only("cases", run.by_name, theirs.by_name, self.name)
        if laws[0] != laws[1]:
            texts.append(f"{self.name} was evaluated by another version of this program, axe-core or Playwright.")
        if self.evaluation.limits != evaluation.limits:
            texts.append(f"{self.name} was evaluated with other time limits.")
        return texts


def _only(what: str, ours: Collection[str], theirs: Collection[str], name: str) -> Iterator[str]:
    """What only one of two runs has, and is therefore not compared."""
    for where, known, others in (("this run", ours, theirs), (name, theirs, ours)):
        if only := [one for one in known if one not in others]:
            yield f"Not compared, since only {where} has these {what}: {', '.join(only)}."


def write(evaluation: Evaluation, verdicts: Sequence[PageVerdict], baseline: Baseline | None = None) -> Path:
    """Write the report on existing verdicts and return its path. Raises UserError if a page has changed since, or if
    the baseline cannot be compared."""
    run, baseline = evaluation.run, baseline and baseline.checked(evaluation)
    samples = _samples(evaluation, verdicts)
    figures = plots(run, run.answers(), verdicts)
    for plot in figures:
        write_bytes(run.evaluated / "figures" / f"{plot.name}.svg", plot.svg)
        write_bytes(run.evaluated / "figures" / f"{plot.name}.png", plot.png)
    for before, sample, after in _with_neighbors(samples):
        html = sample_page(run, sample, evaluation.screenshot(sample.answer), before, after)
        write_bytes(run.evaluated / sample.file, html.encode("utf-8", "replace"))
    path = run.evaluated / "report.html"
    write_bytes(path, render(evaluation, samples, verdicts, figures, baseline).encode("utf-8", "replace"))
    return path


def scores_of(run: Run) -> dict[tuple[str, str, int], Hybrid]:
    """The hybrid scores by answer, without those of pages that have changed since."""
    path = run.evaluated / SCORES
    found = {score.key: score for score in read_records(path, Hybrid)} if path.exists() else {}
    pages = {answer.key: answer.digest for answer in run.answers()}
    return {key: score for key, score in found.items() if score.digest in ("", pages.get(key))}


def render(
    evaluation: Evaluation,
    samples: Sequence[Sample],
    verdicts: Sequence[PageVerdict],
    figures: Sequence[Any],
    baseline: Baseline | None = None,
) -> str:
    """The report as HTML."""
    run = evaluation.run
    scores = [sample.score for sample in samples if sample.score]
    found = tables(run, run.answers(), verdicts, baseline and (baseline.name, baseline.compared(verdicts)), scores)
    chapters = [
        {"name": name, "title": title, "about": about, "parts": [_with_figures(part, figures) for part in found[name]]}
        for name, (title, about) in CHAPTERS.items()
        if found.get(name)
    ]
    return _page(
        "report.html.j2",
        run=run,
        chapters=chapters,
        facts=facts(run, verdicts),
        notes=[*notes(evaluation, verdicts), *(baseline.notes(evaluation, verdicts) if baseline else [])],
        samples=samples,
        marks=MARKS,
        made_at=now(),
    )


def sample_page(run: Run, sample: Sample, picture: bytes, before: Sample | None, after: Sample | None) -> str:
    """The page of one sample as HTML."""
    return _page(
        "sample.html.j2",
        run=run,
        sample=sample,
        source=run.page(sample.answer),
        prompt=run.by_name[sample.answer.case].prompt,
        screenshot="data:image/png;base64," + b64encode(picture).decode() if picture else "",
        rules=[(violation, criteria(violation.tags), counts) for counts, violation in _violations(sample.verdict)],
        causes=CAUSES,
        parts=PARTS,
        marks=MARKS,
        before=before,
        after=after,
    )


def facts(run: Run, verdicts: Sequence[PageVerdict]) -> list[tuple[str, str]]:
    """The facts as label and value."""
    judged = [verdict for verdict in verdicts if verdict.result != "error"]
    passed = sum(verdict.passed for verdict in judged)
    share = f"{passed} of {len(judged)}"
    return [
        ("models", str(len(run.asked.models))),
        ("cases", str(len(run.cases))),
        ("samples of each", str(run.asked.samples)),
        ("judged pages that pass", share),
        ("cost", f"{money(run.answers()).usd:.4f} USD"),
    ]


def notes(evaluation: Evaluation, verdicts: Sequence[PageVerdict]) -> list[str]:
    """Notes for readers: what counts, and what is missing."""
    apart = ", ".join(evaluation.apart)
    texts = [
        f"Rules of axe-core with the tag {apart} are counted separately." if apart else "All rules of axe-core count."
    ]
    browsers = sorted({f"Chromium {ran['chromium']} with {ran['axe']}" for ran in _ran(verdicts)})
    texts += [f"Pages ran in {' and '.join(browsers)}."] if browsers else []
    errors = [verdict for verdict in verdicts if verdict.result == "error"]
    if errors:
        texts.append(
            f"Not evaluated, and in no rate: {len(errors)} pages. The cause is a case, the runner or the machine."
        )
    missing = len(evaluation.run.keys) - len(verdicts)
    if missing:
        texts.append(f"Without an answer yet: {missing} pages.")
    unknown = sum(answer.usage.cost_usd is None for answer in evaluation.run.answers())
    if unknown:
        texts.append(f"The provider reported no usage for {unknown} answers: their cost is in no sum.")
    return texts


def _ran(verdicts: Sequence[PageVerdict]) -> list[dict[str, str]]:
    """The versions of the programs, for each page that a browser has seen."""
    return [verdict.ran for verdict in verdicts if "chromium" in verdict.ran]


def _samples(evaluation: Evaluation, verdicts: Sequence[PageVerdict]) -> list[Sample]:
    run = evaluation.run
    answers = {answer.key: answer for answer in run.answers()}
    digests = {key: answer.digest for key, answer in answers.items()}
    changed = sum(verdict.digest != digests.get(verdict.key) for verdict in verdicts)
    if changed:
        hint = f"run: just pages-eval --run {run.name}"
        raise UserError(f"{counted(changed, 'page')} changed since the evaluation", path=run.evaluated, hint=hint)
    scores = scores_of(run)
    return [_sample(evaluation, answers[verdict.key], verdict, scores.get(verdict.key)) for verdict in verdicts]


def _sample(evaluation: Evaluation, answer: PageAnswer, verdict: PageVerdict, score: Hybrid | None) -> Sample:
    name = evaluation.run.screenshot(*answer.key).stem
    return Sample(answer, verdict, evaluation.seen(answer), f"samples/{name}.html", score)


def _with_neighbors(samples: Sequence[Sample]) -> list[tuple[Sample | None, Sample, Sample | None]]:
    return list(zip([None, *samples], samples, [*samples[1:], None], strict=False))


def _violations(verdict: PageVerdict) -> list[tuple[bool, Any]]:
    return [(True, violation) for violation in verdict.violations] + [
        (False, violation) for violation in verdict.advice
    ]


def _with_figures(part: Any, figures: Sequence[Any]) -> Any:
    return part._replace(figures=[figure for figure in figures if figure.table == part.name])


def _page(name: str, **context: Any) -> str:
    return policed(environment(__name__).get_template(name), STYLES, SCRIPTS, **context)
