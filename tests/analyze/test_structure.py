"""Files, lines and hunks of patches, counted by hand, and localisation against gold."""

from __future__ import annotations

import pytest

from pipeline.analyze.structure import changed_files, match, structure

#: two files; four blocks of changed lines under three headers; 3 + 1 + 2 + 1 changed lines
PATCH = """\
diff --git a/src/Menu.tsx b/src/Menu.tsx
--- a/src/Menu.tsx
+++ b/src/Menu.tsx
@@ -1,7 +1,8 @@
 import React from "react";
-export const Menu = () => <nav />;
+export const Menu = () => (
+  <nav aria-label="Menu" />
 const same = 1;
+const added = 2;
@@ -20,2 +21,2 @@
-const old = 1;
+const now = 1;
\\ No newline at end of file
diff --git a/src/query.sql b/src/query.sql
--- a/src/query.sql
+++ b/src/query.sql
@@ -1,2 +1 @@
--- a comment that begins like a header
 select 1;
"""
PLAIN = """\
--- a/src/One.tsx\t2024-05-06
+++ b/src/One.tsx\t2024-05-06
@@ -1 +1 @@
-a
+b
--- /dev/null
+++ b/src/Two.tsx
@@ -0,0 +1 @@
+c
"""


def test_counts_of_a_patch():
    assert structure(PATCH) == (2, 7, 4)
    assert changed_files(PATCH) == {"src/Menu.tsx", "src/query.sql"}


def test_a_missing_newline_at_the_end_does_not_split_a_block():
    patch = PATCH.partition("diff --git a/src/query")[0].replace("+now", "\\ No newline at end of file\n+now")
    assert structure(patch).hunks == 3


def test_a_plain_diff_counts_too():
    """Agents of other projects write no git headers."""
    assert structure(PLAIN) == (2, 3, 2)
    assert changed_files(PLAIN) == {"src/One.tsx", "src/Two.tsx"}


def test_a_plain_diff_names_a_deleted_file_by_its_old_name():
    patch = "--- a/src/One.tsx\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n--- a/src/Two.tsx\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"
    assert changed_files(patch) == changed_files(patch.replace("\n", "\r\n")) == {"src/One.tsx", "src/Two.tsx"}


def test_a_path_in_another_spelling_is_the_same_file():
    patch = PATCH.replace("src/Menu.tsx", "./src//Menu.tsx")
    assert changed_files(patch) == changed_files(PATCH)


def test_a_rename_and_a_binary_file_have_no_lines():
    patch = (
        "diff --git a/old.css b/new.css\nsimilarity index 100%\nrename from old.css\nrename to new.css\n"
        "diff --git a/icon.png b/icon.png\nBinary files a/icon.png and b/icon.png differ\n"
    )
    assert structure(patch) == (2, 0, 0)
    assert changed_files(patch) == {"new.css", "icon.png"}


@pytest.mark.parametrize(
    ("files", "gold", "expected"),
    [
        ("ab", "ab", (2, 1.0, "perfect")),
        ("ab", "bc", (1, 1 / 3, "partial")),
        ("a", "abcd", (1, 0.25, "partial")),
        ("a", "b", (0, 0.0, "miss")),
        ("", "b", (0, 0.0, "miss")),
    ],
)
def test_localisation_is_the_jaccard_index_of_the_files(files, gold, expected):
    assert match(frozenset(files), frozenset(gold)) == expected


def test_an_exact_fix_with_an_added_test_is_perfect():
    """Gold's tests are in its test patch: an answer that also adds tests changed no wrong file."""
    gold = frozenset({"src/Menu.tsx"})
    assert match(frozenset({"src/Menu.tsx", "src/__tests__/Menu.test.tsx"}), gold).localisation == "perfect"
    assert match(frozenset({"src/__tests__/Menu.test.tsx"}), gold).localisation == "miss"
    assert match(frozenset({"src/Menu.tsx", "src/latest.tsx"}), gold).localisation == "partial"
