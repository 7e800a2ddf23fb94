"""Only one exchange of a data directory at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.errors import UserError
from pipeline.core.store import Store
from pipeline.remote.host import Host
from pipeline.remote.pull import exchange, pull
from pipeline.remote.push import push_data


@pytest.mark.rule("locks")
@pytest.mark.parametrize("begin", [pull, push_data])
def test_a_second_exchange_is_refused(tmp_path: Path, begin: Callable[..., Any]) -> None:
    """It took units for finished of which only the manifest had been transferred."""
    store = Store(tmp_path / "data")
    with exchange(store), pytest.raises(UserError, match="another pull or push is under way") as error:
        begin(Host("nowhere.invalid"), store)
    assert "wait for it" in str(error.value.hint)
    with exchange(store):
        pass


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("begin", [pull, push_data])
def test_a_wrong_selection_is_refused_before_anything_is_written(tmp_path: Path, begin: Callable[..., Any]) -> None:
    with pytest.raises(UserError, match="unknown stage 'guess'"):
        begin(Host("nowhere.invalid"), Store(tmp_path / "data"), ["guess"])
    assert not (tmp_path / "data").exists()
