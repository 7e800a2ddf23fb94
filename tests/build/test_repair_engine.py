"""Repair in a real container engine, with the real registry: a development dependency with a version that never
existed."""

from __future__ import annotations

from pathlib import Path

import pytest
from rotten_library import Rotten

from pipeline.core.cache import cache_root
from pipeline.core.records import Edit, Instance
from pipeline.sandbox.docker.sandbox import DockerSandbox

pytestmark = pytest.mark.engine


@pytest.mark.rule("repairs-are-recorded")
def test_a_library_with_missing_dependencies_qualifies(tmp_path: Path) -> None:
    rotten = Rotten(tmp_path, DockerSandbox(cache_root()), devDependencies={"is-number": "999.0.0"})
    (instance,) = rotten.build(1)
    assert isinstance(instance, Instance), instance
    assert instance.environment.edits == (Edit(kind="drop", name="is-number"),)
    assert instance.deviations[0].startswith("is-number 999.0.0 is gone from the registry: is-number is left out")
