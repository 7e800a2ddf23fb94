"""The work tree of a workspace: what differs from the commit, and listing, finding and removing files.

Everything here runs commands of ours, never code of the repository.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

from pipeline.core.errors import InfrastructureError
from pipeline.execution.generated import LISTING, UNTRACKED
from pipeline.sandbox.base import Workspace

#: lists what a patch changed
_STATE = ("sh", "-ec", files(__package__).joinpath("state.sh").read_text(encoding="utf-8"))
#: how the comment at a file's head claims another module's name: Jest before 24 prefers the file to a package
CLAIM = "@provides(Module)?([[:space:]]|$)"
#: lists the files that exist; it never fails, since a sandbox looks into each failure for a limit that was reached
_EXISTING = ("sh", "-c", 'ls -1d -- "$@" 2> /dev/null || :', "sh")
#: how many paths a command takes, even if each is as long as a path can be
_AT_ONCE = 250
#: removes the files named in a list
_REMOVE = ("sh", "-c", 'xargs -0 rm -rf -- < "$0"')


class State(NamedTuple):
    """What patches changed: files that differ from the commit, files that it does not have, and those of both that are
    links, or that claim another module's name. Files that were made for the image are not in `added` and `claiming`; no
    link was."""

    changed: list[str]
    added: list[str]
    links: list[str]
    claiming: list[str]


def state_of(workspace: Workspace, *, claims: bool = False) -> State:
    """What differs from the commit, and what may claim names if `claims` are asked for. Raises InfrastructureError."""
    command = (*_STATE, CLAIM if claims else "", LISTING, f"{workspace.scratch}/state")
    changed, others, made, links, claiming = lists(must(workspace, *command))
    plain = {*made}.difference(links)
    return State(changed, sorted({*others} - plain), links, sorted({*claiming} - plain))


def lists(output: bytes) -> list[list[str]]:
    """The lists of a script that ends each name with a zero byte and each list with an empty name."""
    lists: list[list[str]] = [[]]
    for name in output.decode(errors="surrogateescape").split("\0")[:-1]:
        if name:
            lists[-1].append(name)
        else:
            lists.append([])
    return lists[:-1]


def existing(workspace: Workspace, paths: Sequence[str]) -> set[str]:
    """Those of the paths that exist. A patch may name more of them than one command can take."""
    parts = (paths[start : start + _AT_ONCE] for start in range(0, len(paths), _AT_ONCE))
    outputs = (workspace.run([*_EXISTING, *part], ours=True).output for part in parts)
    return set(paths).intersection(b"\n".join(outputs).decode(errors="replace").split("\n"))


def every_file(workspace: Workspace) -> list[str]:
    """All files of the repository's own, whether the commit has them or not. Raises InfrastructureError."""
    return listed(workspace, *UNTRACKED, "--cached")


def listed(workspace: Workspace, *argv: str) -> list[str]:
    """The paths that a command lists, each ended by a zero byte. Raises InfrastructureError."""
    return [path for path in must(workspace, *argv).decode(errors="surrogateescape").split("\0") if path]


def remove(workspace: Workspace, paths: Sequence[str]) -> None:
    """Remove files, links and folders. Raises InfrastructureError."""
    if paths:  # may be longer than a command line
        listing = f"{workspace.scratch}/remove"
        workspace.write(listing, "\0".join(paths).encode(errors="surrogateescape"))
        must(workspace, *_REMOVE, listing)


def must(workspace: Workspace, *argv: str) -> bytes:
    """The output of one of our own commands, which must not fail. Raises InfrastructureError."""
    done = workspace.run(argv, ours=True)
    if done.code:
        raise InfrastructureError(f"{' '.join(argv[:3])} failed: {done.output[-500:]!r}", cause="workspace")
    return done.output


def shown(path: str) -> str:
    """A path as records can hold it: bytes that are not UTF-8 become escapes."""
    return path.encode(errors="surrogateescape").decode(errors="backslashreplace")
