"""From an environment to what a sandbox needs to install it: tools, commands, variables, and known faults.

The only module that turns the tables of managers into sandbox requests. Pure; does not cover which releases of Node and
tools a range stands for (`sandbox.node.exact`), or how manifests are changed (`edits`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from pipeline.core.errors import UserError
from pipeline.core.records import Environment
from pipeline.ecosystems import edits
from pipeline.ecosystems.manager_folder import all_managers, manager, with_node
from pipeline.sandbox.installation import Faults, Installation, Package

#: scripts that a package may run when it is installed
SCRIPTS = ("preinstall", "install", "postinstall")


def installation(environment: Environment) -> Installation:
    """How the dependencies of an environment are installed. Raises UserError for an unknown manager."""
    return Installation(
        environment.node,
        partial(tools, environment),
        (_focused(environment), *_scripts(environment)),
        variables(environment),
        faults(),
        environment.browser,
    )


def tools(environment: Environment, node: str, architecture: str) -> tuple[Package, ...]:
    """The npm packages that an install needs on a Node: the npm that comes with it, and the manager.

    A manager without a version is the one that comes with the Node. Raises UserError if no package brings it.
    """
    chosen, bundled = manager(environment.manager), with_node()
    version = environment.manager_version or chosen.with_node(node)
    row = chosen.package_for(version, architecture)
    if row is None:
        raise UserError(f"no npm package brings {chosen.name} {version} for {architecture}", field="manager_version")
    packages = (Package(bundled.package[0].name, bundled.with_node(node)), Package(row.name, version, row.programs))
    return tuple({package.name: package for package in packages}.values())


def variables(environment: Environment) -> dict[str, str]:
    """The variables of an install, with placeholders: those of Node's manager, the chosen manager, the environment."""
    bundled, chosen = with_node(), manager(environment.manager)
    return {**bundled.variables_for(""), **chosen.variables_for(environment.manager_version), **environment.install_env}


def faults() -> Faults:
    """Log messages of all managers when the machine or the registry is at fault: one manager may call another."""
    return tuple((row.pattern, row.cause) for candidate in all_managers().values() for row in candidate.blame)


def manifests(environment: Environment, files: Mapping[str, bytes], registry: Callable[[], str]) -> dict[str, bytes]:
    """A commit's manifests as the install of an environment sees them: edited, and restricted to its packages."""
    edited = edits.apply(environment.edits, files, registry)
    row = manager(environment.manager).focus_for(environment.manager_version)
    if not (environment.focus and row and row.hides):
        return edited
    return edited | edits.restrict_workspace(environment.focus, edited)


def _focused(environment: Environment) -> tuple[str, ...]:
    """The install command, restricted to some packages of the workspace if the environment says so."""
    row, words = manager(environment.manager).focus_for(environment.manager_version), environment.install
    if not environment.focus or row is None:
        return words
    start = (*words[: words.index("install")], *row.words) if row.words and "install" in words else words
    packages = (word.replace("{package}", package) for package in environment.focus for word in row.each)
    return (*start, *row.root, *packages)


def _scripts(environment: Environment) -> list[tuple[str, ...]]:
    """Commands that run the install scripts of single packages; all other scripts are disabled."""
    npm = ("npm", "run")
    scripts = [(name, script) for name in environment.rebuild for script in SCRIPTS]
    return [(*npm, script, "--if-present", f"--prefix=node_modules/{name}") for name, script in scripts]
