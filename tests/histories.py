"""Small git histories for tests, made commit by commit with git itself.

`History(folder)` is a clone with a work tree. Identities and dates are fixed; the host's git settings have no effect.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path

ISOLATED = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_AUTHOR_DATE": "2024-05-06T07:08:09Z",
    "GIT_COMMITTER_NAME": "ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
    "GIT_COMMITTER_DATE": "2024-05-06T07:08:09Z",
    # git looks after each commit whether a repository needs tidying, in a process of its own
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "maintenance.auto",
    "GIT_CONFIG_VALUE_0": "false",
}
Content = str | bytes | None


def git(folder: Path, *arguments: str, **environment: str) -> str:
    """Run git in `folder`; returns what it printed. Raises CalledProcessError."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=clean | ISOLATED | environment, check=True, capture_output=True
    )
    return done.stdout.decode().strip()


class History:
    """A repository in the new folder `folder`, on the branch main."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main", "--template=")

    def copy(self, folder: Path) -> History:
        """The same repository in the new folder `folder`."""
        shutil.copytree(self.folder, folder, symlinks=True)
        copied = copy(self)
        copied.folder = folder
        return copied

    @property
    def head(self) -> str:
        """The commit that is checked out, read without a process."""
        place = self.folder / ".git" / "HEAD"
        while (text := place.read_text().strip()).startswith("ref: "):
            place = self.folder / ".git" / text.removeprefix("ref: ")
        return text

    def git(self, *arguments: str, **environment: str) -> str:
        return git(self.folder, *arguments, **environment)

    def commit(
        self, message: str, files: Mapping[str, Content] | None = None, author: str = "ann", **environment: str
    ) -> str:
        """Write these files (None removes one), commit everything that changed, and return the commit. git gets further
        variables of the environment."""
        for name, content in (files or {}).items():
            put(self.folder / name, content)
        self.git("add", "-A", "-f")
        self.git(
            "commit",
            "-q",
            "--allow-empty",
            "--allow-empty-message",
            "-m",
            message,
            GIT_AUTHOR_NAME=author,
            **environment,
        )
        return self.head

    def merge(self, message: str, files: Mapping[str, Content], authors: Sequence[str] = ("ann",)) -> str:
        """Change the files on a branch, with an empty commit by each further author, and merge it by a merge commit."""
        self.git("checkout", "-q", "-b", "topic")
        for author in authors:
            self.commit("work on the topic", files if author == authors[0] else None, author)
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--no-ff", "-m", message, "topic")
        self.git("branch", "-q", "-D", "topic")
        return self.head

    def tree(self, commit: str) -> str:
        return self.git("rev-parse", f"{commit}^{{tree}}")

    def lose(self, commit: str, path: str) -> None:
        """Delete the object of a file's content, as in a clone that lacks it."""
        blob = self.git("rev-parse", f"{commit}:{path}")
        (self.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


def put(path: Path, content: Content) -> None:
    """Write one file with its folder, or remove it."""
    if content is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
