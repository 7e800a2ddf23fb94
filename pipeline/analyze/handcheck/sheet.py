"""A sheet: a sample of patches, to be rated by people who do not know which model wrote them.

Writes `sheet.html` (issue and patch of each check, to read) and `sheet.csv` (to fill in), and reads the latter back. A
check is named by its patch, so equal patches of several models are one check.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Container, Mapping
from itertools import chain, zip_longest
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.handcheck.records import RATINGS, HandCheck, newest_checks, patch_key
from pipeline.analyze.reading.rows import Statement
from pipeline.core import journal
from pipeline.core.errors import UserError
from pipeline.core.store import Store, now, write_bytes
from pipeline.core.texts import read_table

HEADER = ("check", "instance_id", "rating", "note")
#: the beginning of a check's name: a spreadsheet takes keys such as 1234e5678901 and 012345678901 for numbers
MARK = "p"
#: the columns that an import reads
COLUMNS = ("check", "rating", "note")


class Check(NamedTuple):
    """A patch to rate, and what a rater sees."""

    key: str
    instance_id: str
    statement: Statement
    patch: str

    @property
    def name(self) -> str:
        """Its name on the sheet."""
        return MARK + self.key


def sample(frames: Frames, size: int, seed: int) -> list[Check]:
    """At most `size` patches that change something, each once, spread evenly over models and over resolved or not.

    The order is random, but the same for the same seed. Raises UserError if there is no such patch.
    """
    rows = frames.predictions.query("kind == 'model' and files.notna()")
    if rows.empty:
        raise UserError("there is no patch to check", hint="predict first: just agt-run REPO MODEL")
    chance = random.Random(seed)
    groups = [_shuffled(frames, group, chance) for _, group in rows.groupby(["agent", "model", "resolved"])]
    alternating = filter(None, chain.from_iterable(zip_longest(*groups)))
    chosen = list({check.key: check for check in alternating}.values())[:size]
    chance.shuffle(chosen)
    return chosen


def _shuffled(frames: Frames, rows: pd.DataFrame, chance: random.Random) -> list[Check]:
    checks = [_check(frames, *key) for key in rows[["agent", "model", "instance_id"]].itertuples(index=False)]
    chance.shuffle(checks)
    return checks


def _check(frames: Frames, agent: str, model: str, name: str) -> Check:
    patch = frames.patches[agent, model, name]
    return Check(patch_key(name, patch), name, frames.statements[name], patch)


def export(checks: list[Check], folder: Path) -> Path:
    """Write both files of a sheet and return the one to fill in. Raises UserError if the folder has one already."""
    path = folder / "sheet.csv"
    if path.exists():
        raise UserError("a sheet already exists", path=path, hint="import it, or name another folder")
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerows([HEADER, *((check.name, check.instance_id, "", "") for check in checks)])
    write_bytes(folder / "sheet.html", _page(checks).encode())
    write_bytes(path, text.getvalue().encode())
    return path


def _page(checks: list[Check]) -> str:
    from pipeline.analyze.report import page

    return page("sheet.html.j2", checks=checks, ratings=RATINGS)


def read(path: Path, frames: Frames, rater: str) -> list[HandCheck]:
    """The ratings of a sheet, without rows that have none.

    Raises UserError, with the line, for a missing column, an unknown rating, an unknown patch and a duplicate; and for
    a rater without a name.
    """
    rater = rater.strip()
    if not rater:
        raise UserError("the rater has no name", field="--by", hint="name whoever gave the ratings: --by ann")
    known = {patch_key(name, patch): name for (_, _, name), patch in frames.patches.items()}
    checks: dict[str, HandCheck] = {}
    for line, row in read_table(path, COLUMNS, "save the sheet as CSV, with commas between its columns"):
        cells = {name: (row.get(name) or "").strip() for name in HEADER}
        cells["check"] = cells["check"].removeprefix(MARK)  # sheets of earlier versions have keys
        if cells["rating"]:
            _require_valid(path, line, cells, known, checks)
            checks[cells["check"]] = _rating(cells, known, rater)
    return list(checks.values())


def _require_valid(
    path: Path, line: int, cells: dict[str, str], known: Container[str], earlier: Container[str]
) -> None:
    key, rating = cells["check"], cells["rating"].lower()
    faults = (
        (rating not in RATINGS, "rating", f"'{rating}' is not a rating", f"it is one of: {', '.join(RATINGS)}"),
        (key not in known, "check", f"no prediction has the patch '{key}'", "predictions have changed: export again"),
        (key in earlier, "check", f"'{key}' occurs twice", "keep one of the rows"),
    )
    for fault, field, message, hint in faults:
        if fault:
            raise UserError(message, path=path, line=line, field=field, hint=hint)


def _rating(cells: dict[str, str], known: Mapping[str, str], rater: str) -> HandCheck:
    key = cells["check"]
    values = {"rating": cells["rating"].lower(), "note": cells["note"]}
    return HandCheck.model_validate({"instance_id": known[key], "patch": key, "rater": rater} | values)


def add(store: Store, checks: list[HandCheck]) -> list[HandCheck]:
    """Append ratings; a rater's newest rating of a patch counts. Returns all that count."""
    store.begin()
    existing = {(check.patch, check.rater): check for check in newest_checks(store)}
    new = [check.model_copy(update={"time": now()}) for check in checks]
    changed = [check for check in new if not _same(check, existing.get((check.patch, check.rater)))]
    journal.append(store.handchecks, changed)
    return newest_checks(store)


def _same(new: HandCheck, old: HandCheck | None) -> bool:
    return old is not None and new == old.model_copy(update={"time": new.time})
