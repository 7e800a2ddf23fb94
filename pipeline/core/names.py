"""Names of repositories and instances, in every form that people write them."""

from __future__ import annotations

import re
from typing import NamedTuple

from pipeline.core.errors import UserError

_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?"
_REPO = re.compile(rf"^({_PART}?)(?:/|__)({_PART})$")
_INSTANCE = re.compile(rf"^({_PART}?)(?:/|__)({_PART}?)(?:-#|:|#|-)(\d+)$")


class Repo(NamedTuple):
    """A repository: `org/repo` to people, `org__repo` as a folder."""

    org: str
    repo: str

    @property
    def slug(self) -> str:
        return f"{self.org}__{self.repo}"

    def __str__(self) -> str:
        return f"{self.org}/{self.repo}"

    def instance_id(self, number: int) -> str:
        """`org__repo-N`, the form of SWE-bench and Multi-SWE-bench."""
        return f"{self.slug}-{number}"


def parse_repo(text: str) -> Repo:
    """`grommet/grommet` or `grommet__grommet`. Raises UserError on anything else."""
    match = _REPO.match(text.strip())
    if not match:
        raise UserError(f"'{text}' is no repository", hint="write it as org/repo or org__repo")
    return Repo(*match.groups())


def parse_instance_id(text: str) -> tuple[Repo, int]:
    """`org__repo-N`, `org/repo-#N`, `org/repo:N` or `org/repo#N`. Raises UserError on anything else."""
    match = _INSTANCE.match(text.strip())
    if not match:
        raise UserError(
            f"'{text}' is no instance", hint="write it as org__repo-N, org/repo-#N, org/repo:N or org/repo#N"
        )
    return Repo(match[1], match[2]), int(match[3])


def folder_name(text: str) -> str:
    """A model's or agent's name as one safe path segment (`deepinfra/GLM-4.6` gives `deepinfra_GLM-4.6`)."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", text).strip("._")
    if not name:
        raise UserError(f"'{text}' can not name a folder")
    return name
