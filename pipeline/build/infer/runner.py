"""The runner of a commit's tests: its version, its file, and the words of its command line (ecosystems/runners).

Which runner it is, and where it runs, is `place`'s.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.build.infer import place, uses
from pipeline.build.infer.tree import Found, Manifest, Tree
from pipeline.build.infer.uses import Use
from pipeline.ecosystems import locks, versions
from pipeline.ecosystems.manager_folder import all_managers
from pipeline.ecosystems.runner_folder import Runner as Known
from pipeline.ecosystems.runner_folder import runner as known


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
    tree: Tree, manifest: Manifest, node: str, files: Sequence[str], fixed: dict[str, Found], given: Use | None = None
) -> Runner:
    """The runner of these test files (paths from the root), as it is `given` or found. Raises Unsupported."""
    use, why = (given, given.evidence) if given else place.choose(tree, manifest, files, fixed)
    own, here = known(use.runner), tree.manifest(use.folder) or manifest
    version = Found(node, "Node's own") if not own.entries else _version(tree, here, manifest, own)
    configuration = _configuration(tree, use, here, own)
    kept, others = _arguments(use, own)
    kept += _configured(own, configuration, kept)
    kept += _projects(tree, use, own, configuration.value, kept)
    merged = own.merged(version.value, kept)
    start = ("{entry}", *_through(use), *merged.words) if own.entries else (*use.call.node, *merged.words)
    wrapped = use.wrapper.env if use.wrapper else {}
    env = wrapped | use.call.env | (_node_options(use) if own.entries else {}) | merged.env
    return Runner(
        runner=Found(use.runner, use.evidence),
        version=version,
        folder=Found(use.folder, why),
        configuration=configuration,
        entries=tuple(_entries(tree, use, own, {*uses.wrappers(here), *uses.wrappers(manifest)})),
        test=("node", *start, *kept, "{files}"),
        selection=merged.selection or (),
        everything=others,
        env={name: value.replace("{configuration}", configuration.value) for name, value in env.items()},
        parser=merged.parser,
        browser=_browser(own, here, manifest),
        evidence=f"{use.runner} {version.value}; {use.evidence}",
    )


def _version(tree: Tree, here: Manifest, root: Manifest, own: Known) -> Found:
    """The locked version; else the lower bound of what package.json names; empty where nothing says it."""
    for package in own.packages:
        for manifest in (here, root):
            wanted = manifest.dependencies.get(package, "")
            if wanted and (found := _locked(tree, package, wanted)):
                return Found(found.value, f"{found.evidence}: {package}@{wanted}")
            if wanted and (bounds := versions.lower_bounds(wanted)):
                return Found(bounds[0], f"{manifest.path}: {package} {wanted}")
    for package in own.packages:
        if found := _locked(tree, package):
            return Found(found.value, f"{found.evidence}: {package}, brought along by another package")
    return Found("", "no file names one")


def _browser(own: Known, *manifests: Manifest) -> Found:
    """The browser that the tests must find, by what the runner is or by a package beside it; none: they name none."""
    if own.browser:
        return Found("chromium", f"{own.name} runs its tests in one")
    asked = ((one, package) for one in manifests for package in own.browsers if package in one.dependencies)
    found = next((f"{one.path}: depends on {package}" for one, package in asked), "")
    return Found("chromium", found) if found else Found("", "nothing asks for one")


def _configured(own: Known, configuration: Found, kept: Sequence[str]) -> tuple[str, ...]:
    """The word for a configuration that the runner does not find by itself, and that its call does not name."""
    named = any(configuration.value in word for word in kept)
    if not (own.configured and configuration.value) or named or re.search(own.finds, configuration.value):
        return ()
    return (own.configured.format(configuration=configuration.value),)


def _projects(tree: Tree, use: Use, own: Known, configuration: str, kept: Sequence[str]) -> tuple[str, ...]:
    """The words that leave projects for browsers out that are not there, unless the call chooses projects itself."""
    if own.projects is None or any(word.startswith("--project") for word in kept):
        return ()
    return own.projects.words(tree.text(posixpath.normpath(posixpath.join(use.folder, configuration))))


def _locked(tree: Tree, package: str, wanted: str = "") -> Found | None:
    """The version that a lock file holds of a package that is wanted as `wanted`, a range of package.json."""
    for path in (path for one in all_managers().values() for path in one.locks):
        if version := locks.version(path, tree.text(path), package, wanted):
            return Found(version, path)
    return None


def _configuration(tree: Tree, use: Use, manifest: Manifest, own: Known) -> Found:
    """Where the runner is configured: as its call says, by a file in its folder, or in package.json."""
    for path in use.call.words:
        if posixpath.normpath(posixpath.join(use.folder, path)) in tree.paths and "conf" in path:
            return Found(path, use.evidence)
    start = f"{use.folder}/" if use.folder else ""
    inside = [path.removeprefix(start) for path in tree.paths if path.startswith(start)]
    if files := sorted(filter(re.compile(own.configuration).search, inside), key=lambda path: (path.count("/"), path)):
        return Found(files[0], "its name")
    return Found(manifest.path, f"its field {own.key}") if own.key in manifest.data else Found("", "none: its defaults")


def _entries(tree: Tree, use: Use, own: Known, brought: set[str]) -> Iterator[str]:
    """The runner's own file, or its wrapper's, in the folder or above it; last where a package brings it for itself."""
    files = use.wrapper.through[:1] if use.wrapper and use.wrapper.through else own.entries
    depth = len(use.folder.split("/")) if use.folder else 0
    for level in range(depth + 1):
        yield from (f"{'../' * level}node_modules/{entry}" for entry in files)
    up = "../" * depth
    for package in sorted(brought):
        yield from (f"{up}node_modules/{package}/node_modules/{entry}" for entry in files)
    for one in all_managers().values():
        if one.unpacks and one.lock_of(tree.paths):
            yield from (f"{up}node_modules/{one.unpacks}/{entry}" for entry in files)


def _through(use: Use) -> tuple[str, ...]:
    return use.wrapper.through[1:] if use.wrapper else ()


def _node_options(use: Use) -> dict[str, str]:
    """Options of Node before the runner, for it and its workers alike."""
    if not use.call.node:
        return {}
    return {"NODE_OPTIONS": " ".join(filter(None, (use.call.env.get("NODE_OPTIONS"), *use.call.node)))}


def _arguments(use: Use, own: Known) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the words of the call those that shape how tests run, and those that name tests, if the runner takes such."""
    kept: list[str] = []
    others: list[str] = []
    rest = iter(use.call.words)
    for word in rest:
        name = word.partition("=")[0]
        if word in own.flags or ("=" in word and name in own.keep):
            kept.append(word)
        elif word in own.keep:
            kept += [word, *([value] if (value := next(rest, None)) else [])]
        elif not word.startswith("-"):
            others.append(word)
    return tuple(kept), tuple(others) if own.positional else ()
