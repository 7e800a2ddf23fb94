"""Pull requests of a local clone: squash merges (`… (#12)`) and merge commits of the first-parent history.

One pass of `git log` gives all of them with their files. Labels and issue texts are not in a clone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import git

from pipeline.collect.sources import Merged
from pipeline.core.names import Repo
from pipeline.core.records import Base, PullRequest

#: begins a record of the log; it can not stand in a message, which holds no NUL
_BEGIN = "\0\1\0"
_FORMAT = "%x00%x01%x00%H%x00%P%x00%an%x00%cI%x00%s%x00%b%x00"
_SQUASH = re.compile(r"^(?P<title>.*?)\s*\(#(?P<number>\d+)\)\s*$", re.DOTALL)
_MERGE = re.compile(r"^Merge pull request #(?P<number>\d+) from \S+")


def pull_requests(clone: git.Repo, repo: Repo) -> Iterator[Merged]:
    """Every merged pull request of the clone's HEAD, newest first, each number once (its last merge counts)."""
    seen: set[int] = set()
    for record in _log(clone):
        merged = _parse(record, repo)
        if merged and merged.pull.number not in seen:
            seen.add(merged.pull.number)
            yield merged


def _log(clone: git.Repo) -> Iterator[str]:
    command = ["git", f"--git-dir={clone.git_dir}", "log", "--first-parent", "-m", "--no-renames", "--name-only", "-z"]
    process = clone.git.execute([*command, f"--format={_FORMAT}"], as_process=True)
    rest = b""
    while block := process.stdout.read(1 << 20):
        *records, rest = (rest + block).split(_BEGIN.encode())
        yield from (record.decode("utf-8", "replace") for record in records if record)
    yield rest.decode("utf-8", "replace")
    process.wait()


def _parse(record: str, repo: Repo) -> Merged | None:
    sha, parents, author, date, subject, body, *names = record.split("\0")
    parsed = _title(subject, body)
    if not parsed or not parents:
        return None
    number, title, text = parsed
    pull = PullRequest(
        org=repo.org,
        repo=repo.repo,
        number=number,
        title=title,
        body=text,
        author=author,
        base=Base(label=f"{repo.org}:HEAD", ref="HEAD", sha=parents.split()[0]),
        merge_sha=sha,
        merged_at=_utc(date),
    )
    return Merged(pull, tuple(filter(None, (name.lstrip("\n") for name in names))))


def _utc(date: str) -> str:
    """Git gives the committer's own time zone."""
    return datetime.fromisoformat(date).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _title(subject: str, body: str) -> tuple[int, str, str] | None:
    """The number, title and body; a merge commit's title is the first line of its message's body."""
    squash = _SQUASH.match(subject)
    if squash:
        return int(squash["number"]), squash["title"], body.strip()
    merge = _MERGE.match(subject)
    if merge:
        title, _, rest = body.strip().partition("\n")
        return int(merge["number"]), title or subject, rest.strip()
    return None
