"""Workspaces: which folders are packages of the repository."""

from __future__ import annotations

import pytest
from trees import of, package

from pipeline.build.infer import workspaces


@pytest.mark.parametrize(
    ("files", "folders"),
    [
        ({"package.json": package(workspaces=["packages/*"])}, ["packages/a"]),
        ({"package.json": package(workspaces={"packages": ["./packages/*/"]})}, ["packages/a"]),
        ({"package.json": package(workspaces=["packages/**"])}, ["packages/a", "packages/a/b"]),
        ({"package.json": package(workspaces=["packages/*/*", "apps/web"])}, ["packages/a/b", "apps/web"]),
        ({"package.json": package(workspaces=["packages/*", "!packages/a"])}, []),
        ({"package.json": package(workspaces=["{packages,libs}/*", "apps/!(docs)"])}, ["packages/a", "apps/web"]),
        ({"package.json": package(workspaces=["packages/a/**"])}, ["packages/a", "packages/a/b"]),
        ({"package.json": "{}", "pnpm-workspace.yaml": "packages:\n  - 'apps/*'\n"}, ["apps/web"]),
        ({"package.json": "{}", "lerna.json": '{"packages": ["packages/*"]}'}, ["packages/a"]),
        ({"package.json": package(workspaces=None), "lerna.json": "{", "pnpm-workspace.yaml": "- a"}, []),
        ({"package.json": package(workspaces=[1, {}])}, []),
    ],
)
def test_the_packages_of_a_workspace_are_found(files: dict[str, str], folders: list[str]) -> None:
    made = of(files)
    named = workspaces.patterns(made, made.root())
    places = ("packages/a", "packages/a/b", "apps/web", "docs")
    assert [folder for folder in places if workspaces.member(folder, named)] == folders
    assert workspaces.member("", named)
