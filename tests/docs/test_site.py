"""The documentation as a site: it builds without a warning, and its pages load nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
#: what a page loads: scripts, styles, images, fonts; links do not count, since people follow them
LOADS = re.compile(r"""<(?:script|img|iframe)[^>]+\bsrc="?(https?:)?//|<link[^>]+\bhref="?(https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True
    )  # --quiet would hide warnings from --strict
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_on_the_site(site: Path) -> None:
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert pages <= {path.stem for path in site.glob("*.html")}


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    assert [path.name for path in site.glob("*.html") if LOADS.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_links_from_outside_the_site_lead_to_existing_headings(site: Path, name: str) -> None:
    """mkdocs checks only the links between its own pages."""
    links = re.findall(r"\]\(docs/([\w-]+)\.md#([^)]+)\)", (ROOT / name).read_text(encoding="utf-8"))
    assert links
    lost = {f"{page}#{to}" for page, to in links if f'id="{to}"' not in (site / f"{page}.html").read_text()}
    assert lost == set()


def test_no_list_is_swallowed_by_the_paragraph_before_it() -> None:
    """On a site, Markdown needs an empty line before a list; in the file, nobody sees the difference."""
    swallowed = re.compile(r"(?m)^(?![-|#>\s]|\d+\. |```).+\n(?:- |1\. )")
    found = [
        f"{path.name}: {hit[0]}"
        for path in (ROOT / "docs").glob("*.md")
        for hit in swallowed.finditer(path.read_text())
    ]
    assert found == []


def test_no_paragraph_has_a_line_that_becomes_a_heading() -> None:
    """On a site, a line that begins with `#7612` is a heading; in the file, nobody sees the difference."""
    pages = {path.name: re.sub(r"(?ms)^```.*?^```$", "", path.read_text()) for path in (ROOT / "docs").glob("*.md")}
    assert [f"{name}: {line}" for name, page in pages.items() for line in re.findall(r"(?m)^#+[^# ].*$", page)] == []


@pytest.mark.parametrize("path", sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")}), ids=lambda path: path.name)
def test_a_page_that_mentions_the_thesis_links_to_it(path: Path) -> None:
    """A new reader does not know it; option values and file names may call it `seed`, sentences do not."""
    text = path.read_text(encoding="utf-8")
    assert path.name == "thesis.md" or not re.search(r"\bthesis\b", text) or "thesis.md" in text
    assert not re.search(r"\bthe seed's\b", text)


def test_the_readme_shows_a_picture_of_the_report() -> None:
    """On its first screen, small enough to load at once, and with a text alternative."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    picture = re.search(r"!\[(.{40,})\]\((.+?\.png)\)", readme)
    assert picture and picture.start() < readme.index("\n## ")
    assert (ROOT / picture[2]).stat().st_size < 200_000


@pytest.mark.engine("browser")
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_on_any_page(chromium: Any, site: Path, width: int) -> None:
    from pipeline.browser import axe

    found, audit = [], "axe.run(document, {resultTypes: ['violations']})"
    page = chromium.new_page(viewport={"width": width, "height": 900})
    for path in sorted(site.glob("*.html")):
        page.goto(path.as_uri())
        page.evaluate(axe.source().decode())
        found += [(path.name, rule["id"], rule["nodes"][0]["html"]) for rule in page.evaluate(audit)["violations"]]
    page.close()
    assert found == []
