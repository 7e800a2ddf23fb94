"""Making files again with commands that a patch may have changed, and undoing their changes to gold's files.

The commands can write anywhere in the repository, even in `.git`. So `.git` is restored to its earlier state, and files
are listed without git. Writes only the workspace. Does not cover installed packages that the commands change, and
processes that they leave behind.
"""

from __future__ import annotations

from collections.abc import Callable

from pipeline.core import patches
from pipeline.core.errors import InfrastructureError
from pipeline.core.records import Environment
from pipeline.execution import generated
from pipeline.execution.applying import changed_by, golds, put_back
from pipeline.execution.control import changed, digests
from pipeline.execution.tree import every_file, listed, must, remove, shown
from pipeline.sandbox.base import Workspace

#: packs `.git` without its objects
_PACK = ("sh", "-ec", 'tar -cf "$0" --exclude=./objects -C .git .')
#: replaces `.git`, except its objects, by the packed content
_UNPACK = ("sh", "-ec", 'find .git -mindepth 1 -maxdepth 1 ! -name objects -exec rm -rf {} +; tar -xf "$0" -C .git')
#: lists all files and links except installed packages, whether git knows them or not
_FILES = (
    *("find", ".", "(", "-path", "./.git", "-o", "-name", "node_modules", ")", "-prune", "-o"),
    *("!", "-type", "d", "-printf", r"%P\0"),
)


def renewed(
    workspace: Workspace,
    environment: Environment,
    patch: str,
    fix_patch: str,
    test_patch: str,
    is_protected: Callable[[str], bool],
) -> tuple[str, ...]:
    """Make files again whose sources a patch changed. Return gold's files that still differ from gold's, and files
    beside them that cannot be removed. Raises OverLimit, PatchFailed, InfrastructureError."""
    made, is_golds = generated.made_in(workspace), golds(is_protected, test_patch)
    known = made.union(every_file(workspace))
    before = digests(workspace, sorted(path for path in known - made if is_golds(path)))
    gold = patches.paths(patches.select(fix_patch, is_protected) + test_patch)

    def added() -> list[str]:
        beside = (path for path in listed(workspace, *_FILES) if path not in known)
        return [path for path in beside if is_golds(path) or is_golds(f"{path}/")]

    git = _packed(workspace)
    if not generated.renew(workspace, environment, {*gold, *changed_by(workspace, patch)}):
        return ()
    _unpack(workspace, git)
    remove(workspace, added())
    put_back(workspace, fix_patch, test_patch, is_protected)
    return (*changed(workspace, before), *map(shown, added()))


def _packed(workspace: Workspace) -> bytes:
    """`.git` without its objects, as an archive. Raises InfrastructureError."""
    path = f"{workspace.scratch}/git.tar"
    must(workspace, *_PACK, path)
    packed = workspace.read(path)
    if packed is None:
        raise InfrastructureError("git's own files exceed the limit on output", cause="workspace")
    return packed


def _unpack(workspace: Workspace, packed: bytes) -> None:
    """Restore `.git` from such an archive. Raises InfrastructureError."""
    path = f"{workspace.scratch}/git.tar"
    workspace.write(path, packed)
    must(workspace, *_UNPACK, path)
