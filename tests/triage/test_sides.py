"""A patch side by side, and evidence in its text."""

from __future__ import annotations

import time

import factories
import pytest
from markupsafe import Markup

from pipeline.core.records import Evidence
from pipeline.triage.marks import marked
from pipeline.triage.sides import Line, files

PATCH = """\
diff --git a/a.ts b/a.ts
index 1..2 100644
--- a/a.ts
+++ b/a.ts
@@ -3,5 +3,3 @@ function a()
 one
-two
-- three
+2
 four
-five
@@ -20,0 +18,2 @@
+++ six
+seven
\\ No newline at end of file
diff --git a/old name.png b/new name.png
similarity index 100%
rename from old name.png
rename to new name.png
"""


def test_both_sides_have_their_lines_and_numbers() -> None:
    """A removed line `-- …` and an added line `++ …` are lines, not headers."""
    first, second = files(PATCH)
    assert first.name == "a.ts" and (first.added, first.removed) == (3, 3)
    assert first.lines == [
        Line("place", old="@@ -3,5 +3,3 @@ function a()"),
        Line("same", 3, "one", 3, "one"),
        Line("changed", 4, "two", 4, "2"),
        Line("changed", 5, "- three", None, None),
        Line("same", 6, "four", 5, "four"),
        Line("changed", 7, "five", None, None),
        Line("place", old="@@ -20,0 +18,2 @@"),
        Line("changed", None, None, 18, "++ six"),
        Line("changed", None, None, 19, "seven"),
    ]
    assert second.name == "new name.png" and second.lines == [] and "rename to new name.png" in second.headers


def test_names_that_git_quotes_are_names() -> None:
    quoted = r"""diff --git "a/src/Men\303\274 \377.ts" "b/src/Men\303\274 \377.ts"
--- "a/src/Men\303\274 \377.ts"
+++ "b/src/Men\303\274 \377.ts"
@@ -1 +1 @@
-a
+b
"""
    (file,) = files(quoted)
    assert (file.name, file.headers, file.added) == (r"src/Menü \xff.ts", (), 1)


def test_a_binary_file_is_shown_by_its_headers() -> None:
    patch = "diff --git a/a.png b/a.png\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZQzU}OLQ0ssI2\n\n"
    (file,) = files(patch)
    assert (file.headers, file.lines) == (("GIT binary patch",), [])


def test_no_patch_has_no_files() -> None:
    assert files("") == [] and [file.name for file in files(factories.FIX_PATCH)] == ["src/Menu.tsx"]


def test_five_thousand_lines_take_little_time() -> None:
    body = "".join(f"-old {number}\n+new {number}\n" for number in range(2500))
    start = time.process_time()
    (one,) = files(f"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2500 +1,2500 @@\n{body}")
    assert (one.added, one.removed) == (2500, 2500) and time.process_time() - start < 0.5


@pytest.mark.rule("evidence")
def test_evidence_is_marked_and_other_text_is_escaped() -> None:
    text = "<b>aria-label</b> and aria"

    def at(place: int, words: str, field: str = "body") -> Evidence:
        return Evidence(field=field, pattern="p", text=words, place=place)

    found = [at(3, "aria"), at(5, "ia-label"), at(22, "aria"), at(0, "gone"), at(4, "ria", "title")]
    assert marked(text, "body", found) == Markup("&lt;b&gt;<mark>aria-label</mark>&lt;/b&gt; and <mark>aria</mark>")
    assert marked("<", "title", ()) == Markup("&lt;")
