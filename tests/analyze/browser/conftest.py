"""A real browser with the report in it, and axe-core."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from analysis_data import generate
from analyze.conftest import UI, add_run, add_verdicts
from factories import make_prediction, make_verdict

from pipeline import analyze
from pipeline.analyze.handcheck import sheet
from pipeline.browser import axe as pinned
from pipeline.core.records import Instance
from pipeline.core.store import Store, each_record, read_object, write_json

#: a name that is too long for any column or field
LONG = "Qwen3-Coder-480B-A35B-Instruct-Turbo-of-a-provider-with-a-long-name"
#: the widths of a desktop and of a phone
WIDTHS = (1280, 390)


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """A report on generated data with every chapter, and a sheet for checking by hand."""
    store = generate(Store(tmp_path_factory.mktemp("browser") / "data"))
    long = make_prediction(1, model_name_or_path=LONG)
    run = add_run(store, UI, [long]).with_name("run.json")
    write_json(run, read_object(run) | {"settings": "a digest", "shaped_by": {"settings_text": f"name = '{LONG}'"}})
    add_verdicts(store, UI, [make_verdict(long, image=next(each_record(store.dataset(UI), Instance)).image)])
    frames = analyze.load(store, cutoffs={"model-a": "2023-06-30"})
    sheet.export(sheet.sample(frames, 5, 1), store.root / "sheet")
    analyze.write(frames, store)
    return store.root


@pytest.fixture
def page(chromium, folder) -> Iterator[Any]:
    """The report at desktop width."""
    with opened(chromium, folder, WIDTHS[0]) as page:
        yield page


@pytest.fixture(params=WIDTHS, ids=lambda width: f"{width}px")
def any_page(chromium, folder, request) -> Iterator[Any]:
    """The report at desktop width and at phone width."""
    with opened(chromium, folder, request.param) as page:
        yield page


@contextmanager
def opened(chromium: Any, folder: Path, width: int, scheme: str = "light") -> Iterator[Any]:
    """The report at one width, in a light or dark scheme.

    The test fails if it uses the network, or if its script has an error.
    """
    asked: list[str] = []
    context = chromium.new_context(
        viewport={"width": width, "height": 844}, reduced_motion="reduce", color_scheme=scheme
    )
    page = context.new_page()
    page.on("request", lambda sent: asked.append(sent.url))
    page.on("pageerror", lambda error: asked.append(str(error)))
    page.goto((folder / "05_analysis" / "report.html").as_uri())
    yield page
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    context.close()


@pytest.fixture(scope="session")
def axe() -> str:
    return pinned.source().decode()


def violations(page: Any, axe: str) -> list[str]:
    """axe-core's findings with all rules on: one line per element, with rule and location."""
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{rule['id']}: {node['target'][0]}: {node['html'][:120]}" for rule in found for node in rule["nodes"]]
