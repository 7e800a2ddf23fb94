"""From an environment to what a sandbox needs to install it: tools, commands, variables, and known faults.

The only module that turns the tables of managers into sandbox requests. Pure; does not cover which releases of Node and
tools a range stands for (`sandbox.node.exact`), or how manifests are changed (`edits`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from pipeline.core.errors import UserError
from pipeline.core.records import Environment, Nested
from pipeline.ecosystems import edits, versions
from pipeline.ecosystems.manager_folder import Focus, all_managers, manager, with_node
from pipeline.sandbox.installation import Faults, Installation, Package

#: scripts that a package may run when it is installed
SCRIPTS = ("preinstall", "install", "postinstall")


def installation(environment: Environment) -> Installation:
    """How the dependencies of an environment are installed. Raises UserError for an unknown manager."""
    return Installation(
        environment.node,
        partial(tools, environment),
        (*_of_root(environment), *map(_inside, environment.nested), *_scripts(environment)),
        variables(environment),
        faults(),
        environment.browser,
    )


def tools(environment: Environment, node: str, architecture: str) -> tuple[Package, ...]:
    """The npm packages that an install needs on a Node: the npm that comes with it, the managers of nested folders,
    and last the root's manager.

    A manager without a version is the one that comes with the Node. Raises UserError if no package brings it.
    """
    bundled = with_node()
    packages = (
        Package(bundled.package[0].name, bundled.with_node(node)),
        *(_tool(install, node, architecture) for install in _installs(environment)),
    )
    unique = {package.name: package for package in packages}
    last = packages[-1]
    return (*(package for name, package in unique.items() if name != last.name), last)


def _installs(environment: Environment) -> list[Environment | Nested]:
    """Every install of an environment; the root's decides last."""
    return [*environment.nested, environment]


def _tool(install: Environment | Nested, node: str, architecture: str) -> Package:
    chosen = manager(install.manager)
    version = install.manager_version or chosen.with_node(node)
    row = chosen.package_for(version, architecture)
    if row is None:
        raise UserError(f"no npm package brings {chosen.name} {version} for {architecture}", field="manager_version")
    return Package(row.name, version, row.programs)


def variables(environment: Environment) -> dict[str, str]:
    """The variables of an install, with placeholders: those of Node's manager, of nested folders' managers, of the
    root's, and of the environment."""
    found = with_node().variables_for("")
    for install in _installs(environment):
        found |= manager(install.manager).variables_for(install.manager_version)
    return found | environment.install_env


def faults() -> Faults:
    """Log messages of all managers when the machine or the registry is at fault: one manager may call another."""
    return tuple((row.pattern, row.cause) for candidate in all_managers().values() for row in candidate.blame)


def manifests(environment: Environment, files: Mapping[str, bytes], registry: Callable[[], str]) -> dict[str, bytes]:
    """A commit's manifests as the install of an environment sees them: edited, restricted to its packages, and without
    scripts that would run although the install runs none."""
    edited = edits.apply(environment.edits, files, registry)
    linked = {path: content for path, content in edited.items() if path != "package.json"}
    stubborn = {name for install in _installs(environment) for name in manager(install.manager).linked_scripts}
    edited |= edits.without_scripts(stubborn, linked) if stubborn else {}
    row = _focus(environment)
    if not environment.focus or row is None:
        return edited
    hidden = edits.restrict_workspace(environment.focus, edited) if row.hides else {}
    unscripted = edits.without_scripts(SCRIPTS, edited) if row.unscripted in environment.install else {}
    return edited | hidden | unscripted


def thawed(environment: Environment, day: str = "") -> Environment:
    """The environment with installs that may change their lock files. New versions are from before the `day` (ISO), if
    one is given and the manager can do that."""
    nested = tuple(place.model_copy(update={"install": _thawed(place, day)}) for place in environment.nested)
    return environment.model_copy(update={"install": _thawed(environment, day), "nested": nested})


def _thawed(install: Environment | Nested, day: str) -> tuple[str, ...]:
    spec = manager(install.manager)
    words = tuple(filter(None, (spec.thaw.get(word, word) for word in install.install)))
    if words == install.install or not spec.dated or not day:
        return words
    return (*words, spec.dated.replace("{date}", versions.published_by(day)))


def _of_root(environment: Environment) -> tuple[tuple[str, ...], ...]:
    """The install command of the root; none if the root has no manifest."""
    return (_focused(environment),) if environment.install else ()


def _focus(environment: Environment) -> Focus | None:
    """How the manager's version installs a part of a workspace; None if it cannot."""
    return manager(environment.manager).focus_for(environment.manager_version, environment.node)


def _focused(environment: Environment) -> tuple[str, ...]:
    """The install command, restricted to some packages of the workspace if the environment says so."""
    row, words = _focus(environment), environment.install
    if not environment.focus or row is None:
        return words
    start = (*words[: words.index("install")], *row.words) if row.words and "install" in words else words
    packages = (word.replace("{package}", package) for package in environment.focus for word in row.each)
    return (*start, *row.root, *packages)


def _inside(nested: Nested) -> tuple[str, ...]:
    """The install command of a nested folder."""
    return ("sh", "-c", 'cd "$0" && exec "$@"', nested.folder, *nested.install)


def _scripts(environment: Environment) -> list[tuple[str, ...]]:
    """Commands that run the install scripts of single packages; all other scripts are disabled."""
    npm = ("npm", "run")
    scripts = [(name, script) for name in environment.rebuild for script in SCRIPTS]
    return [(*npm, script, "--if-present", f"--prefix=node_modules/{name}") for name, script in scripts]
