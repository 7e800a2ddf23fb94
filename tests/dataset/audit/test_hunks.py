"""The hunks of gold, gold without one of them, and the resulting patch."""

from __future__ import annotations

import pytest

from pipeline.dataset.audit.code import Code
from pipeline.dataset.audit.hunks import changed_lines, hunks, section

BASE = "const a = 1;\nconst b = 2;\nconst c = 3;\nconst d = 4;\n"
GOLD = "const a = 1;\nconst b = 5;\nconst c = 3;\n// a remark\nconst d = 6;\nconst e = 7;\n"
HEAD = "diff --git a/x.js b/x.js\nindex 1111111..2222222 100644\n--- a/x.js\n+++ b/x.js\n"


def without(base: str, gold: str, path: str = "x.jsx") -> list[tuple[int, str]]:
    lines = changed_lines(base.encode(), gold.encode())
    return [(hunk.line, hunk.text.decode()) for hunk in hunks(base.encode(), Code(path, gold.encode(), lines))]


def test_each_hunk_is_left_out_in_turn() -> None:
    assert without(BASE, GOLD) == [
        (2, GOLD.replace("b = 5", "b = 2")),
        (4, GOLD.replace("// a remark\nconst d = 6;\nconst e = 7;\n", "const d = 4;\n")),
    ]


@pytest.mark.parametrize(
    "added",
    ["// a remark\n", "\n", "interface A { b: string }\n", "A.propTypes = { b: PropTypes.string };\n"],
)
def test_changes_without_effect_are_no_hunks(added: str) -> None:
    base = "A.propTypes = {};\n" if "propTypes" in added else "f();\n"
    gold = added if "propTypes" in added else f"f();\n{added}"
    assert without(base, gold, "x.tsx") == []


@pytest.mark.parametrize(
    ("base", "gold"),
    [
        ("function old() { return 1; }\ng(1);\n", "g(1);\n"),
        ('import { g, old } from "x";\ng(1);\n', 'import { g } from "x";\ng(1);\n'),
    ],
)
def test_removed_unused_code_is_no_hunk(base: str, gold: str) -> None:
    """Without such a hunk, gold still has code that nobody calls."""
    assert without(base, gold) == []
    assert without(f"{base}old();\n", f"{gold}g(2);\n") != []


def test_opening_and_closing_tags_are_one_hunk() -> None:
    """Without one of them nothing would parse, and every test would notice."""
    base, gold = "const a = (\n  <p>b</p>\n);\n", "const a = (\n  <ul>\n  <p>b</p>\n  </ul>\n);\n"
    assert without(base, gold) == [(2, base)]


def test_renamed_opening_and_closing_tags_are_one_hunk() -> None:
    """The grammar would accept one without the other, but no program would."""
    base, gold = "const a = (\n  <p>\n    b\n  </p>\n);\n", "const a = (\n  <ul>\n    b\n  </ul>\n);\n"
    assert without(base, gold) == [(2, base)]


def test_a_new_file_is_one_hunk() -> None:
    assert without("", "f();\n") == [(1, "")]


def test_a_part_of_a_patch_has_golds_names_and_no_digests() -> None:
    shown = section(f"{HEAD}@@ -1 +1 @@\n-f();\n+g();\n", b"f();\n", b"h();")
    assert shown == (
        "diff --git a/x.js b/x.js\n--- a/x.js\n+++ b/x.js\n@@ -1 +1 @@\n-f();\n+h();\n\\ No newline at end of file\n"
    )
    assert section(f"{HEAD}@@ -1 +1 @@\n-f();\n+g();\n", b"f();\n", b"f();\n") == ""
