"""Applying patches to a commit without a checkout, in a temporary index and object folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from git import GitCommandError

from pipeline.core.errors import A11yBenchError
from pipeline.core.git import Clone, open_clone


class DoesNotApply(A11yBenchError):
    """Git rejects a patch; the message says which one, and why."""


class Applied(NamedTuple):
    """The resulting tree and the paths of its files."""

    tree: str
    files: frozenset[str]


def apply(clone: Clone, base: str, patches: Mapping[str, str]) -> Applied:
    """Apply the named patches one by one. Raises DoesNotApply. The clone is not changed."""
    with scratch(clone, base) as index:
        for name, patch in patches.items():
            index.apply(name, patch)
        return Applied(index.tree(), index.files())


class Scratch:
    """A temporary index that begins as a commit's tree: patches are applied to it, and files are read from it. Made
    by `scratch`."""

    def __init__(self, clone: Clone, base: str, folder: Path) -> None:
        self._git, self._folder, self.base = clone.git, folder, base
        self._git.read_tree(base)

    def apply(self, name: str, patch: str) -> None:
        """Apply a patch. Raises DoesNotApply."""
        if not patch.strip():
            return
        path = self._folder / "patch"
        path.write_bytes(patch.encode())
        options = {"with_extended_output": True, "with_exceptions": False}
        code, _, reason = self._git.apply("--cached", "--whitespace=nowarn", str(path), **options)
        if code:
            raise DoesNotApply(f"the {name} patch does not apply: {reason.strip()}")

    def files(self) -> frozenset[str]:
        """The paths of all files."""
        return frozenset(filter(None, self._git.ls_files("-z").split("\0")))

    def read(self, path: str, tree: str = "") -> bytes | None:
        """The content of a file in the index, or in a tree; None if it does not exist."""
        try:
            return self._git.show(f"{tree}:{path}", stdout_as_string=False, strip_newline_in_stdout=False)
        except GitCommandError:
            return None

    def tree(self) -> str:
        """The tree of the index."""
        return self._git.write_tree("--missing-ok")


@contextmanager
def scratch(clone: Clone, base: str) -> Iterator[Scratch]:
    """A temporary index and object folder for a clone, which is not changed."""
    handle = open_clone(clone.place)
    objects = handle.git.rev_parse("--path-format=absolute", "--git-path", "objects")
    with TemporaryDirectory(prefix="a11y-bench-") as folder:
        environment = {"GIT_INDEX_FILE": f"{folder}/index", "GIT_OBJECT_DIRECTORY": folder}
        handle.git.update_environment(**environment, GIT_ALTERNATE_OBJECT_DIRECTORIES=objects)
        yield Scratch(handle, base, Path(folder))
