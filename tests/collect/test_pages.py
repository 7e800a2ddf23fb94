"""The pages: appended, read back unchanged, and complete after every kind of crash."""

from __future__ import annotations

from pathlib import Path

import pytest
from factories import make_candidate, make_pull_request, make_rejection

from pipeline.collect.funnel import Sifted
from pipeline.collect.links import Link
from pipeline.collect.pages import Pages, Place, Seen
from pipeline.collect.sources import Merged
from pipeline.core.errors import UserError
from pipeline.core.records import Evidence, Issue


def seen(number: int, rejected: bool = False) -> Seen:
    pull = make_pull_request(number, title="Ünï \u2028 \x07 \x85 title")
    found = (Evidence(field="title", pattern="aria", text="aria", place=4),)
    links = (Link("#10", 10, "text", "issue"),)
    outcome = make_rejection(number, stage="collect") if rejected else make_candidate(number, title=pull.title)
    return Seen.of(Sifted(Merged(pull, ("src/Menu.tsx",)), outcome, links, (Issue(number=10, title="t"),), found))


@pytest.fixture
def pages(tmp_path: Path) -> Pages:
    return Pages(tmp_path / "pages.jsonl.gz")


def append(pages: Pages, *numbers: int, **state: str) -> Place:
    return pages.append([seen(number).line() for number in numbers], state)


def test_pages_are_read_back_unchanged(pages: Pages) -> None:
    first = pages.append([seen(1).line(), seen(2, rejected=True).line()], {"cursor": "a"})
    second = append(pages, cursor="b")
    one, other = pages.read()
    assert [each for each, _ in one.seen()] == [seen(1), seen(2, rejected=True)]
    assert [line for _, line in one.seen()] == [seen(1).line(), seen(2, rejected=True).line()]
    assert (one.state, one.end, other.state, other.end) == ({"cursor": "a"}, first.end, {"cursor": "b"}, second.end)
    assert [page.state for page in pages.read(first.end)] == [{"cursor": "b"}]


def test_a_page_has_no_schema_version() -> None:
    """So that another version of the records can read it."""
    assert "schema_version" not in seen(1).line()


@pytest.mark.rule("resume")
def test_an_incomplete_page_is_cut_off_at_any_length(pages: Pages) -> None:
    """At every length that a killed process can have written."""
    whole = append(pages, 1, cursor="a")
    content = pages.path.read_bytes()
    append(pages, 2, cursor="b")
    both = pages.path.read_bytes()
    for length in range(len(content), len(both)):
        pages.path.write_bytes(both[:length])
        assert [page.state for page in pages.read()] == [{"cursor": "a"}]
        pages.cut(whole.end)
        assert pages.path.read_bytes() == content


def test_another_file_is_recognized_by_its_place(pages: Pages, tmp_path: Path) -> None:
    place = append(pages, 1)
    assert pages.holds(place) and pages.holds(Place())
    append(pages, 2)
    assert pages.holds(place)
    other = Pages(tmp_path / "other")
    assert other.holds(Place()) and not other.holds(place)
    append(other, 3, 4, 5)
    assert not other.holds(place)


@pytest.mark.rule("bad-input")
def test_a_damaged_file_is_refused(pages: Pages) -> None:
    append(pages, 1)
    content = bytearray(pages.path.read_bytes())
    content[20:40] = b"\xff" * 20
    pages.path.write_bytes(content)
    with pytest.raises(UserError, match=r"pages\.jsonl\.gz: not a page of pull requests"):
        list(pages.read())
