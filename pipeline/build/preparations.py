"""What makes the files that a sick base lacks: scripts of packages, builds of the repository's own packages, and the
steps of continuous integration before the tests. Nothing is run here.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from pipeline.build.case import Case, packages_above, scripts_of
from pipeline.build.infer import Tree, focus, jobs, leading
from pipeline.build.infer.tree import own_packages
from pipeline.build.infer.words import commands as commands_of

#: commands, each as words
Commands = tuple[tuple[str, ...], ...]
#: scripts that generate files of a package, in the order in which they are tried
_MAKES = (
    "pretest", "pre-test", "prebuild", "generate", "codegen", "build:icons", "build:tokens", "prepare", "postinstall",
    "quick-build", "build:dev", "build",
)  # fmt: skip
_BUILDS = ("build", "compile", "build:lib", "build:js", "build:cjs", "prepack", "prepare")
_GENERATES = ("generate", "codegen", "build:icons", "build:tokens")
#: scripts of a root that compile all packages, the narrowest first
_COMPILES = ("build:cjs", "build:js", "build:lib", "build:packages", "compile", "build")
#: run a script of a package, also of one that asks for another manager; run a shell text in a folder. The programs of
#: the root come first; a yarn 1 among them would refuse a package that asks for another yarn
_NPM_RUN = (
    *("sh", "-c"),
    'export PATH="$PWD/node_modules/.bin:$PATH" SKIP_YARN_COREPACK_CHECK=1; exec npm --prefix "$0" run "$1"',
)
_NPM_FORCED = (
    *("sh", "-c"),
    'export PATH="$PWD/node_modules/.bin:$PATH" SKIP_YARN_COREPACK_CHECK=1; exec npm --force --prefix "$0" run "$1"',
)
_IN_FOLDER = (
    *("sh", "-c"),
    'export PATH="$PWD/node_modules/.bin:$PATH" SKIP_YARN_COREPACK_CHECK=1; cd "$0" && exec sh -ec "$1"',
)


def for_tests(case: Case) -> Iterator[Commands]:
    """What may make the files that the log of the tests reports as missing, the likeliest first."""
    tree, packages = case.tree, own_packages(case.tree)
    folder = case.tested
    homes = packages_above(tree, case.tests, case.environment.folder) or [folder]
    seen: list[Commands] = [()]
    steps = jobs.before_tests(tree, case.tests)
    for commands in (
        *case.preparations,
        *(_advised(tree, homes, name) for name in case.missing.scripts),
        tuple(_step(step) for step in steps if _mentions(step.text, case.missing.files)),
        _needed(tree, packages, case.unbuilt),
        _siblings(tree, packages, folder) if case.unbuilt else (),
        *((_script(tree, home, name),) for home in homes for name in _made_by(tree, home)),
        _leading(tree, folder),
        *(_before_runner(tree, home, case.environment.runner) for home in homes),
        tuple(map(_step, steps)),
        *((_script(tree, "", name),) for name in _made_by(tree, "", ("build",)) if folder),
    ):
        if commands not in seen:
            seen.append(commands)
            yield commands


def for_server(case: Case) -> Iterator[Commands]:
    """What makes the files that a server serves to the tests: the build of the tested package and of the root, what the
    test command runs before its runner, and the steps of continuous integration."""
    tree, folder = case.tree, case.environment.folder
    homes = packages_above(tree, case.tests, folder) or [folder]
    builds = [(_script(tree, home, name),) for home in homes for name in _made_by(tree, home, ("build",))]
    before = [_before_runner(tree, home, case.environment.runner) for home in homes]
    yield from filter(None, dict.fromkeys((*builds, *before, tuple(map(_step, jobs.before_tests(tree, case.tests))))))


def of_all_packages(case: Case) -> Commands:
    """The scripts that build every package that the tested one depends on and that can be built: a bundler may name
    only one missing package at a time."""
    tree, packages = case.tree, own_packages(case.tree)
    return _needed(tree, packages, _depends_on(tree, packages, case.tested))


def of_entries(case: Case) -> Commands:
    """The scripts that build the packages of the repository that the tested one depends on and whose entry (`main`) the
    tree lacks. Another file of the package, such as its types, may be loaded instead; no log says that."""
    tree, packages = case.tree, own_packages(case.tree)
    names = [name for name in _depends_on(tree, packages, case.tested) if _lacks_entry(tree, packages[name])]
    return _needed(tree, packages, names)


def _lacks_entry(tree: Tree, folder: str) -> bool:
    """Whether the manifest in a folder names an entry that the tree has neither as a file nor as a folder."""
    manifest = tree.manifest(folder)
    entry = posixpath.normpath(posixpath.join(folder, manifest.text("main"))) if manifest else folder
    return entry != folder and not tree.matching(re.compile(rf"^{re.escape(entry)}(?:\.\w+|/.*)?$").search)


def _mentions(text: str, paths: Sequence[str]) -> bool:
    """Whether a command names one of these files, with any ending."""
    names = filter(None, (posixpath.splitext(posixpath.basename(path))[0] for path in paths))
    return any(re.search(rf"(?<![\w.-]){re.escape(name)}\.\w", text) for name in names)


def _advised(tree: Tree, homes: Sequence[str], name: str) -> Commands:
    """The script that a log advises to run, in the first of these packages that has it."""
    return tuple(_script(tree, home, name) for home in homes if name in scripts_of(tree, home))[:1]


def _needed(tree: Tree, packages: Mapping[str, str], wanted: Sequence[str]) -> Commands:
    """The scripts that build these packages of the repository, dependencies first. A package that builds nothing may
    generate something."""
    found = (
        (packages[name], _made_by(tree, packages[name], (*_BUILDS, *_GENERATES)))
        for name in _order(tree, packages, wanted)
    )
    return tuple(_script(tree, folder, scripts[0]) for folder, scripts in found if scripts and folder)


def _siblings(tree: Tree, packages: Mapping[str, str], folder: str) -> Commands:
    """The scripts that make all packages on which the package in this folder depends: those that generate their
    sources, then those that compile them, or the root's script if it compiles all."""
    names = _depends_on(tree, packages, folder)
    homes = [packages[name] for name in _order(tree, packages, names) if packages[name]]
    generating = [_script(tree, home, script) for home in homes for script in _made_by(tree, home, _GENERATES)[:1]]
    building = [_script(tree, home, script) for home in homes for script in _made_by(tree, home, _BUILDS)[:1]]
    by_root = [_script(tree, "", script) for script in _made_by(tree, "", _COMPILES)[:1]]
    return (*generating, *(building if len(building) == len(homes) else by_root)) if homes else ()


def _depends_on(tree: Tree, packages: Mapping[str, str], folder: str) -> list[str]:
    """The packages of the repository on which the package in this folder depends. In a workspace, its files can also
    import those that its manifest does not name."""
    manifest = tree.manifest(folder)
    named = [name for name in manifest.dependencies if name in packages] if manifest else []
    inside = re.compile(rf"^{re.escape(folder)}/.*\.[cm]?[jt]sx?$")
    paths = tree.matching(inside.search) if folder else ()
    modules = {module for path in paths for module in focus.imports(tree.text(path))}
    imported = {name for module in modules if (name := focus.package_of(module)) in packages}
    return [*named, *sorted(imported - {*named, *(name for name, home in packages.items() if home == folder)})]


def _order(tree: Tree, packages: Mapping[str, str], wanted: Sequence[str]) -> list[str]:
    """These packages of the repository and those that they depend on, dependencies first. If dependencies are circular,
    packages are in the order in which they are found."""
    found: list[str] = []
    seen: set[str] = set()

    def add(name: str) -> None:
        if name in seen:
            return
        seen.add(name)
        manifest = tree.manifest(packages[name])
        for dependency in manifest.dependencies if manifest else ():
            if dependency in packages:
                add(dependency)
        found.append(name)

    for name in wanted:
        add(name)
    return found


def _made_by(tree: Tree, folder: str, names: Sequence[str] = _MAKES) -> list[str]:
    scripts = scripts_of(tree, folder)
    return [name for name in names if name in scripts]


def _leading(tree: Tree, folder: str) -> Commands:
    """The commands of the test script before its last one."""
    script = scripts_of(tree, folder).get("test", "")
    before = script.rpartition("&&")[0].strip()
    return (_shell(before, folder),) if before and len(list(commands_of(script))) > 1 else ()


def _before_runner(tree: Tree, folder: str, runner: str) -> Commands:
    """What a package's test command runs before its runner, through all scripts that it calls."""
    parts = leading.before_runner(tree, folder, runner)
    return tuple(
        _script(tree, part.folder, part.script) if part.script else _shell(part.text, part.folder) for part in parts
    )


def _script(tree: Tree, folder: str, name: str) -> tuple[str, ...]:
    """The words that run a script of a package, with the root's programs."""
    running = _NPM_FORCED if tree.asks_for_manager(folder) else _NPM_RUN
    return (*running, folder or ".", name)


def _step(step: jobs.Step) -> tuple[str, ...]:
    return _shell(step.text, step.folder)


def _shell(text: str, folder: str) -> tuple[str, ...]:
    return (*_IN_FOLDER, folder or ".", text)
