"""From an environment to what a sandbox needs to install it: tools, commands, variables, and who is to blame.

The one place where what the managers' folders say becomes what sandboxes know. Pure; does not cover which Node and
which release of a tool a range stands for (`sandbox.node.exact`), nor how manifests are changed (`edits`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from pipeline.core.errors import UserError
from pipeline.core.records import Environment
from pipeline.ecosystems import edits
from pipeline.ecosystems.manager_folder import all_managers, manager, with_node
from pipeline.sandbox.installation import Faults, Installation, Package

#: what a package may run when it is installed
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

    A manager without a version is the one that comes with the Node. Raises UserError where none brings it.
    """
    own, first = manager(environment.manager), with_node()
    version = environment.manager_version or own.with_node(node)
    row = own.package_for(version, architecture)
    if row is None:
        raise UserError(f"no npm package brings {own.name} {version} for {architecture}", field="manager_version")
    both = (Package(first.package[0].name, first.with_node(node)), Package(row.name, version, row.programs))
    return tuple({package.name: package for package in both}.values())


def variables(environment: Environment) -> dict[str, str]:
    """The variables of an install, unfilled: those of the manager that comes with Node, the manager's, the record's."""
    first, own = with_node(), manager(environment.manager)
    return {**first.variables_for(""), **own.variables_for(environment.manager_version), **environment.install_env}


def faults() -> Faults:
    """What logs say when the machine or the registry is to blame, as each manager puts it: one may call another."""
    return tuple((row.pattern, row.cause) for one in all_managers().values() for row in one.blame)


def manifests(environment: Environment, files: Mapping[str, bytes], registry: Callable[[], str]) -> dict[str, bytes]:
    """What the install of an environment sees of a commit's manifests: after its edits, and held to its packages."""
    edited = edits.apply(environment.edits, files, registry)
    row = manager(environment.manager).focus_for(environment.manager_version)
    return edited | edits.only(environment.focus, edited) if environment.focus and row and row.hides else edited


def _focused(environment: Environment) -> tuple[str, ...]:
    """The install, held to some packages of the workspace where it is."""
    row, words = manager(environment.manager).focus_for(environment.manager_version), environment.install
    if not environment.focus or row is None:
        return words
    start = (*words[: words.index("install")], *row.words) if row.words and "install" in words else words
    packages = (word.replace("{package}", one) for one in environment.focus for word in row.each)
    return (*start, *row.root, *packages)


def _scripts(environment: Environment) -> list[tuple[str, ...]]:
    """The install scripts of single packages: all others are off."""
    npm = ("npm", "run")
    named = [(name, script) for name in environment.rebuild for script in SCRIPTS]
    return [(*npm, script, "--if-present", f"--prefix=node_modules/{name}") for name, script in named]
