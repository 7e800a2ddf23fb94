"""Texts split into pieces that an embedding model accepts."""

from __future__ import annotations

import pytest
from magentless.chunks import chunks

TEXT = "".join(f"{number:03}\n" for number in range(100))


def test_a_short_text_stays_whole_and_an_empty_one_has_no_chunk():
    assert chunks(TEXT, 400, 40, len) == [TEXT]
    assert chunks(" \n", 400, 40, len) == []


@pytest.mark.parametrize(("most", "overlap", "pieces"), [(230, 20, 2), (150, 16, 3), (40, 8, 13)])
def test_chunks_are_even_overlap_and_lose_no_line(most, overlap, pieces):
    found = chunks(TEXT, most, overlap, len)
    assert len(found) == pieces and max(map(len, found)) <= most
    assert max(map(len, found)) - min(map(len, found[:-1])) <= overlap + 4
    lines = [piece.splitlines() for piece in found]
    assert all(set(one) & set(other) for one, other in zip(lines, lines[1:], strict=False))
    assert list(dict.fromkeys(line for piece in lines for line in piece)) == TEXT.splitlines()


def test_a_line_that_is_too_long_is_cut_inside():
    found = chunks("x" * 1000 + "\nlast", 100, 10, len)
    assert max(map(len, found)) <= 100 and found[-1].endswith("last")


def test_a_limit_smaller_than_the_overlap_ends():
    assert len(chunks(TEXT, 4, 100, len)) >= 100
