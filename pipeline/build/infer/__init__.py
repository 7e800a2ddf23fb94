"""The environment of a base commit, inferred from its own files: Node, package manager, install, runner, test command.

Reads files through a Tree and nothing else. Knowledge of managers and runners is in their folders (ecosystems), of Node
and continuous integration in tables here; there is nothing per repository. Every field keeps its evidence. Raises
Unsupported if a commit's tests cannot be run this way. Does not cover the repair of old environments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.build.infer import focus, foreign, manager, nested, node, runner
from pipeline.build.infer.tree import Found, Tree, Unsupported
from pipeline.build.infer.uses import Use
from pipeline.core.records import Environment

__all__ = ["Found", "Tree", "Unsupported", "infer"]

#: fields from which others follow
_FIRST = ("node", "manager", "manager_version", "runner", "folder")


def infer(
    tree: Tree,
    date: str,
    files: Sequence[str] = (),
    fixed: Mapping[str, tuple[Any, str]] | None = None,
    use: Use | None = None,
) -> Environment:
    """The environment of a commit with the files of `tree` and the `date` (ISO), to run the test `files`, by `use` if
    one is given.

    `fixed` fields (value, evidence) are taken as they are, and other fields follow from them. Raises Unsupported.
    """
    overridden = {field: Found(*fixed[field]) for field in _FIRST if fixed and field in fixed}
    manifest = tree.root()
    home = nested.home(tree, files)
    front = nested.front(tree, home)
    version = overridden.get("node") or node.find(front, front.root(), date)
    own = [file for file in files if not foreign.tool_of(tree, file)]
    tests = runner.find(tree, manifest, version.value, files, overridden, use)
    version = version if "node" in overridden else node.for_reporter(version, tests.runner.value)
    installation = manager.find(front, front.root(), version.value, date, overridden)
    installation = nested.only(installation, home) if home else installation
    beside, beside_env = nested.find(tree, manifest, version.value, date, files, tests.folder.value, installation)
    where = (tests.folder.value, tests.configuration.value)
    by = focus.Installer(installation.manager.value, installation.version.value, version.value)
    focused = focus.find(tree, *where, own or files, by)
    inferred = {
        "node": version,
        "manager": installation.manager,
        "manager_version": installation.version,
        "install": (installation.words, installation.evidence),
        "install_env": (beside_env | installation.env, "the manager's own"),
        "runner": tests.runner,
        "runner_version": tests.version,
        "folder": tests.folder,
        "configuration": tests.configuration,
        "entries": (tests.entries, "the runner's own"),
        "test": (tests.test, tests.evidence),
        "selection": (tests.selection, "the runner's own"),
        "everything": (tests.everything, tests.evidence),
        "test_env": (tests.env, tests.evidence),
        "parser": (tests.parser, "the runner's own"),
        "focus": (focused, "what the touched tests need"),
        "nested": (beside, "their own lock files"),
        "browser": tests.browser,
    }
    fields = inferred | dict(fixed or {})
    evidence = {field: why for field, (value, why) in fields.items() if value not in ((), {})}
    return Environment(**{field: value for field, (value, _) in fields.items()}, evidence=evidence)
