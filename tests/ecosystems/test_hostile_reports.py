"""Reports written by a patch: whatever they contain, they are read or refused, and never taken for a fault of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.ecosystems import all_parsers, parser
from pipeline.ecosystems.reports import Report, ReportError

HERE, PARSERS = Path(__file__).parent, sorted(all_parsers())
#: values of every type, including some that a runner would never write
VALUES = st.sampled_from(
    [None, True, -1, 2**70, int("9" * 4300), 0.5, float("nan"), "", "\ud800", "passed", [], [None], {}, {"a": 1}]
)
FUZZ = settings(
    max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def outputs(name: str) -> list[bytes]:
    """The two smallest real outputs for a parser."""
    kind = "log" if name.endswith("-text") else "report"
    paths = sorted(HERE.glob(f"runners/*/outputs/*.{kind}"), key=lambda path: path.stat().st_size)
    return list(islice(filter(partial(_is_read_by, name), map(Path.read_bytes, paths)), 2))


def _is_read_by(name: str, text: bytes) -> bool:
    try:
        return bool(parser(name).read(text, "/repo").tests)
    except ReportError:
        return False


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a JSON document: its container, and its key or index."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield value, key
        yield from places(inner)


def read_or_refused(name: str, text: bytes) -> None:
    try:
        assert isinstance(parser(name).read(text, "/repo"), Report)
    except ReportError as error:
        assert str(error)


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.trap("bought-fault")
def test_any_bytes_are_read_or_refused(name: str) -> None:
    known = outputs(name)

    @FUZZ
    @given(st.data())
    def fuzz(data: st.DataObject) -> None:
        text = data.draw(st.sampled_from([b"", *known]))
        start, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 200))
        read_or_refused(name, text[:start] + data.draw(st.binary(max_size=20)) + text[start + length :])

    fuzz()


@pytest.mark.parametrize("name", [name for name in PARSERS if name.endswith("-json")])
@pytest.mark.trap("bought-fault")
def test_a_value_of_another_type_is_read_or_refused(name: str) -> None:
    """A patch that made our parser fail would be "not evaluated", and leave the denominator."""
    known = outputs(name)
    assert known

    @FUZZ
    @given(st.data())
    def fuzz(data: st.DataObject) -> None:
        document = json.loads(data.draw(st.sampled_from(known)))
        container, key = data.draw(st.sampled_from(list(places(document))))
        container[key] = data.draw(VALUES)
        read_or_refused(name, json.dumps(document).encode())

    fuzz()


@pytest.mark.trap("bought-fault")
def test_a_title_is_read_in_linear_time() -> None:
    """A title that made our parser search for hours would stop all instances, again at each resume."""
    title = '"before each" hook' + ' for "' * 40_000 + "."
    stats = {"success": 1, "failed": 0, "skipped": 0, "error": False, "exitCode": 0}
    test = {"path": [title], "status": "passed", "said": ""}
    report = parser("karma-json").read(
        json.dumps({"bundle": "/repo/karma.conf.js", "stats": stats, "tests": [test]}).encode(), "/repo"
    )
    assert list(report.tests) == [title]


@pytest.mark.trap("bought-fault")
def test_a_report_that_defines_entities_is_refused() -> None:
    """A few lines could otherwise expand beyond the memory."""
    entities = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    text = f'<!DOCTYPE testsuites [<!ENTITY e0 "lol">{entities}]><testsuites><testsuite name="&e9;"/></testsuites>'
    for beginning in ("", '<?xml version="1.0"?>', "<!-- <testsuites> -->"):
        with pytest.raises(ReportError, match="does not begin as Node's do"):
            parser("node-junit").read((beginning + text).encode(), "/repo")
