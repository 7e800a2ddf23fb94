"""Stories in a real browser, audited with axe-core: contrast and target size included.

Their code is foreign: the browser is fenced, and axe-core runs in a world that it cannot change. Each story is a page
with a time limit of its own. Reads and writes no files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from pipeline import browser
from pipeline.browser import Page, Served
from pipeline.browser.axe import AXE
from pipeline.core.assessment import Violation
from pipeline.evaluate.assess.axe import findings
from pipeline.evaluate.assess.stories.site import Site

#: seconds for a story to show itself and be audited
SECONDS = 30
#: raised whenever stories are shown or audited differently: older audits are stale
VERSION = f"1 {AXE.name}"
#: a story is there when its root has something in it, or when Storybook shows it for a while: it draws elsewhere
READY = """async () => {
  const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const is = (selector) => document.querySelector(selector) !== null;
  let patience = 50;
  for (;;) {
    await painted();
    if (is(".sb-show-errordisplay, .sb-show-nopreview")) return false;
    if (document.readyState !== "complete") continue;
    const there = is(":is(#storybook-root, #root) > *") || (is(".sb-show-main") && !patience--);
    if (there) return painted().then(() => true);
  }
}"""


class Audited(NamedTuple):
    """What axe-core found in one state of the sources: each violation once, however many stories show it.

    `shown` are the stories that showed themselves, `browser` says which browser it was, `causes` why a story is not
    among the shown.
    """

    violations: tuple[Violation, ...] = ()
    shown: tuple[str, ...] = ()
    browser: str = ""
    causes: dict[str, str] = {}


def audit(site: Site, ids: Sequence[str], seconds: float = SECONDS) -> Audited:
    """Audit these stories, each in so many seconds.

    Raises UserError where there is no browser, InfrastructureError where it does not start or npm cannot get axe-core.
    """
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    causes: dict[str, str] = {}
    with browser.opened() as opened:
        for story in ids:
            seen = opened.look(_page(site, story, seconds))
            if seen.violations is None:
                causes[story] = seen.cause
            for row in seen.violations or ():
                rows.setdefault((row["rule"], row["element"]), row | {"tests": []})["tests"].append(story)
        shown = tuple(story for story in ids if story not in causes)
        return Audited(findings.violations(rows.values()), shown, opened.version, causes)


def _page(site: Site, story: str, seconds: float) -> Page:
    shows = Served(site.files, f"iframe.html?id={quote(story)}&viewMode=story")
    return Page(story, shows, ("axe",), seconds, READY)
