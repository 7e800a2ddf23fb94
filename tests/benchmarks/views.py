"""Screenshots of the viewer's pages at 1280 and 390 pixels, for the demo's candidates or a data directory.

`just bench views FOLDER [--data DIR] [--candidate INSTANCE] [--page NAME] [--tall PIXELS]`, with a browser. Without a
data directory, the demo's candidates are collected and rated, including ratings by a model that was not really asked:
they are in this file. Writes triage-<page>-<width>.png into the folder; docs/figures/ has two of them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import click
from chromium import launched

from benchmarks.triage import serving
from pipeline.collect.stage import collect
from pipeline.core.ratings import CONDITIONS, Label, Review
from pipeline.core.store import Store
from pipeline.core.trust import DEMO
from pipeline.demo.history import build_history
from pipeline.demo.stage import REPO
from pipeline.triage.catalog import Catalog
from pipeline.triage.stage import add, import_file

WIDTHS = (1280, 390)
PAGES = {
    "list": "/",
    "repository": "/statistics?repo={repo}",
    "candidate": "/candidate/{instance}",
    "queue": "/queue",
    "agreement": "/agreement",
    "ask": "/ask?repo={repo}",
    "export": "/export",
}
#: the demo's candidate that is shown, and ratings in addition to the demo's own
SHOWN = REPO.instance_id(17)
SAID = (
    Review(
        instance_id=SHOWN,
        rater="a-model",
        by="model",
        status="accepted",
        conditions={**dict.fromkeys(CONDITIONS, True), "S7": False},
        is_accessibility_related=True,
        insufficient_evidence=False,
        requires_external_setup=False,
        solvable_from_issue_and_repo=True,
        has_unit_test=True,
        unit_test_validates_change=True,
        success_criteria=("2.1.1", "4.1.2"),
        difficulty="medium",
        issue_category="bug-fix",
        test_quality="Is Explicit",
        labels=(Label(name="Is Explicit", hover_text="The tests use an identifier that nothing discloses"),),
        statement="The menu cannot be used by keyboard: arrow keys do not move the focus between its items.",
        evaluation_note="The issue names the keys. The tests look for an identifier that it does not name.",
        confidence=0.72,
    ),
    Review(instance_id=SHOWN, rater="kim", status="super", difficulty="easy", success_criteria=("2.1.1",)),
    Review(instance_id=REPO.instance_id(12), rater="a-model", by="model", status="super", difficulty="easy"),
)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--data", type=click.Path(path_type=Path, exists=True), help="A data directory [default: the demo's].")
@click.option("--candidate", default="", help="The candidate that is shown [default: the newest].")
@click.option("--page", "names", multiple=True, type=click.Choice(list(PAGES)), help="Of these pages only.")
@click.option("--tall", default=4000, show_default=True, help="Pixels of height at most.")
def main(folder: Path, data: Path | None, candidate: str, names: tuple[str, ...], tall: int) -> None:
    """Take pictures of all pages."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        store = Store(data) if data else demo(Store(Path(made)))
        listed = Catalog(store).search("", {}).listed
        shown = candidate or (listed[0].row.instance_id if data else SHOWN)
        repo = next(
            listed_candidate.row.repo for listed_candidate in listed if listed_candidate.row.instance_id == shown
        )
        with serving(store) as url:
            pages = {name: PAGES[name].format(repo=repo, instance=shown) for name in names or PAGES}
            for name in take(url, pages, folder, tall):
                click.echo(folder / name)


def demo(store: Store) -> Store:
    """The demo's candidates with their ratings."""
    build_history(DEMO, store.root / "clone.git")
    collect(store, REPO, store.root / "clone.git", DEMO / "issues.jsonl")
    import_file(store, REPO, DEMO / "reviews.jsonl")
    known = {listed_candidate.row.instance_id for listed_candidate in Catalog(store).search("", {}).listed}
    add(store, REPO, [review for review in SAID if review.instance_id in known])
    return store


def take(url: str, pages: dict[str, str], folder: Path, most: int) -> list[str]:
    """A screenshot of each page in each width, at most `most` pixels tall; returns their names."""
    names = []
    with launched() as program:
        for width in WIDTHS:
            page = program.new_page(viewport={"width": width, "height": 900}, color_scheme="light")
            for name, path in pages.items():
                page.goto(url + path, timeout=120_000)
                tall = min(most, page.evaluate("document.querySelector('main').getBoundingClientRect().bottom + 24"))
                page.set_viewport_size({"width": width, "height": int(tall)})
                names.append(f"triage-{name}-{width}.png")
                page.screenshot(path=folder / names[-1])
                page.set_viewport_size({"width": width, "height": 900})
    return names


if __name__ == "__main__":
    main()
