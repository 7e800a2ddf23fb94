"""The settings of dask.distributed that scheduler and workers use."""

from __future__ import annotations

import pytest

from pipeline.workers.scheduler import SETTINGS, settings


def test_settings_of_the_environment_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings() == SETTINGS
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL", "5s")
    assert SETTINGS.keys() - settings().keys() == {"distributed.scheduler.worker-ttl"}
