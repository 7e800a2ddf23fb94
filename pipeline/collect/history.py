"""Pull requests of a clone: what its first-parent history merged, newest first.

One pass of `git log` gives all of them with their files. A clone has no labels or issue texts. Where hardly any commit
names a pull request, each commit counts as one, numbered by its hash (`core.names.commit_number`). So does an older
change whose number a later one has, too. The author of a merge is whoever merged, so a merged pull request's author is
that of its branch (branches.py), and so is the text that the merge itself lacks. If a merge brings in a main branch, as
`git pull` does, the history that it brings in counts like the one it is merged into.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import NamedTuple

from pipeline.collect.branches import Graph, Message, closes
from pipeline.collect.kinds import is_bot_name
from pipeline.collect.sources import Merged
from pipeline.core.git import Clone, changed_files
from pipeline.core.names import Repo, commit_number
from pipeline.core.records import Base, PullRequest

#: begins a record of the log; cannot be in a message, since messages contain no NUL
_BEGIN = "\0\1\0"
_FORMAT = "%x00%x01%x00%H%x00%P%x00%an%x00%ct%x00%s%x00%b%x00"
#: with fewer numbers in a hundred commits, a stretch of history counts as one without numbers; and how many commits
#: before and after a commit are its stretch
_RARE, _STRETCH = 5, 100


#: a number of a pull request: no host has larger ones, and a message may contain any digits
_NUMBER = r"(?P<number>[0-9]{1,9})(?![0-9])"


class Form(NamedTuple):
    """How a host writes a merge: an example for people, and the pattern of the subject. Without a group for the title,
    the title begins the body."""

    example: str
    subject: re.Pattern[str]


def _form(example: str, subject: str) -> Form:
    return Form(example, re.compile(subject.replace("NUMBER", _NUMBER), re.DOTALL))


#: what may follow the number of a squash merge: directives for machines, which are not a part of the title
_DIRECTIVES = r"\s*(?:(?:\[[^\]]*\]|\*\*\*NO_CI\*\*\*)\s*)*"
#: the first match counts
FORMS = (
    _form("Merged in … (pull request #12)", r"Merged in \S+ \(pull request #NUMBER\)"),
    _form("Title (#12)", r"(?P<title>.*?)\s*\((?:(?:pull(?: request)?|PR|MR) )?[#!]NUMBER\)" + _DIRECTIVES),
    _form("Merge pull request 'Title' (#12) from …", r"Merge pull request '(?P<title>.*)' \([#!]NUMBER\) from .*"),
    _form("Merge pull request #12 from …, or in …", r"Merge pull request #NUMBER\b.*"),
    _form("Pull request #12: Title", r"(?:Pull request #|Merged? PR #?)NUMBER: (?P<title>.+)"),
    _form("Merge #12, Auto merge of #12 (bors)", r"(?:Merge|Auto merge of) #NUMBER(?: - .*)?"),
)
_GITLAB = re.compile(rf"^See merge request (?:\S*!|https?://\S+/merge_requests/){_NUMBER}\s*$", re.MULTILINE)
#: the examples of all forms, for messages
LOOKED_FOR = "; ".join([*(form.example for form in FORMS), "See merge request group/project!12 (GitLab)"])

#: what precedes and follows a title in the messages of bors and of Bitbucket
_BORS = re.compile(r"^\d+: (?P<title>.*?)(?: [ra]=\S.*)?$")
_COMMIT_LINE = re.compile(r"\s*\* commit '[0-9a-f]+':\s*\n\s*")
_MERGED_BRANCH = re.compile(r"Merge branch\b")
#: a merge of the main branch into another branch, or of another copy of a branch into it, as `git pull` does: its
#: commits belong to other pull requests
_SYNC = re.compile(
    r"Merge (?:remote-tracking )?branch '(?:\w+/)?(?:main|master|develop|trunk)'"
    r"|Merge branch '(?P<branch>[^']+)' of \S+ into '?(?P=branch)'?(?!\S)"
)
#: a subject that only says what was merged, as git, GitHub and Gerrit (`Merge "Title" into main`) write it
_UNTITLED = re.compile(r"(?:Auto )?[Mm]erged? ")

#: a merge of a branch that a bot made, as each host names the branch: after its owner on GitHub
_BOTS_BRANCH = re.compile(
    r"(?:Merge pull request #\d+ from [^/\s]+/|Merge pull request (?:#\d+ in \S+|'.*' \([#!]\d+\)) from |Merged in |"
    r"Merge branch '|Auto merge of #\d+ - [^:\s]+:)"
    r"(?P<bot>dependabot|renovate|snyk|greenkeeper|depfu|imgbot|all-contributors|changeset)"
    r"(?:/|(?<=snyk)-(?:fix|upgrade)-|(?<=changeset)-release/)"
)
_AUTHOR = re.compile(rb"^author (.*?) <", re.MULTILINE)


class _Commit(NamedTuple):
    """A commit of the log; `date` is in seconds, and `number` is 0 if its message names no pull request."""

    sha: str
    parents: str
    author: str
    date: str
    subject: str
    number: int
    title: str
    body: str
    files: tuple[str, ...]

    @property
    def is_plain(self) -> bool:
        """Whether it has one parent."""
        return len(self.parents.split()) == 1

    @property
    def base(self) -> str:
        return self.parents.split()[0]


def pull_requests(clone: Clone, repo: Repo) -> Iterator[Merged]:
    """Every merged pull request of the clone's HEAD, newest first. Of a change that was merged again, the last merge
    counts. If an older one is another change, it goes by its commit."""
    seen: dict[int, list[tuple[str, set[str]]]] = defaultdict(list)
    graph = Graph(clone)
    starts, line = _lines(graph)
    branches = graph.brought(line)
    unnumbered = without_numbers(clone, starts)
    for group in _groups(_commits(clone, starts)):
        newest = group[0]
        is_counted = newest.sha in unnumbered and not _SYNC.match(newest.title)
        number = newest.number or (commit_number(newest.sha) if is_counted else 0)
        change = newest.title, {file for commit in group for file in commit.files}
        if number and newest.parents and not any(_is_same(change, later) for later in seen[number]):
            own = commit_number(newest.sha) if seen[number] else number
            seen[number].append(change)
            yield _merged(clone, repo, own, group, graph.messages(branches.get(newest.sha, [])))


def _is_same(change: tuple[str, set[str]], later: tuple[str, set[str]]) -> bool:
    """Whether two changes with one number are one that was merged again: by their titles, or most of their files."""
    (title, files), (later_title, later_files) = change, later
    return title == later_title or 2 * len(files & later_files) >= min(len(files), len(later_files))


def _groups(commits: Iterable[_Commit]) -> Iterator[list[_Commit]]:
    """Adjacent commits with the same number are one rebased pull request; every other commit is a group of its own."""
    group: list[_Commit] = []
    for commit in commits:
        last = group[-1] if group else None
        if last and not (commit.number and commit.number == last.number and last.is_plain and commit.is_plain):
            yield group
            group = []
        group.append(commit)
    if group:
        yield group


def without_numbers(clone: Clone, starts: Sequence[str] = ()) -> set[str]:
    """The commits around which so few name a pull request that each counts as one. `starts` are those of the history,
    if they are known."""
    commits = list(_commits(clone, starts or _lines(Graph(clone))[0], files=False))
    sums = [0, *accumulate(bool(commit.number) for commit in commits)]

    def is_rare(place: int) -> bool:
        start, end = max(0, place - _STRETCH), min(len(commits), place + _STRETCH)
        return (sums[end] - sums[start]) * 100 < _RARE * (end - start)

    return {commit.sha for place, commit in enumerate(commits) if is_rare(place)}


def _lines(graph: Graph) -> tuple[list[str], set[str]]:
    """The commits from which the first-parent history is read (HEAD, and what merges bring in of a main branch), and
    all commits of this history."""
    found, waiting, seen = ["HEAD"], [next(iter(graph.commits), "")], set[str]()
    while waiting:
        sha = waiting.pop()
        while sha in graph.commits and sha not in seen:
            seen.add(sha)
            before, subject = graph.commits[sha]
            if len(before) == 2 and _SYNC.match(subject) and not _title(subject, "")[0]:
                waiting.append(before[1])
                found.append(before[1])
            sha = before[0] if before else ""
    return found, seen


def _merged(clone: Clone, repo: Repo, number: int, commits: list[_Commit], branch: list[Message]) -> Merged:
    """A pull request of one commit, or of several adjacent commits (a rebase) with all their changes. `branch` has the
    messages of what a merge commit brought in: they are its text if the merge has none, and if not, those count that
    close issues."""
    newest, oldest = commits[0], commits[-1]
    pull = PullRequest(
        org=repo.org,
        repo=repo.repo,
        number=number,
        title=newest.title,
        body=newest.body,
        author=_author(clone, newest),
        base=Base(label=f"{repo.org}:HEAD", ref="HEAD", sha=oldest.base),
        merge_sha=newest.sha,
        merged_at=_utc(newest.date),
    )
    if branch and not newest.body and newest.title == newest.subject and _UNTITLED.match(newest.title):
        (title, body), *more = branch
        pull = pull.model_copy(update={"title": title, "body": body})
    else:
        more = [message for message in branch if closes(message, pull)]
    older = [Message(commit.title, commit.body) for commit in commits[1:]]
    body = "\n\n".join(filter(None, (pull.body, *(message.item for message in (*older, *more)))))
    files = newest.files if newest is oldest else tuple(changed_files(clone, oldest.base, newest.sha))
    return Merged(pull.model_copy(update={"body": body}), files)


def _author(clone: Clone, commit: _Commit) -> str:
    """Who made the change: of a merge, the bot that its branch is named after, or the author of the branch's last
    commit; of the first commit if the last one is a bot's, since bots also add to branches of people."""
    base, *branch = commit.parents.split()
    if not branch:
        return commit.author
    if match := _BOTS_BRANCH.match(commit.subject):
        return f"{match['bot']}[bot]"
    last = clone.reader.read(branch[0])
    found = _AUTHOR.search(last.data) if last else None
    if found is None:
        return commit.author
    author = found[1].decode("utf-8", "replace")
    if not is_bot_name(author):
        return author
    names = clone.git.log("--no-merges", "--format=%an", branch[0], f"^{base}", with_exceptions=False)
    return str(names).splitlines()[-1] if names else author


def _commits(clone: Clone, starts: Sequence[str], *, files: bool = True) -> Iterator[_Commit]:
    for record in _log(clone, starts, files=files):
        *parts, names = record.split(b"\0", 6)
        sha, parents, author, date, subject, body = (part.decode("utf-8", "replace") for part in parts)
        number, title, text = _title(subject, body)
        found = names.decode("utf-8", "surrogateescape").split("\0")
        paths = tuple(filter(None, (name.lstrip("\n") for name in found)))
        yield _Commit(sha, parents, author, date, subject, number, title, text, paths)


def _log(clone: Clone, starts: Sequence[str], *, files: bool) -> Iterator[bytes]:
    command = ["git", f"--git-dir={clone.git_dir}", "log", "--first-parent", "-z", f"--format={_FORMAT}"]
    names = ["-m", "--no-renames", "--name-only"] if files else []
    order = ["--topo-order"] if len(starts) > 1 else []  # a rebased pull request stays together
    process = clone.git.execute([*command, *names, *order, *starts], as_process=True)
    pending = b""
    while block := process.stdout.read(1 << 20):
        *records, pending = (pending + block).split(_BEGIN.encode())
        yield from (record for record in records if record.strip(b"\0"))
    if pending:
        yield pending
    process.wait()


def _utc(seconds: str) -> str:
    """A date of git in UTC; empty for none, and for one after the year 9999. Its time zone can be any text."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return ""


def _title(subject: str, body: str) -> tuple[int, str, str]:
    """The number (0: none), title and body of a pull request's merge, or of any other commit."""
    for form in FORMS:
        if match := form.subject.fullmatch(subject):
            groups = match.groupdict()
            title, text = (groups["title"], body.strip()) if "title" in groups else _of_body(subject, body)
            return int(match["number"]), title, text
    if match := _GITLAB.search(body):
        remaining = _GITLAB.sub("", body).strip()
        title, text = _of_body(subject, remaining) if _MERGED_BRANCH.match(subject) else (subject, remaining)
        return int(match["number"]), title, text
    return 0, subject, body.strip()


def _of_body(subject: str, body: str) -> tuple[str, str]:
    """Title and body from a merge commit's body: the title is its first line, or the subject if the body is empty."""
    title, _, text = _COMMIT_LINE.sub("", body.strip(), count=1).strip().partition("\n")
    bors = _BORS.match(title.rstrip())
    return (bors["title"] if bors else title.rstrip()) or subject, text.strip()
