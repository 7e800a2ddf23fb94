"""The repository at its HEAD commit, read and diffed with git plumbing.

Nothing is written to the checkout: file contents come from git's objects (so line ends are those that git stores), and
a patch is made in a temporary index and object store. Safe to share between threads. Not covered: changes of the
working tree, untracked files, symbolic links, submodules, files that are not UTF-8 text.
"""

from __future__ import annotations

import io
import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath

from magentless.causes import BadInput, Cause, Ended

REGULAR_MODES = {"100644", "100755"}
NEW_FILE_MODE = "100644"
DIFF = ("diff", "--cached", "--binary", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
PREFIXES = ("--src-prefix=a/", "--dst-prefix=b/")


class Checkout:
    """A git working tree. Raises BadInput if `root` is not one, or has no commit."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        try:
            listing = self._git("ls-tree", "-r", "-z", "HEAD").decode(errors="replace")
        except (OSError, subprocess.CalledProcessError) as error:
            reason = getattr(error, "stderr", None) or str(error).encode()
            raise BadInput(f"{root}: not a git working tree with a commit: {reason.decode().strip()}") from None
        entries = [line.partition("\t") for line in listing.split("\0") if line]
        self._entries = {path: (mode, sha) for meta, _, path in entries for mode, _, sha in [meta.split()]}
        self._texts: dict[str, str | None] = {}

    @cached_property
    def files(self) -> tuple[str, ...]:
        """Paths of the tracked regular files, in git's order."""
        return tuple(path for path, (mode, _) in self._entries.items() if mode in REGULAR_MODES)

    def digest(self, path: str) -> str:
        """Git's object id of a tracked file's content."""
        return self._entries[path][1]

    def text(self, path: str) -> str | None:
        """The committed text of a tracked file; None if it is unknown, missing from the clone or not UTF-8."""
        return self.texts([path]).get(path)

    def has_folder(self, path: str) -> bool:
        """Whether a tracked file is below this folder."""
        return path in self._folders

    def texts(self, paths: Iterable[str]) -> dict[str, str]:
        """The texts of the files that have one, read by one git process and cached."""
        wanted = [path for path in paths if self._entries.get(path, ("", ""))[0] in REGULAR_MODES]
        unread = [path for path in wanted if path not in self._texts]
        if unread:
            self._texts.update(zip(unread, self._read(unread), strict=True))
        return {path: text for path in wanted if (text := self._texts[path]) is not None}

    def _read(self, paths: Sequence[str]) -> Iterator[str | None]:
        asked = "".join(f"{self.digest(path)}\n" for path in paths)
        batch = io.BytesIO(self._git("cat-file", "--batch", stdin=asked.encode()))
        for _ in paths:
            _, kind, *size = batch.readline().split()
            yield _decoded(batch.read(int(size[0]) + 1)[:-1]) if kind == b"blob" else None

    def may_be_new(self, path: str) -> bool:
        """Whether a file may be created at `path`: relative, printable, inside the repository, and not taken."""
        parts = PurePosixPath(path).parts
        plain = path == "/".join(parts) and path.isprintable() and "\\" not in path and len(path) <= 255
        if not plain or not parts or path.startswith("/") or any(part.lower() in {"..", ".git"} for part in parts):
            return False
        parents = {"/".join(parts[:end]) for end in range(1, len(parts))}
        taken = path in self._folders or any(place in self._entries for place in parents | {path})
        return not taken and (self.root / path).resolve().is_relative_to(self.root)

    def diff(self, files: Mapping[str, str]) -> bytes:
        """A patch on HEAD that gives each path of `files` its new text, or removes it for None. `git apply` accepts it.

        Raises Ended (INVALID_PATCH) if a path would be both a file and a folder.
        """
        made = [path for path, text in files.items() if text]
        if clash := [path for path in made if any(other.startswith(f"{path}/") for other in made)]:
            raise Ended(Cause.INVALID_PATCH, f"{clash[0]} cannot be a file and a folder")
        with tempfile.TemporaryDirectory(prefix="magentless-") as scratch:
            env = self._separate(Path(scratch))
            (Path(scratch) / "index").write_bytes(self._index)
            entries = "".join(f"{self._entry(path, text, env)}\t{path}\0" for path, text in files.items())
            self._git("update-index", "-z", "--index-info", env=env, stdin=entries.encode())
            return self._git(*DIFF, *PREFIXES, "HEAD", env=env)

    def _entry(self, path: str, text: str, env: Mapping[str, str]) -> str:
        """The index entry of a file's new content, which is added to the object store."""
        mode, sha = self._entries.get(path, (NEW_FILE_MODE, ""))
        if not text:
            return f"0 {'0' * len(sha)}"
        return f"{mode} {self._git('hash-object', '-w', '--stdin', env=env, stdin=text.encode()).decode().strip()}"

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(str(parent) for path in self._entries for parent in PurePosixPath(path).parents)

    @cached_property
    def _index(self) -> bytes:
        """The index of HEAD, with which every diff begins."""
        with tempfile.TemporaryDirectory(prefix="magentless-") as scratch:
            index = Path(scratch) / "index"
            self._git("read-tree", "HEAD", env={"GIT_INDEX_FILE": str(index)})
            return index.read_bytes()

    @cached_property
    def _objects(self) -> str:
        return self._git("rev-parse", "--path-format=absolute", "--git-path", "objects").decode().rstrip("\n")

    def _separate(self, scratch: Path) -> dict[str, str]:
        (scratch / "objects").mkdir()
        return {
            "GIT_INDEX_FILE": str(scratch / "index"),
            "GIT_OBJECT_DIRECTORY": str(scratch / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": self._objects,
        }

    def _git(self, *args: str, env: Mapping[str, str] | None = None, stdin: bytes = b"") -> bytes:
        command = ["git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-C", str(self.root), *args]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        ours = {"GIT_CEILING_DIRECTORIES": str(self.root.parent), **(env or {})}
        return subprocess.run(command, input=stdin, capture_output=True, check=True, env=clean | ours).stdout


def _decoded(content: bytes) -> str | None:
    """The text of a file; None for a binary file, and for one that is not UTF-8."""
    try:
        return None if b"\0" in content else content.decode("utf-8")
    except UnicodeDecodeError:
        return None
