"""The version of the runner in the image, so that its command uses the options of that version.

Manifests say what is wanted. A range, an unlocked install or a package that brings its own runner may give another
version; an exact lock file need not be checked. Reads the package.json files of the runner in the image; writes
nothing.
"""

from __future__ import annotations

import json
import posixpath

from pipeline.core.records import Environment
from pipeline.ecosystems.manager_folder import all_managers
from pipeline.ecosystems.runner_folder import Runner, runner
from pipeline.sandbox.base import Sandbox, Workspace


def as_installed(sandbox: Sandbox, image: str, environment: Environment) -> Environment:
    """The environment for the runner that its image has; the same where it has that one, or none that says."""
    own = runner(environment.runner)
    if not any(row.versions for row in own.words) or _is_locked(environment):
        return environment
    with sandbox.open(image, cache="none") as workspace:
        found = _version(workspace, environment, own)
    if not found or found == environment.runner_version:
        return environment
    evidence = environment.evidence | {"runner_version": "the package.json of the one that is installed"}
    return own.adapted(environment, found).model_copy(update={"evidence": evidence})


def _is_locked(environment: Environment) -> bool:
    told = environment.evidence.get("runner_version", "").partition(":")[0]
    locks = (lock for one in all_managers().values() for lock in one.locks)
    return not environment.edits and posixpath.basename(told) in locks


def _version(workspace: Workspace, environment: Environment, own: Runner) -> str:
    """The version of the runner that its entry is a part of, else of one that lies where it would be looked for."""
    for path in _manifests(environment, own):
        text = workspace.read(posixpath.normpath(posixpath.join(workspace.root, environment.folder, path)))
        if text is not None:
            try:
                version = json.loads(text).get("version")
            except (ValueError, AttributeError):
                continue
            if isinstance(version, str):
                return version
    return ""


def _manifests(environment: Environment, own: Runner) -> list[str]:
    """Where the runner's package.json may be, the likeliest first."""
    ends = tuple((f"/{entry}", package) for package in own.packages for entry in own.entries if _of(entry, package))
    found = [
        f"{path.removesuffix(end)}/{package}/package.json"
        for path in environment.entries
        for end, package in ends
        if path.endswith(end)
    ]
    others = {path.partition("node_modules/")[0] for path in environment.entries}
    beside = [f"{up}node_modules/{package}/package.json" for up in sorted(others, key=len) for package in own.packages]
    return [*found, *(path for path in beside if path not in found)]


def _of(entry: str, package: str) -> bool:
    return entry.startswith(f"{package}/")
