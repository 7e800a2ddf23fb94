"""The only door to a browser: foreign pages in a fenced Chromium, one after the other, with what is wanted of each.

with opened() as browser:
    seen = browser.look(Page("a name", Served({"index.html": b"..."}), wants=("axe", "trees", "screenshot")))
    seen.cause or seen.violations, seen.trees, seen.screenshot

page                      the records: a Page goes in, a Seen comes out, both plain data
viewer                    `opened`: time limits, and another browser where one has ended
fenced, program           Chromium in its own sandbox, as nobody, without network; which Chromium
tab                       one page, in whose isolated world our scripts run
axe                       axe-core at one version
outline                   the browser's own accessibility tree as text
npm_package               pinned files from npm
"""

from pipeline.browser.page import Markup, Node, Page, Seen, Served, Trees
from pipeline.browser.program import executable
from pipeline.browser.viewer import Browser, opened

__all__ = ["Browser", "Markup", "Node", "Page", "Seen", "Served", "Trees", "executable", "opened"]
