"""The accessibility checker against pages that others wrote: what is lost on the way, and what is not seen.

`just bench checker --clone PATH [--clone PATH] [--under FOLDER] [--show] [--json FILE]`, with a browser and Node. It
reads the HTML files below some folders of clones, as `w3c/aria-practices` (`content/patterns`) and `dequelabs/axe-core`
(`test/integration`) have them. Each becomes a snapshot, is read and shown again: all must be the same. Where a JSON
file beside a page says which elements break a rule, as axe-core's do, our audit has to find as many, in the browser and
in jsdom. Goals: 100% come back, 95% of the violations are found in the browser: fixtures are of other versions of
axe-core than the one that is pinned here. What is left out of the second: rules
that are advice or off, and what stands in frames.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import click

from benchmarks.goals import Figure, report
from pipeline import browser
from pipeline.browser import Browser, Markup, Page
from pipeline.browser import axe as pinned
from pipeline.core.git import open_clone, read_blobs
from pipeline.evaluate.assess import axe, markup

SCRIPT = Path(__file__).with_name("checker.cjs")
PACKAGES = ("jsdom@22.1.0", "pretty-format@29.7.0")
#: where the pages are in the clones that this was written for
UNDER = ("content/patterns/", "test/integration/")


class Expected(NamedTuple):
    """How many elements of a page violate a rule, according to its authors."""

    page: str
    rule: str
    elements: int


@click.command()
@click.option("--clone", "clones", type=click.Path(path_type=Path, exists=True), required=True, multiple=True)
@click.option("--under", multiple=True, default=UNDER, show_default=True, help="Folders of the clones.")
@click.option("--show", is_flag=True, help="Show what is lost or not seen.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Where to write the figures.")
def main(clones: tuple[Path, ...], under: tuple[str, ...], show: bool, path: Path | None) -> None:
    """Try the accessibility checker on pages that others wrote."""
    files = {f"{clone.parent.name}:{name}": data for clone in clones for name, data in texts(clone, under)}
    pages = {name: text for name, text in files.items() if name.endswith(".html")}
    figures = []
    with TemporaryDirectory() as temporary, browser.opened() as viewer:
        folder = Path(temporary)
        install(folder)
        lost = changed(folder, pages)
        figures.append(Figure("pages", len(pages), ""))
        figures.append(Figure("come back as they were", 100 * (1 - len(lost) / len(pages)), "%", ("at least", 100)))
        wanted = [violation for violation in expected(files) if violation.rule in audited(folder)]
        unseen = {where: missing(found, wanted) for where, found in seen(folder, viewer, pages, wanted).items()}
        total = sum(violation.elements for violation in wanted)
        for where, rules in unseen.items():
            goal = ("at least", 95.0) if where == "browser" else None
            share = 100 * (1 - sum(rules.values()) / total) if total else 100.0
            figures.append(Figure(f"of {total} violations found in the {where}", share, "%", goal))
    if show:
        click.echo(
            "\n".join([*lost, *(f"{where}: {rule}: {n}" for where, one in unseen.items() for rule, n in one.items())])
        )
    report("The checker on pages of others", figures, path)


def texts(clone: Path, under: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The pages of a clone, and their expected violations."""
    for name, data in read_blobs(open_clone(clone), "HEAD", lambda path: path.startswith(under)):
        if name.endswith((".html", ".json")):
            yield name, data.decode(errors="replace")


def install(folder: Path) -> None:
    """Install jsdom and the serializer that Jest uses for elements."""
    (folder / "package.json").write_text("{}")
    command = ["npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", *PACKAGES]
    subprocess.run(command, cwd=folder, check=True)
    (folder / "show.js").write_text((Path(browser.__file__).parent / "show.js").read_text())


@cache
def audited(folder: Path) -> frozenset[str]:
    """The axe-core rules that our audits run."""
    (folder / "axe.js").write_bytes(pinned.source())
    levels = re.search(r"LEVELS = (\[.*?\])", pinned.function())
    assert levels is not None
    return frozenset(step(folder, "rules", "levels.json", {"ours": json.loads(levels[1])}, "rules.json")["ours"])


def step(folder: Path, name: str, given: str, what: Mapping[str, Any], made: str) -> dict[str, Any]:
    """One step of the script: a file in, a file out."""
    (folder / given).write_text(json.dumps(what))
    subprocess.run(["node", str(SCRIPT), name, str(folder)], check=True)
    found: dict[str, Any] = json.loads((folder / made).read_text())
    return found


def changed(folder: Path, pages: Mapping[str, str]) -> list[str]:
    """The pages that changed on the way through a snapshot."""
    printed = step(folder, "print", "documents.json", pages, "printed.json")
    read = {name: markup.parse(entry["text"])._asdict() for name, entry in printed.items()}
    shown = step(folder, "show", "markup.json", read, "shown.json")
    return [name for name, entry in printed.items() if shown[name] != entry["tree"]]


def expected(files: Mapping[str, str]) -> Iterator[Expected]:
    """The authors' expectations of a page: one selector identifies an element of the page itself."""
    for name, text in files.items():
        page = f"{name.removesuffix('.json')}.html"
        if name.endswith(".json") and page in files:
            stated = json.loads(text)
            own = [way for way in stated.get("violations", ()) if len(way) == 1]
            if own and "rule" in stated:
                yield Expected(page, stated["rule"], len(own))


def seen(
    folder: Path, viewer: Browser, pages: Mapping[str, str], wanted: list[Expected]
) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """What our audits find in pages, in the browser and in jsdom."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {"browser": {}, "jsdom": {}}
    script = Path(axe.__file__).with_name("audit.cjs")
    (folder / "page.js").write_text(pinned.function())
    for name in {violation.page for violation in wanted}:
        looked = viewer.look(Page(name, Markup("", [{"html": pages[name]}]), ("axe",)))
        found["browser"][name] = list(looked.violations or ())
        (folder / "documents.jsonl").write_text(json.dumps({"test": name, "html": pages[name]}))
        subprocess.run(["node", str(script), str(folder), str(folder / "node_modules/jsdom/lib/api.js")], check=True)
        found["jsdom"][name] = json.loads((folder / "result.json").read_text())
    return found


def missing(found: Mapping[str, list[dict[str, Any]]], wanted: list[Expected]) -> dict[str, int]:
    """How many violations of each rule were not found."""
    counted = {violation: sum(row["rule"] == violation.rule for row in found[violation.page]) for violation in wanted}
    short = {violation: violation.elements - min(number, violation.elements) for violation, number in counted.items()}
    return {violation.rule: number for violation, number in short.items() if number}


if __name__ == "__main__":
    main()
