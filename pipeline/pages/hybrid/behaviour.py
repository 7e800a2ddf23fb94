"""How a page behaves in a real browser: whether it renders, errors in its scripts, and its load time.

Runs the page in the track's engine, without network: resources from elsewhere do not load, and the console errors for
them count.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from importlib.resources import files

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.store import digest
from pipeline.pages.engine import Code, Limits
from pipeline.pages.gate import asking
from pipeline.pages.hybrid import formulas
from pipeline.pages.hybrid.records import Feedback, Level, Part
from pipeline.pages.records import Observed
from pipeline.pages.running import BLANK, MAY_BE_THE_MACHINE, RunPage, run_pages

#: the number of messages in feedback
SHOWN = 5
#: ends of pages that did not load, or left; if a page had loaded, "time" is none of them
GONE = ("time", "load", "crash", "hung", "ended", "closed", "left")
#: ends that do not affect the score
UNAUDITED = ("audit", "unaudited")


def watch(page: str, limits: Limits | None = None) -> Part:
    """The part of the score; missing without a browser, or if the machine or the runner failed. Whether they failed, or
    the page is to blame for the end of its run, is found out with an empty page."""
    try:
        seen = _seen(page, limits or Limits())
        control = _seen(BLANK, limits or Limits()) if seen.ended in MAY_BE_THE_MACHINE else Observed()
    except (InfrastructureError, UserError) as error:
        return _unseen(str(error))
    works = not (control.machine or control.fault or control.ended)
    return part(seen) if works else _unseen(f"{seen.detail or seen.ended}, and so it was with an empty page")


def _seen(page: str, limits: Limits) -> Observed:
    ((_, looked),) = run_pages([RunPage("hybrid", page, _code(), limits=limits)], jobs=1)
    return looked.observed


def _unseen(why: str) -> Part:
    return Part(feedback=(Feedback(level="info", message=f"The page was not shown: {why}"),))


@cache
def _code() -> Code:
    """The test of a page without a case."""
    script = files(__package__).joinpath("renders.js").read_bytes()
    return Code(digest(script), {"test.js": script}, False, asking())


def part(seen: Observed) -> Part:
    """The part of the score for an observed page."""
    if seen.machine or seen.fault:
        return _unseen(seen.machine or seen.fault)
    renders, exceeded = _renders(seen), _exceeded(seen)
    messages = Counter(entry["type"] for entry in seen.examples.get("console", ()))
    uncaught, errors, warnings = seen.incidents.get("error", 0), messages["error"], messages["warning"]
    seconds = seen.seconds.get("load", 0.0)
    detail = {
        "renders": renders,
        "page_errors": uncaught,
        "console_errors": errors,
        "console_warnings": warnings,
        "exceeded": exceeded,
        "render_time_ms": round(1000 * seconds),
    }
    score = formulas.behaviour(renders, uncaught + errors + bool(exceeded), warnings, seconds)
    return Part(score=score, feedback=_feedback(seen, renders, seconds), detail=detail)


def _renders(seen: Observed) -> bool:
    """Whether the page shows something. A page that was cut short after it had loaded counts as showing something,
    unless its test says otherwise, since it may have been cut short before its test."""
    if _is_gone(seen):
        return False
    statuses = {assertion.status for assertion in seen.assertions}
    return "pass" in statuses or (bool(seen.ended) and "load" in seen.seconds and not statuses)


def _is_gone(seen: Observed) -> bool:
    return seen.ended in GONE and not (seen.ended == "time" and "load" in seen.seconds)


def _exceeded(seen: Observed) -> str:
    """What the page did too often, or for too long, so that it was cut short; empty if nothing."""
    return "" if _is_gone(seen) or seen.ended in UNAUDITED else seen.ended


def _feedback(seen: Observed, renders: bool, seconds: float) -> tuple[Feedback, ...]:
    exceeded = _exceeded(seen)
    if not renders:
        why = seen.detail or (exceeded and f"it exceeded a limit first: {exceeded}") or seen.ended or "it shows nothing"
        return (Feedback(level="error", message=f"It does not render: {why}"),)
    console = seen.examples.get("console", ())
    problems: list[tuple[Level, str]] = []
    if exceeded:
        problems.append(("error", f"It was cut short, since it exceeded a limit: {exceeded}"))
    problems += [("error", f"Uncaught: {text}") for text in seen.examples.get("error", ())]
    problems += [("error", f"Console: {entry['text']}") for entry in console if entry["type"] == "error"]
    problems += [("warning", f"Console: {entry['text']}") for entry in console if entry["type"] == "warning"]
    shown = [Feedback(level=level, message=message) for level, message in problems[:SHOWN]]
    if len(problems) > SHOWN:
        shown.append(Feedback(level="info", message=f"{len(problems) - SHOWN} more messages."))
    if not problems:
        shown.append(Feedback(level="success", message="No errors and no warnings."))
    return (Feedback(level="success", message=f"It renders in {seconds:.1f} s."), *shown)
