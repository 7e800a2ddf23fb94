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
from typing import Any

from pipeline.build.infer import angular, sources, uses, workspaces
from pipeline.build.infer.scripts import TASKS, Call, calls, end_to_end, started, starts_task
from pipeline.build.infer.tree import Found, Manifest, Tree, Unsupported, above, table
from pipeline.build.infer.uses import Use
from pipeline.build.infer.words import assigned, commands, program
from pipeline.ecosystems.runner_folder import all_runners, runner

#: words for tests in a command
_TESTS = re.compile(r"\b(?:test|spec|unit|jest|vitest|mocha|karma|jasmine)")
#: folder -> the uses of its package, the likeliest first
Known = Callable[[str], list[Use]]


def choose(tree: Tree, manifest: Manifest, files: Sequence[str], fixed: dict[str, Found]) -> tuple[Use, str]:
    """The use that runs most of these test files, and why it is in its folder. Raises Unsupported."""
    tests = own_tests(tree, files)
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
    if len(served) == len({use.runner for use in nearest}) and (use := _hidden(tree, packages, tests, served)):
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
    tests, named = own_tests(tree, files), workspaces.patterns(tree, manifest)
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
    return "" if _configures(tree, use) and not (is_project and not _aggregates(tree, use)) else found


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


def own_tests(tree: Tree, files: Sequence[str]) -> list[str]:
    """The files that are not tests of another tool. Raises Unsupported if none are left."""
    tools = {file: tool for file in files if (tool := tool_of(tree, file))}
    if files and len(tools) == len(files):
        named = ", ".join(f"{file} ({tool['tool']}: {tool['why']})" for file, tool in sorted(tools.items()))
        raise Unsupported("runner_unsupported", f"the tests belong to another tool: {named}")
    return [file for file in files if file not in tools]


def given(tree: Tree, name: str, files: Sequence[str]) -> list[str]:
    """The test files that a runner is given. A runner that runs every file that it is given gets no tests of other
    tools and runners, unless all tests are such; other runners leave those out themselves."""
    if not runner(name).positional:
        return list(files)
    return [file for file in files if not (tool_of(tree, file) or _is_of_another(tree, file, name))] or list(files)


def _is_of_another(tree: Tree, file: str, name: str) -> bool:
    """Whether a test imports another runner, and not this one. A framework of this one (`web-test-runner-jasmine`) is
    not another."""
    text, adapter = sources.without_remarks(tree.text(file)), runner(name).adapter
    named = {spec.name for spec in all_runners().values() if spec.imports and re.search(spec.imports, text)}
    others = {other for other in named if not (adapter and _is_used(tree, file, adapter.format(runner=other)))}
    return bool(others) and name not in named


def tool_of(tree: Tree, file: str) -> dict[str, Any]:
    """The row of the tool that a test file belongs to, by its name or its imports; empty if there is none."""
    return next((row for row in table("foreign.toml")["foreign"] if _belongs(tree, file, row)), {})


def _belongs(tree: Tree, file: str, row: dict[str, Any]) -> bool:
    by_name = "files" in row and re.search(row["files"], file) and _is_used(tree, file, row.get("package", ""))
    others = any(_is_used(tree, file, package) for package in row.get("unless", ()))
    by_import = "imports" in row and re.search(row["imports"], tree.text(file)) and not others
    return bool(by_name or by_import or "targets" in row and _is_target(tree, file, row))


def _is_target(tree: Tree, file: str, row: dict[str, Any]) -> bool:
    """Whether a build tool compiles and runs a test: the root's test command calls it, and no runner could instead."""
    folders = list(above(file))
    if not any(posixpath.join(folder, row["targets"]) in tree.paths for folder in folders):
        return False
    script = tree.root().scripts.get("test", "")
    texts = (script, *(tree.text(posixpath.normpath(word)) for words in commands(script) for word in words))
    calls = re.compile(rf"\b(?:{'|'.join(row['programs'])})\b")
    return any(map(calls.search, texts)) and not _is_configured_above(tree, folders)


def _is_configured_above(tree: Tree, folders: Collection[str]) -> bool:
    """Whether one of these folders has a configuration of a runner that needs no browser."""
    names = [posixpath.basename(path) for path in tree.paths if posixpath.dirname(path) in folders]
    keys = {key for manifest in map(tree.manifest, folders) if manifest for key in manifest.data}
    specs = [spec for spec in all_runners().values() if spec.entries and not spec.browser]
    return any(spec.key in keys or any(re.search(spec.configuration, name) for name in names) for spec in specs)


def _is_used(tree: Tree, file: str, package: str) -> bool:
    """Whether a package above a file depends on this one; true if no package is named."""
    manifests = filter(None, map(tree.manifest, above(file)))
    return not package or any(package in manifest.dependencies for manifest in manifests)


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


def _hidden(tree: Tree, packages: Sequence[Sequence[str]], tests: Sequence[str], served: Collection[str]) -> Use | None:
    """The use of a runner that a test command may start although no manifest names it: that of the nearest package
    above most tests whose command may, where `packages` are those above each test."""
    own = {name for manifest in map(tree.manifest, _folders(tree)) if manifest for name in manifest.programs}
    manifests = {folder: _manifest(tree, folder) for folders in packages for folder in folders}
    starting = {folder for folder, manifest in manifests.items() if _may_start(tree, manifest, own, served)}
    nearest = (next((folder for folder in folders if folder in starting), None) for folders in packages)
    homes = Counter(folder for folder in nearest if folder is not None)
    order = sorted(homes, key=lambda folder: (-homes[folder], folder))
    return next(filter(None, (_started(tree, manifests[folder], tests, served) for folder in order)), None)


def _manifest(tree: Tree, folder: str) -> Manifest:
    """The manifest of a package; an empty one if there is none that can be read."""
    return tree.manifest(folder) or Manifest(posixpath.join(folder, "package.json"), {})


def _may_start(tree: Tree, manifest: Manifest, own: Collection[str], served: Collection[str]) -> bool:
    """Whether a package's test command may start a runner that no manifest names: through a task, or a tool that
    contains it. If there are runners for a `served` application, only through one of the repository's `own` tools."""
    first = started(tree, manifest)
    is_own, is_foreign = not set(own).isdisjoint(first), _rows(first) or _foreign(manifest, ("test",))
    is_task = starts_task(manifest) or not TASKS.isdisjoint(first)
    is_runner = any(not set(spec.programs).isdisjoint(first) for spec in all_runners().values())
    if served:
        return is_own and not (is_foreign or is_task or is_runner)
    return is_task or (is_own or bool(starters(tree, manifest))) and not is_foreign


def _started(tree: Tree, manifest: Manifest, tests: Sequence[str], served: Collection[str]) -> Use | None:
    """The use of the runner that a package's test command starts, by the signs of one: with the variables of the
    command, and in the package, unless the runner is configured at the root."""
    folder = posixpath.dirname(manifest.path)
    inside = [test for test in tests if not folder or test.startswith(f"{folder}/")]
    found = uses.marked(tree, inside, served) or uses.brought(tree, served) or uses.hinted(manifest)
    use = found or uses.hinted(_manifest(tree, ""))
    if use is None:
        return None
    home = use.folder if use.folder or _configures(tree, use) else folder
    called = _called(tree, manifest)
    return use._replace(folder=home, call=use.call._replace(env=_given(_about_tests(called) or called[-1:])))


def _given_by_root(tree: Tree, manifest: Manifest, found: Iterable[Use]) -> Iterator[Use]:
    """These uses, those in packages with the variables that the root's command gives to the tests of packages."""
    named, given = workspaces.patterns(tree, manifest), _given(_about_tests(_called(tree, manifest)))
    for use in found:
        path, env = posixpath.join(use.folder, "package.json"), given | use.call.env
        if env != use.call.env and any(workspaces.package(tree, folder, named) for folder in above(path) if folder):
            evidence = f"{use.evidence}, with the variables of the root's test command"
            use = use._replace(evidence=evidence, call=use.call._replace(env=env))
        yield use


def _called(tree: Tree, manifest: Manifest) -> list[Call]:
    """What the test command of a package finally calls, other than runners."""
    found = calls(tree, posixpath.dirname(manifest.path), manifest, (), ("test",))
    return [call for call in found if not _is_runner(call)]


def _about_tests(called: Iterable[Call]) -> list[Call]:
    """The calls that are about tests, by their words (`lerna run test`)."""
    return [call for call in called if any(map(_TESTS.search, (call.program, *call.words)))]


def _given(called: Iterable[Call]) -> dict[str, str]:
    """The variables that calls give to what they start, also by their words (`lerna exec -- A=1 yarn test`)."""
    return {name: value for call in called for name, value in (call.env | assigned(call.words)).items()}


def _is_runner(call: Call) -> bool:
    """Whether a call is one of a runner itself."""
    is_known = any(call.program in spec.programs for spec in all_runners().values())
    return is_known and (call.program != "node" or "--test" in call.words)


def _folders(tree: Tree) -> list[str]:
    """The folders with a manifest."""
    found = tree.matching(lambda path: path.rpartition("/")[2] == "package.json" and "node_modules/" not in path)
    return list(map(posixpath.dirname, found))


def starters(tree: Tree, manifest: Manifest) -> set[str]:
    """The dependencies of a package whose programs its test command starts."""
    first = started(tree, manifest)
    return {name for name in manifest.dependencies if any(_is_named_after(word, name) for word in first)}


def _is_named_after(word: str, package: str) -> bool:
    """Whether a program is named after its package. If this has a scope, it may end in the name (`wp-scripts` of
    `@wordpress/scripts`), or be the first words of both (`acme-scripts` of `@acme/scripts-core`)."""
    scope, _, last = package.removeprefix("@").rpartition("/")
    is_beginning = word.startswith(f"{scope}-") and f"{scope}-{last}-".startswith(f"{word}-")
    return word == last or package.startswith("@") and (word.endswith(f"-{last}") or is_beginning)


def _foreign(manifest: Manifest, names: Iterable[str]) -> list[dict[str, str]]:
    """The rows of the tools that the scripts with these names call."""
    scripts = manifest.scripts
    return _rows({program(word) for name in names for words in commands(scripts.get(name, "")) for word in words})


def _rows(programs: Collection[str]) -> list[dict[str, str]]:
    """The rows of the tools with these programs."""
    return [row for row in table("foreign.toml")["foreign"] if not set(row["programs"]).isdisjoint(programs)]


def _nothing(manifest: Manifest) -> str:
    script = manifest.scripts.get("test")
    script_note = f"; scripts.test is '{script}'" if script else "; it has no scripts.test"
    foreign = _foreign(manifest, manifest.scripts)
    calls = "".join(f"; its scripts call {row['tool']}: {row['why']}" for row in foreign)
    return f"package.json names none of: {', '.join(all_runners())}{script_note}{calls}"


def _may_run(tree: Tree, root: Use, uses_below: Sequence[Use]) -> bool:
    """Whether the root may run the tests of several packages: it calls or configures its runner, or all packages use
    this runner."""
    return bool(root.call.program) or _configures(tree, root) or {use.runner for use in uses_below} == {root.runner}


def _covers(tree: Tree, root: Use, use: Use) -> bool:
    """Whether the root runs the tests of a package: its configuration covers several packages, unless only the package
    calls the runner and configures it; or a script of the root calls the runner and the root configures it, while the
    package only depends on it."""
    calls_itself = bool(use.call.program) and _configures(tree, use) and not root.call.program
    only_depends = not use.call.program and not _configures(tree, use)
    by_root = only_depends and bool(root.call.program) and _configures(tree, root)
    return root.runner == use.runner and (_aggregates(tree, root) and not calls_itself or by_root)


def _configures(tree: Tree, use: Use) -> bool:
    """Whether the folder of a use has a configuration of its runner."""
    spec, manifest = runner(use.runner), tree.manifest(use.folder)
    return uses.is_configured(tree, use.folder, spec) or bool(manifest and spec.key in manifest.data)


def _aggregates(tree: Tree, use: Use) -> bool:
    """Whether the runner's configuration in the folder of a use covers several packages."""
    spec, manifest = runner(use.runner), tree.manifest(use.folder)
    if not spec.aggregate:
        return False
    inside = (path for path in tree.paths if posixpath.dirname(path) == use.folder)
    texts = [tree.text(path) for path in inside if re.search(spec.configuration, posixpath.basename(path))]
    key = str(manifest.data.get(spec.key, "")) if manifest else ""
    return any(re.search(spec.aggregate, text) for text in (*texts, key))
