"""Pull requests of a clone: both kinds of merges, every change once, with files named as git names them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from factories import REPO
from histories import History

from pipeline.collect.history import pull_requests
from pipeline.collect.sources import Merged
from pipeline.collect.sources.clone import CloneSource
from pipeline.core.git import open_clone
from pipeline.core.names import commit_number


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "clone")
    made.commit("first", {"src/Menu.tsx": "one\n", "old name.ts": "moved\n" * 9})
    return made


def read(history: History) -> list[Merged]:
    return list(pull_requests(open_clone(history.folder), REPO))


def numbers(history: History) -> list[int]:
    return [merged.pull.number for merged in read(history)]


def test_a_squash_merge(history: History) -> None:
    base = history.git("rev-parse", "HEAD")
    sha = history.commit("Add aria-label (#12)\n\nFixes #10\n\nCo-authored-by: Bob\n", {"src/Menu.tsx": "two\n"})
    ((pull, files, *_),) = read(history)
    assert (pull.number, pull.title, pull.body) == (12, "Add aria-label", "Fixes #10\n\nCo-authored-by: Bob")
    assert (pull.base.sha, pull.merge_sha, pull.author, pull.state) == (base, sha, "ann", "merged")
    assert pull.merged_at == "2024-05-06T07:08:09Z"
    assert pull.instance_id == "acme__ui-12"
    assert files == ("src/Menu.tsx",)


@pytest.mark.parametrize(
    ("date", "merged_at"),
    [
        ("1714979289 +51800", "2024-05-06T07:08:09Z"),
        ("1714979289 -7200", "2024-05-06T07:08:09Z"),
        ("1714979289 +0545", "2024-05-06T07:08:09Z"),
        ("400000000000 +0000", ""),
    ],
)
def test_a_date_in_a_time_zone_that_does_not_exist(history: History, date: str, merged_at: str) -> None:
    """Old tools wrote such dates. They ended the run in a traceback."""
    history.commit("Aria (#1)", {"src/Menu.tsx": "two\n"})
    text = re.sub("^(committer .*>) .*$", rf"\1 {date}", history.git("cat-file", "commit", "HEAD"), flags=re.MULTILINE)
    (history.folder / ".git" / "odd").write_text(f"{text}\n")
    history.git("update-ref", "HEAD", history.git("hash-object", "-t", "commit", "-w", "--literally", ".git/odd"))
    assert [merged.pull.merged_at for merged in read(history)] == [merged_at]


def test_a_merge_commit(history: History) -> None:
    """Its files are those of the whole branch; its title is the first line of the message's body."""
    base = history.git("rev-parse", "HEAD")
    message = "Merge pull request #7 from bob/topic\n\nLabel the menu\n\nCloses #5"
    sha = history.merge(message, {"src/Menu.tsx": "two\n", "src/Menu.test.tsx": "test\n"})
    ((pull, files, *_),) = read(history)
    assert (pull.number, pull.title, pull.body) == (7, "Label the menu", "Closes #5")
    assert (pull.base.sha, pull.merge_sha) == (base, sha)
    assert set(files) == {"src/Menu.tsx", "src/Menu.test.tsx"}


def branch(history: History, *messages: str, subject: str = "Merge pull request #3 from bob/topic") -> None:
    """Merge a branch of these commits, which was itself updated from main before its last commit."""
    history.git("checkout", "-q", "-b", "topic")
    for place, message in enumerate(messages):
        if place == len(messages) - 1:
            history.git("checkout", "-q", "main")
            history.commit(f"Elsewhere (#{place + 90})\n\nFixes #{place + 80}", {"elsewhere.ts": f"{place}\n"})
            history.git("checkout", "-q", "topic")
            history.git("merge", "-q", "--no-ff", "-m", "Merge branch 'main' into topic", "main")
        history.commit(message, {"src/Menu.tsx": f"{message}\n"})
    history.git("checkout", "-q", "main")
    history.git("merge", "-q", "--no-ff", "-m", subject, "topic")
    history.git("branch", "-q", "-D", "topic")


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (
            ["Announce the menu\nto screen readers\n\nFixes #7\n\nmore"],
            "Announce the menu to screen readers|Fixes #7\n\nmore",
        ),
        (["Name it", "Test it\r\n\r\nCloses #8"], "Name it|* Test it\n\nCloses #8"),
        (["Name it\n\nwhy", "Test it", "Lint"], "Name it|why\n\n* Test it\n\n* Lint"),
        ([""], "|"),
    ],
)
def test_a_merge_without_a_text_has_that_of_its_branch(history: History, messages: list[str], expected: str) -> None:
    """As a squash has. Such merges had no evidence, and closed nothing. Merges in a branch do not count, nor does what
    they bring in."""
    branch(history, *messages)
    pull = next(merged.pull for merged in read(history) if merged.pull.number == 3)
    assert f"{pull.title}|{pull.body}" == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Label the menu", "Label the menu|* Name it\n\nFixes #7"),
        ("Label the menu\n\nThe why.", "Label the menu|The why.\n\n* Name it\n\nFixes #7"),
    ],
)
def test_what_the_commits_of_a_merged_branch_close_counts(history: History, text: str, expected: str) -> None:
    """GitHub closes these issues, too. Commits that only name an issue add nothing to a merge with a text."""
    branch(history, "Start, see #6", "Name it\n\nFixes #7", subject=f"Merge pull request #3 from bob/topic\n\n{text}")
    pull = next(merged.pull for merged in read(history) if merged.pull.number == 3)
    assert f"{pull.title}|{pull.body}" == expected


def test_a_branch_on_another_branch_has_only_its_own_text(history: History) -> None:
    """What an earlier merge brought in is that merge's."""
    history.git("checkout", "-q", "-b", "lower")
    history.commit("Lower", {"a.ts": "1\n"})
    history.git("checkout", "-q", "-b", "upper")
    history.commit("Upper", {"b.ts": "1\n"})
    history.git("checkout", "-q", "main")
    for number, name in enumerate(("lower", "upper"), 1):
        history.git("merge", "-q", "--no-ff", "-m", f"Merge pull request #{number} from bob/{name}", name)
    assert [(merged.pull.title, merged.pull.body) for merged in read(history)] == [("Upper", ""), ("Lower", "")]


def test_of_a_long_branch_the_first_commits_are_read(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.collect.branches._MOST", 2)
    branch(history, "One", "Two", "Three")
    pull = next(merged.pull for merged in read(history) if merged.pull.number == 3)
    assert (pull.title, pull.body) == ("One", "* Two")


def test_a_merge_by_gerrit_has_the_text_of_its_change(history: History) -> None:
    """Its changes have no number here, so they go by their commits."""
    history.git("checkout", "-q", "-b", "topic")
    history.commit("Name the menu\n\nBug: T5", {"src/Menu.tsx": "two\n"})
    history.git("checkout", "-q", "main")
    history.git("merge", "-q", "--no-ff", "-m", 'Merge "Name the menu" into main', "topic")
    (newest,) = (merged.pull for merged in read(history))
    assert newest.title == "Name the menu"
    assert (newest.number, newest.body) == (commit_number(newest.merge_sha), "Bug: T5")


MERGE = "Merge pull request #4 from"


@pytest.mark.rule("no-persons-work")
@pytest.mark.parametrize(
    ("subject", "authors", "expected"),
    [
        (f"{MERGE} bob/topic", ["bob"], "bob"),
        (f"{MERGE} acme/topic", ["renovate[bot]"], "renovate[bot]"),
        (f"{MERGE} acme/renovate/x", ["renovate[bot]"], "renovate[bot]"),
        (f"{MERGE} acme/renovate/x", ["renovate[bot]", "bob"], "renovate[bot]"),
        (f"{MERGE} acme/dependabot/npm_and_yarn/x-1.2.3", ["bob"], "dependabot[bot]"),
        (f"{MERGE} acme/snyk-fix-0123abcd", ["bob"], "snyk[bot]"),
        ("Merge pull request 'Update x' (#4) from renovate/x into main", ["bob"], "renovate[bot]"),
        ("Merge pull request 'Update x' (!4) from renovate/x into main", ["bob"], "renovate[bot]"),
        ("Merge pull request #4 in ACME/ui from renovate/x to main", ["bob"], "renovate[bot]"),
        ("Merged in renovate/x (pull request #4)", ["bob"], "renovate[bot]"),
        (f"{MERGE} bob/topic", ["bob", "acme-bot"], "bob"),
        (f"{MERGE} bob/topic", ["bob", "zoë"], "zoë"),
        (f"{MERGE} bob/snyk-report", ["bob"], "bob"),
        (f"{MERGE} renovate/menu", ["bob"], "bob"),
    ],
)
def test_the_author_of_a_merged_branch(history: History, subject: str, authors: list[str], expected: str) -> None:
    """The merge commit's author is whoever merged. Bots add snapshots to people's branches, and people fix bots'
    branches."""
    history.merge(f"{subject}\n\nLabel the menu", {"src/Menu.tsx": "two\n"}, authors)
    assert read(history)[0].pull.author == expected


def test_the_author_of_a_branch_that_the_clone_lacks(history: History) -> None:
    history.merge(f"{MERGE} bob/topic", {"src/Menu.tsx": "two\n"}, ["bob"])
    tip = history.git("rev-parse", "HEAD^2")
    clone = open_clone(history.folder)
    (history.folder / ".git" / "objects" / tip[:2] / tip[2:]).unlink()
    assert [merged.pull.author for merged in pull_requests(clone, REPO)] == ["ann"]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Fix (#1) and more (#2)", (2, "Fix (#1) and more")),
        ("Fix  (#3) ", (3, "Fix")),
        ('Revert "Add (#4)" (#5)', (5, 'Revert "Add (#4)"')),
        ("(#6)", (6, "")),
        ("Fix (#16) [skip ci]", (16, "Fix")),
        ("Fix (#16) [ci skip] ***NO_CI***", (16, "Fix")),
        ("Fix the menu (pull #3430)", (3430, "Fix the menu")),
        (
            "Merge pull request #12 in ACME/ui from topic to master\n\n* commit '0a1b':\n  Fix it\n  more",
            (12, "Fix it"),
        ),
        ("Merge pull request 'Fix it' (#12) from topic into main", (12, "Fix it")),
        ("Merge pull request 'Fix it' (!12) from topic into main", (12, "Fix it")),
        ("Merge PR #12: Fix it", (12, "Fix it")),
        ("Merged in topic (pull request #12)\n\nFix it\n\nApproved-by: Ann", (12, "Fix it")),
        ("Pull request #12: Fix it\n\nMerge in ACME/ui from topic to master", (12, "Fix it")),
        ("Merged PR 12: Fix it", (12, "Fix it")),
        ("Merge #12\n\n12: Fix it r=ann a=bob\n\nCloses #5", (12, "Fix it")),
        ("Auto merge of #12 - bob:topic, r=ann\n\nFix it", (12, "Fix it")),
        ("Merge branch 'topic' into 'main'\n\nFix it\n\nCloses #5\n\nSee merge request acme/ui!12", (12, "Fix it")),
        ("Fix it\n\nSee merge request !12", (12, "Fix it")),
        (
            "Merge branch 't' into 'main'\n\nFix it\n\nSee merge request https://git.example/a/b/-/merge_requests/12",
            (12, "Fix it"),
        ),
        ("Fix #8", None),
        ("Fix (#9) now", None),
        ("Merge pull request #12 from bob/topic\r\n\r\nFix it\r\n\r\nCloses #5\r\n", (12, "Fix it")),
        ("Merge #12\r\n\r\n12: Fix it r=ann a=bob\r\n", (12, "Fix it")),
        ("Fix it (#12) (#13)", (13, "Fix it (#12)")),
        ("Backport #11 (#12)", (12, "Backport #11")),
        ("Merge pull request #11 from bob/topic (#12)", (12, "Merge pull request #11 from bob/topic")),
        (f"Fix (#{'9' * 20})", None),
        (f"Merge pull request #{'9' * 5000} from bob/topic", None),
        (f"Fix it\n\nSee merge request acme/ui!{'9' * 5000}", None),
        ("Fix (#\u0663)", None),
        ("Fix (#0)", None),
        ("Merge branch 'main' into topic", None),
        ("", None),
    ],
)
def test_merge_messages_of_every_host_are_recognized(
    history: History, message: str, expected: tuple[int, str] | None
) -> None:
    """Merges by GitHub, Bitbucket, Gitea, Azure, GitLab and bors; other commits of such a history are no pull
    requests."""
    history.commit("Other (#99)")
    history.commit(message)
    newest, *_ = read(history)
    assert (newest.pull.number, newest.pull.title) == (expected or (99, "Other"))


def test_lines_that_a_host_adds_are_removed_from_the_body(history: History) -> None:
    history.commit("Merge branch 't' into 'main'\n\nFix it\n\nCloses #5\n\nSee merge request acme/ui!12")
    assert read(history)[0].pull.body == "Closes #5"


def pull(history: History) -> None:
    """Merge the branch `theirs` as `git pull` does after a local commit."""
    history.commit("a local commit", {"local.ts": "1\n"})
    history.git("merge", "-q", "--no-ff", "-m", "Merge branch 'main' of https://example.org/ui", "theirs")


def test_pull_requests_that_a_pull_brings_in(history: History) -> None:
    """The local line is the first parent of the merge. A branch that was itself updated is still one pull request."""
    history.merge("Merge pull request #7 from bob/topic\n\nLabel", {"src/Menu.tsx": "two\n"})
    history.commit("Name it (#8)", {"src/Menu.tsx": "three\n"})
    history.git("branch", "theirs")
    history.git("reset", "-q", "--hard", "HEAD~2")
    pull(history)
    assert numbers(history) == [8, 7]
    history.git("checkout", "-q", "-b", "topic", "HEAD~1")
    pull(history)
    history.commit("not a pull request by itself (#99)", {"src/Menu.tsx": "four\n"})
    history.git("checkout", "-q", "main")
    history.git("merge", "-q", "--no-ff", "-m", "Merge pull request #9 from ann/topic", "topic")
    assert numbers(history) == [9, 8, 7]


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("Merge branch 'dev' of git@example.org:acme/ui into dev", [5]),
        ("Merge branch 'dev' of example.org/ui into 'dev'", [5]),
        ("Merge branch 'dev' of example.org/ui into devel", []),
        ("Merge branch 'topic' of example.org/bob", []),
    ],
)
def test_a_pull_of_any_branch_brings_in_its_pull_requests(history: History, subject: str, expected: list[int]) -> None:
    """Many main branches have another name. Another branch is a change of its own."""
    history.git("checkout", "-q", "-b", "theirs")
    history.commit("Name it (#5)", {"src/Menu.tsx": "two\n"})
    history.git("checkout", "-q", "main")
    history.commit("Local (#6)", {"local.ts": "1\n"})
    history.git("merge", "-q", "--no-ff", "-m", subject, "theirs")
    assert sorted(numbers(history)) == [*expected, 6]


@pytest.mark.parametrize("is_earlier", [True, False])
def test_a_stretch_without_numbers_goes_by_commit(
    history: History, is_earlier: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Projects change how they merge, and once lost all that was merged in the other way."""
    monkeypatch.setattr("pipeline.collect.history._STRETCH", 4)
    for name in ("Fix {}", "Label (#{})") if is_earlier else ("Label (#{})", "Fix {}"):
        for number in range(1, 11):
            history.commit(name.format(number), {"src/Menu.tsx": f"{name} {number}\n"})
    found = read(history)
    assert {merged.pull.number for merged in found} >= set(range(1, 11))
    assert len([merged for merged in found if merged.pull.title.startswith("Fix")]) in range(6, 9)


def test_a_history_without_numbers_goes_by_commit(history: History, capsys: pytest.CaptureFixture[str]) -> None:
    """Each commit counts, also those of a main branch that a merge brings in, and a merge counts as its whole branch;
    merges that only bring in the main branch do not count."""
    commit = history.commit("feat: name the menu\n\nCloses #5", {"src/Menu.tsx": "two\n", "src/Menu.test.tsx": "t\n"})
    two = history.merge("Merge branch 'topic'\n\nmore", {"a.ts": "1\n", "b.ts": "1\n"})
    history.git("checkout", "-q", "-b", "main-of-others", "HEAD~1")
    history.commit("elsewhere", {"c.ts": "1\n"})
    history.git("checkout", "-q", "main")
    history.git("merge", "-q", "--no-ff", "-m", "Merge branch 'main' of example.org/ui", "main-of-others")
    newest, brought, oldest = sorted(read(history), key=lambda merged: merged.pull.title)
    assert (newest.pull.merge_sha, set(newest.files)) == (two, {"a.ts", "b.ts"})
    assert (brought.pull.title, brought.files) == ("elsewhere", ("c.ts",))
    assert (oldest.pull.merge_sha, oldest.pull.title, oldest.pull.body) == (commit, "feat: name the menu", "Closes #5")
    assert oldest.pull.number == commit_number(commit) == (1 << 52) + int(commit[:13], 16) < 1 << 53
    list(CloneSource(REPO, history.folder).pages(""))
    output = capsys.readouterr().err
    assert "names a pull request, so each of them counts as one. Looked for: " in output and "; Title (#12); " in output


def test_a_clone_without_merged_changes_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history = History(tmp_path / "clone")
    history.commit("Everything", {"a.ts": "1\n"})
    assert list(CloneSource(REPO, history.folder).pages("")) == []
    assert "no merged change in the history of HEAD" in capsys.readouterr().err


@pytest.mark.trap("half-a-rebase")
def test_consecutive_commits_of_one_number_are_joined(history: History) -> None:
    """If a branch was rebased onto main, the last commit is only its last part."""
    base = history.commit("Before (#1)", {"a.ts": "0\n"})
    history.commit("Name the menu (#2)\n\nCloses #5", {"src/Menu.tsx": "two\n", "gone.ts": "1\n"})
    history.commit("Remove again (#2)", {"gone.ts": None})
    last = history.commit("Test it (#2)", {"src/Menu.test.tsx": "test\n"})
    whole, _ = read(history)
    assert (whole.pull.number, whole.pull.base.sha, whole.pull.merge_sha) == (2, base, last)
    assert set(whole.files) == {"src/Menu.tsx", "src/Menu.test.tsx"}
    assert (whole.pull.title, "Closes #5" in whole.pull.body) == ("Test it", True)


@pytest.mark.trap("newest-skipped")
def test_the_newest_pull_request_is_found(history: History) -> None:
    """A fresh run of Multi-SWE-bench always skips it."""
    for number in (3, 1, 2):
        history.commit(f"Change (#{number})")
    assert numbers(history) == [2, 1, 3]


@pytest.mark.trap("unmerged-kept")
def test_unmerged_branches_are_not_read(history: History) -> None:
    """Only the first-parent history of HEAD is read, so unmerged branches do not appear."""
    history.commit("Merged (#1)")
    history.git("checkout", "-q", "-b", "open")
    history.commit("Open (#2)")
    history.git("checkout", "-q", "main")
    assert numbers(history) == [1]


def test_a_commit_inside_a_merged_branch_is_not_a_pull_request(history: History) -> None:
    """Commits of a branch may mention other pull requests' numbers."""
    history.git("checkout", "-q", "-b", "topic")
    history.commit("Picked (#3)")
    history.git("checkout", "-q", "main")
    history.git("merge", "-q", "--no-ff", "-m", "Merge pull request #4 from bob/topic", "topic")
    assert numbers(history) == [4]


@pytest.mark.rule("funnel")
def test_two_pull_requests_of_one_number_both_count(history: History, capsys: pytest.CaptureFixture[str]) -> None:
    """A history that moved from one host to another has some numbers twice. All of the older pull requests vanished."""
    other = history.commit("Name the old menu (#1)", {"old/menu.js": "1\n", ".gitignore": "1\n", "old/a.js": "1\n"})
    history.commit("Another (#2)", {"b.ts": "1\n"})
    history.commit("Name the menu (#1)", {"src/Menu.tsx": "two\n", ".gitignore": "2\n", "src/a.ts": "1\n"})
    assert numbers(history) == [1, 2, commit_number(other)]
    list(CloneSource(REPO, history.folder).pages(""))
    assert "changes of acme/ui with the number of a later one: 1; each goes by its commit" in capsys.readouterr().err


@pytest.mark.parametrize("again", ["Change (#1)", "Change it again (#1)"])
def test_a_change_that_was_merged_again_by_its_title_or_files(history: History, again: str) -> None:
    history.commit("Change (#1)", {"a.ts": "1\n", "b.ts": "1\n"})
    history.commit("Another (#2)", {"b.ts": "2\n"})
    history.commit(again, {"c.ts" if again == "Change (#1)" else "a.ts": "2\n"})
    assert numbers(history) == [1, 2]


def test_a_number_counts_once(history: History) -> None:
    """A pull request that was merged, reverted and merged again is one: its last merge."""
    history.commit("Change (#1)", {"a.ts": "1\n"})
    history.commit("Another (#2)", {"b.ts": "1\n"})
    last = history.commit("Change again (#1)", {"a.ts": "2\n"})
    assert [(merged.pull.number, merged.pull.merge_sha) for merged in read(history) if merged.pull.number == 1] == [
        (1, last)
    ]


def test_the_first_commit_is_left_out_since_it_has_no_base(tmp_path: Path) -> None:
    history = History(tmp_path / "clone")
    history.commit("Everything (#1)", {"a.ts": "1\n"})
    assert read(history) == []


def test_file_names_are_not_escaped(history: History) -> None:
    """Spaces, quotes and letters of any script; a rename has both names."""
    names = {"src/ü b.ts": "1\n", 'src/"q".ts': "2\n", "src/tab\t.ts": "3\n"}
    history.commit("Names (#1)", names)
    history.commit("Moved (#2)", {"old name.ts": None, "new name.ts": "moved\n" * 9})
    second, first = read(history)
    assert set(first.files) == set(names)
    assert set(second.files) == {"old name.ts", "new name.ts"}


def test_a_pull_request_without_files(history: History) -> None:
    history.commit("Nothing (#1)")
    history.commit("Something (#2)", {"a.ts": "1\n"})
    assert [merged.files for merged in read(history)] == [("a.ts",), ()]


def test_long_and_odd_messages_are_read_completely(history: History) -> None:
    """Git's output comes in blocks; a character or a message at a border is read like any other."""
    long = "é☃" * 300_000
    (history.folder.parent / "message").write_text(f"Long (#1)\n\n{long}\n", encoding="utf-8")
    history.git("commit", "-q", "--allow-empty", "-F", str(history.folder.parent / "message"))
    history.commit("Odd \x01\x02 (#2)\n\nbo\x01dy \x02\x03", {"a.ts": "1\n"})
    odd, whole = read(history)
    assert whole.pull.body == long
    assert (odd.pull.number, odd.pull.body, odd.files) == (2, "bo\x01dy \x02\x03", ("a.ts",))
