"""Names of repositories, instances and folders. Two names never share a folder; folders only help to find records.

A repository's folder is `org__repo`. Models and agents may have any name: a plain name is its own folder name, all
others get a digest. Reads and writes nothing.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from pipeline.core.errors import UserError

#: an organization: the first `__` ends it; a repository: any name of these characters but `.` and `..`
_OWNER, _OWNED, _SEPARATOR = r"[A-Za-z0-9](?:[A-Za-z0-9.-]|_(?!_))*?", r"[A-Za-z0-9._-]+", r"(?:-#|:pr-|:|#|-)"
_REPO = re.compile(rf"({_OWNER})(?:/|__)((?!\.+$){_OWNED})")
#: an organization that can precede `__` without ambiguity
_ORG = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]|_(?!_|$))*")
#: a repository that can follow it, and whose folder never has the name of another one's file
_NAME = re.compile(r"(?!\.+$)(?!.*\.jsonl$)[A-Za-z0-9._-]+")
#: the number of a pull request or of a commit, which is below 2 ** 53
_NUMBER = r"[0-9]{1,16}"
_INSTANCE = re.compile(rf"({_OWNER})(?:/|__)((?!\.+{_SEPARATOR}[0-9]+$){_OWNED}?){_SEPARATOR}({_NUMBER})")


class Repo(NamedTuple):
    """A repository: `org/repo` to people, `org__repo` as a folder."""

    org: str
    repo: str

    @property
    def slug(self) -> str:
        """The name of its folder, unique to it. Raises UserError for a repository that cannot have one."""
        if not (_ORG.fullmatch(self.org) and _NAME.fullmatch(self.repo)):
            hint = "an organization must not contain '__' or end in '_', and a repository must not end in '.jsonl'"
            raise UserError(f"'{self}' cannot name a folder", hint=hint)
        return f"{self.org}__{self.repo}"

    @classmethod
    def of_slug(cls, name: str) -> Repo | None:
        """The repository that a folder is named after, or None for any other folder."""
        org, _, repo = name.partition("__")
        return cls(org, repo) if _ORG.fullmatch(org) and _NAME.fullmatch(repo) else None

    def __str__(self) -> str:
        return f"{self.org}/{self.repo}"

    def instance_id(self, number: int) -> str:
        """`org__repo-N`, the form of SWE-bench and Multi-SWE-bench."""
        return f"{self.slug}-{number}"


def parse_repo(text: str) -> Repo:
    """`grommet/grommet` or `grommet__grommet`. Raises UserError on anything else."""
    match = _REPO.fullmatch(text.strip())
    if not match:
        raise UserError(f"'{text}' is not a repository", hint="write it as org/repo or org__repo")
    return Repo(*match.groups())


def parse_instance_id(text: str) -> tuple[Repo, int]:
    """`org__repo-N`, or `org/repo` with `-#N`, `:N`, `:pr-N` or `#N`. Raises UserError on anything else."""
    match = _INSTANCE.fullmatch(text.strip())
    if not match:
        hint = "write it as org__repo-N, org/repo#N, org/repo-#N, org/repo:N or org/repo:pr-N"
        raise UserError(f"'{text}' is not an instance", hint=hint)
    return Repo(match[1], match[2]), int(match[3])


def is_canonical(text: str) -> bool:
    """Whether a text is an instance's name in the form of our records, which can name a folder."""
    try:
        repo, number = parse_instance_id(text)
        return number > 0 and text == repo.instance_id(number)
    except UserError:
        return False


#: the first number that stands for a commit: above all numbers of pull requests, and small enough for JSON
_COMMITS = 1 << 52


def commit_number(sha: str) -> int:
    """The number of a change without a pull request, from the first 13 digits of its commit."""
    return _COMMITS + int(sha[:13], 16)


def is_of_commit(number: int) -> bool:
    """Whether a number stands for a commit rather than a pull request."""
    return number >= _COMMITS


#: names that serve as folder names unchanged; none contains `~`
_PLAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?")
#: the most characters that other names keep in their folder's name
_SHOWN = 60


def folder_name(text: str) -> str:
    """A name as one safe and unique path segment: `GLM-4.6` stays as it is, `deepinfra/GLM-4.6` becomes
    `deepinfra_GLM-4.6~8f358501bf4dcdce`. Raises UserError for an empty name."""
    if not text:
        raise UserError("the name of a folder must not be empty")
    if _PLAIN.fullmatch(text):
        return text
    shown = re.sub(r"[^A-Za-z0-9._-]+", "_", text)[:_SHOWN].strip("._-") or "name"
    return f"{shown}~{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def named_by(folder: str) -> str | None:
    """The name that a folder stands for, or None if only its records can tell."""
    return folder if all(map(_PLAIN.fullmatch, folder.split(VARIANT, 1))) else None


#: separates an agent from the name of its settings; not used in other folder names
VARIANT = "@"


def variant(agent: str, name: str) -> str:
    """An agent with named settings: `magentless@greedy`. Raises UserError for an invalid name."""
    if name and not _PLAIN.fullmatch(name):
        raise UserError(f"'{name}' cannot name settings", field="name", hint="letters, digits, '.', '_' and '-'")
    return f"{agent}{VARIANT}{name}" if name else agent


def agent_folder(label: str) -> str:
    """The unique folder of an agent, with or without named settings."""
    return VARIANT.join(map(folder_name, label.split(VARIANT, 1))) if _is_variant(label) else folder_name(label)


def _is_variant(label: str) -> bool:
    return VARIANT in label and all(map(_PLAIN.fullmatch, label.split(VARIANT, 1)))
