"""Repair with the real npm against a registry on loopback: packages that are gone, and a registry that is only out of
order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from registry_double import Registry
from rotten_library import Rotten
from tiny_library import Bench

from pipeline.core.records import Edit, Instance
from pipeline.sandbox.local.sandbox import LocalSandbox


@pytest.fixture(scope="module")
def registry() -> Iterator[Registry]:
    with Registry(host="127.0.0.1", packages={"kept": "1.0.0"}) as registry, pytest.MonkeyPatch.context() as patch:
        patch.setenv("npm_config_registry", registry.address)
        yield registry


@pytest.fixture(scope="module")
def rotten(tiny: Bench, tmp_path_factory: pytest.TempPathFactory, registry: Registry) -> Rotten:
    """Real repositories depend on packages that are gone, for their stories only. Both pull requests, one after the
    other."""
    folder = tmp_path_factory.mktemp("rotten")
    made = Rotten(folder, LocalSandbox(tiny.cache), devDependencies={"gone": "2.0.0", "kept": "1.0.0"})
    made.build(1)
    made.build(2)
    return made


@pytest.mark.rule("repairs-are-recorded")
def test_a_missing_development_dependency_is_left_out(rotten: Rotten) -> None:
    """The tests do not need it, and the instance records the repair."""
    first, _ = rotten.build(1)
    assert isinstance(first, Instance), first
    assert first.environment.edits == (Edit(kind="drop", name="gone"),)
    assert first.deviations[0].startswith("gone is gone from the registry: gone is left out")
    assert "repaired.1" in rotten.logs(1)


def test_a_later_candidate_starts_with_learned_repairs(rotten: Rotten) -> None:
    learned = [(lesson.fault, lesson.remedy, lesson.found) for lesson in rotten.learned()]
    assert learned == [("version-gone", "drop", {"name": "gone"})]
    first, second = rotten.build(2)
    assert rotten.logs(2) == {"run.1", "test.1", "fix.1", "counter.disguised"}
    assert (second.deviations, second.environment_digest) == (first.deviations, first.environment_digest)


def test_a_repaired_candidate_is_not_built_again(rotten: Rotten, registry: Registry) -> None:
    before = len(registry.asked)
    assert {type(outcome) for outcome in rotten.build()} == {Instance}
    assert len(registry.asked) == before


def test_a_missing_version_is_replaced_by_the_nearest(tiny: Bench, tmp_path: Path, registry: Registry) -> None:
    rotten = Rotten(tmp_path, LocalSandbox(tiny.cache), dependencies={"kept": "1.2.3"})
    (instance,) = rotten.build(1)
    assert isinstance(instance, Instance), instance
    assert instance.environment.edits == (Edit(kind="pin", name="kept", old="1.2.3", new="1.0.0"),)
    tree = tiny.cache / "environments" / instance.environment_digest / "tree"
    assert json.loads((tree / "node_modules/kept/package.json").read_text())["version"] == "1.0.0"


def test_a_dependency_of_the_library_is_never_left_out(tiny: Bench, tmp_path: Path, registry: Registry) -> None:
    rotten = Rotten(tmp_path, LocalSandbox(tiny.cache), dependencies={"gone": "2.0.0"})
    (rejected,) = rotten.build(1)
    assert rejected.reason == "dependency_gone"
    assert "gone" in rejected.detail
    assert (rotten.logs(1), rotten.learned()) == ({"install"}, [])


@pytest.mark.invariant(4)
@pytest.mark.parametrize("status", [429, 503])
def test_a_failing_registry_is_not_repaired(tiny: Bench, tmp_path: Path, registry: Registry, status: int) -> None:
    """Otherwise a registry's bad night would remove packages from half the dataset."""
    rotten = Rotten(tmp_path, LocalSandbox(tiny.cache), devDependencies={"kept": "1.0.0"})
    registry.refusals, registry.for_ever = [status], True
    (outcome,) = rotten.build(1)
    assert outcome.reason == "not_evaluated"
    assert outcome.detail.startswith("registry: ")
    registry.refusals, registry.for_ever = [], False
    (outcome,) = rotten.build(1)
    assert isinstance(outcome, Instance), outcome
    assert (outcome.environment.edits, rotten.learned()) == ((), [])
