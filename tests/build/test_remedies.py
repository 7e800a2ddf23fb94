"""What each remedy makes of a case, and when it has nothing to change."""

from __future__ import annotations

import json
from typing import Any

import pytest
from factories import make_environment

from pipeline.build.remedies import REMEDIES, Diagnosis, Situation, nearest
from pipeline.core.records import Edit, Environment

FROZEN = ("yarn", "install", "--frozen-lockfile")
THAWED = ("yarn", "install", "--no-frozen-lockfile")
LOCK = """\
# yarn lockfile v1


"icons@https://github.com/acme/icons/tarball/stable":
  version "4.5.0"
  resolved "https://github.com/acme/icons/tarball/stable#f1641de"

rollup@^4.0.0:
  version "4.1.0"
  resolved "https://registry.npm.taobao.org/rollup/download/rollup-4.1.0.tgz#aa"
"""
RELEASES = {"icons": ["4.4.0", "4.5.0", "4.6.0"], "kept": ["1.0.0", "1.2.0", "2.0.0-rc.1", "2.1.0"]}


def remedied(
    remedy: str,
    found: dict[str, str] | None = None,
    manifest: dict[str, Any] | None = None,
    install: tuple[str, ...] = FROZEN,
    **more: Any,
) -> Environment | None:
    """The environment after a remedy, from one of yarn 1 on Node 16."""
    environment = make_environment(node="16.2.0", manager="yarn", manager_version="1.22.22", install=install)
    files = {"package.json": json.dumps(manifest or {}).encode(), "yarn.lock": LOCK.encode()}
    files[".npmrc"] = b"@acme:registry=https://npm.acme.example/\n"
    situation = Situation(files, lambda name: RELEASES.get(name, []))
    return REMEDIES[remedy](Diagnosis(environment, found or {}, more, situation))


def edits(environment: Environment | None) -> tuple[Edit, ...]:
    return environment.edits if environment else ()


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("1.1.0", "1.0.0"),
        ("1.2.0", "1.2.0"),
        ("^1.5.0", "1.2.0"),
        ("0.9.0", ""),
        ("2.0.0", "2.1.0"),
        ("", "2.1.0"),
        ("github:acme/kept#1.0.0", "2.1.0"),
    ],
)
def test_the_nearest_release_is_of_the_same_major(wanted: str, found: str) -> None:
    assert nearest(wanted, RELEASES["kept"]) == found


def test_a_version_that_is_gone_is_substituted_and_the_lock_file_may_change() -> None:
    after = remedied("substitute", {"name": "kept", "old": "1.1.0"})
    assert edits(after) == (Edit(kind="pin", name="kept", old="1.1.0", new="1.0.0"),)
    assert after.install == THAWED


@pytest.mark.parametrize("found", [{"name": "gone", "old": "1.0.0"}, {"name": "kept", "old": "1.0.0"}])
def test_there_is_nothing_to_substitute(found: dict[str, str]) -> None:
    assert remedied("substitute", found) is None


@pytest.mark.parametrize(
    ("table", "dropped"), [("devDependencies", True), ("optionalDependencies", True), ("dependencies", False)]
)
def test_only_what_development_asks_for_is_dropped(table: str, dropped: bool) -> None:
    after = remedied("drop", {"name": "gone"}, {table: {"gone": "1.0.0"}})
    assert edits(after) == ((Edit(kind="drop", name="gone"),) if dropped else ())


def test_what_nobody_asks_for_directly_is_not_dropped() -> None:
    assert remedied("drop", {"name": "gone"}) is None


def test_what_was_locked_at_a_host_that_refuses_comes_from_the_registry() -> None:
    after = remedied("from_registry", {"host": "codeload.github.com"})
    address = "https://github.com/acme/icons/tarball/stable"
    assert edits(after) == (Edit(kind="pin", name="icons", old=address, new="4.5.0"),)


@pytest.mark.parametrize("address", ["acme/tool", "github:acme/tool#v1", "git+ssh://git@github.com/acme/tool.git"])
def test_what_is_asked_for_at_a_host_and_nowhere_else_is_dropped(address: str) -> None:
    after = remedied("from_registry", {"host": "github.com"}, {"devDependencies": {"tool": address}})
    assert Edit(kind="drop", name="tool") in edits(after)


@pytest.mark.parametrize("asked", ["1.0.0", "npm:other@1.0.0", "file:./tool", "workspace:*", "gitlab:acme/tool"])
def test_what_is_asked_for_elsewhere_stays(asked: str) -> None:
    after = remedied("from_registry", {"host": "github.com"}, {"devDependencies": {"tool": asked}})
    assert [edit.name for edit in edits(after)] == ["icons"]


@pytest.mark.parametrize(
    ("host", "there"), [("registry.npm.taobao.org", True), ("npm.acme.example", True), ("github.com", False)]
)
def test_another_registry_is_replaced_where_lock_file_or_settings_name_it(host: str, there: bool) -> None:
    assert edits(remedied("rehost", {"host": host})) == ((Edit(kind="rehost", name=host),) if there else ())


def test_variables_of_tests_are_added_to() -> None:
    after = remedied("test_env", add={"NODE_OPTIONS": "--one"})
    seen = Diagnosis(after, {}, {"add": {"NODE_OPTIONS": "--two"}}, Situation({}, lambda name: []))
    both = REMEDIES["test_env"](seen)
    assert both.test_env == {"NODE_OPTIONS": "--one --two"}
    assert REMEDIES["test_env"](Diagnosis(both, seen.found, seen.more, seen.there)) is None


@pytest.mark.parametrize(
    ("found", "more", "node"),
    [
        ({}, {"step": 1}, "18"),
        ({}, {"step": -1}, "14"),
        ({"node": "20"}, {"step": 1}, "20"),
        ({"node": "17"}, {"step": 1}, "18"),
        ({"node": "16"}, {"step": 1}, None),
        ({"node": "99"}, {"step": 1}, None),
    ],
)
def test_node_is_one_line_away_or_new_enough(found: dict[str, str], more: dict[str, Any], node: str | None) -> None:
    after = remedied("node", found, **more)
    assert (after.node if after else None) == node


def test_a_platforms_package_has_the_version_of_its_parent() -> None:
    after = remedied("platform", {"name": "@rollup/rollup-linux-x64-gnu"})
    assert edits(after) == (Edit(kind="add", name="@rollup/rollup-linux-x64-gnu", new="4.1.0"),)
    assert remedied("platform", {"name": "@swc/core-linux-x64-gnu"}) is None


@pytest.mark.parametrize(("old", "undated"), [("1.2.0", True), ("^1.5.0", True), ("1.2.3", False)])
def test_a_day_is_left_out_where_the_registry_has_the_version(old: str, undated: bool) -> None:
    after = remedied("undated", {"name": "kept", "old": old}, install=(*FROZEN, "--before=2020-01-01"))
    assert (after.install if after else None) == (FROZEN if undated else None)


def test_a_checksum_that_is_not_locked_is_not_replaced() -> None:
    assert remedied("reseal", {"old": "sha512-A", "new": "sha512-B"}) is None
    assert edits(remedied("reseal", {"old": "f1641de", "new": "aa"}))[0].kind == "reseal"


def test_an_option_is_for_one_manager() -> None:
    assert remedied("option", manager="npm", word="--force") is None
    assert remedied("option", manager="yarn", word="--update-checksums").install == (*THAWED, "--update-checksums")
