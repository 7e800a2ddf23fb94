"""The leaderboard: one page of verified bundles, a table for each repository and set of instances.

Rates of other sets of instances do not stand in one table. An incomplete submission, and one that other code judged
than the others, is listed below and marked. Makes text; writes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

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
        "Instances of which every test passes that evaluation expects, with the 95 % interval (Wilson)",
        True,
        bar=True,
    ),
    Heading(
        "not evaluated", "Instances of which the machine owes the verdict: with any, a rate is not to be compared", True
    ),
    Heading("USD", "What the answers cost that are judged, every try at them; empty where nobody knows", True),
    Heading("attempts", "Answers to every task; the first ones are judged here", True),
    Heading("made", "The day of the bundle (UTC)"),
    Heading("digest", "The beginning of the bundle's digest"),
)


def render(submissions: Sequence[Submission]) -> str:
    """The page as HTML."""
    groups: defaultdict[tuple[str, tuple[str, ...]], list[Submission]] = defaultdict(list)
    for one in submissions:
        groups[one.repo, tuple(sorted(one.instances))].append(one)
    tables = [_table(repo, names, ones) for (repo, names), ones in sorted(groups.items())]
    template = environment(__package__).get_template("leaderboard.html.j2")
    return policed(template, STYLES, SCRIPTS, tables=tables, count=len(submissions), made_at=now())


def _table(repo: str, names: tuple[str, ...], submissions: list[Submission]) -> Table:
    ordered = sorted(submissions, key=lambda one: (not one.is_complete, -one.resolved, one.model, one.agent))
    laws = {law for one in ordered for law in one.law}
    about = f"{len(names)} instances, set {digest(names)[:8]}."
    if len(laws) > 1:
        about += " Not all were judged by the same code: give verdicts anew before you compare them closely."
    name = f"{repo.replace('/', '-')}-{digest(names)[:8]}"
    return Table(name, repo, about, HEADINGS, [_row(one) for one in ordered])


def _row(one: Submission) -> Row:
    of = len(one.instances)
    share, ends = 100 * one.resolved / of if of else 0.0, wilson(one.resolved, of)
    low, high = (round(100 * end, 1) for end in ends) if ends else (0.0, 0.0)
    resolved = f"{share:.1f} % [{low:.1f}, {high:.1f}], {one.resolved} of {of}"
    owed = one.outcomes.get(Outcome.NOT_EVALUATED, 0)
    cost = "" if one.cost_usd is None else f"{one.cost_usd:.2f}"
    cells = (one.model, one.agent, resolved, str(owed), cost, str(one.attempts), one.made[:10], one.digest[:8])
    return Row(cells, (round(share, 1), low, high), not one.is_complete)
