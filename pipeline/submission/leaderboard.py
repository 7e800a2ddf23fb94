"""The leaderboard: one page of verified bundles, a table for each repository and set of instances.

Rates on different sets of instances are never in one table. Incomplete submissions, drafts and references (oracle and
nop) are listed last, by name, with that word in place of a rate; a table whose submissions were judged by different
code says so. Makes text; writes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from pipeline.core.options import REFERENCES
from pipeline.core.records import Outcome
from pipeline.core.store import digest, now
from pipeline.report.page import environment, policed
from pipeline.report.statistics import wilson
from pipeline.report.tables import Heading, Row, Table
from pipeline.submission.bundle import Submission

STYLES = (("pipeline.report", "page.css"),)
SCRIPTS = (("pipeline.report", "tables.js"),)
HEADINGS = (
    Heading("model", "Who wrote the patches"),
    Heading("agent", "What asked the model, with the name of its settings"),
    Heading(
        "resolved",
        "Instances in which every expected test passes, with the 95% interval (Wilson); an incomplete submission, a "
        "draft and a reference have no rate and no rank",
        True,
        bar=True,
    ),
    Heading(
        "not evaluated",
        "Instances without a verdict because the machine failed: with any, a submission is incomplete",
        True,
    ),
    Heading("USD", "Cost of the judged answers, with all tries; empty if unknown", True),
    Heading("attempts", "Answers per task; only the first ones are judged here", True),
    Heading("made", "The day of the bundle (UTC)"),
    Heading("digest", "The beginning of the bundle's digest"),
)


def render(submissions: Sequence[Submission]) -> str:
    """The page as HTML."""
    groups: defaultdict[tuple[str, tuple[str, ...]], list[Submission]] = defaultdict(list)
    for submission in submissions:
        groups[submission.repo, tuple(sorted(submission.instances))].append(submission)
    tables = [_table(repo, names, group) for (repo, names), group in sorted(groups.items())]
    template = environment(__package__).get_template("leaderboard.html.j2")
    return policed(template, STYLES, SCRIPTS, tables=tables, count=len(submissions), made_at=now())


def _table(repo: str, names: tuple[str, ...], submissions: list[Submission]) -> Table:
    ordered = sorted(submissions, key=_place)
    laws = {law for submission in ordered for law in submission.law}
    about = f"{len(names)} instances, set {digest(names)[:8]}."
    if len(laws) > 1:
        about += " Not all were judged by the same code: recompute the verdicts before you compare them closely."
    if len({submission.images for submission in ordered} - {""}) > 1:
        about += " Not all ran in the same images: their environments differ."
    name = f"{repo.replace('/', '-')}-{digest(names)[:8]}"
    return Table(name, repo, about, HEADINGS, [_row(submission) for submission in ordered])


def _place(submission: Submission) -> tuple[bool, int, str, str]:
    unranked = bool(_unranked(submission))
    return unranked, 0 if unranked else -submission.resolved, submission.model, submission.agent


def _unranked(submission: Submission) -> str:
    """Why a submission has no rank and no rate, in one word; empty if it has."""
    reasons = {
        "incomplete": not submission.is_complete,
        "draft": submission.draft,
        "reference": submission.agent in REFERENCES,
    }
    return next((reason for reason, applies in reasons.items() if applies), "")


def _rate(submission: Submission) -> tuple[str, tuple[float, float, float]]:
    """The rate with its interval, as text and as a bar."""
    count = len(submission.instances)
    share, ends = 100 * submission.resolved / count if count else 0.0, wilson(submission.resolved, count)
    low, high = (round(100 * end, 1) for end in ends) if ends else (0.0, 0.0)
    text = f"{share:.1f}% [{low:.1f}, {high:.1f}], {submission.resolved} of {count}"
    return text, (round(share, 1), low, high)


def _row(submission: Submission) -> Row:
    unranked = _unranked(submission)
    resolved, bar = (unranked, None) if unranked else _rate(submission)
    not_evaluated = submission.outcomes.get(Outcome.NOT_EVALUATED, 0)
    cost = "" if submission.cost_usd is None else f"{submission.cost_usd:.2f}"
    names, attempts = (submission.model, submission.agent), str(submission.attempts)
    cells = (*names, resolved, str(not_evaluated), cost, attempts, submission.made[:10], submission.digest[:8])
    return Row(cells, bar, bool(unranked))
