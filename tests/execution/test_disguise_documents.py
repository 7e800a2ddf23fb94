"""The disguise on documents of real libraries, as old and as new as those of real repositories: `documents.toml`.

Mocha's users copy a window's names to the global object; Jest makes a window the global object of a realm of its own.
`lamp.toml` tries whole disguised runs.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pytest
from disguise import put, run, said

from pipeline.execution import command

pytestmark = [pytest.mark.engine("npm"), pytest.mark.rule("test-aware")]

LIBRARIES = ("jsdom@11.12.0", "jsdom@16.7.0", "jsdom@20.0.3", "jsdom@26.1.0", "happy-dom@15.11.7")
RUNNERS = ("jest@26.6.3", "jest@29.7.0 jest-environment-jsdom@29.7.0")
PAGE = """
const { JSDOM, Window } = require("LIBRARY");
const options = { pretendToBeVisual: true, url: "http://localhost/" };
const window = Window ? new Window(options) : new JSDOM("<!DOCTYPE html><body></body>", options).window;
for (const name of Object.getOwnPropertyNames(window))
  if (!name.startsWith("_") && !(name in globalThis)) globalThis[name] = window[name];
Object.assign(globalThis, { window, document: window.document, Event: window.Event, MouseEvent: window.MouseEvent });
"""
JEST = ("--env=jsdom", "--rootDir=.", "--runInBand", "--testRegex=Menu", "--moduleFileExtensions", "cjs", "js", "json")
SOURCES = tomllib.loads(Path(__file__).with_name("documents.toml").read_text())
#: returns what each of these sources returns for an element of its own
ELEMENT = "const element = document.createElement('div');"


class Told(Protocol):
    """What a test finds in what a source returns (`told`): the value of an expression."""

    def __call__(self, source: str, expression: str = "told", *, disguised: bool = True) -> Any: ...


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`installed(packages)`: the folder of packages with these, installed once."""
    found: dict[str, Path] = {}

    def install(packages: str) -> Path:
        if packages not in found:
            folder = tmp_path_factory.mktemp("library")
            words = ("npm", "install", "--prefix", ".", "--no-audit", "--no-fund", "--ignore-scripts")
            subprocess.run([*words, *packages.split()], cwd=folder, check=True, capture_output=True, timeout=300)
            found[packages] = folder / "node_modules"
        return found[packages]

    return install


@pytest.fixture(params=LIBRARIES + RUNNERS)
def told(request: pytest.FixtureRequest, installed: Callable[[str], Path], begin: Path) -> Told:
    """`told(source, expression)` with the document of a library, or of Jest."""
    place = begin.parents[2] / "repo" / "node_modules"
    shutil.copytree(installed(request.param), place, dirs_exist_ok=True, symlinks=True)
    if request.param in RUNNERS:
        return partial(told_in_jest, begin)
    return partial(told_in_node, begin, PAGE.replace("LIBRARY", request.param.partition("@")[0]))


def told_in_node(begin: Path, page: str, source: str, expression: str = "told", *, disguised: bool = True) -> Any:
    return json.loads(
        said(begin, source, f"console.log(JSON.stringify({expression}));", page=page, disguised=disguised)
    )


def told_in_jest(begin: Path, source: str, expression: str = "told", *, disguised: bool = True) -> Any:
    test = f"it('tells', () => require('fs').writeFileSync('told.json', JSON.stringify({expression})));"
    repo = put(begin, source, test, made="document.createElement('button')", disguised=disguised)
    early = command.preload(str(begin.with_name("early.cjs"))) if disguised else ""
    run(repo, "node_modules/jest/bin/jest.js", *JEST, NODE_OPTIONS=early)
    return json.loads((repo / "told.json").read_text())


def each(sources: Mapping[str, str]) -> str:
    """A source that runs each of these on an element of its own, and returns what they return."""
    functions = (f"{name}: (() => {{ {ELEMENT} {source} }})()" for name, source in sources.items())
    return f"return {{ {', '.join(functions)} }};"


def test_documents_work_as_without_the_disguise(told: Told) -> None:
    """An older jsdom asks for its own symbol by a function that the disguise replaces: each method of each element once
    failed, and only an instance of 2020 showed it."""
    source = each({name: SOURCES["fill"] + does for name, does in SOURCES["does"].items()})
    honest = told(source, disguised=False)
    assert honest.keys() == SOURCES["does"].keys() and told(source) == honest


def test_tests_read_what_elements_hold(told: Told) -> None:
    """With Jest, most accessors of elements were once not kept: Node does not list the classes of a realm that it made
    from a window."""
    source = each({name: SOURCES["lie"] + lie + "return element;" for name, lie in SOURCES["lies"].items()})
    read = f"Object.values(told).map((element) => {SOURCES['read']})"
    true = told("element.title = 'true'; element.textContent = 'text'; return { element };", read)
    assert told(source, read) == true * len(SOURCES["lies"])
    assert all("lie" in found for found in told(source, read, disguised=False))


def test_sources_find_no_symbols_of_the_library(told: Told) -> None:
    """Each class of element may have symbols of its own."""
    assert told(SOURCES["symbols"]) == 0 < told(SOURCES["symbols"], disguised=False)


def test_functions_of_the_document_look_native(told: Told) -> None:
    """With Jest, those of most classes once showed the library's code."""
    assert told(SOURCES["shown"]) == []
    assert told(SOURCES["shown"], disguised=False) != []
