"""What patches make of a commit, without a checkout: in an index and an object folder that are thrown away."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pipeline.core.errors import A11yBenchError
from pipeline.core.git import Clone, open_clone


class DoesNotApply(A11yBenchError):
    """A patch that git refuses; the message says which, and why."""


class Applied(NamedTuple):
    """A tree, and the paths of its files."""

    tree: str
    files: frozenset[str]


def apply(clone: Clone, base: str, patches: Mapping[str, str]) -> Applied:
    """Apply the named patches one by one. Raises DoesNotApply. The clone is not changed."""
    own = open_clone(clone.place)
    objects = own.git.rev_parse("--path-format=absolute", "--git-path", "objects")
    with TemporaryDirectory(prefix="a11y-bench-") as folder:
        places = {"GIT_INDEX_FILE": f"{folder}/index", "GIT_OBJECT_DIRECTORY": folder}
        own.git.update_environment(**places, GIT_ALTERNATE_OBJECT_DIRECTORIES=objects)
        own.git.read_tree(base)
        for name, patch in patches.items():
            _apply(own, name, patch, Path(folder) / "patch")
        files = own.git.ls_files("-z").split("\0")
        return Applied(own.git.write_tree("--missing-ok"), frozenset(filter(None, files)))


def _apply(clone: Clone, name: str, patch: str, path: Path) -> None:
    if not patch.strip():
        return
    path.write_bytes(patch.encode())
    told = {"with_extended_output": True, "with_exceptions": False}
    code, _, why = clone.git.apply("--cached", "--whitespace=nowarn", str(path), **told)
    if code:
        raise DoesNotApply(f"the {name} patch does not apply: {why.strip()}")
