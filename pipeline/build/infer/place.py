"""Which runner runs a commit's tests, and in which folder.

It is the one of the nearest package above the touched tests that has a runner; or the root's, if it runs above all of
them and its configuration runs the tests of packages, or the tests are in several packages. A runner that no script
calls runs where it is configured: a project of Nx need not be a package. Does not cover runs in more than one folder.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, partial

from pipeline.build.infer import angular, foreign, hidden, uses, workspaces
from pipeline.build.infer.scripts import calls, end_to_end
from pipeline.build.infer.tree import Found, Manifest, Tree, Unsupported, above
from pipeline.build.infer.uses import Use
from pipeline.ecosystems.runner_folder import all_runners, runner

#: folder -> the uses of its package, the likeliest first
Known = Callable[[str], list[Use]]


def choose(tree: Tree, manifest: Manifest, files: Sequence[str], fixed: dict[str, Found]) -> tuple[Use, str]:
    """The use that runs most of these test files, and why it is in its folder. Raises Unsupported."""
    tests = foreign.own_tests(tree, files)
    use, why = _of_packages(tree, manifest, tests, fixed)
    configured = "" if "folder" in fixed or use.call.program else _configured(tree, use, tests)
    use, why = (use._replace(folder=configured), "its configuration") if configured else (use, why)
    return next(_given_by_root(tree, manifest, [use])), why


def _of_packages(tree: Tree, manifest: Manifest, tests: Sequence[str], fixed: dict[str, Found]) -> tuple[Use, str]:
    """The use of the packages above these tests, and why it is in its folder. Raises Unsupported."""
    angular.require_report(tree, tests)
    imported = _named(tree, tests)
    known = cache(lambda folder: uses.of_package(tree, folder, imported, tests))
    if "runner" in fixed or "folder" in fixed:
        return _fixed(known, fixed)
    named = workspaces.patterns(tree, manifest)
    is_sure = partial(_is_sure, tree, imported)
    packages = [
        [folder for folder in above(file) if workspaces.installed(tree, folder, named)]
        for file in tests or ["package.json"]
    ]
    nearest = [use for folders in packages if (use := _nearest(known, folders, is_sure))]
    served = {use.runner for use in nearest if use.runner not in imported and _is_served(tree, use)}
    if len(served) == len({use.runner for use in nearest}) and (use := hidden.use(tree, packages, tests, served)):
        return use, workspaces.installed(tree, use.folder, named) or use.folder if use.folder else "the root"
    if not nearest:
        raise Unsupported("runner_unsupported", _nothing(manifest))
    folders = Counter(use.folder for use in nearest)
    root = next((use for use in known("")[:1] if _may_reach(tree, use, tests)), None)
    if root and (len(folders) > 1 and _may_run(tree, root, nearest) or _covers(tree, root, nearest[0])):
        return root, "the root runs the packages' tests"
    folder = min(folders, key=lambda path: (-folders[path], path))
    left_out = f"; those of {', '.join(sorted(set(folders) - {folder}))} are left out" if len(folders) > 1 else ""
    use = next(use for use in nearest if use.folder == folder)
    return use, (workspaces.installed(tree, folder, named) if folder else "the root") + left_out


def _may_reach(tree: Tree, use: Use, tests: Sequence[str]) -> bool:
    """Whether a use runs above all of these tests, and its configuration does not leave them out."""
    return all(use.folder in above(test) for test in tests) and not uses.leaves_out(tree, use, tests)


def alternatives(tree: Tree, manifest: Manifest, files: Sequence[str]) -> Iterator[Use]:
    """Every other way in which the packages above these test files could run them, nearest packages first, by scripts
    that test a served application last."""
    return _given_by_root(tree, manifest, _alternatives(tree, manifest, files))


def _alternatives(tree: Tree, manifest: Manifest, files: Sequence[str]) -> Iterator[Use]:
    """These ways, without the variables of the root."""
    tests, named = foreign.own_tests(tree, files), workspaces.patterns(tree, manifest)
    imported = _named(tree, tests)
    folders = {folder for file in tests or ["package.json"] for folder in above(file)}
    members = {folder for folder in folders if workspaces.installed(tree, folder, named)}
    homes = sorted(members, key=lambda path: (-len(path), path))
    for folder in homes:
        found = [*uses.of_package(tree, folder, imported, tests), *uses.of_scripts(tree, folder, tests)]
        yield from found
        yield from (use._replace(folder=below) for use in found if (below := _configured_below(tree, use, tests)))
    for folder in homes:
        yield from uses.of_end_to_end(tree, folder, tests)


def _configured(tree: Tree, use: Use, tests: Sequence[str]) -> str:
    """The folder below that of a use in which its runner is configured for most of these tests; empty if there is none,
    or if the configuration in the use's own folder counts: it does, unless the tests belong to a project that it does
    not cover."""
    found, tested = _configured_below(tree, use, tests), angular.project(tree, tests)
    is_project = tested is not None and (tested.folder, tested.runner) == (found, use.runner)
    return "" if uses.configures(tree, use) and not (is_project and not _aggregates(tree, use)) else found


def _configured_below(tree: Tree, use: Use, tests: Sequence[str]) -> str:
    """The folder below that of a use in which its runner is configured for most of these tests, the nearest above them;
    empty if there is none."""
    spec = runner(use.runner)
    homes = {folder for folder, name in map(posixpath.split, tree.paths) if re.search(spec.configuration, name)}
    nearest = Counter(next((folder for folder in above(test) if folder in homes), "") for test in tests)
    found = max(nearest, key=lambda folder: (nearest[folder], folder), default="")
    return found if found != use.folder and use.folder in ("", *above(found)) and not use.wrapper else ""


def _named(tree: Tree, tests: Sequence[str]) -> frozenset[str]:
    """The runners that the tests import, and the one that Angular's builder starts for them."""
    tested = angular.project(tree, tests)
    return uses.imported(tree, tests) | ({tested.runner} if tested and tested.runner else set())


def _nearest(known: Known, folders: Iterable[str], is_sure: Callable[[Use], bool]) -> Use | None:
    """The first use of the nearest of these packages that has any; an uncertain use only if there is no other."""
    found = [use for folder in folders for use in known(folder)]
    return next(filter(is_sure, found), next(iter(found), None))


def _is_sure(tree: Tree, imported: Collection[str], use: Use) -> bool:
    """Whether a use is certain: for a runner that starts browsers, a dependency is not enough, since a package may only
    bring helpers."""
    spec = runner(use.runner)
    is_started = use.call.program or not spec.browser or use.runner in imported
    return bool(is_started) or uses.is_configured(tree, use.folder, spec)


def _fixed(known: Known, fixed: dict[str, Found]) -> tuple[Use, str]:
    """The overridden use, completed from the package itself."""
    folder = fixed.get("folder", Found("", "the root"))
    found = known(folder.value)
    wanted = fixed.get("runner") or (Found(found[0].runner, found[0].evidence) if found else None)
    if wanted is None or wanted.value not in all_runners():
        raise Unsupported("runner_unsupported", f"no known runner: {wanted.value if wanted else 'none'}")
    bare = Use(folder.value, wanted.value, wanted.evidence)
    return next((use for use in found if use.runner == wanted.value), bare), folder.evidence


def _is_served(tree: Tree, use: Use) -> bool:
    """Whether a runner that starts browsers tests a served application: in its package, only scripts for end-to-end
    tests call it."""
    manifest, spec = tree.manifest(use.folder), runner(use.runner)
    if manifest is None or use.call.program or not spec.browser:
        return False
    return any(calls(tree, use.folder, manifest, spec.programs, end_to_end(manifest)))


def _given_by_root(tree: Tree, manifest: Manifest, found: Iterable[Use]) -> Iterator[Use]:
    """These uses, those in packages with the variables that the root's command gives to the tests of packages."""
    named, given = workspaces.patterns(tree, manifest), hidden.variables(tree, manifest)
    for use in found:
        path, env = posixpath.join(use.folder, "package.json"), given | use.call.env
        if env != use.call.env and any(workspaces.package(tree, folder, named) for folder in above(path) if folder):
            evidence = f"{use.evidence}, with the variables of the root's test command"
            use = use._replace(evidence=evidence, call=use.call._replace(env=env))
        yield use


def _nothing(manifest: Manifest) -> str:
    script = manifest.scripts.get("test")
    script_note = f"; scripts.test is '{script}'" if script else "; it has no scripts.test"
    tools = foreign.called(manifest, manifest.scripts)
    calls = "".join(f"; its scripts call {row['tool']}: {row['why']}" for row in tools)
    return f"package.json names none of: {', '.join(all_runners())}{script_note}{calls}"


def _may_run(tree: Tree, root: Use, uses_below: Sequence[Use]) -> bool:
    """Whether the root may run the tests of several packages: it calls or configures its runner, or all packages use
    this runner."""
    return bool(root.call.program) or uses.configures(tree, root) or {use.runner for use in uses_below} == {root.runner}


def _covers(tree: Tree, root: Use, use: Use) -> bool:
    """Whether the root runs the tests of a package: its configuration covers several packages, unless only the package
    calls the runner and configures it; or a script of the root calls the runner and the root configures it, while the
    package only depends on it."""
    calls_itself = bool(use.call.program) and uses.configures(tree, use) and not root.call.program
    only_depends = not use.call.program and not uses.configures(tree, use)
    by_root = only_depends and bool(root.call.program) and uses.configures(tree, root)
    return root.runner == use.runner and (_aggregates(tree, root) and not calls_itself or by_root)


def _aggregates(tree: Tree, use: Use) -> bool:
    """Whether the runner's configuration in the folder of a use covers several packages."""
    spec, manifest = runner(use.runner), tree.manifest(use.folder)
    if not spec.aggregate:
        return False
    inside = (path for path in tree.paths if posixpath.dirname(path) == use.folder)
    texts = [tree.text(path) for path in inside if re.search(spec.configuration, posixpath.basename(path))]
    key = str(manifest.data.get(spec.key, "")) if manifest else ""
    return any(re.search(spec.aggregate, text) for text in (*texts, key))
