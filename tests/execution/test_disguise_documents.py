"""The disguise on documents of real libraries, as old and as new as those of real repositories.

Runners differ in how they load such a library; `lamp.toml` tries the newest versions with the runners themselves.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from disguise import said

pytestmark = [pytest.mark.engine("npm"), pytest.mark.rule("test-aware")]

LIBRARIES = ("jsdom@11.12.0", "jsdom@16.7.0", "jsdom@20.0.3", "jsdom@26.1.0", "happy-dom@15.11.7")
#: gives a page its document as Mocha's users do: by copying the window's names to the global object
PAGE = """
const { JSDOM, Window } = require("LIBRARY");
const options = { pretendToBeVisual: true, url: "http://localhost/" };
const window = Window ? new Window(options) : new JSDOM("<!DOCTYPE html><body></body>", options).window;
for (const name of Object.getOwnPropertyNames(window))
  if (!name.startsWith("_") && !(name in globalThis)) globalThis[name] = window[name];
Object.assign(globalThis, { window, document: window.document, Event: window.Event, MouseEvent: window.MouseEvent });
document.body.appendChild(document.createElement("main")).id = "main";
"""
SOURCES = tomllib.loads(Path(__file__).with_name("documents.toml").read_text())


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`installed(package)`: the folder of packages with this one, installed once."""
    found: dict[str, Path] = {}

    def install(package: str) -> Path:
        if package not in found:
            folder = tmp_path_factory.mktemp("library")
            words = ("npm", "install", "--prefix", ".", "--no-audit", "--no-fund", "--ignore-scripts", package)
            subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=300)
            found[package] = folder / "node_modules"
        return found[package]

    return install


@pytest.fixture(params=LIBRARIES)
def page(request: pytest.FixtureRequest, installed: Callable[[str], Path], begin: Path) -> str:
    """A page whose document is made by a library."""
    place = begin.parents[2] / "repo" / "node_modules"
    shutil.copytree(installed(request.param), place, dirs_exist_ok=True, symlinks=True)
    return PAGE.replace("LIBRARY", request.param.partition("@")[0])


def each(sources: Mapping[str, str]) -> str:
    """A source that runs each of these on an element of its own, and returns what they return."""
    made = "const element = document.createElement('div');"
    return f"return {{ {', '.join(f'{name}: (() => {{ {made} {one} }})()' for name, one in sources.items())} }};"


def test_documents_work_as_without_the_disguise(begin: Path, page: str) -> None:
    """An older jsdom asks for its own symbol by a function that the disguise replaces: each method of each element once
    failed, and only an instance of 2020 showed it."""
    source = each({name: SOURCES["fill"] + does for name, does in SOURCES["does"].items()})
    test = "console.log(JSON.stringify(told));"
    honest = said(begin, source, test, page=page, disguised=False)
    assert json.loads(honest).keys() == SOURCES["does"].keys()
    assert json.loads(said(begin, source, test, page=page)) == json.loads(honest)


def test_tests_read_what_elements_hold(begin: Path, page: str) -> None:
    fill = "element.title = 'true'; element.textContent = 'text';"
    source = each({name: f"{fill} {lie} return element;" for name, lie in SOURCES["lies"].items()})
    test = """console.log(JSON.stringify(Object.values(told).map((element) =>
        [element.getAttribute("title"), element.textContent, element.matches("li")])));"""
    assert json.loads(said(begin, source, test, page=page)) == [["true", "text", False]] * len(SOURCES["lies"])
    assert all("lie" in read for read in json.loads(said(begin, source, test, page=page, disguised=False)))


def test_sources_find_no_symbols_of_the_library(begin: Path, page: str) -> None:
    """Each class of element may have symbols of its own."""
    source = """
        const keysOf = (one) => [...Reflect.ownKeys(one), ...Object.getOwnPropertySymbols(one)];
        const elements = ["b", "button", "input"].map((name) => document.createElement(name));
        return elements.map((one) => keysOf(one).filter((key) => typeof key === "symbol").length);
    """
    assert said(begin, source, page=page) == "0,0,0"
    assert said(begin, source, page=page, disguised=False) != "0,0,0"
