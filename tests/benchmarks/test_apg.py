"""The comparison with the Authoring Practices' tests, as far as it needs neither their pages nor a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import apg
from pipeline.core.errors import UserError

PAGES = apg.read_pages()


@pytest.mark.parametrize("page", PAGES, ids=[one.name for one in PAGES])
def test_every_replacement_finds_its_text_in_the_case(page: apg.Page) -> None:
    """A changed test of a case is noticed here."""
    assert "delete module.exports.runAxe" in apg.adapted(page)


def test_a_replacement_without_a_match_is_refused() -> None:
    with pytest.raises(UserError, match="has no 'nowhere'"):
        apg.adapted(PAGES[0]._replace(swaps=[("nowhere", "x")]))


def test_scripts_styles_and_images_are_embedded_in_a_page(tmp_path: Path) -> None:
    (tmp_path / "js").mkdir()
    (tmp_path / "js" / "a.js").write_text('document.write("</script>")')
    (tmp_path / "a.css").write_text("p { color: red }")
    (tmp_path / "i.png").write_bytes(b"png")
    page = tmp_path / "page.html"
    page.write_text(
        '<link rel="stylesheet" href="a.css"><link rel="stylesheet" href="https://elsewhere.example/b.css">'
        '<img alt="" src="i.png"><img src="gone.png">'
        '<script src="js/a.js" type="text/javascript"></script><script>own()</script>'
    )
    assert apg.inlined(page) == (
        '<style>p { color: red }</style><img alt="" src="data:image/png;base64,cG5n"><img src="gone.png">'
        '<script type="text/javascript">document.write("<\\/script>")</script><script>own()</script>'
    )


@pytest.mark.parametrize(
    ("kind", "text", "broken"),
    [
        ("states", 'set("aria-expanded")', 'set("data-was-expanded")'),
        ("keys", "on('keydown', go)", 'on("nokeydown", go)'),
        ("roles", '<ul role="menu"><p role="alert">', '<ul data-role="menu"><p role="alert">'),
    ],
)
def test_a_page_is_broken(tmp_path: Path, kind: str, text: str, broken: str) -> None:
    page = apg.Page("menu-button", "m/examples/m.html")
    path = tmp_path / apg.PATTERNS / page.path
    path.parent.mkdir(parents=True)
    path.write_text(text)
    apg.break_pages(tmp_path, [page], kind)
    assert path.read_text() == broken


def test_a_report_is_read() -> None:
    output = (
        'TAP version 13\nok 1 - x.html [data-test-id="key-tab"]: moves\n'
        'not ok 2 - x.html [data-test-id="role"]: is a tab\n  ---\nok 3 - x: later # TODO\n1..3\n'
    )
    assert dict(apg.tap(output)) == {"key-tab: moves": "", "role: is a tab": "it fails"}


def test_differences_are_explained_or_reported() -> None:
    page = apg.Page("tabs", "t.html", explained={"told": "it is not", "gone": "it was"})
    assert apg.Found(page, {"told": "no", "new": "no"}, {"theirs": ""}).unexplained == ["new", "gone"]
    both = apg.Found(page, {"told": "no", "gone": "no"}, {"theirs": "no"})
    assert both.unexplained == ["theirs"] and not both.one_sided
    assert apg.Found(page, {"told": ""}, {"theirs": "no"}).one_sided
    assert apg.Found(page, trouble="no driver").differs == ["no driver"]


@pytest.mark.engine("browser")
def test_a_page_that_does_not_load_is_reported(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><title>a</title><h1>a</h1><script src='https://elsewhere.example/a.js'></script>")
    assert apg.unloaded(page) == ""
    page.write_text("<script>location = 'about:blank'</script>")
    assert apg.unloaded(page).startswith("left")
