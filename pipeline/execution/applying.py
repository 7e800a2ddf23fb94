"""Applying patches in a workspace with git, entirely or not at all, and putting protected files into gold's state.

Writes only the workspace. `ecosystems.protection` says which files are protected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pipeline.core import patches
from pipeline.core.errors import A11yBenchError, InfrastructureError
from pipeline.ecosystems.protection import is_protected
from pipeline.execution.generated import made_in
from pipeline.sandbox.base import Completed, Workspace

#: never patched: installed packages, since git does not know those files and could not take a change back, and what
#: tells git how to read files
_UNPATCHED = (
    "node_modules",
    "node_modules/*",
    "*/node_modules",
    "*/node_modules/*",
    ".gitattributes",
    "*/.gitattributes",
)

#: applies a patch and leaves nothing of it: what is left would tell the runs of an evaluation apart
_APPLY = ("sh", "-c", 'git apply --whitespace=nowarn "$@" "$0"; code=$?; rm -f -- "$0"; exit $code')
#: removes the files that a list names
_REMOVE = ("sh", "-c", 'xargs -0 rm -rf -- < "$0"')


class PatchFailed(A11yBenchError):
    """A patch that does not apply; `name` says which."""

    def __init__(self, name: str, why: str) -> None:
        self.name, self.why = name, why
        super().__init__(f"the {name} patch does not apply: {why}")


class Applied(NamedTuple):
    """What became of a patch: protected files that it had changed, and whether it had to be merged."""

    restored: tuple[str, ...]
    merged: bool


def prepare(
    workspace: Workspace, patch: str, fix_patch: str, test_patch: str, protected: Callable[[str], bool] = is_protected
) -> Applied:
    """Apply a patch, put every protected file, and all that gold's tests change, into gold's state.

    Raises PatchFailed, with the name `predicted` when it is the agent's that does not apply.
    """
    merged = apply(workspace, patch, "predicted", *(f"--exclude={pattern}" for pattern in _UNPATCHED), merge=True)
    tests = frozenset(patches.paths(test_patch))
    back = restore(workspace, lambda path: protected(path) or path in tests)
    restored = tuple(sorted({*_unpatched(workspace, patch), *back}))
    apply(workspace, patches.select(fix_patch, protected), "gold configuration")
    apply(workspace, test_patch, "test")
    return Applied(restored, merged)


def apply(workspace: Workspace, patch: str, name: str, *options: str, merge: bool = False) -> bool:
    """`git apply`: all of a patch or nothing of it; an empty patch is nothing. Raises PatchFailed.

    With `merge`, one that does not apply is merged with what it was made on (`--3way`), where the repository has that.
    Returns whether it was.
    """
    if not patch.strip():
        return False
    done = _applied(workspace, patch, *options)
    if done.code and not (merge and _merge(workspace, patch, options)):
        raise PatchFailed(name, done.output.decode(errors="replace").strip())
    return bool(done.code)


def _applied(workspace: Workspace, patch: str, *options: str) -> Completed:
    """What came of applying a patch, whose file has the same name in every run, and is gone afterwards."""
    path = f"{workspace.scratch}/patch"
    workspace.write(path, patch.encode())
    return workspace.run([*_APPLY, path, *options])


def _merge(workspace: Workspace, patch: str, options: Sequence[str]) -> bool:
    """Whether a patch that failed applies in a three-way merge; it is not staged."""
    workspace.run(["git", "update-index", "-q", "--refresh"])
    done = _applied(workspace, patch, "--3way", *options)
    return done.code == 0 and workspace.run(["git", "reset", "-q"]).code == 0


def _unpatched(workspace: Workspace, patch: str) -> list[str]:
    """The files of a patch that are left as they are, as git reads it. Raises PatchFailed when it moves one away."""
    if not patch.strip():
        return []
    path = f"{workspace.scratch}/unpatched.patch"
    workspace.write(path, patch.encode())
    numstat = ("git", "apply", "--numstat", "-z", *(f"--include={pattern}" for pattern in _UNPATCHED), path)
    there, before = (_numbered(listed(workspace, *numstat, *way)) for way in ((), ("--reverse",)))
    if moved := sorted(set(before) - set(there)):
        raise PatchFailed("predicted", f"it moves {moved[0]}")
    return there


def changed_by(workspace: Workspace, patch: str) -> list[str]:
    """The files of a patch, as git reads it."""
    if not patch.strip():
        return []
    path = f"{workspace.scratch}/changed.patch"
    workspace.write(path, patch.encode())
    return [line.split("\t", 2)[-1] for line in listed(workspace, "git", "apply", "--numstat", "-z", path)]


def _numbered(lines: Iterable[str]) -> list[str]:
    return [line.split("\t", 2)[2] for line in lines]


def restore(workspace: Workspace, protected: Callable[[str], bool] = is_protected) -> list[str]:
    """Take back every change to a protected file, and what stands (a link) in the place of a folder of such files;
    returns the files. Ignore rules of the patch hide nothing."""

    def chosen(paths: Iterable[str]) -> list[str]:
        return [path for path in paths if protected(path) or protected(f"{path}/")]

    changed = chosen(listed(workspace, "git", "diff", "--name-only", "-z", "--no-renames", "HEAD"))
    others = set(listed(workspace, "git", "ls-files", "-z", "--others", "--exclude=node_modules"))
    added = sorted(chosen(others - made_in(workspace)))
    listing = f"{workspace.scratch}/restore"
    if added:  # more than a command line may hold
        workspace.write(listing, "\0".join(added).encode(errors="surrogateescape"))
        must(workspace, *_REMOVE, listing)
    if changed:
        workspace.write(listing, "\0".join(changed).encode(errors="surrogateescape"))
        command = ("git", "--literal-pathspecs", "checkout", "-q", "HEAD")
        must(workspace, *command, f"--pathspec-from-file={listing}", "--pathspec-file-nul")
    return [*changed, *added]


def listed(workspace: Workspace, *argv: str) -> list[str]:
    """The paths that a command of git lists with `-z`. Raises InfrastructureError."""
    return [path for path in must(workspace, *argv).decode(errors="surrogateescape").split("\0") if path]


def must(workspace: Workspace, *argv: str) -> bytes:
    """The output of a command of ours that cannot fail. Raises InfrastructureError."""
    done = workspace.run(argv)
    if done.code:
        raise InfrastructureError(f"{' '.join(argv[:3])} failed: {done.output[-500:]!r}", cause="workspace")
    return done.output
