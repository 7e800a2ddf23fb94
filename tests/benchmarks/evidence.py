"""Precision and recall of the accessibility patterns, ours beside the thesis's, on texts that a person labeled.

`just bench evidence --clone ORG/REPO=PATH ...`. Reads evidence.csv: of each text the repository and number of its pull
request, and whether that is accessibility work; the texts come from the clones, and are searched as collecting does.
docs/mining.md says how they were chosen and labeled. Writes nothing but the figures.
"""

from __future__ import annotations

import csv
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.goals import Figure, report
from pipeline.collect.evidence import evidence
from pipeline.collect.history import pull_requests
from pipeline.collect.patterns import Patterns, seed, shipped
from pipeline.core.console import say
from pipeline.core.git import open_clone
from pipeline.core.names import Repo, parse_repo
from pipeline.core.records import PullRequest

LABELS = Path(__file__).with_name("evidence.csv")
#: stratum of a text -> its size: found by the thesis's patterns and by our first ones, by ours
#: only, by neither but with a word that may refer to accessibility, and the rest
STRATA = {"both": 196, "ours": 260, "plausible": 638, "rest": 3261}
HALVES = ("development", "held-out")
PATTERNS: dict[str, Callable[[], Patterns]] = {"ours": shipped, "the thesis's": seed}
#: resamples for an interval, and the share of them that it contains
_TIMES, _HOLDS = 2000, 0.95


class Label(NamedTuple):
    """A person's label of one pull request."""

    repository: str
    number: int
    stratum: str
    half: str
    accessibility: bool


class Rates(NamedTuple):
    """Shares of all texts from which the labeled ones were drawn."""

    precision: float
    recall: float


def read_labels(path: Path = LABELS) -> list[Label]:
    """Read all labels. Raises KeyError and ValueError for an invalid row."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        answers = {"yes": True, "no": False}
        return [
            Label(row["repository"], int(row["number"]), row["stratum"], row["half"], answers[row["accessibility"]])
            for row in rows
        ]


def texts(labels: Iterable[Label], clones: Mapping[Repo, Path]) -> dict[Label, PullRequest]:
    """The labeled pull requests whose clone is available."""
    wanted: dict[Repo, dict[int, Label]] = defaultdict(dict)
    for label in labels:
        wanted[parse_repo(label.repository)][label.number] = label
    return {
        wanted[repo][each.pull.number]: each.pull
        for repo, path in clones.items()
        for each in pull_requests(open_clone(path), repo)
        if each.pull.number in wanted[repo]
    }


def rates(rows: Sequence[tuple[Label, bool]]) -> Rates:
    """Precision and recall of the matches; each text is weighted by its stratum."""
    drawn = Counter(label.stratum for label, _ in rows)
    sums: dict[tuple[bool, bool], float] = defaultdict(float)
    for label, found in rows:
        sums[label.accessibility, found] += STRATA[label.stratum] / drawn[label.stratum]
    right = sums[True, True]
    return Rates(right / (right + sums[False, True] or 1), right / (right + sums[True, False] or 1))


def intervals(rows: Sequence[tuple[Label, bool]]) -> list[tuple[float, float]]:
    """The 95% interval of each rate, by resampling within the strata; it does not reflect cases rarer than one in
    thousands."""
    chance = random.Random(0)
    by_stratum: dict[str, list[tuple[Label, bool]]] = defaultdict(list)
    for row in rows:
        by_stratum[row[0].stratum].append(row)
    drawn = [
        rates([choice for part in by_stratum.values() for choice in chance.choices(part, k=len(part))])
        for _ in range(_TIMES)
    ]
    cut = round(_TIMES * (1 - _HOLDS) / 2)
    return [(values[cut], values[-cut - 1]) for values in map(sorted, zip(*drawn, strict=True))]


def figures(found: Mapping[Label, PullRequest]) -> Iterator[Figure]:
    """Each rate with its interval, for both halves and both lists of patterns."""
    for half in HALVES:
        pulls = {label: pull for label, pull in found.items() if label.half == half}
        yield Figure(f"{half}: texts", len(pulls), "")
        for name, patterns in PATTERNS.items():
            matches = evidence([(pull, ()) for pull in pulls.values()], patterns())
            rows = [(label, bool(each)) for label, each in zip(pulls, matches, strict=True)]
            for rate, value, (low, high) in zip(Rates._fields, rates(rows), intervals(rows), strict=True):
                yield Figure(f"{half}: {name}, {rate}", value * 100, f"% ({low * 100:.0f} to {high * 100:.0f})")


def _clone(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[Repo, Path]:
    pairs = (value.partition("=") for value in values)
    return {parse_repo(name): Path(path) for name, _, path in pairs}


@click.command()
@click.option("--clone", "clones", multiple=True, callback=_clone, metavar="ORG/REPO=PATH", help="A clone with texts.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Where to write the figures.")
def main(clones: dict[Repo, Path], path: Path | None) -> None:
    """Measure the patterns on the labeled texts of these clones."""
    labels = read_labels()
    found = texts(labels, clones)
    say(f"{len(found)} of {len(labels)} labeled texts are in the clones")
    report("evidence", list(figures(found)), path)


if __name__ == "__main__":
    main()
