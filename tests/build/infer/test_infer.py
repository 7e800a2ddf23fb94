"""The whole environment: evidence for every field, overrides that later steps follow, and odd files that break
nothing."""

from __future__ import annotations

from typing import Any

import pytest
from trees import LOCK, of, read, tree

from pipeline.build.infer import Unsupported


def test_every_field_has_its_evidence() -> None:
    found = read(tree({"jest.config.js": ""}))
    fields = found.model_dump(exclude={"evidence"})
    assert set(found.evidence) == {field for field, value in fields.items() if value not in ((), {})}
    assert all(found.evidence.values())


def test_the_same_files_give_the_same_environment() -> None:
    """Candidates with the same lock file share it: the evidence names no day and no commit."""
    days = {read(tree(), date=day).model_dump_json() for day in ("2024-05-06T01:02:03Z", "2024-09-30T00:00:00Z")}
    assert len(days) == 1


@pytest.mark.parametrize(
    ("fixed", "expected"),
    [
        ({"node": "10"}, {"node": "10"}),
        ({"runner": "vitest"}, {"runner": "vitest", "parser": "vitest-json"}),
        ({"folder": "packages/ui"}, {"folder": "packages/ui", "runner": "mocha"}),
        ({"manager_version": "6"}, {"manager_version": "6", "manager": "npm"}),
        ({"test": ("make", "test"), "parser": "jest-text"}, {"test": ("make", "test"), "parser": "jest-text"}),
    ],
)
def test_fixed_fields_are_kept_and_the_others_follow(fixed: dict[str, Any], expected: dict[str, Any]) -> None:
    made = tree({"packages/ui/package.json": '{"devDependencies": {"mocha": "^10"}}'})
    found = read(made, **fixed)
    assert {name: getattr(found, name) for name in expected} == expected
    assert all(found.evidence[name] == "a test" for name in fixed)


def test_a_fixed_runner_need_not_be_a_dependency() -> None:
    assert read(tree(devDependencies={}), runner="jest").test[:3] == ("node", "{entry}", "--json")
    with pytest.raises(Unsupported, match="no known runner: tape"):
        read(tree(), runner="tape")


@pytest.mark.invariant(7)
@pytest.mark.parametrize("text", ["{", "[]", '"a"', "\x00"])
def test_an_unreadable_package_json_is_refused(text: str) -> None:
    """An unreadable tree leads to a rejection, not to a crash of the batch."""
    with pytest.raises(Unsupported) as error:
        read(of({"package.json": text} | LOCK))
    assert error.value.reason == "environment_failed"


@pytest.mark.invariant(7)
@pytest.mark.parametrize(
    "manifest",
    [
        {"engines": ["node >= 8"]},
        {"engines": None},
        {"engines": {"node": 18}},
        {"volta": None},
        {"scripts": None},
        {"scripts": {"test": None}},
        {"packageManager": None},
        {"devEngines": {"packageManager": [1]}},
        {"dependencies": []},
        {"workspaces": 1},
        {"jest": []},
    ],
)
def test_odd_manifests_are_read(manifest: dict[str, Any]) -> None:
    """Old repositories have fields in forms that npm accepted: these are ignored and break nothing."""
    assert read(tree(**manifest)).runner == "jest"
