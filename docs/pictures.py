"""The pictures of the documentation: `just demo`, then `uv run --all-groups python docs/pictures.py`.

Reads data/demo/out/05_analysis/. Writes docs/pictures/: the figures of the gallery, and the report in a browser.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

from pipeline import browser

DOCS = Path(__file__).parent
ANALYSIS = DOCS.parent / "data/demo/out/05_analysis"
PICTURES = DOCS / "pictures"
FIGURES = ("funnel", "principles", "resolution", "outcomes", "grid", "localisation", "stages", "structure", "costs")
#: whose page is shown
INSTANCE = "a11y-bench__harbor-ui-26"


def main() -> None:
    """Make all pictures again."""
    PICTURES.mkdir(exist_ok=True)
    for name in FIGURES:
        shutil.copyfile(ANALYSIS / "figures" / f"{name}.png", PICTURES / f"{name}.png")
    with sync_playwright() as play:
        program = play.chromium.launch(executable_path=browser.executable(), args=["--no-sandbox"])
        page = program.new_page(viewport={"width": 1200, "height": 722}, color_scheme="light")
        page.goto((ANALYSIS / "report.html").as_uri())
        page.screenshot(path=PICTURES / "report.png")
        page.goto(f"{(ANALYSIS / 'report.html').as_uri()}#{INSTANCE}")  # issue, gold patch, tests and answers
        page.locator("article:target").screenshot(path=PICTURES / "instance.png")
        program.close()


if __name__ == "__main__":
    main()
