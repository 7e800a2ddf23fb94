"""Patches as HTML: what each line is, and that nothing in it is markup."""

from __future__ import annotations

from bs4 import BeautifulSoup
from factories import FIX_PATCH

from pipeline.report.diff import MOST, marked


def kinds(patch: str) -> list[tuple[str, str]]:
    return [(tag.name, tag.get_text()) for tag in BeautifulSoup(marked(patch), "html.parser").find_all(True)]


def test_every_run_of_lines_has_its_element():
    assert kinds(FIX_PATCH) == [
        ("b", "diff --git a/src/Menu.tsx b/src/Menu.tsx\n--- a/src/Menu.tsx\n+++ b/src/Menu.tsx"),
        ("i", "@@ -1 +1 @@"),
        ("del", "-export const Menu = () => <nav />;"),
        ("ins", '+export const Menu = () => <nav aria-label="Menu" />;'),
    ]


def test_text_of_a_patch_is_escaped():
    assert kinds("+<ins>&amp;") == [("ins", "+<ins>&amp;")]


def test_a_very_long_patch_is_cut_with_a_note():
    assert kinds("+" * (MOST + 5))[-1] == ("span", "… 5 characters more")
