"""Stories in a real browser, audited with axe-core: contrast and target size included.

Their code is untrusted: the browser is fenced, and axe-core runs in a JavaScript world that it cannot change. Each
story is a page with its own time limit. Reads and writes no files.
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

#: seconds to render and audit a story
SECONDS = 30
#: increased whenever stories are shown or audited differently: older audits are stale
VERSION = f"1 {AXE.name}"
#: a story is ready when its root has content, or when Storybook has shown it for a while: it may draw elsewhere
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

    `shown` are the stories that rendered, `browser` is the browser and its version, and `causes` says why a story did
    not render.
    """

    violations: tuple[Violation, ...] = ()
    shown: tuple[str, ...] = ()
    browser: str = ""
    causes: dict[str, str] = {}


def audit(site: Site, ids: Sequence[str], seconds: float = SECONDS) -> Audited:
    """Audit these stories, each in so many seconds.

    Raises UserError if there is no browser, InfrastructureError if it does not start or npm cannot get axe-core.
    """
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    causes: dict[str, str] = {}
    with browser.opened() as opened:
        for story in ids:
            look = opened.look(_page(site, story, seconds))
            if look.violations is None:
                causes[story] = look.cause
            for row in look.violations or ():
                rows.setdefault((row["rule"], row["element"]), row | {"tests": []})["tests"].append(story)
        shown = tuple(story for story in ids if story not in causes)
        return Audited(findings.violations(rows.values()), shown, opened.version, causes)


def _page(site: Site, story: str, seconds: float) -> Page:
    shows = Served(site.files, f"iframe.html?id={quote(story)}&viewMode=story")
    return Page(story, shows, ("axe",), seconds, READY)
