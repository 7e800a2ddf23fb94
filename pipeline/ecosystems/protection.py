"""Which files of a repository are manifests, and which decide how tests run: a patch must not change these.

Files are recognized by name: the folder of each runner or manager lists its own, and the general ones are listed here.
Files that the runner read when an instance was qualified (`Instance.protected`) count whatever their names. Looks at
paths only. Which files are tests is decided by `core.patches`; what a runner reads is observed by `execution.reads`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from functools import cache

from pipeline.core.patches import is_test_file
from pipeline.core.records import Instance
from pipeline.ecosystems.manager_folder import all_managers
from pipeline.ecosystems.runner_folder import all_runners

#: manifests that several managers read
_MANIFESTS = (r"(?:^|/)(?:package|lerna)\.json$", r"^patches/|(?:^|/)patches/[^/]+\.patch$")
#: a name that set-up files often have, and other modules, too
_SET_UP = r"^(?:src/)?set-?up\.[cm]?[jt]sx?$"
#: files that decide for several runners how tests run, even files that did not exist before: Node's version, compilers,
#: set-up files, frameworks that compile for tests, folders of tools
_CONFIGURATION = (
    r"(?:^|/)\.(?:nvmrc|node-version)$",
    r"(?:^|/)babel[.-][^/]*\.(?:[cm]?[jt]sx?|json)$",
    r"(?:^|/)\.(?:babelrc|swcrc|browserslistrc)[^/]*$",
    r"(?:^|/)[jt]sconfig[^/]*\.json$",
    r"(?:^|/)(?:next|svelte|vue)\.config\.[cm]?[jt]s$",
    r"(?:^|/)test[-_.]set-?up\.[cm]?[jt]sx?$",
    r"(?:^|/)set-?up(?:[-_.]?(?:[Tt]ests?|[Ff]iles?|[Ee]nv|[Aa]fter-?[Ee]nv|[Jj]est|[Vv]itest))+\.[cm]?[jt]sx?$",
    _SET_UP,
    r"(?:^|/)\.env(?:\.[^/]*)?$",
    r"(?:^|/)(?:postcss\.config\.[^/]+|\.postcssrc[^/]*)$",
    r"(?:^|/)(?:\.git|node_modules)/",
)
#: tests, mocks and snapshots that runners find without being told where they are
_SOUGHT = re.compile(
    r"(?:^|/)(?:tests?|specs?|__\w+__|snapshots?|[^/]*-snapshots)/|(?:^|[/.])(?:tests?|specs?|e2e|cy)\.|"
    r"(?:^|/)tests?_[^/]*$|_(?:tests?|specs?)\.[^/]*$",
    re.IGNORECASE,
)
#: extensions that an import may leave out
_LOADED = re.compile(r"\.(?:[cm]?[jt]sx?|json|node|es6?|coffee|vue|svelte)$")


def is_manifest(path: str) -> bool:
    """Whether an install needs this file: a manifest, a lock file, a manager's settings or patches."""
    return bool(_manifests().search(path)) and "node_modules" not in path.split("/")


def is_configuration(path: str) -> bool:
    """Whether a path is a manifest, or a configuration or set-up file of a test runner."""
    return bool(is_manifest(path) or _configuration().search(path))


def is_protected(path: str) -> bool:
    """Whether a patch must not change this file: tests run with gold's version of it."""
    return is_test_file(path) or is_configuration(path)


def is_by_name_alone(path: str) -> bool:
    """Whether a path is protected by a name that sources may have, too: no program looks for such files by itself."""
    decides = is_configuration(path) and not re.search(_SET_UP, path)
    return is_protected(path) and not decides and not _SOUGHT.search(path)


def protected(instance: Instance) -> Callable[[str], bool]:
    """`is_protected` for one instance: files protected by name, and files that its runner reads. Older instances do not
    list the latter."""
    return protection(instance.protected)


def protection(files_read: Iterable[str]) -> Callable[[str], bool]:
    """`is_protected`, extended to files that the runner reads and to files that would be loaded in their place.

    A path that ends in a slash is a folder: it is protected if it contains a file that the runner reads.
    """
    files = frozenset(files_read)
    folders = {folder for file in files for folder in _folders(file)}
    names = {name for file in files for name in module_names(file)}

    def is_included(path: str) -> bool:
        if is_protected(path) or path in files:
            return True
        return path.rstrip("/") in folders if path.endswith("/") else not names.isdisjoint(module_names(path))

    return is_included


def module_names(path: str) -> set[str]:
    """Further names by which a program may import a file: `tools/preset` for `tools/preset.js` and its index."""
    name = without_extension(path)
    if name == path and "." in posixpath.basename(path):
        return set()
    folder, last = posixpath.split(name)
    return {name, folder} - {""} if last == "index" else {name}


def without_extension(path: str) -> str:
    """A path as imports may write it, without the extension of a module; other paths are returned unchanged."""
    return _LOADED.sub("", path)


def patterns() -> tuple[str, ...]:
    """All patterns of protected paths, except those of tests; a verdict depends on them."""
    return (_manifests().pattern, _configuration().pattern)


def _folders(path: str) -> Iterable[str]:
    while path := posixpath.dirname(path):
        yield path


@cache
def _manifests() -> re.Pattern[str]:
    return _any([*_MANIFESTS, *(pattern for manager in all_managers().values() for pattern in manager.manifests)])


@cache
def _configuration() -> re.Pattern[str]:
    runners = [pattern for runner in all_runners().values() for pattern in runner.protected]
    tools = runners + [pattern for manager in all_managers().values() for pattern in manager.protected]
    return _any([*_CONFIGURATION, *tools])


def _any(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in dict.fromkeys(patterns)))
