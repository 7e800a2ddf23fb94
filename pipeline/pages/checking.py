"""Checking cases: every expectation of every example holds, every assertion passes in one example and fails in another,
and empty or unrelated pages do not pass.

Runs examples in the engine; writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pipeline.core.progress import Progress
from pipeline.core.work import Interrupts
from pipeline.pages.cases import Case, Example
from pipeline.pages.engine import Limits
from pipeline.pages.records import Observed
from pipeline.pages.running import BLANK, Doubts, RunPage, code_of, run_pages
from pipeline.pages.verdict import APART, is_hindered, judge, outcomes

#: correct pages that belong to no case: none may pass
STRANGERS = {
    "an empty page": BLANK,
    "an unrelated page": """<!doctype html><html lang="en"><meta charset="utf-8"><title>Herons</title><body>
<header><p>Birds of the river</p></header><nav aria-label="Birds"><a href="#grey">Home</a></nav>
<main><h1>Herons</h1><h2 id="grey">The grey heron</h2><p>It stands in shallow water and waits for fish.</p></main>
<footer><p>Written by a friend of birds</p></footer>""",
    "an unrelated page with the usual names": """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Herons</title>
<style>.nav-item { padding: 1em } .skip-link { position: absolute }</style><body class="page post">
<a class="skip-link" href="#content">To the herons</a><header><p>Birds of the river</p></header>
<nav aria-label="Birds" style="display: flex; align-items: center"><a class="nav-item" href="#grey">Grey heron</a></nav>
<main id="content" tabindex="-1"><h1>Herons</h1><h2 id="grey">The grey heron</h2><p>It waits for fish.</p></main>
<footer><p>Written by a friend of birds</p></footer>""",
}


class Finding(NamedTuple):
    """A problem with a case; `where` is an example or another checked page."""

    case: str
    where: str
    what: str


class Checked(NamedTuple):
    """The result of a check: the number of expectations, how many hold, and all findings."""

    examples: int
    expectations: int
    held: int
    findings: tuple[Finding, ...]
    seconds: dict[str, float]


class _Page(NamedTuple):
    """A page of a check: an example, or the name of an unrelated page."""

    case: Case
    example: Example | None
    stranger: str = ""

    @property
    def name(self) -> str:
        return f"{self.case.name}: {self.example.name if self.example else self.stranger}"


def check(
    cases: Sequence[Case],
    *,
    jobs: int = 2,
    limits: Limits | None = None,
    apart: Sequence[str] = APART,
    strangers: bool = True,
) -> Checked:
    """Check cases. Raises UserError without a browser."""
    pages = [_Page(case, example) for case in cases for example in case.examples]
    if strangers:
        pages += [_Page(case, None, name) for case in cases for name in STRANGERS]
    limits = limits or Limits()
    requests = [_request(page, index, limits) for index, page in enumerate(pages)]
    seen: dict[int, Observed] = {}

    def again(request: RunPage, found: Observed) -> bool:
        return is_hindered(found) and not _is_as_expected(pages[int(request.key[0])], found)

    with Progress("checking", len(requests)) as progress:
        interrupts = Interrupts(progress.stopping)
        for request, looked in run_pages(requests, jobs=jobs, again=again, hear=progress.hear, interrupts=interrupts):
            seen[int(request.key[0])] = looked.observed
            progress.finish(request.name, looked.observed.ended or "looked at")
    doubts = Doubts(limits)
    observations = [(page, seen[index]) for index, page in enumerate(pages)]
    findings = [finding for page, found in observations for finding in _findings(page, found, doubts, apart)]
    findings += [
        finding
        for case in cases
        for finding in _gaps(case, [found for page, found in observations if page.case is case])
    ]
    compared = [(page.example.expected, outcomes(found.assertions)) for page, found in observations if page.example]
    held = sum(actual.get(name) == status for expectations, actual in compared for name, status in expectations.items())
    seconds = {page.name: found.seconds.get("total", 0) for page, found in observations}
    return Checked(
        len(compared), sum(len(expectations) for expectations, _ in compared), held, tuple(findings), seconds
    )


def _request(page: _Page, index: int, limits: Limits) -> RunPage:
    html = page.example.html if page.example else STRANGERS[page.stranger]
    return RunPage(page.name, html, code_of(page.case), (str(index),), limits=limits)


def _is_as_expected(page: _Page, seen: Observed) -> bool:
    """Whether a page gave the results that its example states; nothing is expected of unrelated pages but to fail."""
    if page.example is None:
        return True
    return not any(_example(page.example, seen)) and (not page.example.is_good or judge(seen).result == "passed")


def _findings(page: _Page, seen: Observed, doubts: Doubts, apart: Sequence[str]) -> Iterator[Finding]:
    where = page.example.name if page.example else page.stranger
    judged = judge(seen, apart, doubts.settle(page.case, seen))
    if page.example is None:
        if judged.result == "passed":
            yield Finding(page.case.name, where, "it passes: give the case an onTask, or an assertion that it fails")
        return
    for what in _example(page.example, seen):
        yield Finding(page.case.name, where, what)
    if judged.result == "error" or (page.example.is_good and judged.cause):
        yield Finding(page.case.name, where, f"{judged.result}: {judged.cause}: {judged.detail}")
    if page.example.passes is not None and page.example.passes != (judged.result == "passed"):
        reasons = ", ".join(filter(None, [judged.cause, *_failing(seen, apart)]))
        yield Finding(page.case.name, where, f"it should {'pass' if page.example.passes else 'not pass'}: {reasons}")


def _example(example: Example, seen: Observed) -> Iterator[str]:
    if example.fault:
        yield example.fault
    actual = outcomes(seen.assertions)
    messages = {assertion.name: assertion.message for assertion in seen.assertions if assertion.message}
    for name, expected in example.expected.items():
        if name not in actual:
            yield f"'{name}': no assertion has this name"
        elif actual[name] != expected:
            why = f" ({messages[name]})" if name in messages else ""
            yield f"'{name}': expected to {expected}, and does not{why}"


def _failing(seen: Observed, apart: Sequence[str]) -> list[str]:
    rules = [violation.id for violation in seen.violations if not set(apart) & set(violation.tags)]
    return [*rules, *(assertion.name for assertion in seen.assertions if assertion.status == "fail")]


def _asked(case: Case) -> str:
    """What the gate still asks for, in words."""
    shown = [*case.gate["names"], *(f"'{word}'" for word in case.gate["words"])]
    return f"is on task with one of: {', '.join(shown)}" if shown else "need only not be empty to be on task"


def _gaps(case: Case, seen: Iterable[Observed]) -> Iterator[Finding]:
    """Good examples that lack what the prompt mentions, and assertions that do not both pass and fail in examples.
    Cases in the older form name no assertions."""
    for example in () if case.tells_on_task else case.lacking:
        yield Finding(case.name, example.name, f"it lacks what the prompt mentions, so a page {_asked(case)}")
    tried: dict[str, set[str]] = {}
    for example in case.examples:
        for name, expected in example.expected.items():
            tried.setdefault(name, set()).add(expected)
    if not tried:
        if not case.examples:
            yield Finding(case.name, "examples", "the case has none")
        return
    for name in dict.fromkeys(assertion.name for found in seen for assertion in found.assertions):
        for status in ("fail", "pass"):
            if status in tried.get(name, set()):
                continue
            yield Finding(case.name, "examples", f"'{name}': no example expects it to {status}")
