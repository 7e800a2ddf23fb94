"""What the viewer shows of a candidate, whatever its patches contain."""

from __future__ import annotations

from factories import make_candidate

from pipeline.collect.entries import entry
from pipeline.core.names import commit_number

BINARY = """\
diff --git a/logo.png b/logo.png
index 8baef1b4abc478178b004d62031cf7fe6db6f903..ed237f9ff0e9e5b7d3b6b9a7b3d3c8f0e5a1b2c3 100644
GIT binary patch
literal 3
Kcmb=J
"""
MODE = "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
RETURN = "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1 +1,2 @@\n-a\rb\n+a\rc\n+\x0cd\n"


def test_lines_are_counted_by_file() -> None:
    shown = {file.path: file for file in entry(make_candidate(fix_patch=RETURN + MODE, test_patch="")).files}
    assert (shown["a.ts"].added, shown["a.ts"].removed) == (2, 1)
    assert "run.sh" in shown


def test_files_are_listed_even_if_lines_cannot_be_counted() -> None:
    shown = entry(make_candidate(fix_patch=BINARY, test_patch="diff --git a/x b/x\nnonsense\n@@ -1 +1 @@\n")).files
    assert [(file.path, file.test, file.added) for file in shown][0] == ("logo.png", False, None)
    assert [file.path for file in shown] == ["logo.png", "x"]


def test_a_name_that_unidiff_splits_affects_no_other_file() -> None:
    """A folder `a b` in a header looks like two names; names with non-ASCII letters are quoted there."""
    odd = RETURN.replace("a.ts", "a b/a.ts").replace("a b/a.ts\n@@", "a b/a.ts\t\n@@")
    quoted = RETURN.replace("a/a.ts", r'"a/Men\303\274.ts"').replace("b/a.ts", r'"b/Men\303\274.ts"')
    shown = {
        file.path: file.added for file in entry(make_candidate(fix_patch=odd + quoted + RETURN, test_patch="")).files
    }
    assert shown == {"a b/a.ts": None, "Menü.ts": 2, "a.ts": 2}


def test_a_change_without_a_number_is_shown_as_a_commit() -> None:
    sha = "0123456789abcdef" + "0" * 24
    assert entry(make_candidate(7)).url == "https://github.com/acme/ui/pull/7"
    assert entry(make_candidate(commit_number(sha), merge_sha=sha)).url == f"https://github.com/acme/ui/commit/{sha}"
