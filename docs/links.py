"""A hook of mkdocs: links that leave docs/ lead to the repository (`repo_url`), or become the file's name without one.

Reads a page's Markdown while the site is built, and writes nothing. That such a file exists is not checked here but in
tests/docs/test_docs.py.
"""

from __future__ import annotations

import re
from typing import Any

OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./([^)#]+)(#[^)]*)?\)")


def on_page_markdown(markdown: str, *, config: Any, **_: Any) -> str:
    """The page with links that work on a site."""
    return OUTSIDE.sub(lambda link: _outside(link, config.repo_url), markdown)


def _outside(link: re.Match[str], url: str | None) -> str:
    text, path, fragment = link[1], link[2], link[3] or ""
    if url:
        return f"[{text}]({url.rstrip('/')}/blob/main/{path}{fragment})"
    return text if path in text else f"{text} (`{path}`)"
