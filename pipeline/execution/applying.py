"""Applying patches in a workspace with git, entirely or not at all, and restoring protected files to gold's state.

Writes only the workspace. `ecosystems.protection` says which files are protected.
"""

from __future__ import annotations

import json
import posixpath
import re
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from importlib.resources import files
from pathlib import PurePosixPath
from typing import NamedTuple

from pipeline.core import patches
from pipeline.core.errors import A11yBenchError, InfrastructureError
from pipeline.core.patches import is_test_file
from pipeline.core.records import Environment
from pipeline.core.trees import leading_out
from pipeline.ecosystems.protection import is_by_name_alone, is_protected, module_names, without_extension
from pipeline.ecosystems.versions import full, satisfies
from pipeline.execution.generated import LISTING, UNTRACKED
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
#: lists what a patch changed
_STATE = ("sh", "-ec", files(__package__).joinpath("state.sh").read_text(encoding="utf-8"))
#: lists all links except those of installed packages, each followed by its target
_LINKS = (
    *("find", ".", "(", "-path", "./.git", "-o", "-name", "node_modules", ")", "-prune", "-o"),
    *("-type", "l", "-printf", r"%P\0%l\0"),
)
#: gives files the same time, and changes the next process number
_SETTLE = ("sh", "-ec", files(__package__).joinpath("settle.sh").read_text(encoding="utf-8"))
#: one more than the maximum number of processes that are started for this
_PROCESSES = 200
#: how the comment at a file's head claims another module's name: Jest before 24 prefers the file to a package
_CLAIM = "@provides(Module)?([[:space:]]|$)"
_CLAIMS = re.compile(r"[\s\ufeff]*/\*(?:(?!\*/).)*@provides(?:Module)?(?!\w)", re.DOTALL)
#: scripts, whose extension an import may leave out
_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
_DECLARED = re.compile(r"\.d\.[cm]?ts$")
#: a path that code mentions
_IMPORTED = re.compile(r"""["'`]([^"'`]*/[^"'`]+)["'`]""")
#: words before an extension by which programs choose one of several files for a platform
_PLATFORM = re.compile(
    r"(?:.*\.)?(?:android|browser|client|desktop|dev|electron|ios|macos|mobile|module|native|node|prod|react-server|"
    r"server|ssr|tablet|test|tv|vr|web|windows|worker)(?:\..*)?"
)
#: names of files in which programs look for their settings
_SETTINGS = re.compile(r"(?:^|/)(?:\.[\w-]+rc(?:\.\w+)?|\.?[\w-]+(?:\.[\w-]+)*\.config\.\w+)$")
#: names of packages by the name of their settings: `uno.config.ts` belongs to `unocss`
_PACKAGES = ("{}", "{}css", "{}js", "@{}", "@{}css", "@{}js", ".bin/{}")
#: names of helpers and data of tests, which a module of the sources may have, too
_HELPING = re.compile(r"(?:^|/)tests?-(?:helpers?|util\w*|fixtures?|mocks?|data)\b[^/]*\.[cm]?[jt]sx?$")
#: the last word of a file's name, with what precedes it
_MARK = re.compile(r"[-_.][A-Za-z0-9]+$|[A-Z][a-z0-9]*$")
#: the files in which settings of runners may be, as git names them
_OF_SETTINGS = ("*.json", "*rc", "*rc.*", "*.config.*", "*.conf.*", "*.opts", "*.yml", "*.yaml", "*file*", ":!*lock*")
#: the fields of a manifest with packages that its code needs
_DEPENDENCIES = ("dependencies", "optionalDependencies", "peerDependencies")
#: the most packages that are told, and the most characters of a name
_DECLARED_AT_MOST, _NAME = 100, 214
#: lists the files that exist; it never fails, since a sandbox looks into each failure for a limit that was reached
_EXISTING = ("sh", "-c", 'ls -1d -- "$@" 2> /dev/null || :', "sh")
#: how many paths a command takes, even if each is as long as a path can be
_AT_ONCE = 250
#: removes the files named in a list
_REMOVE = ("sh", "-c", 'xargs -0 rm -rf -- < "$0"')


class PatchFailed(A11yBenchError):
    """A patch that does not apply; `name` says which."""

    def __init__(self, name: str, why: str) -> None:
        self.name, self.why = name, why
        super().__init__(f"the {name} patch does not apply: {why}")


class Applied(NamedTuple):
    """What applying a patch did: the protected files that were restored, whether it had to be merged, the files that
    its commands changed and that could not be restored (`renewing`), and the packages that it `declared` in manifests,
    which are not installed for it."""

    restored: tuple[str, ...]
    merged: bool
    changed: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()


class State(NamedTuple):
    """What patches changed: files that differ from the commit, files that it does not have, and those of both that are
    links, or that claim another module's name. Files that were made for the image are not in `added` and `claiming`; no
    link was."""

    changed: list[str]
    added: list[str]
    links: list[str]
    claiming: list[str]


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
    state = _state(workspace, claims=not environment or _knows_names(environment))
    golds_own = patches.paths(fix_patch)
    taking = _claiming(workspace, state) | _doubling(workspace, state, golds_own, patch)
    taking |= _configuring(workspace, {path for path in state.added if _SETTINGS.search(path)}.difference(golds_own))
    read = {name for path in observed or () for name in module_names(path)}
    candidates = [path for path in state.added if read.isdisjoint(module_names(path))] if observed is not None else []
    own = own_modules(workspace, candidates, {*golds_own, *patches.paths(test_patch)}, environment) - taking

    declared = _declared(workspace, state)

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
    is_golds, state = golds(protected, test_patch), state or _state(workspace)
    undone = {*others, *_leaving(workspace, state.links)}
    reverted = _restore(workspace, state, lambda path: path in undone or is_golds(path))
    apply(workspace, patches.select(fix_patch, protected), "gold configuration")
    apply(workspace, test_patch, "test")
    return reverted


def _state(workspace: Workspace, *, claims: bool = False) -> State:
    """What differs from the commit, and what may claim names if `claims` are asked for. Raises InfrastructureError."""
    command = (*_STATE, _CLAIM if claims else "", LISTING, f"{workspace.scratch}/state")
    changed, others, made, links, claiming = _lists(must(workspace, *command))
    plain = {*made}.difference(links)
    return State(changed, sorted({*others} - plain), links, sorted({*claiming} - plain))


def _leaving(workspace: Workspace, links: Collection[str]) -> set[str]:
    """Those of a patch's links that lead out of the repository, where code could find another state of it, or files of
    ours: all of them if one of the base's links leads out through them."""
    if not links:
        return set()
    names = must(workspace, *_LINKS).decode(errors="surrogateescape").split("\0")
    out = leading_out(dict(zip(names[:-1:2], names[1::2], strict=True)))
    return out if out <= {*links} else {*links}


def _knows_names(environment: Environment) -> bool:
    """Whether the runner lets files claim the names of modules."""
    return environment.runner == "jest" and not satisfies(full(environment.runner_version), ">=24")


def _claiming(workspace: Workspace, state: State) -> frozenset[str]:
    """The files that take another module's name, such as a package's that tests import. None if the base has such
    files: there it is how modules are named."""
    claiming = frozenset(path for path in state.claiming if _claims(workspace.read(f"{workspace.root}/{path}")))
    is_usual = claiming and workspace.run(["git", "grep", "-qE", _CLAIM, "HEAD", "--"], ours=True).code == 0
    return frozenset() if is_usual else claiming


def _claims(text: bytes | None) -> bool:
    """Whether a file with such a mention claims a name: the mention is in the comment at its head. A file that is too
    large to be read does."""
    return text is None or bool(_CLAIMS.match(text.decode(errors="replace")))


def _doubling(workspace: Workspace, state: State, free: Collection[str], patch: str) -> frozenset[str]:
    """The new files of a patch that an import of a script of the base could mean: which of the two it means depends on
    the program, so tests could load another one than users. None that are `free`, none in folders where the base has
    such pairs, and none that programs do not prefer to the script if the patch imports them by their own name."""
    added = [path for path in state.added if path not in free]
    if not added:
        return frozenset()
    gone = set(listed(workspace, "git", "ls-files", "-z", "--deleted"))
    tracked = (path for path in listed(workspace, "git", "ls-files", "-z") if path not in gone and _SCRIPT.search(path))
    scripts = _Scripts(tracked)
    lines = (line for line in patch.splitlines() if line.startswith("+"))
    imports = [match[1].split("/") for line in lines for match in _IMPORTED.finditer(line)]
    named = {"/".join(parts[-count:]) for parts in imports for count in (1, 2)}
    return frozenset(path for path in added if scripts.may_be_taken_for(path, named))


class _Scripts:
    """The base's scripts, by the names under which imports find them: `src/menu` is `src/menu.js`, and
    `src/menu/index.js` as well."""

    def __init__(self, paths: Iterable[str]) -> None:
        modules = {path: module for path in paths if (module := _module(path))}
        self.counts = Counter(modules.values())
        self.first = {module for path, module in modules.items() if path == f"{module}.js"}
        self.folders = {folder for module in self.counts if (folder := _indexed(module))}
        self.usual = {posixpath.dirname(module) for module, count in self.counts.items() if count > 1}
        words = ((posixpath.dirname(module), self._word(module)) for module in self.counts)
        self.words = {pair for pair in words if pair[1]}

    def may_be_taken_for(self, path: str, named: Set[str]) -> bool:
        """Whether a new file may be loaded in place of a script, although the patch imports the `named` modules."""
        if self._has(path):
            return True
        module = _module(path)
        folder, name = posixpath.split(path)
        if self._has(module):
            if folder in self.usual and module in self.counts:
                return False
            # Node's first choice is always `.js`
            return not (path.endswith(".json") and module in self.first - self.folders and name in named)
        if (above := _indexed(module)) in self.counts:
            return named.isdisjoint(f"{posixpath.basename(above)}/{last}" for last in ("index", name))
        word = self._word(module) if _SCRIPT.search(path) else ""
        if not word or (folder, word) in self.words:
            return False
        return bool(_PLATFORM.fullmatch(word)) or named.isdisjoint((name, posixpath.basename(module)))

    def _has(self, module: str) -> bool:
        return module in self.counts or module in self.folders

    def _word(self, module: str) -> str:
        """What a module's name adds to another script's: `web` for `lamp.web`."""
        folder, name = posixpath.split(module)
        words = name.split(".")
        for end in range(len(words) - 1, 0, -1):
            if self._has(posixpath.join(folder, ".".join(words[:end]))):
                return ".".join(words[end:])
        return ""


def _indexed(module: str) -> str:
    """The folder that a module is the index of; empty for any other."""
    return posixpath.dirname(module) if posixpath.basename(module) == "index" else ""


def _configuring(workspace: Workspace, added: Collection[str]) -> set[str]:
    """Those of the new files called like settings that a program may look for: their name begins with a dot or is that
    of an installed package or program, or a manifest lies beside them. All others are modules of the sources, such as
    `menu.config.ts`."""
    hidden = {path for path in added if posixpath.basename(path).startswith(".")}
    signs = {path: {*_signs(path)} for path in added if path not in hidden}
    there = existing(workspace, sorted({sign for found in signs.values() for sign in found}))
    return hidden | {path for path, found in signs.items() if not there.isdisjoint(found)}


def _signs(path: str) -> Iterator[str]:
    """The files whose existence shows that a program may look for settings in this file."""
    words = posixpath.basename(path).partition(".config.")[0].split(".")
    yield posixpath.join(posixpath.dirname(path), "package.json")
    for folder in PurePosixPath(path).parents:
        yield from (str(folder / "node_modules" / name.format(word)) for word in words for name in _PACKAGES)


def own_modules(
    workspace: Workspace, added: Collection[str], golds_own: Collection[str], environment: Environment | None = None
) -> frozenset[str]:
    """Those of the new files that only a name such as `test-utils.js` or `hitTest.js` protects, and that neither tests
    nor the runner of the `environment` can load: neither the base nor gold has a file or a folder of that name, nor the
    folder that makes it a test. Sources may import them."""
    named = {path: module for path in added if is_by_name_alone(path) and (module := _module(path))}
    if not named:
        return frozenset()
    others = {*listed(workspace, "git", "ls-files", "-z"), *golds_own}
    taken = {str(folder) for path in others for folder in (_module(path) or path, *PurePosixPath(path).parents)}
    tests = {path for path in others if is_test_file(path) and _SCRIPT.search(path)}
    names = {posixpath.basename(path) for path in tests}
    free = {
        path
        for path, module in named.items()
        if module not in taken and _folder_of_tests(path) not in taken and posixpath.basename(path) not in names
    }
    if environment is None or _is_told_files(environment):
        return frozenset(free)
    return frozenset(path for path in free if _HELPING.search(path) or not _may_be_found(workspace, path, tests))


def _folder_of_tests(path: str) -> str:
    """The outermost folder whose name makes a file a test; empty if none does."""
    folders = [str(folder) for folder in PurePosixPath(path).parents][-2::-1]
    return next((folder for folder in folders if is_protected(f"{folder}/module.js")), "")


def _is_told_files(environment: Environment) -> bool:
    """Whether the runner loads the test files that it is told and no others."""
    return environment.runner == "vitest" or "--runTestsByPath" in (*environment.test, *environment.selection)


def _may_be_found(workspace: Workspace, path: str, tests: Iterable[str]) -> bool:
    """Whether a pattern by which a runner finds tests may match a file: one of the `tests` is in the same top-level
    folder or has a name of the same kind, or settings mention what makes this file a test."""
    mark = _mark(path)
    if any(_top(path) == _top(test) or mark == _mark(test) for test in tests):
        return True
    word = posixpath.basename(_folder_of_tests(path)) or posixpath.splitext(mark)[0]
    return workspace.run(["git", "grep", "-qF", "-e", word, "HEAD", "--", *_OF_SETTINGS], ours=True).code == 0


def _top(path: str) -> str:
    return path.partition("/")[0]


def _mark(path: str) -> str:
    """The last word of a file's name with what precedes it, and its extension: `-spec.js`, `Test.js`."""
    name, extension = posixpath.splitext(posixpath.basename(path))
    word = _MARK.search(name)
    return (word[0] if word else name) + extension


def existing(workspace: Workspace, paths: Sequence[str]) -> set[str]:
    """Those of the paths that exist. A patch may name more of them than one command can take."""
    parts = (paths[start : start + _AT_ONCE] for start in range(0, len(paths), _AT_ONCE))
    outputs = (workspace.run([*_EXISTING, *part], ours=True).output for part in parts)
    return set(paths).intersection(b"\n".join(outputs).decode(errors="replace").split("\n"))


def _module(path: str) -> str:
    """A module's path without its extension; empty for other files and for type declarations."""
    name = without_extension(path)
    return "" if name == path or _DECLARED.search(path) else name


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
    after, before = map(_numbered, _lists(output))
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


def _lists(output: bytes) -> list[list[str]]:
    """The lists of a script that ends each name with a zero byte and each list with an empty name."""
    lists: list[list[str]] = [[]]
    for name in output.decode(errors="surrogateescape").split("\0")[:-1]:
        if name:
            lists[-1].append(name)
        else:
            lists.append([])
    return lists[:-1]


def _numbered(lines: Iterable[str]) -> list[str]:
    return [line.split("\t", 2)[2] for line in lines]


def restore(workspace: Workspace, protected: Callable[[str], bool] = is_protected) -> list[str]:
    """Undo every change to protected files, and remove links that replace a folder of them, except for files that were
    made for the image. Return their paths.

    Files that the patch tells git to ignore are found, too."""
    return _restore(workspace, _state(workspace), protected)


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


def remove(workspace: Workspace, paths: Sequence[str]) -> None:
    """Remove files, links and folders. Raises InfrastructureError."""
    if paths:  # may be longer than a command line
        listing = f"{workspace.scratch}/remove"
        workspace.write(listing, "\0".join(paths).encode(errors="surrogateescape"))
        must(workspace, *_REMOVE, listing)


def shown(path: str) -> str:
    """A path as records can hold it: bytes that are not UTF-8 become escapes."""
    return path.encode(errors="surrogateescape").decode(errors="backslashreplace")


def settle(workspace: Workspace) -> None:
    """Hide how many patches were applied, and in which order: neither the times of files nor process numbers
    distinguish the runs of an evaluation. Raises InfrastructureError."""
    must(workspace, *_SETTLE, workspace.scratch, str(secrets.randbelow(_PROCESSES)))


def every_file(workspace: Workspace) -> list[str]:
    """All files of the repository's own, whether the commit has them or not. Raises InfrastructureError."""
    return listed(workspace, *UNTRACKED, "--cached")


def listed(workspace: Workspace, *argv: str) -> list[str]:
    """The paths that a command lists, each ended by a zero byte. Raises InfrastructureError."""
    return [path for path in must(workspace, *argv).decode(errors="surrogateescape").split("\0") if path]


def must(workspace: Workspace, *argv: str) -> bytes:
    """The output of one of our own commands, which must not fail. Raises InfrastructureError."""
    done = workspace.run(argv, ours=True)
    if done.code:
        raise InfrastructureError(f"{' '.join(argv[:3])} failed: {done.output[-500:]!r}", cause="workspace")
    return done.output
