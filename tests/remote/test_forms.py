"""Which form a file has, and what the forms guarantee: nothing is lost, and every side can merge again."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.core.errors import UserError
from pipeline.remote.forms import INSTANCE, derived, form_of, journal, keep_ours, opaque, pages, rows_of, union
from pipeline.remote.sides import Sides

RUN = "03_predictions/repair/magentless/acme__ui/model-a/20240506T070809Z"
FAST = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.mark.parametrize(
    ("place", "form"),
    [
        (f"{RUN}/predictions.jsonl", INSTANCE),
        (f"{RUN}/attempts/2/predictions.jsonl", INSTANCE),
        (f"{RUN}/metadata.json", derived),
        (f"{RUN}/run.json", opaque),
        ("03_predictions/responses/cache.db", keep_ours),
        ("03_predictions/answers/acme__ui/acme__ui-1/x/trajectory.jsonl", derived),
        ("04_evaluation/repair/magentless/acme__ui/model-a/attempts/2/verdicts.jsonl", INSTANCE),
        ("00_viewer/decisions/acme__ui.jsonl", journal),
        ("01_raw/acme__ui/pages.jsonl.gz", pages),
        ("01_raw/acme__ui/candidates.jsonl", INSTANCE),
        ("01_raw/acme__ui/build.log", derived),
        ("02_dataset/acme__ui/learned.jsonl", keep_ours),
        ("subsets/lite.txt", opaque),
    ],
)
def test_each_path_has_its_form(place: str, form: object) -> None:
    assert form_of(place) is form


@pytest.fixture
def put(tmp_path: Path) -> Any:
    """Both sides of a file."""

    def sides(ours: bytes, theirs: bytes, rows: dict[str, str] | None = None, prefer: str = "") -> Sides:
        paths = tmp_path / "ours", tmp_path / "theirs"
        for path, data in zip(paths, (ours, theirs), strict=True):
            path.write_bytes(data)
        return Sides(*paths, rows or {}, prefer)

    return sides


# -- records -----------------------------------------------------------------------------------------------------------
#: number -> value and version of the program
RECORDS = st.dictionaries(st.integers(1, 12), st.tuples(st.sampled_from("xyz"), st.sampled_from("12")), max_size=5)
Records = dict[int, tuple[str, str]]


def dumped(records: Records) -> bytes:
    rows = [{"instance_id": f"acme__ui-{number}", "v": v, "tool": tool} for number, (v, tool) in records.items()]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def merged(values: Sequence[str | None], prefer: str) -> str | None:
    """The result for one record, given its values before, here and there; `?` if nothing decides."""
    before, ours, theirs = values
    if ours == theirs or (before is not None and before == theirs):
        return ours
    if before is not None and before == ours:
        return theirs
    return ours or theirs if None in (ours, theirs) else {"ours": ours, "theirs": theirs}.get(prefer, "?")


@FAST
@given(RECORDS, RECORDS, RECORDS, st.sampled_from(["", "ours", "theirs"]))
def test_records_are_merged_one_by_one(put: Any, before: Records, ours: Records, theirs: Records, prefer: str) -> None:
    """Whatever both sides did to each record since the last merge; another version of the program is no change."""
    known = rows_of(INSTANCE, Path("before"), dumped(before))
    data, conflicts = INSTANCE(put(dumped(ours), dumped(theirs), known, prefer))
    values = [{number: value for number, (value, _) in side.items()} for side in (before, ours, theirs)]
    wanted = {number: merged([side.get(number) for side in values], prefer) for number in {**ours, **theirs}}
    assert set(conflicts) == {f"acme__ui-{number}" for number, value in wanted.items() if value == "?"}
    found = {json.loads(line)["instance_id"]: json.loads(line)["v"] for line in data.splitlines()}
    assert found == {f"acme__ui-{number}": value for number, value in wanted.items() if value not in ("?", None)}
    if not conflicts:
        again = put(data, dumped(theirs), rows_of(INSTANCE, Path("theirs"), dumped(theirs)), prefer)
        assert INSTANCE(again).data == data, "a second pull changes nothing"


# -- journals ----------------------------------------------------------------------------------------------------------
def time_of(line: bytes) -> str:
    return json.loads(line)["time"]


def in_order(part: list[bytes], whole: list[bytes]) -> bool:
    rest = iter(whole)
    return all(line in rest for line in part)


@FAST
@given(st.lists(st.tuples(st.sampled_from(["ours", "theirs", "pull", "push"]), st.integers(0, 1)), max_size=14))
def test_decisions_of_both_sides_are_kept(steps: list[tuple[str, int]]) -> None:
    """However often they merge in between, even within one second: each side's decisions keep their order."""
    sides: dict[str, list[bytes]] = {"ours": [], "theirs": []}
    own: dict[str, list[bytes]] = {"ours": [], "theirs": []}
    day = 1
    for number, (step, later) in enumerate(steps):
        day += later
        if step in sides:
            line = json.dumps({"time": f"2026-01-{day:02}", "id": number}).encode()
            sides[step].append(line)
            own[step].append(line)
        else:
            here, there = ("ours", "theirs") if step == "pull" else ("theirs", "ours")
            sides[here] = union(sides[here], sides[there], time_of)
        for side in sides.values():
            assert all(in_order([line for line in mine if line in side], side) for mine in own.values())
    both = union(sides["ours"], sides["theirs"], time_of)
    assert sorted(both) == sorted(own["ours"] + own["theirs"])
    assert list(map(time_of, both)) == sorted(map(time_of, both))
    assert union(both, union(sides["theirs"], sides["ours"], time_of), time_of) == both


@pytest.mark.parametrize("torn", [b'{"time": "3"', b"[" * 5000, b"\0\0\0", b"\xff"])
def test_an_incomplete_last_line_is_no_decision(put: Any, torn: bytes) -> None:
    one, two = b'{"time": "1"}\n', b'{"time": "2"}\n'
    assert journal(put(one + torn, one + two)).data == one + two
    assert journal(put(one + two[:-1], one)).data == one + two, "only its end is missing"


# -- pages -------------------------------------------------------------------------------------------------------------
def member(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


def test_pages_that_one_side_fetched_are_added(put: Any) -> None:
    """The last one may be incomplete, if a killed process left it; it is fetched again."""
    first, ours, theirs = (member(f"{name} {'x' * 50}") for name in ("first", "ours", "theirs"))
    data = pages(put(first + ours, first + theirs + member("half")[:-3])).data
    assert data is not None and gzip.decompress(data).decode().count("x" * 50) == 3
    assert data == first + ours + theirs


@pytest.mark.rule("bad-input")
def test_an_invalid_page_is_refused(put: Any) -> None:
    with pytest.raises(UserError, match="theirs: not a page of pull requests"):
        pages(put(member("a"), b"no gzip at all"))


@pytest.mark.parametrize(("prefer", "data", "conflicts"), [("", None, 1), ("ours", None, 0), ("theirs", b"b", 0)])
def test_one_version_of_other_files_is_chosen(put: Any, prefer: str, data: bytes | None, conflicts: int) -> None:
    found = opaque(put(b"a", b"b", {}, prefer))
    assert (found.data, len(found.conflicts)) == (data, conflicts)
