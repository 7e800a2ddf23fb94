"""The runner of a commit's tests: its version, its file, and the words of its command line (ecosystems/runners).

`place` decides which runner it is and where it runs.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from pipeline.build.infer import angular, focus, foreign, hidden, place, setups, sources, uses
from pipeline.build.infer.scripts import configurations
from pipeline.build.infer.tree import Found, Manifest, Tree
from pipeline.build.infer.uses import Use
from pipeline.build.infer.words import is_unknown
from pipeline.ecosystems import versions
from pipeline.ecosystems.manager_folder import all_managers
from pipeline.ecosystems.runner_folder import Runner as Spec
from pipeline.ecosystems.runner_folder import Words
from pipeline.ecosystems.runner_folder import runner as spec_of
from pipeline.execution.scope import is_test

#: packages that start Chromium
_DRIVERS = frozenset({"puppeteer", "puppeteer-core", "playwright", "playwright-core", "chrome-launcher"})


class Runner(NamedTuple):
    """A runner and its command; the fields are those of an Environment."""

    runner: Found
    version: Found
    folder: Found
    configuration: Found
    entries: tuple[str, ...]
    test: tuple[str, ...]
    selection: tuple[str, ...]
    everything: tuple[str, ...]
    env: dict[str, str]
    parser: str
    browser: Found
    evidence: str


def find(
    tree: Tree, manifest: Manifest, node: str, files: Sequence[str], fixed: dict[str, Found], chosen: Use | None = None
) -> Runner:
    """The runner of these test files (paths from the root), by the `chosen` use or a found one. Raises Unsupported."""
    use, why = (chosen, chosen.evidence) if chosen else place.choose(tree, manifest, files, fixed)
    spec, package = spec_of(use.runner), tree.manifest(use.folder) or manifest
    version = Found(node, "Node's own") if not spec.entries else _version(tree, use.folder, package, manifest, spec)
    configuration = _configuration(tree, use, package, spec, files)
    kept, tests = uses.arguments(use)
    kept += _configured(spec, configuration, kept)
    kept = _projects(tree, use, spec, configuration.value, kept)
    merged = _words(tree, use, files) or spec.merged(version.value, kept)
    options, beside = setups.words(tree, use, files, version.value, configuration.value)
    kept = () if use.wrapper and use.wrapper.words else (*kept, *options)
    entry = () if "{entry}" in merged.words else ("{entry}",)
    start = (*entry, *_through(use), *merged.words) if spec.entries else (*use.call.node, *merged.words)
    wrapped = use.wrapper.env if use.wrapper else {}
    env = _node_path(tree, use) | wrapped | use.call.env | (_node_options(use) if spec.entries else {}) | merged.env
    return Runner(
        runner=Found(use.runner, use.evidence),
        version=version,
        folder=Found(use.folder, why),
        configuration=configuration,
        entries=tuple(_entries(tree, use, spec, _bringers(tree, use, spec, package, manifest))),
        test=("node", *start, *kept, "{files}"),
        selection=(*beside, *(merged.selection or ())),
        everything=tests or _everything(tree, use, spec),
        env={name: value.replace("{configuration}", configuration.value) for name, value in env.items()},
        parser=merged.parser,
        browser=_browser(tree, use, files, package, manifest),
        evidence=f"{use.runner} {version.value}; {use.evidence}",
    )


def _everything(tree: Tree, use: Use, spec: Spec) -> tuple[str, ...]:
    """All tests in the folder, for a runner whose script selects them while it runs (`mocha $(find …)`)."""
    if not spec.positional or not any(map(is_unknown, use.call.words)):
        return ()
    start = f"{use.folder}/" if use.folder else ""
    found = (path for path in tree.matching(is_test) if path.startswith(start) and not foreign.tool_of(tree, path))
    return tuple(path.removeprefix(start) for path in found)


def _version(tree: Tree, folder: str, nearest: Manifest, root: Manifest, spec: Spec) -> Found:
    """The locked version; else the lower bound of the range in package.json; empty if neither exists."""
    for package in spec.packages:
        for manifest in (nearest, root):
            wanted = manifest.dependencies.get(package, "")
            if wanted and (found := uses.locked(tree, package, wanted, folder)):
                return Found(found.value, f"{found.evidence}: {package}@{wanted}")
            if wanted and (bounds := versions.lower_bounds(wanted)):
                return Found(bounds[0], f"{manifest.path}: {package} {wanted}")
    for package in spec.packages:
        if found := uses.locked(tree, package, folder=folder):
            return Found(found.value, f"{found.evidence}: {package}, brought along by another package")
    return Found("", "no file names one")


def _browser(tree: Tree, use: Use, files: Sequence[str], *manifests: Manifest) -> Found:
    """The browser that the tests need, by the runner, its wrapper, a package beside it, or one that drives browsers, if
    tests import it or the tested package ships with it; empty for none."""
    spec = spec_of(use.runner)
    if spec.browser:
        return Found("chromium", f"{spec.name} runs its tests in one")
    if use.wrapper and use.wrapper.starts_browser(files):
        return Found("chromium", f"{use.wrapper.package} starts one for these tests")
    pairs = ((manifest, package) for manifest in manifests for package in spec.browsers)
    depends = (
        f"{manifest.path}: depends on {package}" for manifest, package in pairs if package in manifest.dependencies
    )
    importing = (f"{file}: imports {name}" for file in files for name in _drivers(focus.imports(tree.text(file))))
    shipping = (
        f"{manifest.path}: ships with {name}"
        for manifest in manifests
        for name in _drivers(manifest.table("dependencies"))
    )
    found = next(chain(depends, importing, shipping), "")
    return Found("chromium", found) if found else Found("", "nothing asks for one")


def _drivers(modules: Iterable[str]) -> list[str]:
    """The modules that start and drive browsers."""
    return [name for name in modules if name in _DRIVERS]


def _configured(spec: Spec, configuration: Found, kept: Sequence[str]) -> tuple[str, ...]:
    """The word that names a configuration which the runner does not find itself and its call does not name."""
    named = any(configuration.value in word for word in kept)
    if not (spec.configured and configuration.value) or named or re.search(spec.finds, configuration.value):
        return ()
    return (spec.configured.format(configuration=configuration.value),)


def _projects(tree: Tree, use: Use, spec: Spec, configuration: str, kept: Sequence[str]) -> tuple[str, ...]:
    """The words of a call without projects for missing browsers; if it chooses no others, with those that remain."""
    if spec.projects is None:
        return tuple(kept)
    text = sources.without_remarks(tree.text(posixpath.normpath(posixpath.join(use.folder, configuration))))
    kept = spec.projects.without(kept, text)
    chooses = any(word.startswith(spec.projects.word.partition("=")[0]) for word in kept)
    return (*kept, *(() if chooses else spec.projects.words(text)))


def _configuration(tree: Tree, use: Use, manifest: Manifest, spec: Spec, files: Sequence[str]) -> Found:
    """The runner's configuration: that of the project of the tests if its wrapper takes it, the one that its call
    names, a file in its folder, or package.json."""
    if use.wrapper and use.wrapper.file and (tested := angular.project(tree, files)):
        return Found(tested.configuration or tested.file, use.evidence)
    if path := named_configuration(tree, use):
        return Found(path, use.evidence)
    start = f"{use.folder}/" if use.folder else ""
    inside = [path.removeprefix(start) for path in tree.paths if path.startswith(start)]
    if files := list(filter(re.compile(spec.configuration).search, inside)):
        return Found(min(files, key=lambda path: _rank(spec, path)), "its name")
    if spec.key in manifest.data:
        return Found(manifest.path, f"its field {spec.key}")
    return Found("", "none: its defaults")


def named_configuration(tree: Tree, use: Use) -> str:
    """The configuration that a call names, from the folder of the call; empty if it names none that exists."""
    paths = _configurations(use, spec_of(use.runner))
    return next((path for path in paths if posixpath.normpath(posixpath.join(use.folder, path)) in tree.paths), "")


def _rank(spec: Spec, path: str) -> tuple[int, bool, str]:
    """The rank of a configuration file: files in a folder come before those below it, and the usual one before
    others."""
    return path.count("/"), bool(spec.usual) and not re.search(spec.usual, path), path


def _configurations(use: Use, spec: Spec) -> Iterator[str]:
    """The words of a call that may be paths of configurations: values of such options, then words that look like one
    and belong to no option. A runner that is given no tests takes a configuration of any name after its command."""
    pairs = list(pairwise(("", *use.call.words)))
    yield from configurations(use.call.words)
    for option, word in pairs:
        name = posixpath.basename(word)
        if option not in spec.keep and not word.startswith("-") and ("conf" in name or spec.name in name):
            yield word
    if spec.command and not spec.merged("").selection:
        start = use.call.words.index(spec.command) + 1 if spec.command in use.call.words else 0
        yield from (word for option, word in pairs[start:] if not (option.startswith("-") or word.startswith("-")))


def _bringers(tree: Tree, use: Use, spec: Spec, *manifests: Manifest) -> set[str]:
    """The packages that may contain the runner: wrappers, and if nothing names it, what the test command starts."""
    is_called = use.call.program and not use.call.by
    is_named = is_called or any(name in manifest.dependencies for manifest in manifests for name in spec.packages)
    starters = (hidden.starters(tree, manifest) for manifest in manifests if not is_named)
    return {name for names in (*map(uses.wrappers, manifests), *starters) for name in names}


def _entries(tree: Tree, use: Use, spec: Spec, brought: set[str]) -> Iterator[str]:
    """Paths of the runner's file or its wrapper's: in the folder or above it, last in packages that contain it."""
    files = (use.wrapper.files if use.wrapper else ()) or spec.entries
    for level in range(_depth(use) + 1):
        yield from (f"{'../' * level}node_modules/{entry}" for entry in files)
    for package in sorted(brought):
        yield from (f"{'../' * _depth(use)}node_modules/{package}/node_modules/{entry}" for entry in files)
    for folder in _unpacked(tree, use):
        yield from (f"{folder}/{entry}" for entry in files)


def _unpacked(tree: Tree, use: Use) -> Iterator[str]:
    """Where the manager puts the dependencies of packages, from the runner's folder; none if the root has them all."""
    for manager in all_managers().values():
        if manager.unpacks and manager.lock_of(tree.paths):
            yield f"{'../' * _depth(use)}node_modules/{manager.unpacks}"


def _node_path(tree: Tree, use: Use) -> dict[str, str]:
    """What the manager's scripts in `node_modules/.bin` set, so that packages find what they do not declare."""
    folders = list(_unpacked(tree, use))
    return {"NODE_PATH": ":".join(folders)} if folders else {}


def _depth(use: Use) -> int:
    return len(use.folder.split("/")) if use.folder else 0


def _words(tree: Tree, use: Use, files: Sequence[str]) -> Words | None:
    """The words of a wrapper that takes its own; None if it takes the runner's."""
    if not use.wrapper or not use.wrapper.words:
        return None
    tested = angular.project(tree, files)
    words = (*use.wrapper.words, *(use.wrapper.in_browser if use.wrapper.starts_browser(files) else ()))
    filled = (word.replace("{project}", tested.name if tested else "") for word in words)
    return Words(words=tuple(filter(None, filled)), selection=use.wrapper.selection, parser=use.wrapper.parser)


def _through(use: Use) -> tuple[str, ...]:
    return use.wrapper.through[1:] if use.wrapper else ()


def _node_options(use: Use) -> dict[str, str]:
    """Options of Node for the runner, passed on to its workers as well."""
    if not use.call.node:
        return {}
    return {"NODE_OPTIONS": " ".join(filter(None, (use.call.env.get("NODE_OPTIONS"), *use.call.node)))}
