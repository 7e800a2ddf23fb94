"""Runners that a test command starts although no manifest names them: through a task, or a tool that contains them."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from pipeline.build.infer import foreign, uses
from pipeline.build.infer.scripts import TASKS, Call, calls, started, starts_task
from pipeline.build.infer.tree import Manifest, Tree
from pipeline.build.infer.uses import Use
from pipeline.build.infer.words import assigned
from pipeline.ecosystems.runner_folder import all_runners

#: a file that Node runs or reads as it is
_PLAIN = re.compile(r"\.(?:[cm]?js|json)$")
#: words for tests in a command
_TESTS = re.compile(r"\b(?:test|spec|unit|jest|vitest|mocha|karma|jasmine)")


def use(tree: Tree, packages: Sequence[Sequence[str]], tests: Sequence[str], served: Collection[str]) -> Use | None:
    """The use of a runner that a test command may start although no manifest names it: that of the nearest package
    above most tests whose command may, where `packages` are those above each test."""
    own = _owners(tree)
    manifests = {folder: _manifest(tree, folder) for folders in packages for folder in folders}
    starting = {folder for folder, manifest in manifests.items() if _may_start(tree, manifest, own, served)}
    nearest = (next((folder for folder in folders if folder in starting), None) for folders in packages)
    homes = Counter(folder for folder in nearest if folder is not None)
    order = sorted(homes, key=lambda folder: (-homes[folder], folder))
    return next(filter(None, (_started(tree, manifests[folder], tests, served, own) for folder in order)), None)


def _manifest(tree: Tree, folder: str) -> Manifest:
    """The manifest of a package; an empty one if there is none that can be read."""
    return tree.manifest(folder) or Manifest(posixpath.join(folder, "package.json"), {})


def _may_start(tree: Tree, manifest: Manifest, own: Collection[str], served: Collection[str]) -> bool:
    """Whether a package's test command may start a runner that no manifest names: through a task, or a tool that
    contains it. If there are runners for a `served` application, only through one of the repository's `own` tools."""
    first = started(tree, manifest)
    is_own, is_foreign = not set(own).isdisjoint(first), foreign.rows(first) or foreign.called(manifest, ("test",))
    is_task = starts_task(manifest) or not TASKS.isdisjoint(first)
    is_runner = any(not set(spec.programs).isdisjoint(first) for spec in all_runners().values())
    if served:
        return is_own and not (is_foreign or is_task or is_runner)
    return is_task or (is_own or bool(starters(tree, manifest))) and not is_foreign


def _started(
    tree: Tree, manifest: Manifest, tests: Sequence[str], served: Collection[str], owners: Mapping[str, Manifest]
) -> Use | None:
    """The use of the runner that a package's test command starts, by the signs of one: with the variables of the
    command, and in the package, unless the runner is configured at the root."""
    folder = posixpath.dirname(manifest.path)
    inside = [test for test in tests if not folder or test.startswith(f"{folder}/")]
    found = uses.marked(tree, inside, served) or uses.brought(tree, served) or uses.hinted(manifest)
    use = found or uses.hinted(_manifest(tree, ""))
    if use is None:
        return None
    home = use.folder if use.folder or uses.configures(tree, use) else folder
    called = _called(tree, manifest)
    about_tests = _about_tests(called) or called[-1:]
    use = use._replace(folder=home, call=use.call._replace(env=_given(about_tests)))
    return next(filter(None, (_by_tool(tree, use, call.program, owners) for call in about_tests)), use)


def _owners(tree: Tree) -> dict[str, Manifest]:
    """The repository's own programs, each with the manifest of its package."""
    manifests = [manifest for manifest in map(tree.manifest, _folders(tree)) if manifest]
    return {program: manifest for manifest in reversed(manifests) for program in manifest.programs}


def _by_tool(tree: Tree, use: Use, program: str, owners: Mapping[str, Manifest]) -> Use | None:
    """The use of a runner with the configuration in the package of this program, if it is one of the repository's own
    tools that loads the runner, and has only this configuration; None otherwise."""
    spec, own = all_runners()[use.runner], owners.get(program)
    tool = posixpath.dirname(own.path) if own else ""
    if own is None or tool in ("", use.folder) or own.dependencies.keys().isdisjoint(spec.packages):
        return None
    inside = tree.matching(lambda path: path.startswith(f"{tool}/"))
    found = [path for path in inside if re.search(spec.configuration, posixpath.basename(path))]
    if len(found) != 1 or not _PLAIN.search(found[0]):
        return None
    words = ("--config", posixpath.relpath(found[0], use.folder or "."), *spec.at_home)
    call = use.call._replace(words=words)
    return use._replace(call=call, evidence=f"{own.path}: {program}, the repository's own tool, brings {use.runner}")


def variables(tree: Tree, manifest: Manifest) -> dict[str, str]:
    """The variables that the test command of a package gives to tests that other packages start."""
    return _given(_about_tests(_called(tree, manifest)))


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
