"""Figures embedded in a page: the same picture, in less space."""

from __future__ import annotations

from io import BytesIO
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from jinja2 import Environment
from matplotlib.figure import Figure

from pipeline.report.figures.embedded import data_uri
from pipeline.report.figures.style import styled

PREFIX = "data:image/svg+xml,"
NAME = "a \"b\" & <c> 100% #1 'd'"


@pytest.fixture(scope="module")
def svg() -> bytes:
    figure, data = Figure(), BytesIO()
    with styled():
        axes = figure.add_subplot()
        axes.bar([1, 2, 3], [1 / 3, 2 / 3, 1], hatch="//", label=NAME)
        axes.set_title(NAME)
        axes.legend()
        figure.savefig(data, format="svg", metadata={"Date": None, "Title": NAME})
    return data.getvalue()


def drawn(svg: str | bytes) -> list[tuple[str, str]]:
    """The drawn elements, with their style."""
    found = [(node.tag.rpartition("}")[2], node) for node in ElementTree.fromstring(svg).iter()]
    return [(tag, node.get("style", "")) for tag, node in found if tag in ("path", "use", "rect", "image")]


def test_an_embedded_picture_is_equal_and_smaller(svg: bytes) -> None:
    uri = data_uri(svg)
    text = unquote(uri.removeprefix(PREFIX))
    assert [(tag, style) for tag, style in drawn(text)] == [(tag, style.replace('"', "'")) for tag, style in drawn(svg)]
    assert len(uri) < 0.85 * len(svg)


def test_every_reference_in_a_picture_has_its_target(svg: bytes) -> None:
    tree = ElementTree.fromstring(unquote(data_uri(svg).removeprefix(PREFIX)))
    names = {node.get("id") for node in tree.iter()}
    uses = {node.get("{http://www.w3.org/1999/xlink}href", "")[1:] for node in tree.iter() if node.tag.endswith("use")}
    assert uses and uses <= names


def test_a_data_uri_needs_no_escaping(svg: bytes) -> None:
    uri = data_uri(svg)
    page = Environment(autoescape=True).from_string('<img src="{{ uri }}">').render(uri=uri)
    assert page == f'<img src="{uri}">'
    assert not set('"<>&') & set(uri)
