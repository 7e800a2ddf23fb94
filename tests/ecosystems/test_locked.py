"""Shared by all readers and writers of lock files: URLs of archives, and JSON of any form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.ecosystems.graph import Ask, Graph, asks, upwards
from pipeline.ecosystems.locked import Locked, archive, edited_json, entries, is_archive

REGISTRY = "https://registry.npmjs.org/"


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("react", f"{REGISTRY}react/-/react-18.0.0.tgz"),
        ("@babel/core", f"{REGISTRY}@babel/core/-/core-18.0.0.tgz"),
    ],
)
def test_archive_addresses_follow_from_name_and_version(name: str, address: str) -> None:
    """The URL has a scoped package's name once with the scope and once without."""
    assert archive(name, "18.0.0", REGISTRY) == address and is_archive(address)


@pytest.mark.parametrize(
    ("address", "archived"),
    [
        ("https://npm.pkg.github.com/download/@acme/ui/1.0.0/abc", True),
        ("https://codeload.github.com/x/b/tar.gz/cc", False),
        ("git+ssh://git@github.com/x/b.git#cc", False),
        ("file:../b", False),
        ("", False),
    ],
)
def test_addresses_of_other_kinds_of_registries_are_read(address: str, archived: bool) -> None:
    assert is_archive(address) is archived


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({"packages": {"a": {"version": "1"}}}, ["a"]),
        ({"packages": {"a": "1", "b": {}}}, ["b"]),
        ({"packages": ["a"]}, []),
        ({"packages": None}, []),
        ({}, []),
        ([], []),
        (None, []),
        ("packages", []),
    ],
)
def test_entries_of_another_form_are_left_out(data: Any, found: list[str]) -> None:
    assert list(entries(data, "packages")) == found


def test_edited_json_keeps_the_managers_format() -> None:
    text = edited_json('{"b":1,"a":{"c":2}}', lambda data: data.update(b=3))
    assert text == '{\n  "b": 3,\n  "a": {\n    "c": 2\n  }\n}\n'


@pytest.mark.parametrize("text", ["", "{", "// comment\n{}", "[" * 100_000])
def test_malformed_json_is_returned_unchanged(text: str) -> None:
    def edit(_: Any) -> None:
        raise AssertionError("there is nothing to edit")

    assert edited_json(text, edit) == text


def test_an_alias_has_the_name_of_its_package() -> None:
    assert Locked("vue-latest", "2.5.16", source="vue").package == "vue" and Locked("vue", "2.5.16").package == "vue"


# -- the graph ---------------------------------------------------------------------------------------------------------
def test_requests_and_requirements_of_manifests_are_read() -> None:
    manifests = {
        "": {"dependencies": {"a": "^1"}, "devDependencies": {"b": "2"}, "optionalDependencies": {"c": "3"}},
        "packages/x": {"dependencies": {"a": "^2", "broken": 3}, "devDependencies": "none"},
    }
    assert list(asks(manifests)) == [
        (Ask("", "dependencies", "a"), "^1"),
        (Ask("", "devDependencies", "b"), "2"),
        (Ask("packages/x", "dependencies", "a"), "^2"),
    ]


@pytest.mark.parametrize(
    ("location", "found"),
    [
        (("a", "b"), ("a", "b", "x")),
        (("a", "c"), ("a", "x")),
        (("a",), ("a", "x")),
        (("d", "e"), ("x",)),
        ((), ("x",)),
    ],
)
def test_a_package_is_found_in_the_nearest_folder_above(location: tuple[str, ...], found: tuple[str, ...]) -> None:
    places = {("a", "b", "x"), ("a", "x"), ("x",)}
    assert upwards(location, "x", places.__contains__) == found
    assert upwards(location, "y", places.__contains__) is None


@pytest.fixture
def graph() -> Graph:
    """The root depends on `app` and `tool`. `app` needs `lib` 1; `tool` needs `mid`, which needs `lib` 2; `a` and `b`
    need each other."""
    packages = {
        "app": Locked("app", "1.0.0"),
        "tool": Locked("tool", "1.0.0"),
        "mid": Locked("mid", "1.0.0"),
        "lib1": Locked("lib", "1.0.0"),
        "lib2": Locked("lib", "2.0.0"),
        "a": Locked("a", "1.0.0"),
        "b": Locked("b", "1.0.0"),
    }
    needs = {"app": ("lib1",), "tool": ("mid",), "mid": ("lib2", "a"), "a": ("b",), "b": ("a",)}
    requested = {Ask("", "dependencies", "app"): ("app",), Ask("", "devDependencies", "tool"): ("tool",)}
    return Graph(packages, needs, requested)


def test_the_packages_that_an_install_fetches_are_listed(graph: Graph) -> None:
    app, tool = graph.requested
    assert [package.name for package in graph.reached([app])] == ["app", "lib"]
    assert {(package.name, package.version) for package in graph.reached([tool])} == {
        ("tool", "1.0.0"),
        ("mid", "1.0.0"),
        ("lib", "2.0.0"),
        ("a", "1.0.0"),
        ("b", "1.0.0"),
    }
    assert graph.reached([]) == []


@pytest.mark.parametrize(
    ("name", "version", "chains"),
    [
        ("lib", "1.0.0", {"app": ("app", "lib")}),
        ("lib", "2.0.0", {"tool": ("tool", "mid", "lib")}),
        ("lib", "", {"app": ("app", "lib"), "tool": ("tool", "mid", "lib")}),
        ("b", "", {"tool": ("tool", "mid", "a", "b")}),
        ("app", "", {"app": ("app",)}),
        ("lib", "9.0.0", {}),
        ("nobody", "", {}),
    ],
)
def test_the_chain_that_requires_a_package_is_found(
    graph: Graph, name: str, version: str, chains: dict[str, tuple[str, ...]]
) -> None:
    """Packages that need each other do not cause an endless loop."""
    assert {ask.name: path for ask, path in graph.chains(name, version).items()} == chains


def test_a_request_that_nothing_fulfils_leads_nowhere() -> None:
    ask = Ask("", "dependencies", "gone")
    graph = Graph({}, {"a": ("gone",)}, {ask: ("gone",)})
    assert graph.reached([ask]) == [] and graph.chains("gone") == {}


def test_entries_survive_json() -> None:
    assert entries(json.loads('{"dependencies": {"a": {}}}'), "dependencies") == {"a": {}}
