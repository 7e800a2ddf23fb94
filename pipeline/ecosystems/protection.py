"""Which files of a repository are manifests, and which decide how tests run: those a patch must not decide.

By their names: every folder of a runner or manager says which are its own, and what belongs to none of them stands
here. And by what the runner read when an instance was qualified (`Instance.protected`), whatever it is called. Looks at
paths and nothing else; which files are tests is the mining patterns' (core.patches), what a runner reads is found by
`execution.reads`.
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
_MANIFESTS = (r"(?:^|/)(?:package|lerna)\.json$", r"^patches/")
#: what decides for several runners how tests run: Node's version, compilers, set-up files, folders of tools
_CONFIGURATION = (
    r"(?:^|/)\.(?:nvmrc|node-version)$",
    r"(?:^|/)babel[.-][^/]*\.(?:[cm]?[jt]sx?|json)$",
    r"(?:^|/)\.(?:babelrc|swcrc|browserslistrc)[^/]*$",
    r"(?:^|/)tsconfig[^/]*\.json$",
    r"(?:^|/)test[-_.]set-?up\.[cm]?[jt]sx?$",
    r"(?:^|/)set-?up(?:[-_.]?(?:[Tt]ests?|[Ff]iles?|[Ee]nv|[Aa]fter-?[Ee]nv|[Jj]est|[Vv]itest))+\.[cm]?[jt]sx?$",
    r"^(?:src/)?set-?up\.[cm]?[jt]sx?$",
    r"(?:^|/)\.env(?:\.[^/]*)?$",
    r"(?:^|/)(?:postcss\.config\.[^/]+|\.postcssrc[^/]*)$",
    r"(?:^|/)(?:\.git|node_modules)/",
)
#: what a program finds in the place of a file that is asked for without its extension
_LOADED = re.compile(r"\.(?:[cm]?[jt]sx?|json|node|es6?|coffee)$")


def is_manifest(path: str) -> bool:
    """Whether an install needs to see this file: a manifest, a lock file, a manager's settings or patches."""
    return bool(_manifests().search(path)) and "node_modules" not in path.split("/")


def is_configuration(path: str) -> bool:
    """Whether a path is a manifest, or configuration or set-up of a test runner."""
    return bool(is_manifest(path) or _configuration().search(path))


def is_protected(path: str) -> bool:
    """Whether a patch must not decide this file: it is as gold has it when tests run."""
    return is_test_file(path) or is_configuration(path)


def protected(instance: Instance) -> Callable[[str], bool]:
    """`is_protected` for one instance: by name, and what its runner reads. Of an older instance, by name alone."""
    return protection(instance.protected)


def protection(read: Iterable[str]) -> Callable[[str], bool]:
    """`is_protected`, of the files `read` by the runner, too, and of what would be loaded in their place.

    A path with a slash at its end is a folder: whether a file `read` is in it.
    """
    files = frozenset(read)
    folders = {folder for file in files for folder in _folders(file)}
    taken = {place for file in files for place in places(file)}

    def is_one(path: str) -> bool:
        if is_protected(path) or path in files:
            return True
        return path.rstrip("/") in folders if path.endswith("/") else not taken.isdisjoint(places(path))

    return is_one


def places(path: str) -> set[str]:
    """How a program may ask for a file, beside its own name: `tools/preset` for `tools/preset.js` and its index."""
    name = _LOADED.sub("", path)
    if name == path and "." in posixpath.basename(path):
        return set()
    folder, last = posixpath.split(name)
    return {name, folder} - {""} if last == "index" else {name}


def patterns() -> tuple[str, ...]:
    """All patterns by which a path is protected, beside the tests': what a verdict follows from."""
    return (_manifests().pattern, _configuration().pattern)


def _folders(path: str) -> Iterable[str]:
    while path := posixpath.dirname(path):
        yield path


@cache
def _manifests() -> re.Pattern[str]:
    return _any([*_MANIFESTS, *(pattern for one in all_managers().values() for pattern in one.manifests)])


@cache
def _configuration() -> re.Pattern[str]:
    runners = [pattern for one in all_runners().values() for pattern in one.protected]
    named = runners + [pattern for one in all_managers().values() for pattern in one.protected]
    return _any([*_CONFIGURATION, *named])


def _any(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in dict.fromkeys(patterns)))
