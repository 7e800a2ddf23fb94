"""Hooks of mkdocs: links that leave docs/, and what the theme's pages lack for assistive technologies.

Links that leave docs/ lead to the repository (`repo_url`), or become the file's name without one. That the file exists
is checked by tests/docs/test_docs.py. Reads and returns pages while the site is built, and writes nothing.
"""

from __future__ import annotations

import re
from typing import Any

#: in the theme's HTML -> as it should be: landmarks, and what scrolls by the keyboard
LACKS = {
    '<div role="contentinfo">': "<div>",
    "<footer>": '<footer role="contentinfo">',
    'class="rst-versions" role="note"': 'class="rst-versions" role="region"',
    "<table>": '<table tabindex="0">',
    "<pre><code": '<pre><code tabindex="0"',
}
OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./([^)#]+)(#[^)]*)?\)")


def on_page_markdown(markdown: str, *, config: Any, **_: Any) -> str:
    """The page with links that work on a site."""
    return OUTSIDE.sub(lambda link: _outside(link, config.repo_url), markdown)


def on_post_page(output: str, **_: Any) -> str:
    """The page's HTML without the theme's gaps."""
    for lacking, better in LACKS.items():
        output = output.replace(lacking, better)
    return output


def on_post_template(output_content: str, **_: Any) -> str:
    """The same for the page of a search and that of a missing page."""
    return on_post_page(output_content)


def _outside(link: re.Match[str], url: str | None) -> str:
    text, path, fragment = link[1], link[2], link[3] or ""
    if url:
        return f"[{text}]({url.rstrip('/')}/blob/main/{path}{fragment})"
    named = text.strip("`").lower() in path.lower()
    return f"`{path}`" if named else f"{text} (`{path}`)"
