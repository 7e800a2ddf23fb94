"""Which lines of a file come from gold, given the part of a patch that changes it."""

from __future__ import annotations

from pipeline.execution.falsified import added, beside


def test_added_lines_are_found() -> None:
    section = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n@@ -9 +9,2 @@\n+e\n f\n"
    assert added(section) == {2, 9}


def test_lines_around_removed_ones_count() -> None:
    """For removed lines, the lines around them count; replaced lines have lines of their own."""
    section = "--- a/x\n+++ b/x\n@@ -1,5 +1,4 @@\n a\n-b\n+c\n d\n-e\n f\n@@ -9,2 +8 @@\n-g\n h\n"
    assert beside(section) == {3, 4, 7, 8}
