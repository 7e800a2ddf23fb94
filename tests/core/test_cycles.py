"""Working without Python's cyclic garbage collector."""

from __future__ import annotations

import gc

import pytest

from pipeline.core.cycles import no_cycles


def test_the_collector_is_off_during_the_work_and_on_after_an_error() -> None:
    with pytest.raises(KeyError), no_cycles():
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()
