"""The only way to a browser: untrusted pages in an isolated Chromium, one after another.

with opened() as browser:
    seen = browser.look(Page("a name", Served({"index.html": b"..."}), wants=("axe", "trees", "screenshot")))
    seen.cause or seen.violations, seen.trees, seen.screenshot

page                      the records: a Page goes in, a Seen comes out, both plain data
viewer                    `opened`: time limits, and a new browser when one has ended
fenced, program           Chromium in its own sandbox, unprivileged and without network; how it is found
ordinary                  what it says of itself
tab                       one page, with our scripts in an isolated world
axe                       axe-core in one version
outline                   the browser's own accessibility tree as text
spoken                    what a virtual screen reader says
"""

from pipeline.browser.page import Markup, Node, Page, Seen, Served, Trees
from pipeline.browser.program import executable
from pipeline.browser.viewer import Browser, opened

__all__ = ["Browser", "Markup", "Node", "Page", "Seen", "Served", "Trees", "executable", "opened"]
