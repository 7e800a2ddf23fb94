"""Vectors that are stored between tasks: the same numbers are read back, whatever else is in the folder."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from magentless.vectors import AT_ONCE, VectorCache, unit


def matrix(*rows: tuple[float, ...]) -> np.ndarray:
    return np.asarray(rows, dtype=np.float32)


@pytest.fixture
def cache(tmp_path: Path) -> VectorCache:
    return VectorCache(tmp_path / "vectors")


def test_what_was_stored_comes_back(cache: VectorCache) -> None:
    made = {"a": matrix((1, 0), (0, 1)), "b": matrix((0.5, 0.5))}
    cache.put(made)
    found = cache.get(["a", "b", "c"])
    assert sorted(found) == ["a", "b"] and all(np.array_equal(found[key], made[key]) for key in made)


def test_another_process_finds_it(cache: VectorCache, tmp_path: Path) -> None:
    cache.put({"a": matrix((1, 0))})
    assert list(VectorCache(tmp_path / "vectors").get(["a"])) == ["a"]


def test_the_last_vectors_of_a_key_count(cache: VectorCache) -> None:
    cache.put({"a": matrix((1, 0))})
    cache.put({"a": matrix((0, 1), (1, 1))})
    assert cache.get(["a"])["a"].shape == (2, 2)


@pytest.mark.parametrize("size", [0, 1, AT_ONCE, AT_ONCE + 1, 2 * AT_ONCE + 3])
def test_any_number_of_keys_can_be_asked_for(cache: VectorCache, size: int) -> None:
    keys = [f"k{number}" for number in range(size)]
    cache.put(dict.fromkeys(keys, matrix((1, 2))))
    assert len(cache.get(iter(keys))) == size


def test_one_fills_while_the_others_wait(cache: VectorCache, tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with VectorCache(tmp_path / "vectors").filling():
            order.append("second")

    waiting = threading.Thread(target=second)
    with cache.filling():
        waiting.start()
        waiting.join(0.2)
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]


@pytest.mark.parametrize(
    ("rows", "lengths"),
    [([(3, 4)], [1.0]), ([(0, 0)], [0.0]), ([(1, 0), (0, 2), (5, 12)], [1.0, 1.0, 1.0])],
)
def test_vectors_have_the_length_one(rows: list[tuple[float, ...]], lengths: list[float]) -> None:
    """The product of two is then their cosine; a zero vector stays zero."""
    assert np.linalg.norm(unit(rows), axis=1).tolist() == pytest.approx(lengths)


def test_numbers_are_of_32_bits() -> None:
    assert unit([(1.0, 2.0)]).dtype == np.float32
