"""Edits of manifests: what an install needs after each, and what stays as it was."""

from __future__ import annotations

import json

import pytest
import yaml

from pipeline.core.records import Edit
from pipeline.ecosystems import edits

MANIFEST = {"name": "x", "dependencies": {"a": "^1.0.0"}, "devDependencies": {"b": "2.0.0", "c": "acme/c"}}
SETTINGS = "nodeLinker: node-modules\n\nplugins:\n  - path: .yarn/plugins/x.cjs\n    spec: x\n\nyarnPath: y\n"


def edited(edit: Edit, files: dict[str, str] | None = None) -> dict[str, str]:
    tree = {"package.json": json.dumps(MANIFEST)} | (files or {})
    after = edits.apply([edit], {path: text.encode() for path, text in tree.items()}, lambda: "https://r/")
    return {path: text.decode() for path, text in after.items()}


def test_without_edits_nothing_changes() -> None:
    files = {"package.json": b'{"odd" : 1}', "yarn.lock": b"\xff"}
    assert edits.apply([], files, lambda: "") == files


def test_a_dropped_package_is_removed_from_all_manifests() -> None:
    after = edited(
        Edit(kind="drop", name="b"), {"packages/ui/package.json": '{"devDependencies": {"b": "1", "d": "1"}}'}
    )
    assert json.loads(after["package.json"])["devDependencies"] == {"c": "acme/c"}
    assert json.loads(after["packages/ui/package.json"])["devDependencies"] == {"d": "1"}


@pytest.mark.parametrize(("name", "old"), [("b", "2.0.0"), ("c", "acme/c")])
def test_a_pinned_package_is_requested_in_its_new_version(name: str, old: str) -> None:
    after = json.loads(edited(Edit(kind="pin", name=name, old=old, new="1.9.0"))["package.json"])
    assert after["devDependencies"][name] == "1.9.0"
    assert "overrides" not in after


@pytest.mark.parametrize(
    ("lock", "table"),
    [({"yarn.lock": ""}, "resolutions"), ({"package-lock.json": "{}"}, "overrides"), ({}, "overrides")],
)
def test_a_package_that_others_require_is_overridden(lock: dict[str, str], table: str) -> None:
    after = json.loads(edited(Edit(kind="pin", name="deep", old="^9.0.0", new="8.0.0"), lock)["package.json"])
    assert after[table] == {"deep": "8.0.0"}


def test_overrides_of_pnpm_are_written_to_both_places_that_it_reads() -> None:
    files = {"pnpm-lock.yaml": "lockfileVersion: '9.0'\n", "pnpm-workspace.yaml": "packages:\n  - a\n"}
    after = edited(Edit(kind="pin", name="@a/deep", old="9.0.0", new="8.0.0"), files)
    assert json.loads(after["package.json"])["pnpm"] == {"overrides": {"@a/deep@9.0.0": "8.0.0"}}
    assert after["pnpm-workspace.yaml"] == "packages:\n  - a\noverrides:\n  '@a/deep@9.0.0': 8.0.0\n"
    again = edits.apply([Edit(kind="pin", name="e", old="1", new="2")], {k: v.encode() for k, v in after.items()}, str)
    assert again["pnpm-workspace.yaml"].decode().endswith("overrides:\n  'e@1': 2\n  '@a/deep@9.0.0': 8.0.0\n")


@pytest.mark.parametrize(
    ("before", "others"),
    [
        ("overrides:\n    foo: 1.0.0\n    bar: 2.0.0\nx: y\n", {"foo": "1.0.0", "bar": "2.0.0"}),
        ("overrides: # why\n  foo: 1.0.0\n", {"foo": "1.0.0"}),
        ("overrides:\n\n  # why\n  foo: 1.0.0", {"foo": "1.0.0"}),
        ("overrides: {}\nx: y\n", {}),
        ("x: y\noverrides: { foo: 1.0.0 } # why\n", {"foo": "1.0.0"}),
        ("overrides: {\n  foo: 1.0.0\n}\n", {"foo": "1.0.0"}),
        ("overrides: null\nx: y\n", {}),
        ("overrides:\nx: y\n", {}),
        ("'overrides':\n  'deep@9.0.0': 7.0.0\n  foo: 1.0.0\n", {"foo": "1.0.0"}),
        ("patchedDependencies:\n  'deep@9.0.0': a.patch\noverrides:\n  foo: 1.0.0\n", {"foo": "1.0.0"}),
    ],
)
def test_overrides_of_pnpm_keep_their_form(before: str, others: dict[str, str]) -> None:
    files = {"pnpm-lock.yaml": "lockfileVersion: '9.0'\n", "pnpm-workspace.yaml": before}
    after = edited(Edit(kind="pin", name="deep", old="9.0.0", new="8.0.0"), files)["pnpm-workspace.yaml"]
    assert yaml.safe_load(after) == yaml.safe_load(before) | {"overrides": {"deep@9.0.0": "8.0.0", **others}}
    assert after.count("deep@9.0.0") == 1 + before.count("a.patch")


@pytest.mark.parametrize("lock", ["package-lock.json", "yarn.lock", "bun.lock", "pnpm-lock.yaml"])
@pytest.mark.parametrize("odd", [None, [], "x"])
def test_tables_of_another_form_are_replaced(lock: str, odd: object) -> None:
    """Such manifests are valid for their managers, and ended the repair."""
    tables = ("overrides", "resolutions", "pnpm", "optionalDependencies")
    tree = {"package.json": json.dumps(dict.fromkeys(tables, odd)), lock: "{}" if lock.endswith("n") else ""}
    pinned = edited(Edit(kind="pin", name="deep", old="9.0.0", new="8.0.0"), tree)["package.json"]
    assert '"8.0.0"' in pinned
    added = edited(Edit(kind="add", name="deep", new="8.0.0"), tree)["package.json"]
    assert json.loads(added)["optionalDependencies"] == {"deep": "8.0.0"}


def test_a_package_that_pnpm_requests_by_address_is_overridden_by_name() -> None:
    files = {"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}
    after = json.loads(
        edited(Edit(kind="pin", name="deep", old="github:acme/deep", new="8.0.0"), files)["package.json"]
    )
    assert after["pnpm"] == {"overrides": {"deep": "8.0.0"}}


def test_overrides_of_pnpm_are_written_beside_its_lock_file() -> None:
    files = {"web/package.json": "{}", "web/pnpm-lock.yaml": "", "web/pnpm-workspace.yaml": "packages:\n  - a\n"}
    after = edited(Edit(kind="pin", name="deep", old="9.0.0", new="8.0.0"), files)
    assert json.loads(after["web/package.json"])["pnpm"] == {"overrides": {"deep@9.0.0": "8.0.0"}}
    assert "'deep@9.0.0': 8.0.0" in after["web/pnpm-workspace.yaml"] and "pnpm-workspace.yaml" not in after


def test_a_package_is_added_to_one_folder() -> None:
    after = edited(Edit(kind="add", name="e", new="1.0.0", folders=("web",)), {"web/package.json": "{}"})
    assert json.loads(after["web/package.json"]) == {"optionalDependencies": {"e": "1.0.0"}}
    assert json.loads(after["package.json"]) == MANIFEST


def test_an_added_package_is_optional() -> None:
    after = json.loads(edited(Edit(kind="add", name="@rollup/rollup-linux-x64-gnu", new="4.1.0"))["package.json"])
    assert after["optionalDependencies"] == {"@rollup/rollup-linux-x64-gnu": "4.1.0"}


def test_another_registry_is_replaced_by_the_machines_registry() -> None:
    files = {
        "yarn.lock": '  resolved "https://old.example.org/npm/a/-/a-1.0.0.tgz#ff"\n',
        ".npmrc": "registry=https://old.example.org/npm/\nx=1\n",
    }
    after = edited(Edit(kind="rehost", name="old.example.org"), files)
    assert after["yarn.lock"] == '  resolved "https://r/a/-/a-1.0.0.tgz#ff"\n'
    assert after[".npmrc"] == "registry=https://r/\nx=1\n"


def test_a_checksum_is_replaced_in_lock_files_only() -> None:
    files = {"package-lock.json": '{"integrity": "sha512-A"}', ".npmrc": "sha512-A"}
    after = edited(Edit(kind="reseal", name="checksum", old="sha512-A", new="sha512-B"), files)
    assert (after["package-lock.json"], after[".npmrc"]) == ('{"integrity": "sha512-B"}', "sha512-A")


@pytest.mark.parametrize(
    ("name", "path", "text", "left"),
    [
        ("plugins", ".yarnrc.yml", SETTINGS, "nodeLinker: node-modules\n\n\nyarnPath: y\n"),
        ("plugins", ".yarnrc.yml", "plugins:\n- path: a\n  spec: b\nnodeLinker: n\n", "nodeLinker: n\n"),
        ("engine-strict", ".npmrc", "a=1\nengine-strict=true\nb=2", "a=1\nb=2"),
        ("minimumReleaseAge", "pnpm-workspace.yaml", "minimumReleaseAge: 99\nminimumReleaseAgeExclude:\n  - a\n",
         "minimumReleaseAgeExclude:\n  - a\n"),
    ],
)  # fmt: skip
def test_a_setting_is_removed_with_its_nested_lines(name: str, path: str, text: str, left: str) -> None:
    assert edited(Edit(kind="unset", name=name), {path: text})[path] == left


def test_unreadable_files_are_not_edited() -> None:
    files = {"package-lock.json": "{", "packages/a/package.json": "[]", "packages/b/package.json": "no"}
    after = edited(Edit(kind="pin", name="b", old="2.0.0", new="1.0.0"), files)
    assert {path: after[path] for path in files} == files


def test_edits_are_applied_in_order() -> None:
    both = [Edit(kind="pin", name="b", old="2.0.0", new="1.0.0"), Edit(kind="pin", name="b", old="1.0.0", new="0.9.0")]
    after = edits.apply(both, {"package.json": json.dumps(MANIFEST).encode()}, str)
    assert json.loads(after["package.json"])["devDependencies"]["b"] == "0.9.0"
