"""`dataset agree`: our transitions compared with those that another benchmark publishes for the same tests.

The other benchmark may grade files, or names that stand for several tests; we grade single tests. A difference that can
be explained has a class (CLASSES), any other is unexplained. Reads the other benchmark's records, `01_raw/`,
`02_dataset/` and the clone; writes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pipeline.build.plan import stored_triples, unit_of
from pipeline.collect.sources.dataset.forms import Expected
from pipeline.collect.sources.dataset.reading import Row, read
from pipeline.core.dataset import read_candidates
from pipeline.core.errors import UserError
from pipeline.core.git import Clone, list_files, read_contents
from pipeline.core.names import Repo
from pipeline.core.patches import is_test_file
from pipeline.core.records import Instance, Rejection, Status
from pipeline.core.store import Store, read_records
from pipeline.core.verdict import Triple
from pipeline.dataset.foreign_names import SEPARATOR, Names, fragments, plain
from pipeline.execution.images import source

#: class of a difference -> its explanation; "they" are the other benchmark
CLASSES = {
    "flaky": "its repeats disagree here, so it decides nothing",
    "environment": "it fails or is skipped here with and without patches, so it runs differently than there",
    "theirs_too_wide": "they list tests that the gold test patch does not touch, or one name for several tests",
    "theirs_too_narrow": "it is fixed here and they do not list it: their parser merged or lost it",
    "not_built": "there is no instance, for the given reason",
    "ours_wrong": "its file is run here, but the test is not reported, or under another name",
}
#: extensions of source files
_CODE = (".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs")
UNEXPLAINED = "unexplained"
FIXED, KEPT, UNLISTED = "fixed", "kept", "-"
NOT_BUILT, NOTHING = "not built", "nothing to compare"
QUALIFIED = "qualified"


class Difference(NamedTuple):
    """A test on which the two disagree. `theirs` and `ours` are one word each; `kind` is the class that explains the
    difference."""

    instance: str
    test: str
    theirs: str
    ours: str
    kind: str
    evidence: str


class Agreement(NamedTuple):
    """One instance: its outcome here, and how many of the other benchmark's names agree, are not run here, or
    differ."""

    instance: str
    outcome: str
    listed: int
    same: int
    not_run: int
    differences: tuple[Difference, ...]

    @property
    def is_qualified(self) -> bool:
        return self.outcome == QUALIFIED

    @property
    def word(self) -> str:
        """`agrees`, `explained` or `unexplained`; `not built`, or `nothing to compare` if no test of theirs is run
        here."""
        kinds = {difference.kind for difference in self.differences}
        if "not_built" in kinds:
            return NOT_BUILT
        if not kinds and not self.same:
            return NOTHING
        return "agrees" if not kinds else UNEXPLAINED if kinds & {UNEXPLAINED, "ours_wrong"} else "explained"


class Ours(NamedTuple):
    """Our side of one record: its outcome, the test files that ran, and the tests."""

    outcome: str
    detail: str
    base: str
    files: tuple[str, ...]
    triples: Mapping[str, Triple]
    quarantine: frozenset[str] = frozenset()


def agree(store: Store, repo: Repo, path: Path) -> tuple[list[Agreement], list[UserError]]:
    """Compare every record of the repository; returns the comparisons by number, and the unreadable records. Raises
    UserError without any record, and if nothing was collected from the repository."""
    records = list(read(path, repo))
    errors = [record for record in records if isinstance(record, UserError)]
    rows = sorted((row for row in records if isinstance(row, Row)), key=lambda row: row.record.number)
    if not rows:
        raise next(iter(errors), UserError(f"no record of {repo}", path=path))
    clone, ours = source(store, repo), _ours(store, repo)
    listed = [(repo.instance_id(row.record.number), row.record.expected) for row in rows]
    compared = [
        _Comparison(name, expected, ours.get(name, Ours(NOT_BUILT, "", "", (), {})), clone).agreement()
        for name, expected in listed
    ]
    return compared, errors


def _ours(store: Store, repo: Repo) -> dict[str, Ours]:
    """Our side of every candidate of the repository, with the tests of rejected candidates if they ran."""
    by_id: dict[str, Ours] = {}
    for record in read_records(store.raw(repo) / "rejections.jsonl", Rejection):
        by_id[record.instance_id] = Ours(f"rejected: {record.reason}", record.detail, "", (), {})
    candidates = {record.instance_id: record for record in read_candidates(store, repo)}
    for record in read_records(store.qualification(repo) / "rejections.jsonl", Rejection):
        if candidate := candidates.get(record.instance_id):
            files, triples = stored_triples(unit_of(store, candidate))
            by_id[record.instance_id] = Ours(
                f"rejected: {record.reason}", record.detail, candidate.base.sha, files, triples
            )
    for instance in read_records(store.dataset(repo), Instance):
        quarantine = frozenset(instance.quarantine)
        by_id[instance.instance_id] = Ours(
            QUALIFIED, "", instance.base.sha, instance.files, instance.triples, quarantine
        )
    return by_id


class _Comparison:
    """One record of the other benchmark beside ours."""

    def __init__(self, instance: str, theirs: Expected, ours: Ours, clone: Clone) -> None:
        self.instance, self.theirs, self.ours, self.clone = instance, theirs, ours, clone
        self.names = Names([*ours.triples, *ours.quarantine])

    def agreement(self) -> Agreement:
        listed = {**dict.fromkeys(sorted(self.theirs.kept), KEPT), **dict.fromkeys(sorted(self.theirs.fixed), FIXED)}
        if not self.ours.triples:
            missing = Difference(self.instance, "", "", self.ours.outcome, "not_built", _first_line(self.ours.detail))
            return Agreement(self.instance, self.ours.outcome, len(listed), 0, 0, (missing,))
        judged = [self._judge(name, word) for name, word in listed.items()]
        disagreeing = [difference for difference in judged if difference]
        differences = [difference for difference in disagreeing if not _is_not_run(difference)]
        counts = len(listed), len(judged) - len(disagreeing), len(disagreeing) - len(differences)
        return Agreement(self.instance, self.ours.outcome, *counts, (*differences, *self._unlisted(listed)))

    def _judge(self, name: str, word: str) -> Difference | None:
        """The difference in one of their names; None if there is none."""
        tests = self.names.of(name)
        if not tests:
            kind, evidence = self._missing(name)
            return Difference(self.instance, name, word, UNLISTED, kind, evidence)
        stable = [test for test in tests if test in self.ours.triples]
        if not stable:
            return Difference(self.instance, name, word, "quarantined", "flaky", "its repeats disagree")
        combination = combined([self.ours.triples[test] for test in stable])
        if kind_of(combination) == word:
            return None
        kind, evidence = self._explain(word, stable, combination, len(stable) < len(tests))
        return Difference(self.instance, name, word, letters(combination), kind, evidence)

    def _explain(self, word: str, tests: Sequence[str], ours: Triple, flaky: bool) -> tuple[str, str]:
        kinds = {kind_of(self.ours.triples[test]) for test in tests}
        if flaky:
            return "flaky", "its repeats disagree"
        if len(tests) > 1 and word in kinds:
            return "theirs_too_wide", f"the name stands for {len(tests)} tests, of which some agree"
        if Status.PASSED not in (ours.run, ours.test, ours.fix):
            return "environment", "it passes here neither with nor without a patch"
        return UNEXPLAINED, ""

    def _missing(self, name: str) -> tuple[str, str]:
        """Why one of their names is missing here: its file is not run, or the file does not report it."""
        name = plain(name)
        words = fragments(name)
        if name in self._sources or "/" in name and is_test_file(name):
            run = name in self.ours.files
            return ("ours_wrong", "the file is run") if run else ("theirs_too_wide", "a file that is not run")
        holding = [path for path, text in self._sources.items() if words and all(word in text for word in words)]
        if holding and not set(holding) & set(self.ours.files):
            return "theirs_too_wide", f"in {holding[0]}, which is not run"
        if holding:
            return "ours_wrong", f"its words are in {holding[0]}, which is run"
        return ("theirs_too_wide", "in no file that is run") if self._theirs_is_wider else (UNEXPLAINED, "")

    @cached_property
    def _theirs_is_wider(self) -> bool:
        """Whether they list tests of many more files than we run, such as the whole suite."""
        matched = sum(bool(self.names.of(name)) for name in self.theirs.kept)
        return len(self.theirs.kept) - matched > len(self.theirs.kept) // 4

    @cached_property
    def _sources(self) -> dict[str, str]:
        """The test code of the base by path."""
        base = self.ours.base
        code = [path for path in list_files(self.clone, base) if is_test_file(path) and path.endswith(_CODE)]
        return {path: (data or b"").decode(errors="replace") for path, data in read_contents(self.clone, base, code)}

    def _unlisted(self, listed: Mapping[str, str]) -> Iterator[Difference]:
        """Tests that the gold patch fixes here, and that none of their names stands for."""
        if not listed:
            return
        covered = {test for name in listed for test in self.names.of(name)}
        files = {test.partition(SEPARATOR)[0] for name in listed for test in self.names.of(name) if plain(name) in test}
        for test, triple in self.ours.triples.items():
            if kind_of(triple) == FIXED and test not in covered and test not in files:
                ours = letters(triple)
                yield Difference(self.instance, test, UNLISTED, ours, "theirs_too_narrow", "they have no name for it")


def _is_not_run(difference: Difference) -> bool:
    """Whether the difference is only that a pass-to-pass test of theirs is not run here."""
    return (difference.theirs, difference.ours, difference.kind) == (KEPT, UNLISTED, "theirs_too_wide")


def combined(triples: Sequence[Triple]) -> Triple:
    """The status of several tests as one: failed if one fails, else passed if one passes, as benchmarks that grade
    files see it."""
    return Triple(**{run: _worst([getattr(triple, run) for triple in triples]) for run in ("run", "test", "fix")})


def _worst(statuses: Iterable[Status]) -> Status:
    distinct = set(statuses)
    order = (Status.FAILED, Status.PASSED, Status.SKIPPED, Status.NONE)
    return next(status for status in order if status in distinct)


def kind_of(triple: Triple) -> str:
    """FIXED, KEPT, or the transition in words."""
    if triple.fix is not Status.PASSED:
        return letters(triple)
    return KEPT if triple.test is Status.PASSED else FIXED


def letters(triple: Triple) -> str:
    return "".join(str(status)[0] for status in (triple.run, triple.test, triple.fix))


def _first_line(text: str) -> str:
    return text.partition("\n")[0][:120]


class Totals(NamedTuple):
    """How far two benchmarks agree."""

    instances: int
    qualified: int
    agree: int
    explained: int
    nothing: int
    names: int
    same: int
    not_run: int
    classes: Mapping[str, int]


def totals(compared: Sequence[Agreement]) -> Totals:
    """Counts over instances (`agree`, `explained` and `nothing`, with nothing to compare, over those that qualify here)
    and over names."""
    words = Counter(agreement.word for agreement in compared if agreement.is_qualified)
    return Totals(
        instances=len(compared),
        qualified=sum(agreement.is_qualified for agreement in compared),
        agree=words["agrees"],
        explained=words["explained"],
        nothing=words[NOTHING],
        names=sum(agreement.listed for agreement in compared),
        same=sum(agreement.same for agreement in compared),
        not_run=sum(agreement.not_run for agreement in compared),
        classes=dict(Counter(difference.kind for agreement in compared for difference in agreement.differences)),
    )
