"""What is installed in an image: the version of the runner, so that its command uses the options of that version, and
the versions of Node that packages require which this one cannot parse.

Manifests say what is requested. A range, an unlocked install or a package that brings its own runner may give another
version; an exact lock file need not be checked. Reads the package.json files of packages in the image; writes nothing.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from pipeline.core.records import Environment
from pipeline.core.texts import parse_json
from pipeline.ecosystems import versions
from pipeline.ecosystems.manager_folder import all_managers
from pipeline.ecosystems.runner_folder import Runner, runner
from pipeline.sandbox.base import Sandbox, Workspace

#: a file of a package that Node cannot parse, as runners print it
_UNPARSED = re.compile(
    r"(?P<package>[^\s(]*node_modules/(?:@[\w.-]+/)?[\w.-]+)/[^\s:]+:\d+\n(?:[^\n]*\n){1,5}?\s*SyntaxError: "
)
#: so many packages are looked at
_MOST = 10


def as_installed(sandbox: Sandbox, image: str, environment: Environment) -> Environment:
    """The environment for the runner version in its image; unchanged if it is the inferred one or unknown."""
    spec = runner(environment.runner)
    if not any(row.versions for row in spec.words) or _is_locked(environment):
        return environment
    with sandbox.open(image, cache="none") as workspace:
        found = _version(workspace, environment, spec)
    if not found or found == environment.runner_version:
        return environment
    evidence = environment.evidence | {"runner_version": "the package.json of the one that is installed"}
    return spec.adapted(environment, found).model_copy(update={"evidence": evidence})


def _is_locked(environment: Environment) -> bool:
    source = environment.evidence.get("runner_version", "").partition(":")[0]
    locks = (lock for manager in all_managers().values() for lock in manager.locks)
    return not environment.edits and posixpath.basename(source) in locks


def _version(workspace: Workspace, environment: Environment, spec: Runner) -> str:
    """The version of the runner that the entry belongs to, else of one where Node would look for it."""
    for path in _manifests(environment, spec):
        text = workspace.read(posixpath.normpath(posixpath.join(workspace.root, environment.folder, path)))
        if text is not None:
            try:
                version = parse_json(text).get("version")
            except (ValueError, AttributeError):
                continue
            if isinstance(version, str):
                return version
    return ""


def requirements(workspace: Workspace, environment: Environment, log: str) -> Iterator[str]:
    """A line for each installed package that this Node cannot parse, according to a log, if the package requires
    another Node: a package that nothing pins may be much newer than the commit."""
    packages = dict.fromkeys(match["package"] for match in _UNPARSED.finditer(log))
    for path in list(packages)[:_MOST]:
        text = workspace.read(posixpath.join(workspace.root, environment.folder, path, "package.json"))
        try:
            manifest = parse_json(text or b"")
            name, wanted = manifest["name"], manifest["engines"]["node"]
        except (ValueError, TypeError, LookupError):
            continue
        if not versions.satisfies(f"{versions.major(environment.node)}.99.99", str(wanted)):
            yield f"{name} requires Node {wanted}"


def _manifests(environment: Environment, spec: Runner) -> list[str]:
    """Where the runner's package.json may be, the likeliest first."""
    ends = tuple((f"/{entry}", package) for package in spec.packages for entry in spec.entries if _of(entry, package))
    found = [
        f"{path.removesuffix(end)}/{package}/package.json"
        for path in environment.entries
        for end, package in ends
        if path.endswith(end)
    ]
    above = {path.partition("node_modules/")[0] for path in environment.entries}
    beside = [f"{up}node_modules/{package}/package.json" for up in sorted(above, key=len) for package in spec.packages]
    return [*found, *(path for path in beside if path not in found)]


def _of(entry: str, package: str) -> bool:
    return entry.startswith(f"{package}/")
