"""Applying patches in a workspace with git, entirely or not at all, and restoring protected files to gold's state.

Writes only the workspace. `ecosystems.protection` says which files are protected.
"""

from __future__ import annotations

import json
import posixpath
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from importlib.resources import files
from pathlib import PurePosixPath
from typing import NamedTuple

from pipeline.core import patches
from pipeline.core.errors import A11yBenchError
from pipeline.core.records import Environment
from pipeline.ecosystems.protection import is_protected, module_names
from pipeline.execution.added import knows_names, leaving, misleading, own_modules
from pipeline.execution.tree import State, listed, lists, must, remove, shown, state_of
from pipeline.sandbox.base import Completed, Workspace

#: never patched: installed packages, which git does not track and so could not restore, and files that tell git how to
#: read other files
_UNPATCHED = (
    "node_modules",
    "node_modules/*",
    "*/node_modules",
    "*/node_modules/*",
    ".gitattributes",
    "*/.gitattributes",
)

#: the most characters that are kept of why a patch does not apply
_WHY = 2000

#: applies a patch and removes its file, by which code under test could tell the runs of an evaluation apart
_APPLY = ("sh", "-c", 'git apply --whitespace=nowarn "$@" "$0"; code=$?; rm -f -- "$0"; exit $code')
#: lists a patch's files under their new names, then under their old ones; an empty name ends each list
_NUMSTAT = ("sh", "-ec", 'for way in "" -R; do git apply --numstat -z $way "$@" "$0" 2> /dev/null; printf "\\0"; done')
#: gives files the same time, and changes the next process number
_SETTLE = ("sh", "-ec", files(__package__).joinpath("settle.sh").read_text(encoding="utf-8"))
#: one more than the maximum number of processes that are started for this
_PROCESSES = 200
#: the fields of a manifest with packages that its code needs
_DEPENDENCIES = ("dependencies", "optionalDependencies", "peerDependencies")
#: how code loads those of Node's modules that start programs and realms, which no source has in a disguised run
_STARTS = re.compile(r"""['"`](?:node:)?(child_process|cluster|vm|worker_threads)['"`]""")
#: the most packages that are told, and the most characters of a name
_DECLARED_AT_MOST, _NAME = 100, 214


class PatchFailed(A11yBenchError):
    """A patch that does not apply; `name` says which."""

    def __init__(self, name: str, why: str) -> None:
        self.name, self.why = name, why
        super().__init__(f"the {name} patch does not apply: {why}")


class Applied(NamedTuple):
    """What applying a patch did: the protected files that were restored, whether it had to be merged, the files that
    its commands changed and that could not be restored (`renewing`), and what it `declared` that its code needs and a
    run may not give it: packages in manifests, which are not installed for it, and modules of Node that start programs
    and realms."""

    restored: tuple[str, ...]
    merged: bool
    changed: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()


def prepare(
    workspace: Workspace,
    patch: str,
    fix_patch: str,
    test_patch: str,
    protected: Callable[[str], bool] = is_protected,
    observed: Collection[str] | None = None,
    environment: Environment | None = None,
) -> Applied:
    """Apply a patch, then restore every protected file, and every file that gold's tests change, to gold's state. Files
    that claim another module's name, and settings that neither the base nor gold has, are restored to the base's state.
    If the files that the runner was `observed` to read are known, the patch may add modules that are only named like
    tests or helpers (`own_modules`).

    Raises PatchFailed, with the name `predicted` if the agent's patch does not apply.
    """
    merged = apply(workspace, patch, "predicted", *(f"--exclude={pattern}" for pattern in _UNPATCHED), merge=True)
    state = state_of(workspace, claims=not environment or knows_names(environment))
    golds_own = patches.paths(fix_patch)
    taking = misleading(workspace, state, patch, golds_own)
    read = {name for path in observed or () for name in module_names(path)}
    candidates = [path for path in state.added if read.isdisjoint(module_names(path))] if observed is not None else []
    own = own_modules(workspace, candidates, {*golds_own, *patches.paths(test_patch)}, environment) - taking

    declared = (*_declared(workspace, state), *_starting(patch))

    def is_kept_back(path: str) -> bool:
        return path.rstrip("/") not in own and protected(path)

    reverted = put_back(workspace, fix_patch, test_patch, is_kept_back, state=state, others=taking)
    restored = {shown(path) for path in (*_unpatched(workspace, patch), *reverted)}
    return Applied(tuple(sorted(restored)), merged, declared=declared)


def _declared(workspace: Workspace, state: State) -> tuple[str, ...]:
    """The packages that a patch adds to manifests."""
    changed = {path for path in (*state.changed, *state.added) if posixpath.basename(path) == "package.json"}
    found: set[str] = set()
    for path in changed.difference(state.links):
        before = workspace.run(["git", "show", f"HEAD:{path}"], ours=True)
        own = _packages(workspace.read(f"{workspace.root}/{path}") or b"")
        found |= own - (_packages(before.output) if before.code == 0 else set())
    return tuple(name.encode(errors="backslashreplace").decode()[:_NAME] for name in sorted(found)[:_DECLARED_AT_MOST])


def _starting(patch: str) -> list[str]:
    """The modules of Node that start programs and realms, and that a patch's lines load."""
    added = (line for line in patch.splitlines() if line.startswith("+"))
    return sorted({f"node:{match[1]}" for line in added for match in _STARTS.finditer(line)})


def _packages(manifest: bytes) -> set[str]:
    """The packages on which a manifest says that its code depends; none if it is broken."""
    try:
        fields = json.loads(manifest)
    except (ValueError, RecursionError):
        return set()
    given = [fields.get(name) for name in _DEPENDENCIES] if isinstance(fields, dict) else []
    return {name for names in given if isinstance(names, dict) for name in names}


def put_back(
    workspace: Workspace,
    fix_patch: str,
    test_patch: str,
    protected: Callable[[str], bool],
    *,
    state: State | None = None,
    others: Collection[str] = (),
) -> list[str]:
    """Restore protected files, and files that gold's tests change, to gold's state, and the `others` to the base's.
    Links that lead out of the repository are restored to the base's state, too, and files that were made for the image
    stay. `state` is what differs from the commit, if it is known. Return the paths of the files that were not in the
    base's state. Raises PatchFailed."""
    is_golds, state = golds(protected, test_patch), state or state_of(workspace)
    undone = {*others, *leaving(workspace, state.links)}
    reverted = _restore(workspace, state, lambda path: path in undone or is_golds(path))
    apply(workspace, patches.select(fix_patch, protected), "gold configuration")
    apply(workspace, test_patch, "test")
    return reverted


def golds(protected: Callable[[str], bool], test_patch: str) -> Callable[[str], bool]:
    """Whether a path is protected, is one of gold's tests, or blocks one: a file in place of a folder, or a folder in
    place of a file."""
    tests = frozenset(patches.paths(test_patch))
    folders = frozenset(str(folder) for path in tests for folder in PurePosixPath(path).parents)

    def is_golds(path: str) -> bool:
        name = path.rstrip("/")
        in_the_way = name in folders or not tests.isdisjoint(map(str, PurePosixPath(name).parents))
        return protected(path) or name in tests or in_the_way

    return is_golds


def apply(workspace: Workspace, patch: str, name: str, *options: str, merge: bool = False) -> bool:
    """Run `git apply`: all of a patch or nothing of it. An empty patch does nothing. Raises PatchFailed.

    With `merge`, a patch that does not apply is merged with the version it was made on (`--3way`), if the repository
    has that version. Returns whether it was merged.
    """
    if not patch.strip():
        return False
    done = _applied(workspace, patch, *options)
    if done.code and not (merge and _merge(workspace, patch, options)):
        raise PatchFailed(name, done.output.decode(errors="replace").strip()[:_WHY])
    return bool(done.code)


def _applied(workspace: Workspace, patch: str, *options: str) -> Completed:
    """Run `git apply` on a patch. Its file has the same name in every run and is removed afterwards."""
    path = f"{workspace.scratch}/patch"
    workspace.write(path, patch.encode())
    return workspace.run([*_APPLY, path, *options], ours=True)


def _merge(workspace: Workspace, patch: str, options: Sequence[str]) -> bool:
    """Whether a patch that failed applies in a three-way merge. The result is not staged."""
    workspace.run(["git", "update-index", "-q", "--refresh"], ours=True)
    done = _applied(workspace, patch, "--3way", *options)
    return done.code == 0 and workspace.run(["git", "reset", "-q"], ours=True).code == 0


def _unpatched(workspace: Workspace, patch: str) -> list[str]:
    """The files of a patch, as git reads it, that stay as they are. Raises PatchFailed if the patch moves one away."""
    if not patch.strip():
        return []
    path = f"{workspace.scratch}/unpatched.patch"
    workspace.write(path, patch.encode())
    output = must(workspace, *_NUMSTAT, path, *(f"--include={pattern}" for pattern in _UNPATCHED))
    after, before = map(_numbered, lists(output))
    if moved := sorted(set(before) - set(after)):
        raise PatchFailed("predicted", f"it moves {shown(moved[0])}")
    return after


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
    """Undo every change to protected files, and remove links that replace a folder of them, except for files that were
    made for the image. Return their paths.

    Files that the patch tells git to ignore are found, too."""
    return _restore(workspace, state_of(workspace), protected)


def _restore(workspace: Workspace, state: State, protected: Callable[[str], bool]) -> list[str]:
    changed, added = (
        [path for path in paths if protected(path) or protected(f"{path}/")] for paths in (state.changed, state.added)
    )
    remove(workspace, added)
    if changed:
        listing = f"{workspace.scratch}/restore"
        workspace.write(listing, "\0".join(changed).encode(errors="surrogateescape"))
        command = ("git", "--literal-pathspecs", "checkout", "-q", "HEAD")
        must(workspace, *command, f"--pathspec-from-file={listing}", "--pathspec-file-nul")
    return [*changed, *added]


def settle(workspace: Workspace) -> None:
    """Hide how many patches were applied, and in which order: neither the times of files nor process numbers
    distinguish the runs of an evaluation. Raises InfrastructureError."""
    must(workspace, *_SETTLE, workspace.scratch, str(secrets.randbelow(_PROCESSES)))
