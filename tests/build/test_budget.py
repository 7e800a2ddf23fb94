"""The disk budget of a build: what is removed first, and what stays. Every layer takes one byte in the scripted
sandbox."""

from __future__ import annotations

from pathlib import Path

import factories
import pytest

from pipeline.build.budget import Budget
from pipeline.build.layers import least_useful, standing
from pipeline.ecosystems.installation import installation
from pipeline.sandbox.images import Kept
from pipeline.sandbox.scripted import ScriptedSandbox


@pytest.fixture
def sandbox(tmp_path: Path) -> ScriptedSandbox:
    """Two environments with two instances each."""
    made = ScriptedSandbox(tmp_path)
    for environment in ("old", "new"):
        made.images.environment(installation(factories.make_environment()), environment, tmp_path, print)
        for number in (1, 2):
            made.images.instance(environment, f"{environment}-{number}", tmp_path)
    return made


def left(sandbox: ScriptedSandbox) -> set[str]:
    return {layer.digest for layer in sandbox.images.kept()}


def kept_within(sandbox: ScriptedSandbox, limit: int | None, held: dict[str, tuple[str, ...]]) -> set[str]:
    budget = Budget(sandbox, limit, free=0)
    for unit, digests in held.items():
        budget.hold(unit, *digests)
    budget.keep()
    assert budget.used == len(left(sandbox))
    return left(sandbox)


def test_with_enough_space_nothing_is_removed(sandbox: ScriptedSandbox) -> None:
    assert len(kept_within(sandbox, 6, {})) == 6
    assert len(kept_within(sandbox, None, {})) == 6, "by default there is room for what is there"


def test_instances_are_removed_before_environments_and_only_as_needed(sandbox: ScriptedSandbox) -> None:
    assert kept_within(sandbox, 4, {}) == {"old", "new", "new-1", "new-2"}
    assert kept_within(sandbox, 1, {}) == {"new"}


def test_a_limit_beyond_the_disk_is_lowered(sandbox: ScriptedSandbox, capsys: pytest.CaptureFixture[str]) -> None:
    """A build with a limit of 60 GB filled an engine's disk that had 40 GB."""
    budget = Budget(sandbox, 60, free=10)
    assert budget.keep() == "6 B of 15 B"
    assert "no room for more: the limit of the layers is 15 B" in capsys.readouterr().err
    assert Budget(sandbox, 15, free=10).keep() == "6 B of 15 B"
    assert "no room" not in capsys.readouterr().err


def test_layers_that_a_unit_uses_or_waits_for_are_kept(sandbox: ScriptedSandbox) -> None:
    """An environment with instances still to come would have to be made again, which takes minutes."""
    assert kept_within(sandbox, 0, {"under way": ("new", "new-2"), "waiting": ("old",)}) == {"new", "new-2", "old"}


def test_layers_below_a_kept_layer_are_kept(sandbox: ScriptedSandbox) -> None:
    assert kept_within(sandbox, 0, {"under way": ("new-2",)}) == {"new", "new-2"}


def test_an_open_layer_is_kept_whoever_opened_it(sandbox: ScriptedSandbox) -> None:
    """Another process may evaluate an instance that this build has finished."""
    with sandbox.open("old-1"):
        assert kept_within(sandbox, 0, {}) == {"old", "old-1"}
    assert kept_within(sandbox, 0, {}) == set()


def test_a_finished_unit_releases_its_layers(sandbox: ScriptedSandbox) -> None:
    budget = Budget(sandbox, 5, free=0, fresh=0)
    budget.hold("unit", "old", "old-1")
    budget.keep()
    assert left(sandbox) == {"old", "old-1", "new", "new-1", "new-2"} - {"old-2"}
    budget.release("unit")
    budget.limit = 3
    budget.keep()
    assert left(sandbox) == {"old", "new", "new-2"}


def test_disk_space_is_measured_only_occasionally(sandbox: ScriptedSandbox) -> None:
    budget = Budget(sandbox, 6, free=0)
    assert budget.keep() == "6 B of 6 B"
    sandbox.images.instance("new", "new-3", Path())
    assert budget.keep() == "6 B of 6 B" and len(left(sandbox)) == 7


def test_a_layer_that_is_added_later_is_kept_for_waiting_units(sandbox: ScriptedSandbox) -> None:
    """A repair may lead to another environment than the inferred one."""
    budget = Budget(sandbox, 0, free=0)
    for unit in ("waiting", "done"):
        budget.hold(unit, "old")
    budget.release("done")
    budget.add(["waiting", "done"], "new")
    budget.release("done")
    budget.keep()
    assert left(sandbox) == {"old", "new"}


# -- the order -------------------------------------------------------------------------------------------------------
KEPT = [
    Kept("tools", "node", "", 1, "", 1),
    Kept("tools", "npm", "", 1, "node", 2),
    Kept("environment", "env", "e", 1, "npm", 3),
    Kept("instance", "young", "i", 1, "env", 5),
    Kept("instance", "old", "j", 1, "env", 4),
    Kept("cache", "cache", "j", 1, "", 4.5),
    Kept("container", "container", "j", 1, "old", 6),
    Kept("leftover", "untagged", "", 1, "env", 7),
]


def test_layers_are_removed_before_those_below_them() -> None:
    order = [layer.name for layer in least_useful(KEPT, ["container"])]
    assert order == ["untagged", "old", "young", "cache", "env", "npm", "node"]


def test_a_container_keeps_all_layers_below_it() -> None:
    assert set(standing(KEPT, lambda one: False)) == {"container", "old", "env", "npm", "node"}
