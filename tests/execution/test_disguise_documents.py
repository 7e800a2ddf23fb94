"""The disguise on documents of real libraries, as old and as new as those of real repositories: `documents.toml`.

Mocha's users copy some of a window's names to the global object. Jest makes a window the global object of its own
realm. `lamp.toml` tries whole disguised runs.
"""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from disguise import prepare, put, run, said

from pipeline.execution import command

pytestmark = [pytest.mark.engine("npm"), pytest.mark.rule("test-aware")]

LIBRARIES = ("jsdom@11.12.0", "jsdom@16.7.0", "jsdom@20.0.3", "jsdom@26.1.0", "happy-dom@15.11.7")
RUNNERS = (
    "jest@26.6.3",
    "jest@29.7.0 jest-environment-jsdom@29.7.0",
    "jest@30.5.2 jest-environment-jsdom@30.5.2",
)
PAGE = """
const { JSDOM, Window } = require("LIBRARY");
const options = { pretendToBeVisual: true, url: "ADDRESS" };
const window = Window ? new Window(options) : new JSDOM("<!DOCTYPE html><body></body>", options).window;
const { document, Element, getComputedStyle, MouseEvent, Node } = window;
Object.assign(globalThis, { window, document, Element, getComputedStyle, MouseEvent, Node });
"""
JEST = ("--env=jsdom", "--rootDir=.", "--runInBand", "--testRegex=Menu", "--moduleFileExtensions", "cjs", "js", "json")
SOURCES = tomllib.loads(Path(__file__).with_name("documents.toml").read_text())


def each(sources: Mapping[str, str], before: str = "", after: str = "") -> str:
    """An expression: what each of these sources returns for an element of its own."""
    start = "const element = document.createElement('div');" + before
    functions = (f"{name}: (() => {{ {start} {source} {after} }})()" for name, source in sources.items())
    return f"{{ {', '.join(functions)} }}"


#: what a source returns, and how a test reads it
SOURCE = f"""return {{
    does: {each(SOURCES["does"], SOURCES["fill"])},
    found: {each(SOURCES["finds"])},
    honest: {each({"element": ""}, SOURCES["lie"], "return element;")},
    lies: {each(SOURCES["lies"], SOURCES["lie"], "return element;")},
}};"""
READ = f"""JSON.stringify(Object.assign({{}}, told, ...["honest", "lies"].map((kind) => (
    {{ [kind]: Object.values(told[kind]).map((element) => {SOURCES["read"]}) }}))))"""


class Seen(NamedTuple):
    """What a test has read, with the disguise and without; `library` is the document's, installed beside `begin`."""

    begin: Path
    library: str
    disguised: dict[str, Any]
    plain: dict[str, Any]


@pytest.fixture(params=LIBRARIES + RUNNERS, scope="session")
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """What a test reads with the document of a library, or of Jest."""
    begin = prepare(tmp_path_factory.mktemp("documents"))
    packages = request.param.split()
    words = ("npm", "install", "--prefix", ".", "--no-audit", "--no-fund", "--ignore-scripts", *packages)
    subprocess.run(words, cwd=begin.parents[2] / "repo", check=True, capture_output=True, timeout=300)
    if request.param in RUNNERS:
        return Seen(begin, request.param, in_jest(begin, disguised=True), in_jest(begin, disguised=False))
    page = page_of(request.param, "http://localhost/")
    test = f"console.log({READ});"
    return Seen(
        begin,
        request.param,
        json.loads(said(begin, SOURCE, test, page=page)),
        json.loads(said(begin, SOURCE, test, page=page, disguised=False)),
    )


def page_of(library: str, address: str) -> str:
    return PAGE.replace("LIBRARY", library.partition("@")[0]).replace("ADDRESS", address)


def in_jest(begin: Path, *, disguised: bool) -> dict[str, Any]:
    test = f"it('tells', () => require('fs').writeFileSync('told.json', {READ}));"
    repo = put(begin, SOURCE, test, made="null", disguised=disguised)
    early = command.preload(str(begin.with_name("early.cjs"))) if disguised else ""
    run(repo, "node_modules/jest/bin/jest.js", *JEST, NODE_OPTIONS=early)
    told: dict[str, Any] = json.loads((repo / "told.json").read_text())
    return told


def test_documents_work_as_without_the_disguise(seen: Seen) -> None:
    """An older jsdom asks for its own symbol by a function that the disguise replaces: each method of each element once
    failed, and only an instance of 2020 showed it."""
    assert seen.plain["does"].keys() == SOURCES["does"].keys()
    assert seen.disguised["does"] == seen.plain["does"]


def test_tests_read_what_elements_hold(seen: Seen) -> None:
    """With Jest, most accessors of elements were once not kept: Node does not list the classes of a realm that it made
    from a window."""
    assert seen.disguised["honest"] == [["true", "true", "text", False, False]]
    assert seen.disguised["lies"] == seen.disguised["honest"] * len(SOURCES["lies"])
    assert all("lie" in read for read in seen.plain["lies"])


def test_lists_of_classes_keep_their_methods(seen: Seen) -> None:
    """Those of happy-dom give each list methods of its own, which a source can replace."""
    assert seen.disguised["found"]["listed"] == ("lie" if "happy-dom" in seen.library else False)
    assert seen.plain["found"]["listed"] == "lie"


def test_sources_find_no_symbols_of_the_library(seen: Seen) -> None:
    """Each class of element may have symbols of its own."""
    assert seen.disguised["found"]["symbols"] == 0 < seen.plain["found"]["symbols"]


def test_functions_of_the_document_look_native(seen: Seen) -> None:
    """With Jest, those of most classes once showed the library's code."""
    assert seen.disguised["found"]["shown"] == [] != seen.plain["found"]["shown"]


def test_events_have_a_window_and_media_queries_match(seen: Seen) -> None:
    """Also events whose `view` a library has defined, as user-event does."""
    assert seen.disguised["found"]["missing"] == [] != seen.plain["found"]["missing"]


def test_pages_are_at_a_site(seen: Seen) -> None:
    """A document's address is otherwise that of this machine, as with no page that people see."""
    site = "https://www.lamps.com"
    before, now, *others = seen.disguised["found"]["address"]
    assert (before, now) == (f"{site}/", f"{site}/menu")
    assert {other.replace("/shop", "").replace("/menu", "") for other in others} == {site}
    assert all(told.startswith("http://localhost") for told in seen.plain["found"]["address"])


@pytest.mark.parametrize("seen", LIBRARIES, indirect=True)
def test_a_page_without_an_address_is_at_a_site(seen: Seen) -> None:
    """Documents that a test makes itself usually have none."""
    page, source = page_of(seen.library, "about:blank"), f"return JSON.stringify({each(SOURCES['finds'])}.address);"
    before, now, *_ = json.loads(said(seen.begin, source, page=page))
    assert (before, now) == ("https://www.lamps.com/", "https://www.lamps.com/menu")
