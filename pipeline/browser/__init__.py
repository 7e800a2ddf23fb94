"""The only door to a browser: foreign pages in a fenced Chromium, one after the other, with what is wanted of each.

    with opened() as browser:
        seen = browser.look(Page("a name", Served({"index.html": b"..."}), wants=("axe", "trees", "screenshot")))
        seen.cause or seen.violations, seen.trees, seen.screenshot

`page` holds the records: a Page goes in, a Seen comes out, both plain data. `fenced` starts Chromium (its own sandbox,
nobody where we are root, no network, limited memory); `tab` shows one page, in whose isolated world our scripts run;
`viewer` is `opened`: time limits, and another browser where one has ended. `axe` pins axe-core, `outline` writes the
browser's own accessibility tree as text, `npm_package` fetches pinned files, `program` finds the browser.
"""

from pipeline.browser.page import Markup, Node, Page, Seen, Served, Trees
from pipeline.browser.program import executable
from pipeline.browser.viewer import Browser, opened

__all__ = ["Browser", "Markup", "Node", "Page", "Seen", "Served", "Trees", "executable", "opened"]
