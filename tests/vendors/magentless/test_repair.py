"""From a reply to a patch, stage by stage."""

from __future__ import annotations

import pytest
from magentless.causes import Cause, Ended
from magentless.checkout import Checkout
from magentless.repair import repair
from magentless.replies import named

from .conftest import BUTTON, edit

TSX = "src/IconButton.tsx"


def ended(reply, sample, checkout) -> Cause:
    with pytest.raises(Ended) as end:
        repair(sample, reply, checkout)
    return end.value.cause


def test_several_edits_of_several_files_are_applied(sample, checkout):
    first = edit(TSX, "  <button onClick={icon.act}>", '  <button type="button" onClick={icon.act}>')
    second = edit(TSX, "    <img src={icon.url} />", "    <img src={icon.url} alt={label} />")
    repair(sample, first + second + edit("src/theme.css", "  outline: none;", ""), checkout)
    assert sample.reached == "parses"
    assert sample.patch.count(b"diff --git") == 2
    assert b'type="button"' in sample.patch and b"alt={label}" in sample.patch


@pytest.mark.trap("deletion-and-new-file")
def test_an_empty_search_makes_a_file(sample, checkout):
    """In MagentLess new files are impossible."""
    repair(sample, edit("src/useId.ts", "", "export const useId = () => 'a';"), checkout)
    assert sample.edits == [{"path": "src/useId.ts", "match": "new file"}]
    assert b"new file mode 100644" in sample.patch


def test_an_empty_search_fills_an_empty_file(sample, make_checkout):
    checkout = Checkout(make_checkout({"src/index.ts": ""}))
    repair(sample, edit("src/index.ts", "", "export * from './Menu';"), checkout)
    assert sample.files == {"src/index.ts": "export * from './Menu';\n"}
    assert b"+export * from './Menu';" in sample.patch and b"new file mode" not in sample.patch


def test_an_empty_search_does_not_overwrite_a_file(sample, checkout):
    assert ended(edit(TSX, "", "lost"), sample, checkout) == Cause.SEARCH_MISMATCH


@pytest.mark.trap("hallucinated-path")
@pytest.mark.parametrize("path", ["../secret.ts", "/etc/passwd", ".git/config", "src/../../x.ts"])
@pytest.mark.parametrize("search", ["a", ""])
def test_a_path_that_is_not_in_the_checkout_is_refused(sample, checkout, path, search):
    """A path that the model invented is refused before anything is opened, and does not stop a batch."""
    assert ended(edit(path, search, "b"), sample, checkout) == Cause.HALLUCINATED_FILE
    assert sample.patch == b""


@pytest.mark.parametrize("prefix", ["a/", "b/", "/"])
def test_what_git_puts_before_a_path_is_ignored_if_there_is_no_such_file(sample, checkout, prefix):
    repair(sample, edit(f"{prefix}src/theme.css", "  outline: none;", ""), checkout)
    assert [made["path"] for made in sample.edits] == ["src/theme.css"]


def test_a_folder_may_be_called_a(sample, make_checkout):
    checkout = Checkout(make_checkout({"a/x.css": "a {}\n", "x.css": "a {}\n"}))
    repair(sample, edit("a/x.css", "a {}", "b {}") + edit("b/x.css", "", "c {}"), checkout)
    assert set(sample.files) == {"a/x.css", "b/x.css"}


@pytest.mark.parametrize("path", ["/src/New.tsx", "a/src/New.tsx", "b/src/new/New.tsx"])
def test_what_git_puts_before_the_path_of_a_new_file_is_no_folder(sample, checkout, path):
    repair(sample, edit(path, "", "a") + edit(path, "a", "b"), checkout)
    assert sample.files == {path.partition("/")[2]: "b\n"}


@pytest.mark.parametrize("path", ["/New.tsx", "/lib/New.tsx"])
def test_a_new_file_outside_of_the_folders_of_the_tree_is_refused(sample, checkout, path):
    assert ended(edit(path, "", "a"), sample, checkout) == Cause.HALLUCINATED_FILE


def test_a_prefix_does_not_hide_that_a_new_file_exists(sample, checkout):
    assert ended(edit(f"a/{TSX}", "", "lost"), sample, checkout) == Cause.SEARCH_MISMATCH


TWINS = {"src/Menu.css": "a {\n}\n", "lib/Menu.css": "b {\n}\n", "src/theme.css": "b {\n}\n"}


@pytest.mark.parametrize(
    ("path", "search", "expected"),
    [
        ("theme.css", "b {", "src/theme.css"),
        ("styles/theme.css", "b {", "src/theme.css"),
        ("Menu.css", "b {", "lib/Menu.css"),
        ("Menu.css", "1 | a {", "src/Menu.css"),
        ("", "a {", "src/Menu.css"),
        ("Menu.css", "}", None),
        ("", "b {", None),
        ("", "d {", None),
        ("src/Other.css", "a {", None),
    ],
)
def test_an_edit_without_the_path_of_a_file_is_that_of_the_only_one_shown(
    sample, make_checkout, path, search, expected
):
    """A name without its folder, or no path at all, is enough if only one shown file is possible."""
    checkout = Checkout(make_checkout(TWINS))
    reply = edit(path, search, "c {").replace("### \n", "")
    if expected:
        repair(sample, reply, checkout, dict.fromkeys(TWINS, range(2)))
        assert sample.files == {expected: "c {\n}\n"}
    else:
        with pytest.raises(Ended, match="HALLUCINATED_FILE"):
            repair(sample, reply, checkout, dict.fromkeys(TWINS, range(2)))


def test_a_file_that_was_not_shown_is_not_guessed(sample, make_checkout):
    checkout = Checkout(make_checkout(TWINS))
    assert ended(edit("theme.css", "b {", "c {"), sample, checkout) == Cause.HALLUCINATED_FILE


@pytest.mark.trap("eval-on-path")
def test_a_path_is_never_evaluated(sample, checkout, tmp_path):
    """MagentLess calls eval() on the path of an edit, so the model can run code on the host."""
    path = f"__import__('pathlib').Path('{tmp_path}/evaluated').touch()"
    assert ended(edit(path, "a", "b"), sample, checkout) == Cause.HALLUCINATED_FILE
    assert not (tmp_path / "evaluated").exists()


def test_one_edit_that_does_not_match_ends_the_sample(sample, checkout):
    good = edit(TSX, "    <img src={icon.url} />", "    <img alt={label} />")
    assert ended(good + edit(TSX, "nowhere", "x"), sample, checkout) == Cause.SEARCH_MISMATCH
    assert (sample.reached, sample.patch) == ("edited", b"")


@pytest.mark.trap("interval-at-line-1")
def test_a_patch_of_white_space_alone_is_refused(sample, checkout):
    """MagentLess returns patches that only add one blank line."""
    first = BUTTON.splitlines()[0]
    assert ended(edit(TSX, first, f"\n{first}"), sample, checkout) == Cause.WHITESPACE_ONLY


def test_edits_that_undo_each_other_are_refused(sample, checkout):
    edits = edit("src/theme.css", "  outline: none;", "  outline: auto;")
    back = edit("src/theme.css", "  outline: auto;", "  outline: none;")
    assert ended(edits + back, sample, checkout) == Cause.WHITESPACE_ONLY


def test_new_syntax_errors_are_refused(sample, checkout):
    assert ended(edit("src/theme.css", "}", "} }"), sample, checkout) == Cause.INVALID_PATCH


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", ["`", "```", "```\n", "~~~\n", "### src/a.tsx\n", "<<<<<<< SEARCH\n=======\n"])
def test_a_repetitive_answer_is_read_quickly(sample, checkout, text):
    """Small models repeat a piece of text until their limit; some of these took a minute."""
    windows = {TSX: range(3)}
    with pytest.raises(Ended):
        repair(sample, text * 30_000, checkout, windows)
    assert not named(text * 30_000, [TSX])[0]
