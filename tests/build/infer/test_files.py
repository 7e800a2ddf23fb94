"""Workspaces and lock files: which folders are packages, and which version is locked."""

from __future__ import annotations

from typing import Any

import pytest
from trees import BERRY, YARN_1, of, package

from pipeline.build.infer import locked, workspaces

PNPM_9 = "lockfileVersion: '9.0'\nimporters:\n  .:\n    devDependencies:\n      jest:\n        specifier: ^29\n        version: 29.7.0(x)\n"  # noqa: E501


@pytest.mark.parametrize(
    ("files", "folders"),
    [
        ({"package.json": package(workspaces=["packages/*"])}, ["packages/a"]),
        ({"package.json": package(workspaces={"packages": ["./packages/*/"]})}, ["packages/a"]),
        ({"package.json": package(workspaces=["packages/**"])}, ["packages/a", "packages/a/b"]),
        ({"package.json": package(workspaces=["packages/*/*", "apps/web"])}, ["packages/a/b", "apps/web"]),
        ({"package.json": package(workspaces=["packages/*", "!packages/a"])}, []),
        ({"package.json": "{}", "pnpm-workspace.yaml": "packages:\n  - 'apps/*'\n"}, ["apps/web"]),
        ({"package.json": "{}", "lerna.json": '{"packages": ["packages/*"]}'}, ["packages/a"]),
        ({"package.json": package(workspaces=None), "lerna.json": "{", "pnpm-workspace.yaml": "- a"}, []),
        ({"package.json": package(workspaces=[1, {}])}, []),
    ],
)
def test_the_packages_of_a_repository(files: dict[str, str], folders: list[str]) -> None:
    made = of(files)
    named = workspaces.patterns(made, made.root())
    places = ("packages/a", "packages/a/b", "apps/web", "docs")
    assert [folder for folder in places if workspaces.member(folder, named)] == folders
    assert workspaces.member("", named)


@pytest.mark.parametrize(
    ("path", "text", "version"),
    [
        ("yarn.lock", f'{YARN_1}\njest@^26.0.0, jest@^26.4.0:\n  version "26.6.3"\n', "26.6.3"),
        ("yarn.lock", f'{YARN_1}\n"jest@^25":\n  version "25.5.4"\n\njest@^26.4.0:\n  version "26.6.3"\n', "26.6.3"),
        ("yarn.lock", f'{YARN_1}\njest@^25.3.0:\n  version "25.5.4"\n', "25.5.4"),
        ("yarn.lock", f'{YARN_1}\njest-cli@^26.4.0:\n  version "26.6.3"\n', ""),
        ("yarn.lock", BERRY.format(8, 10) + '\n"jest@npm:^26.4.0":\n  version: 26.6.3\n', "26.6.3"),
        ("pnpm-lock.yaml", PNPM_9, "29.7.0"),
        ("pnpm-lock.yaml", "lockfileVersion: 5.4\n\ndevDependencies:\n  jest: 27.5.1_ts-node@10.0.0\n", "27.5.1"),
        ("pnpm-lock.yaml", "lockfileVersion: 5.4\n\npackages:\n\n  /jest/27.5.1:\n    resolution: {}\n", "27.5.1"),
        ("pnpm-lock.yaml", "lockfileVersion: '9.0'\n\npackages:\n\n  jest@29.1.2:\n    resolution: {}\n", "29.1.2"),
        ("package-lock.json", package(packages={"node_modules/jest": {"version": "29.7.0"}}), "29.7.0"),
        ("package-lock.json", package(dependencies={"jest": {"version": "24.9.0"}}), "24.9.0"),
        ("package-lock.json", "[]", ""),
        ("package-lock.json", "{", ""),
    ],
)  # fmt: skip
def test_the_locked_version(path: str, text: str, version: str) -> None:
    found: Any = locked.find(of({path: text}), "jest", "^26.4.0")
    assert (found.value if found else "") == version
