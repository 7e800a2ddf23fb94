"""The ledger: who may spend, and one row per request to a model. SQLite.

Written by the gateway (keys, and requests from the log of a proxy with a database) and by the hooks in the embedded
proxy (requests). Only the SHA-256 of a key is kept, and amounts are decimals as text. Also runs inside the proxy's
environment: standard library only.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from pipeline.core.amounts import amount
from pipeline.core.records import Track
from pipeline.llm.ledger_file import ADDED, SCHEMA, copied, opened, readable
from pipeline.llm.prices import Usage, total

#: status of a request that was sent and not booked yet, and of one whose gateway ended before it was booked
OPEN, LOST = "open", "lost"
#: status of a request whose client went away before the end of its answer: nobody else failed
CUT_OFF = "cut_off"
#: status of an answer that was paid for, and of one that came from the cache of responses and cost nothing
OK, CACHED = "ok", "cached"
#: status of an answer without a reported usage: its cost is unknown, but not zero
UNCOUNTED = "usage_unknown"
#: why a request was refused: it does not fit the experiment's budget, or its answer's cap
BUDGET_EXCEEDED, CAP_REACHED = "budget_exceeded", "cap_reached"
#: refused by a cap that it may in fact fit: lost requests of the answer count with their highest possible cost
CAP_LOST = "cap_lost"
#: statuses of a request that was not sent: it waited too long for money that others under way might use up, within the
#: budget, or within the cap of its own answer
BUDGET_BUSY, CAP_BUSY = "budget_busy", "cap_busy"


class Key(NamedTuple):
    """The description of a key; the key itself is stored nowhere. `answer` names the answer that it is for, if any, and
    `cap_usd` is the most that this answer may cost, including all tries."""

    alias: str
    experiment: str
    repo: str
    model: str
    agent: str
    settings: str
    holder: str
    budget_usd: Decimal | None = None
    track: str = "repair"
    answer: str = ""
    cap_usd: Decimal | None = None


class Booking(NamedTuple):
    """How a request ended: `status` is `ok` or the error's code; `cost_usd` is exact; latency in milliseconds; `sends`
    is how often it was sent, with all retries."""

    status: str
    usage: Usage = Usage()
    cost_usd: Decimal = Decimal(0)
    latency_ms: int = 0
    sends: int = 0


class Sent(NamedTuple):
    """A request as sent: `time` is UTC in ISO 8601, `kind` is `llm` or `embedding`."""

    id: str
    time: str
    key_hash: str
    model: str
    kind: str


class Request(NamedTuple):
    """A row, with the fields of its key. If its cost is `unknown`, `cost_usd` contains only the part that is known."""

    id: str
    time: str
    track: Track
    experiment: str
    repo: str
    agent: str
    holder: str
    key_model: str
    model: str
    kind: str
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    tokens_stored: int
    cost_usd: Decimal
    latency_ms: int
    status: str
    answer: str = ""
    tokens_reasoning: int = 0
    sends: int = 0
    unknown: int = 0


class Limit(NamedTuple):
    """A limit of a key, in USD: the cause with which a request beyond it is refused, the key's alias, the maximum, the
    spending (the highest possible one where it is unknown), and what requests under way may cost. `lost` is the part of
    a cap's spending that stands for lost requests, at their highest possible cost."""

    cause: str
    alias: str
    most: Decimal
    booked: Decimal
    under_way: Decimal
    lost: Decimal = Decimal(0)

    def left(self, at_best: bool = False) -> Decimal:
        """The amount that is left if the requests under way cost as much as they may or, `at_best`, if they cost
        nothing."""
        return self.most - total((self.booked, *([] if at_best else [self.under_way])))


class Unaffordable(Exception):
    """A request whose highest possible cost does not fit a limit; its message says how much is left. `cause` is why the
    key is refused: an agent is not to blame for requests that were lost."""

    def __init__(self, limit: Limit, left: Decimal, worst: Decimal) -> None:
        self.limit = limit
        #: whether it would not even fit if nothing was spent
        self.exceeds_all = worst > limit.most
        self.cause = CAP_LOST if limit.lost and total((left, limit.lost)) >= worst else limit.cause
        name = "budget" if limit.cause == BUDGET_EXCEEDED else "cap"
        super().__init__(
            f"the {name} of {limit.alias} is reached: {left:f} of {limit.most:f} USD are left, and"
            f" this request may cost {worst:f} USD (less if it sets a lower max_tokens)"
        )


def key_hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Ledger:
    """Threads and processes may share one file. A writer waits up to 30 s for another.

    Unless it is opened for writing (`writes`), it is a copy of the file in memory, converted to this version; the file
    stays unchanged. Raises UserError for a file that is not a ledger. A missing file is made, but only for writing.
    """

    def __init__(self, path: Path, *, writes: bool = True) -> None:
        self.path = path.absolute()
        self._lock = threading.Lock()
        with readable(self.path):
            self._db = (opened if writes else copied)(self.path)
        try:
            with readable(self.path):
                self._db.executescript(SCHEMA)
                self._add_columns()
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, readable(self.path), self._db:
            yield self._db

    def _add_columns(self) -> None:
        """Add the columns that an older ledger lacks, with defaults: all its keys are of the track repair, without an
        answer."""
        if not self._missing():
            return
        with self._transaction() as db:
            db.execute("BEGIN IMMEDIATE")
            for table, name in self._missing():  # another process may have been first
                db.execute(f"ALTER TABLE {table} ADD COLUMN {name} {ADDED[table, name]}")

    def _missing(self) -> list[tuple[str, str]]:
        tables = {table for table, _ in ADDED}
        present = {(table, name) for table in tables for _, name, *_ in self._db.execute(f"PRAGMA table_info({table})")}
        return [column for column in ADDED if column not in present]

    # -- keys -------------------------------------------------------------------------------------------------------
    def issue(self, hashed: str, key: Key) -> None:
        budget = None if key.budget_usd is None else format(key.budget_usd, "f")
        cap = "" if key.cap_usd is None else format(key.cap_usd, "f")
        row = {"key_hash": hashed, **key._asdict(), "budget_usd": budget, "cap_usd": cap, "created": _now()}
        with self._transaction() as db:
            db.execute(f"INSERT INTO keys ({', '.join(row)}) VALUES ({_marks(len(row))})", tuple(row.values()))

    def key(self, hashed: str) -> Key | None:
        with self._transaction():
            return self._key(hashed)

    def _key(self, hashed: str) -> Key | None:
        columns = ", ".join(Key._fields)
        row = self._db.execute(f"SELECT {columns} FROM keys WHERE key_hash = ?", (hashed,)).fetchone()
        return row and _priced(Key(*row))

    def admit(self, hashed: str, gateway: str) -> None:
        """Admit a key at this gateway, and at no other."""
        with self._transaction() as db:
            db.execute("INSERT INTO admitted SELECT key_hash, ? FROM keys WHERE key_hash = ?", (gateway, hashed))

    def is_admitted(self, hashed: str, gateway: str) -> bool:
        """Whether a key is admitted at this gateway, which has not ended."""
        with self._transaction() as db:
            query = "SELECT 1 FROM admitted WHERE key_hash = ? AND gateway = ?"
            return db.execute(query, (hashed, gateway)).fetchone() is not None

    def admitted(self) -> dict[str, list[str]]:
        """The keys of each gateway that runs, or ended without closing."""
        by_gateway: dict[str, list[str]] = {}
        with self._transaction() as db:
            for hashed, gateway in db.execute("SELECT key_hash, gateway FROM admitted ORDER BY rowid"):
                by_gateway.setdefault(gateway, []).append(hashed)
        return by_gateway

    def dismiss(self, gateway: str) -> None:
        """End all keys of a gateway."""
        with self._transaction() as db:
            db.execute("DELETE FROM admitted WHERE gateway = ?", (gateway,))

    def refuse(self, hashed: str, cause: str = BUDGET_EXCEEDED) -> None:
        """Note that a request of this key was refused: it cost nothing and has no row."""
        with self._transaction() as db:
            query = "INSERT OR REPLACE INTO refusals SELECT key_hash, ? FROM keys WHERE key_hash = ?"
            db.execute(query, (cause, hashed))

    def refusal(self, hashed: str) -> str:
        """Why a request of this key was last refused; empty if none was."""
        with self._transaction() as db:
            return (db.execute("SELECT cause FROM refusals WHERE key_hash = ?", (hashed,)).fetchone() or ("",))[0]

    def is_refused(self, experiment: str, budget_usd: Decimal, gateway: str) -> bool:
        """Whether this budget refused a request of an experiment at this gateway."""
        query = """SELECT 1 FROM refusals JOIN keys USING (key_hash) JOIN admitted USING (key_hash)
                   WHERE experiment = ? AND budget_usd = ? AND gateway = ? AND cause = ?"""
        with self._transaction() as db:
            values = (experiment, format(budget_usd, "f"), gateway, BUDGET_EXCEEDED)
            return db.execute(query, values).fetchone() is not None

    # -- requests ---------------------------------------------------------------------------------------------------
    def open(self, hashed: str, model: str, kind: str) -> str:
        """Book a request before it is sent, so that none is ever missing. Returns its id. It has reserved nothing yet,
        and never does if its answer is a replay."""
        request = uuid.uuid4().hex
        with self._transaction() as db:
            query = "INSERT INTO requests (id, time, key_hash, model, kind, status) VALUES (?, ?, ?, ?, ?, ?)"
            db.execute(query, (request, _now(), hashed, model, kind, OPEN))
        return request

    def reserve(self, request: str, worst: Decimal, *, waits: bool = False) -> bool:
        """Let an open request be sent, if its highest possible cost, `worst` in USD, fits the limits of its key. A
        request that is tried again has reserved its money already. Returns False for a request that `waits`, if it fits
        only once others under way cost less than they may.

        Raises Unaffordable if it does not fit, LookupError if the request is not open.
        """
        with self._transaction() as db:
            db.execute("BEGIN IMMEDIATE")  # no other request may take the same money
            query = "SELECT key_hash, worst.id FROM requests LEFT JOIN worst USING (id) WHERE id = ? AND status = ?"
            row = db.execute(query, (request, OPEN)).fetchone()
            if row is None:
                raise LookupError(request)
            hashed, reserved = row
            if reserved is None:
                if not self._fits(hashed, worst, waits):
                    return False
                db.execute("INSERT INTO worst VALUES (?, ?)", (request, format(worst, "f")))
                db.execute("UPDATE requests SET time = ? WHERE id = ?", (_now(), request))
            return True

    def _fits(self, hashed: str, worst: Decimal, waits: bool) -> bool:
        """Whether a request of a key fits now. Raises Unaffordable if it does not fit or, for a request that `waits`,
        if it never will."""
        limits = list(self._limits(hashed))
        for limit in limits:
            if (left := limit.left(waits)) < worst:
                raise Unaffordable(limit, left, worst)
        return all(limit.left() >= worst for limit in limits)

    def withdraw(self, request: str) -> None:
        """Remove an open request that has reserved nothing, and therefore was not sent."""
        with self._transaction() as db:
            query = "DELETE FROM requests WHERE id = ? AND status = ? AND id NOT IN (SELECT id FROM worst)"
            db.execute(query, (request, OPEN))

    def book(self, request: str, booking: Booking, *, unknown_usd: Decimal | None = None) -> None:
        """Complete an open, lost or cut request; a booked one stays unchanged. `unknown_usd` is the most that it may
        have cost besides, such as for tries that got no answer. An answer without usage keeps what was reserved if
        nothing else is said."""
        with self._transaction() as db:
            query = f"UPDATE requests SET {_SET} WHERE id = ? AND status IN ({_marks(len(_UNBOOKED))})"
            if not db.execute(query, (*_values(booking), request, *_UNBOOKED)).rowcount:
                return
            _add(db, request, booking.cost_usd)
            if unknown_usd is not None:
                db.execute("UPDATE worst SET cost_usd = ? WHERE id = ?", (format(unknown_usd, "f"), request))
            elif booking.status != UNCOUNTED:
                db.execute("DELETE FROM worst WHERE id = ?", (request,))

    def serve(self, hashed: str, model: str, fingerprint: str) -> None:
        """Note the provider's name of the model that answered a key, and its fingerprint, empty if there is none."""
        with self._transaction() as db:
            query = "INSERT OR IGNORE INTO served SELECT key_hash, ?, ? FROM keys WHERE key_hash = ?"
            db.execute(query, (model, fingerprint, hashed))

    def served(self, experiment: str, answers: Collection[str] | None = None) -> list[tuple[str, str]]:
        """These models and fingerprints for the keys of an experiment, each once; if `answers` are given, for the keys
        of these and for keys that are for no single answer."""
        query = """SELECT DISTINCT served.model, fingerprint, answer FROM served JOIN keys USING (key_hash)
                   WHERE experiment = ? ORDER BY served.model, fingerprint"""
        with self._transaction() as db:
            rows = list(db.execute(query, (experiment,)))
        shown = [(model, mark) for model, mark, answer in rows if answers is None or not answer or answer in answers]
        return list(dict.fromkeys(shown))

    def experiments(self) -> dict[tuple[str, str, str], list[str]]:
        """The experiments of each repository, agent (with the name of its settings) and model, by id."""
        found: dict[tuple[str, str, str], list[str]] = {}
        query = "SELECT DISTINCT repo, agent, model, experiment FROM keys ORDER BY experiment"
        with self._transaction() as db:
            for repo, agent, model, experiment in db.execute(query):
                found.setdefault((repo, agent, model), []).append(experiment)
        return found

    def record(self, sent: Sent, booking: Booking, worst: Decimal | None = None) -> None:
        """Book a request from another log, once; `worst` is the most that it may have cost, in USD, if its cost is
        unknown. Requests of keys that were not issued here are left out."""
        row = (*sent, *_values(booking))
        with self._transaction() as db:
            query = f"""INSERT OR IGNORE INTO requests ({", ".join((*Sent._fields, *_BOOKED))})
                        SELECT {_marks(len(row))} WHERE EXISTS (SELECT 1 FROM keys WHERE key_hash = ?)"""
            if db.execute(query, (*row, sent.key_hash)).rowcount:
                _add(db, sent.id, booking.cost_usd)
                if worst is not None:
                    db.execute("INSERT INTO worst VALUES (?, ?)", (sent.id, format(worst, "f")))

    def open_count(self, gateway: str) -> int:
        """How many requests of a gateway's keys are not booked yet."""
        with self._transaction() as db:
            query = "SELECT count(*) FROM requests JOIN admitted USING (key_hash) WHERE status = ? AND gateway = ?"
            return db.execute(query, (OPEN, gateway)).fetchone()[0]

    def last_status(self, hashed: str) -> str:
        """The status of a key's last request; empty if there was none."""
        with self._transaction() as db:
            query = "SELECT status FROM requests WHERE key_hash = ? ORDER BY time DESC, rowid DESC LIMIT 1"
            return (db.execute(query, (hashed,)).fetchone() or ("",))[0]

    def rejected(self, hashes: Sequence[str]) -> list[tuple[str, str]]:
        """The models and statuses of requests of keys that the provider did not accept, the newest first."""
        query = f"""SELECT model, status FROM requests WHERE key_hash IN ({_marks(len(hashes))}) AND status GLOB '4??'
                    ORDER BY time DESC, rowid DESC"""
        with self._transaction() as db:
            return [(model, status) for model, status in db.execute(query, tuple(hashes))]

    def has_answer_of(self, experiment: str, model: str) -> bool:
        """Whether this model answered any request of an experiment, in whole or in part."""
        condition = "experiment = ? AND requests.model = ?"
        return self._is_any(condition, (experiment, model), (OK, CACHED, UNCOUNTED, CUT_OFF))

    def has_answers(self, experiment: str) -> bool:
        """Whether a model answered any request of an experiment, in whole or in part, other than for embeddings."""
        return self._is_any("experiment = ? AND kind = 'llm'", (experiment,), (OK, CACHED, UNCOUNTED, CUT_OFF))

    def has_paid(self, experiment: str, budget_usd: Decimal, answer: str) -> bool:
        """Whether this budget paid for any request of the experiment's answers other than this one. Embeddings and
        replays do not count."""
        condition = "experiment = ? AND budget_usd = ? AND answer NOT IN ('', ?) AND kind = 'llm'"
        return self._is_any(condition, (experiment, format(budget_usd, "f"), answer), (OK, UNCOUNTED, CUT_OFF))

    def is_begun(self, answer: str) -> bool:
        """Whether any request of an answer was answered as a whole."""
        return self._is_any("answer = ?", (answer,), (OK, CACHED, UNCOUNTED))

    def _is_any(self, condition: str, values: tuple[str, ...], statuses: tuple[str, ...]) -> bool:
        """Whether any request that meets the condition has one of these statuses."""
        query = f"""SELECT EXISTS (SELECT 1 FROM requests JOIN keys USING (key_hash)
                    WHERE {condition} AND status IN ({_marks(len(statuses))}))"""
        with self._transaction() as db:
            return bool(db.execute(query, (*values, *statuses)).fetchone()[0])

    def lose(self, experiment: str, living: Sequence[str] = ()) -> None:
        """Mark an experiment's open requests as lost, except those of gateways that are `living`: their cost is
        unknown."""
        with self._transaction() as db:
            query = f"""UPDATE requests SET status = ?
                        WHERE status = ? AND key_hash IN (SELECT key_hash FROM keys WHERE experiment = ?)
                        AND key_hash NOT IN (SELECT key_hash FROM admitted WHERE gateway IN ({_marks(len(living))}))"""
            db.execute(query, (LOST, OPEN, experiment, *living))

    # -- another ledger's rows ----------------------------------------------------------------------------------------
    def differing(self, other: Path) -> list[str]:
        """The ids of keys and requests that differ between both ledgers. A request whose end only one ledger knows does
        not count."""
        pairs = {
            "keys": ("key_hash", (*Key._fields, "created"), ""),
            "requests": (
                "id",
                (*Sent._fields, *_BOOKED),
                f"AND {_known('a')} = {_BOOKED_RANK} AND {_known('b')} = {_BOOKED_RANK}",
            ),
        }
        with self._attached(other) as db:
            names = []
            for table, (key, columns, further) in pairs.items():
                differ = " OR ".join(f"a.{name} IS NOT b.{name}" for name in columns)
                query = (
                    f"SELECT {key} FROM main.{table} a JOIN other.{table} b USING ({key}) WHERE ({differ}) {further}"
                )
                names += [f"{table} {id_}" for (id_,) in db.execute(query)]
            return names

    def absorb(self, other: Path) -> None:
        """Add another ledger's keys, requests and refusals, all or none. If both have a request, the row that knows
        more about its end counts, whichever ledger is absorbed first."""
        requests = ", ".join((*Sent._fields, *_BOOKED))
        booked = ", ".join(f"{name} = b.{name}" for name in _BOOKED)
        with self._attached(other) as db, db:
            names = ", ".join((*Key._fields, "key_hash", "created"))
            db.execute(f"INSERT OR IGNORE INTO main.keys ({names}) SELECT {names} FROM other.keys ORDER BY rowid")
            query = (
                f"INSERT OR IGNORE INTO main.requests ({requests}) SELECT {requests} FROM other.requests ORDER BY rowid"
            )
            db.execute(query)
            db.execute(f"""UPDATE main.requests SET {booked} FROM other.requests b
                           WHERE b.id = main.requests.id AND {_known("b")} > {_known("main.requests")}""")
            names = "key_hash, cause"
            db.execute(f"INSERT OR IGNORE INTO main.refusals ({names}) SELECT {names} FROM other.refusals")
            db.execute("INSERT OR IGNORE INTO main.served SELECT * FROM other.served")
            db.execute("""INSERT OR REPLACE INTO main.worst SELECT w.* FROM other.worst w
                          JOIN other.requests b USING (id) JOIN main.requests a USING (id) WHERE a.status = b.status""")
            db.execute(f"""DELETE FROM main.worst WHERE id NOT IN (SELECT id FROM other.worst) AND id IN
                           (SELECT id FROM other.requests b WHERE {_known("b")} = {_BOOKED_RANK})""")
            db.execute("DELETE FROM main.spent")

    @contextmanager
    def _attached(self, other: Path) -> Iterator[sqlite3.Connection]:
        """The database with another ledger attached, which is first brought to this version."""
        Ledger(other).close()
        with self._lock:
            self._db.execute("ATTACH ? AS other", (str(other.absolute()),))
            try:
                yield self._db
            finally:
                self._db.execute("DETACH other")

    # -- sums -------------------------------------------------------------------------------------------------------
    def rows(self, experiment: str | None = None) -> list[Request]:
        """The requests of one experiment or of all, in the order of booking."""
        query = """SELECT id, time, track, experiment, repo, agent, holder, keys.model, requests.model, kind, tokens_in,
                          tokens_out, tokens_cached, tokens_stored, requests.cost_usd, latency_ms, status, answer,
                          tokens_reasoning, sends, worst.id IS NOT NULL AND status != ?
                   FROM requests JOIN keys USING (key_hash) LEFT JOIN worst USING (id)
                   WHERE experiment = coalesce(?, experiment)
                   ORDER BY requests.rowid"""
        with self._transaction() as db:
            requests = [Request(*row) for row in db.execute(query, (OPEN, experiment))]
            return [row._replace(cost_usd=amount(row.cost_usd)) for row in requests]

    def spend(self, experiment: str | None = None) -> Decimal:
        """The exact spending of one experiment or of all, in USD. Since it is needed at every request, an experiment
        has a running total."""
        if experiment is None:
            with self._transaction() as db:
                return total(amount(cost) for (cost,) in db.execute("SELECT cost_usd FROM requests"))
        with self._transaction() as db:
            running = _running(db, experiment)
            return self._reckoned(experiment) if running is None else running

    def _reckoned(self, experiment: str) -> Decimal:
        """The sum over all requests, which becomes the running total. Called within a transaction."""
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")  # nothing may be booked in between
        query = "SELECT cost_usd FROM requests JOIN keys USING (key_hash) WHERE experiment = ?"
        spent = total(amount(cost) for (cost,) in self._db.execute(query, (experiment,)))
        self._db.execute("INSERT OR REPLACE INTO spent VALUES (?, ?)", (experiment, format(spent, "f")))
        return spent

    def committed(self, experiment: str) -> Decimal:
        """The amount that counts towards a budget, in USD: the spending, and the highest possible cost of requests
        whose cost is unknown."""
        with self._transaction():
            return self._committed(experiment)

    def _committed(self, experiment: str) -> Decimal:
        running = _running(self._db, experiment)
        spent = self._reckoned(experiment) if running is None else running
        return total((spent, *_worst(self._db, "experiment", experiment)))

    def spent_on(self, answer: str) -> Decimal:
        """The cost of all tries at one answer, in USD. Requests of unknown cost count with their highest possible
        cost."""
        with self._transaction():
            return self._spent_on(answer)

    def _spent_on(self, answer: str) -> Decimal:
        query = "SELECT requests.cost_usd FROM requests JOIN keys USING (key_hash) WHERE answer = ?"
        booked = [amount(cost) for (cost,) in self._db.execute(query, (answer,))]
        return total((*booked, *_worst(self._db, "answer", answer)))

    def _limits(self, hashed: str) -> Iterator[Limit]:
        """The limits of a key: the cap of its answer, and the budget of its experiment, which all keys of the
        experiment share. The cap comes first: an agent that exceeds both must not end its experiment."""
        key = self._key(hashed)
        if key and key.cap_usd is not None:
            under_way = total(_worst(self._db, "answer", key.answer, under_way=True))
            lost = total(_worst_of_lost(self._db, key.answer))
            yield Limit(CAP_REACHED, key.alias, key.cap_usd, self._spent_on(key.answer), under_way, lost)
        if key and key.budget_usd is not None:
            under_way = total(_worst(self._db, "experiment", key.experiment, under_way=True))
            yield Limit(BUDGET_EXCEEDED, key.alias, key.budget_usd, self._committed(key.experiment), under_way)

    def per_holder(self, experiment: str) -> dict[str, Decimal]:
        """USD by instance id, and under `shared`."""
        return per_holder(self.rows(experiment))


def per_holder(rows: list[Request]) -> dict[str, Decimal]:
    """USD by instance id, and under `shared`, of the requests of one experiment."""
    spent: dict[str, Decimal] = {}
    for row in rows:
        spent[row.holder] = total((spent.get(row.holder, Decimal(0)), row.cost_usd))
    return spent


def _running(db: sqlite3.Connection, experiment: str) -> Decimal | None:
    """The running total of an experiment, None if there is none yet."""
    row = db.execute("SELECT cost_usd FROM spent WHERE experiment = ?", (experiment,)).fetchone()
    return row and amount(row[0])


def _worst(db: sqlite3.Connection, column: str, value: str, *, under_way: bool = False) -> list[Decimal]:
    """The highest possible costs of requests of an experiment or an answer: of those under way, or of ended ones whose
    cost is unknown."""
    query = f"""SELECT worst.cost_usd FROM worst JOIN requests USING (id) JOIN keys USING (key_hash)
                WHERE {column} = ? AND (status = ?) = ?"""
    return [amount(cost) for (cost,) in db.execute(query, (value, OPEN, under_way))]


def _worst_of_lost(db: sqlite3.Connection, answer: str) -> list[Decimal]:
    """The highest possible costs of an answer's requests whose gateway ended before they were booked."""
    query = """SELECT worst.cost_usd FROM worst JOIN requests USING (id) JOIN keys USING (key_hash)
               WHERE answer = ? AND status = ?"""
    return [amount(cost) for (cost,) in db.execute(query, (answer, LOST))]


def _add(db: sqlite3.Connection, request: str, cost: Decimal) -> None:
    """Add the cost of a request to the running total of its experiment, if there is one."""
    query = "SELECT experiment FROM requests JOIN keys USING (key_hash) WHERE id = ?"
    (experiment,) = db.execute(query, (request,)).fetchone()
    before = _running(db, experiment)
    if before is not None:
        added = format(total((before, cost)), "f")
        db.execute("UPDATE spent SET cost_usd = ? WHERE experiment = ?", (added, experiment))


def _priced(key: Key) -> Key:
    """A row of `keys` with budget and cap as amounts."""
    budget = None if key.budget_usd is None else amount(key.budget_usd)
    return key._replace(budget_usd=budget, cap_usd=amount(key.cap_usd) if key.cap_usd else None)


def _marks(count: int) -> str:
    return ", ".join("?" * count)


#: the columns of a booking, and how they are set
_BOOKED = (*Usage._fields, "cost_usd", "latency_ms", "status", "sends")
#: statuses of requests that are not finally booked, by how much is known of their ends, and the rank of all others
_UNBOOKED = (OPEN, LOST, CUT_OFF)
_BOOKED_RANK = len(_UNBOOKED)
_SET = ", ".join(f"{name} = ?" for name in _BOOKED)


def _known(table: str) -> str:
    """SQL for how much each row of a table knows about the end of its request."""
    cases = " ".join(f"WHEN '{status}' THEN {rank}" for rank, status in enumerate(_UNBOOKED))
    return f"(CASE {table}.status {cases} ELSE {_BOOKED_RANK} END)"


def _values(booking: Booking) -> tuple[int | str, ...]:
    return (*booking.usage, format(booking.cost_usd, "f"), booking.latency_ms, booking.status, booking.sends)
