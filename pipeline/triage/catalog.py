"""All candidates of a data directory as the viewer lists them: searched, filtered, counted, read individually.

Reads `01_raw/<repo>/candidates.jsonl`, ratings and the results of stage 02, and keeps only what a list shows in memory;
a candidate itself is read from its line. Changes on disk are noticed: new ratings are read from where the last ones
ended, changed files of candidates are read again. Writes nothing.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from pipeline.core.errors import unknown
from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.ratings import Review
from pipeline.core.record import Record
from pipeline.core.records import Candidate, Instance, Rejection
from pipeline.core.reviews import Standing, fold
from pipeline.core.store import Store, parse_record, read_records
from pipeline.core.wcag import CRITERIA

R = TypeVar("R", bound=Record)
#: the outcome of a candidate that stage 02 has not tried
PENDING = "not built"
NOBODY = Standing(())


class Row(NamedTuple):
    """A candidate as a list shows it. `offset` and `length` locate its line in the file, in bytes."""

    instance_id: str
    repo: str
    number: int
    title: str
    merged_at: str
    evidence: tuple[str, ...]
    source: str
    files: int
    added: int
    removed: int
    offset: int
    length: int
    line: int


class Listed(NamedTuple):
    """A row with its ratings and the outcome of stage 02."""

    row: Row
    standing: Standing
    state: str

    @property
    def status(self) -> str:
        """Its resolved status, or why it has none, in words."""
        return self.standing.status or ("disagreement" if self.standing.reviews else "not rated")


class Entry(NamedTuple):
    """A candidate with its values for every filter."""

    listed: Listed
    has: dict[str, frozenset[str]]


class Found(NamedTuple):
    """The results of a search, newest first, and how many candidates each value of each filter would leave."""

    listed: list[Listed]
    counts: dict[str, Counter[str]]
    total: int


def _principles(listed: Listed) -> set[str]:
    principles = {name for review in _effective_reviews(listed) for name in review.principles}
    return principles | {CRITERIA[number].principle for number in _criteria(listed)}


def _criteria(listed: Listed) -> set[str]:
    return {number for review in _effective_reviews(listed) for number in review.success_criteria}


def _effective_reviews(listed: Listed) -> tuple[Review, ...]:
    return (listed.standing.final,) if listed.standing.final else listed.standing.reviews


#: filter -> the function that gives a candidate's values for it
FILTERS: dict[str, Callable[[Listed], Iterable[str]]] = {
    "repo": lambda listed: (listed.row.repo,),
    "status": lambda listed: (listed.status,),
    "principle": _principles,
    "criterion": _criteria,
    "evidence": lambda listed: listed.row.evidence,
    "difficulty": lambda listed: filter(None, (review.difficulty for review in _effective_reviews(listed))),
    "reviewer": lambda listed: (review.rater for review in listed.standing.reviews),
    "disagreement": lambda listed: listed.standing.disagreements,
    "build": lambda listed: (listed.state,),
}


class Tail(Generic[R]):
    """An append-only file that is read from where the last read ended; from the beginning if it was cut or replaced."""

    def __init__(self, path: Path, kind: type[R]) -> None:
        self.path, self.kind = path, kind
        self.records: list[R] = []
        self._end, self._lines, self._file = 0, 0, 0

    def read(self) -> bool:
        """Read new lines; returns whether there were any. Raises UserError with file, line and field."""
        if not self.path.exists():
            return False
        status = self.path.stat()
        if status.st_size < self._end or status.st_ino != self._file:
            self.records, self._end, self._lines, self._file = [], 0, 0, status.st_ino
        if status.st_size == self._end:
            return False
        with self.path.open("rb") as file:
            file.seek(self._end)
            complete = file.read().rpartition(b"\n")
        lines, records = self._lines, []
        for line in complete[0].split(b"\n") if complete[1] else ():
            lines += 1
            if line.strip():
                records.append(parse_record(self.path, lines, line, self.kind))
        self.records, self._lines = [*self.records, *records], lines
        self._end += len(complete[0]) + len(complete[1])
        return True


class Shelf:
    """One repository: its candidates, ratings and outcomes."""

    def __init__(self, store: Store, repo: Repo) -> None:
        self.store, self.repo = store, repo
        self.rows: dict[str, Row] = {}
        self.texts: dict[str, str] | None = None
        self.standings: dict[str, Standing] = {}
        self.states: dict[str, str] = {}
        self.entries: dict[str, Entry] = {}
        self.reviews = Tail(store.reviews(repo), Review)
        self.finals = Tail(store.finals(repo), Review)
        self._seen: dict[str, Any] = {}
        self._is_changed = False

    @property
    def path(self) -> Path:
        return self.store.raw(self.repo) / "candidates.jsonl"

    def refresh(self) -> bool:
        """Read what changed on disk; returns whether anything did. `texts` receives the texts of new candidates.

        Raises UserError for an unreadable line; the next call then continues with the same file.
        """
        built = (self.store.dataset(self.repo), self.store.qualification(self.repo) / "rejections.jsonl")
        self._is_changed |= self.reviews.read()
        self._is_changed |= self.finals.read()
        self._is_changed |= self._read("built", self._read_states, *built)
        self._is_changed |= self._read("candidates", self._read_rows, self.path)
        if not self._is_changed:
            return False
        self.standings = fold(_newest(self.reviews.records, "rater"), _decided(self.finals.records))
        self.entries = {name: self._entry(row) for name, row in self.rows.items()}
        self._is_changed = False
        return True

    def _read_states(self, *built: Path) -> None:
        self.states = dict(_states(*built))

    def _read_rows(self, path: Path) -> None:
        read_rows = list(_rows(path))
        self.rows = {row.instance_id: row for row, _ in read_rows}
        self.texts = {row.instance_id: text for row, text in read_rows}

    def _entry(self, row: Row) -> Entry:
        """The entry of a row, reused if nothing changed: a new rating makes one new entry."""
        listed, previous = self.listed(row), self.entries.get(row.instance_id)
        if previous and previous.listed == listed:
            return previous
        return Entry(listed, {name: frozenset(values_of(listed)) for name, values_of in FILTERS.items()})

    def listed(self, row: Row) -> Listed:
        name = row.instance_id
        return Listed(row, self.standings.get(name, NOBODY), self.states.get(name, PENDING))

    def candidate(self, row: Row) -> Candidate:
        """The candidate, read from its line. Raises UserError if the file has changed since."""
        with self.path.open("rb") as file:
            file.seek(row.offset)
            return parse_record(self.path, row.line, file.read(row.length), Candidate)

    def history(self, name: str) -> list[tuple[Review, bool]]:
        """All ratings of a candidate, the newest first, each with whether it was the final decision."""
        ratings = [(review, False) for review in self.reviews.records] + [
            (review, True) for review in self.finals.records
        ]
        own = [pair for pair in ratings if pair[0].instance_id == name]
        return sorted(own, key=lambda pair: pair[0].time)[::-1]

    def outcome(self, name: str) -> Instance | Rejection | None:
        """The outcome of a candidate in stage 02."""
        rejected = self.store.qualification(self.repo) / "rejections.jsonl"
        results: list[Instance | Rejection] = [
            *read_records(self.store.dataset(self.repo), Instance),
            *read_records(rejected, Rejection),
        ]
        return next((result for result in results if result.instance_id == name), None)

    def _read(self, name: str, read: Callable[..., None], *paths: Path) -> bool:
        """Read files, unless they are as they were when they could last be read; returns whether they were read."""
        stats = [path.stat() if path.exists() else None for path in paths]
        current = [status and (status.st_mtime_ns, status.st_size, status.st_ino) for status in stats]
        if current == self._seen.get(name):
            return False
        read(*paths)
        self._seen[name] = current
        return True


class Catalog:
    """The candidates of all repositories. Safe to share between threads."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._shelves: dict[str, Shelf] = {}
        self._entries: list[Entry] = []
        self._words = _index()
        self._turn = threading.Lock()
        self._is_changed = False

    def refresh(self) -> None:
        """Read what changed on disk. Raises UserError for an unreadable line."""
        with self._turn:
            self._refresh()

    def search(self, words: str, filters: Mapping[str, str]) -> Found:
        """The candidates that contain all words and pass all filters; an empty value does not filter."""
        with self._turn:
            self._refresh()
            names, entries = self._having(words), self._entries
        active = [(name, value) for name, value in filters.items() if value]
        found = entries if names is None else [entry for entry in entries if entry.listed.row.instance_id in names]
        fails = [[name for name, value in active if value not in entry.has[name]] for entry in found] if active else []
        passed = [entry for entry, failed in zip(found, fails, strict=True) if not failed] if active else found
        counts = {}
        for name in FILTERS:  # a filter's own values are counted as if it were not set
            others = [entry for entry, failed in zip(found, fails, strict=True) if failed == [name]] if active else []
            counts[name] = Counter(chain.from_iterable(entry.has[name] for entry in chain(passed, others)))
        return Found([entry.listed for entry in passed], counts, len(entries))

    def get(self, name: str) -> tuple[Shelf, Listed]:
        """One candidate by its name. Raises UserError for an unknown one."""
        repo, number = parse_instance_id(name)
        name = repo.instance_id(number)
        with self._turn:
            self._refresh()
            shelf = self._shelves.get(str(repo))
            if shelf is None or name not in shelf.rows:
                raise unknown("candidate", name, list(islice(shelf.rows, 20)) if shelf else list(self._shelves))
            return shelf, shelf.listed(shelf.rows[name])

    def shelves(self) -> list[Shelf]:
        with self._turn:
            self._refresh()
            return list(self._shelves.values())

    def _refresh(self) -> None:
        repos = {str(repo): repo for repo in self.store.repositories("01_raw")}
        for name in self._shelves.keys() - repos.keys():
            del self._shelves[name]
            self._is_changed = True
        for name, repo in repos.items():
            shelf = self._shelves.setdefault(name, Shelf(self.store, repo))
            self._is_changed |= shelf.refresh()
            if shelf.texts is not None:
                self._index(name, shelf.texts)
                shelf.texts = None
        if self._is_changed:
            entries = chain.from_iterable(shelf.entries.values() for shelf in self._shelves.values())
            newest = attrgetter("listed.row.merged_at", "listed.row.instance_id")
            self._entries = sorted(entries, key=newest, reverse=True)
            self._is_changed = False

    def _index(self, repo: str, texts: Mapping[str, str]) -> None:
        with self._words:
            self._words.execute("DELETE FROM words WHERE repo = ?", (repo,))
            rows = ((repo, name, text) for name, text in texts.items())
            self._words.executemany("INSERT INTO words VALUES (?, ?, ?)", rows)

    def _having(self, words: str) -> set[str] | None:
        """The names of candidates with words that begin with each of these; None without words."""
        words = re.sub(r"[\x00-\x1f\x7f]", " ", words)  # a NUL ends the query inside its quotes
        query = " ".join('"' + word.replace('"', '""') + '"*' for word in words.split())
        if not query:
            return None
        found = self._words.execute("SELECT name FROM words WHERE words MATCH ?", (f"text : ({query})",))
        return {name for (name,) in found}


def _index() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(repo UNINDEXED, name UNINDEXED, text)")
    return connection


def _rows(path: Path) -> Iterable[tuple[Row, str]]:
    """Every candidate of a file, with its searchable text."""
    if not path.exists():
        return
    offset = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                candidate = parse_record(path, number, line, Candidate)
                yield _row(candidate, offset, len(line), number), _text(candidate)
            offset += len(line)


def _row(candidate: Candidate, offset: int, length: int, line: int) -> Row:
    patch = (candidate.fix_patch + candidate.test_patch).split("\n")
    return Row(
        candidate.instance_id,
        str(candidate.repository),
        candidate.number,
        candidate.title,
        candidate.merged_at,
        tuple(dict.fromkeys(evidence.text.lower() for evidence in candidate.a11y_reason)),
        candidate.statement_source,
        sum(text.startswith("diff --git ") for text in patch),
        sum(text.startswith("+") and not text.startswith("+++ ") for text in patch),
        sum(text.startswith("-") and not text.startswith("--- ") for text in patch),
        offset,
        length,
        line,
    )


def _text(candidate: Candidate) -> str:
    issues = (text for issue in candidate.resolved_issues for text in (issue.title, issue.body, *issue.labels))
    return "\n".join(
        (candidate.instance_id, f"#{candidate.number}", candidate.title, candidate.body, *candidate.labels, *issues)
    )


def _newest(records: Iterable[Review], *key: str) -> list[Review]:
    newest: dict[tuple[str, ...], Review] = {}
    for record in records:
        name = (record.instance_id, *(getattr(record, field) for field in key))
        if name not in newest or record.time >= newest[name].time:
            newest[name] = record
    return [record for record in newest.values() if not record.withdrawn]


def _decided(records: Iterable[Review]) -> dict[str, Review]:
    return {review.instance_id: review for review in _newest(records)}


def _states(dataset: Path, rejections: Path) -> Iterable[tuple[str, str]]:
    for rejection in read_records(rejections, Rejection):
        yield rejection.instance_id, f"rejected: {rejection.reason}"
    for instance in read_records(dataset, Instance):
        yield instance.instance_id, "qualified"
