"""The package manager of a commit, its version, and the command that installs exactly what its lock file says."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from pipeline.build.infer import versions
from pipeline.build.infer.tree import Found, Manifest, Tree, Unsupported, table
from pipeline.sandbox.node import npm_for

#: where a release of yarn lies in a repository: `yarnPath: .yarn/releases/yarn-3.0.1.cjs`, `yarn-path "…"`
_RELEASE = re.compile(r"^yarn-?[pP]ath:? ['\"]?([^\s'\"]*yarn-(\d+\.\d+\.\d+)[^\s'\"]*)", re.MULTILINE)


class Installation(NamedTuple):
    """How dependencies are installed; `version` may be empty: the npm that comes with Node."""

    manager: Found
    version: Found
    words: tuple[str, ...]
    env: dict[str, str]
    evidence: str


def find(tree: Tree, manifest: Manifest, node: str, date: str, fixed: dict[str, Found]) -> Installation:
    """The installation; what is `fixed` (manager, manager_version) is not asked for. Raises Unsupported."""
    manager = fixed.get("manager") or _manager(tree, manifest)
    lock = next((r["path"] for r in table("managers.toml")["lock"] if _is(r, manager) and r["path"] in tree.paths), "")
    if not lock and manager.value != "npm":
        detail = f"{manager.value} without its lock file: nothing pins the dependencies"
        raise Unsupported("environment_failed", detail)
    version = fixed.get("manager_version") or _version(tree, manifest, manager.value, lock, node)
    release = _release(tree)
    row = next(row for row in table("managers.toml")["install"] if _fits(row, manager, version, bool(lock), release))
    fill = {"{release}": release[0] if release else "", "{date}": date[:10]}
    words = tuple(_filled(word, fill) for word in row["words"])
    return Installation(manager, version, words, row.get("env", {}), lock or "no lock file")


def _manager(tree: Tree, manifest: Manifest) -> Found:
    for name, text in (("packageManager", manifest.text("packageManager")), ("devEngines", _development(manifest))):
        if match := re.match(r"(npm|yarn|pnpm)\b", text):
            return Found(match[1], f"package.json: {name}")
    for row in table("managers.toml")["lock"]:
        if row["path"] in tree.paths:
            return Found(row["manager"], row["path"])
    return Found("npm", "no lock file")


def _development(manifest: Manifest) -> str:
    """`devEngines.packageManager`, as `pnpm@^9`."""
    engines = manifest.data.get("devEngines")
    named = engines.get("packageManager") if isinstance(engines, dict) else None
    return f"{named.get('name', '')}@{named.get('version', '')}" if isinstance(named, dict) else ""


def _version(tree: Tree, manifest: Manifest, manager: str, lock: str, node: str) -> Found:
    if match := re.match(rf"{manager}@(\d+\.\d+\.\d+)", manifest.text("packageManager")):
        return Found(match[1], "package.json: packageManager")
    if versions.exact(pinned := manifest.table("volta").get(manager, "")):
        return Found(versions.exact(pinned), f"package.json: volta.{manager}")
    if manager == "yarn" and (release := _release(tree)):
        return Found(release[1], f"{release[0]}: its name")
    by_lock = _by_lock(manager, lock, tree.text(lock), node)
    wanted = manifest.table("engines").get(manager, "")
    if versions.exact(wanted).count(".") == 2 and not versions.satisfies(versions.full(by_lock.value), wanted):
        return Found(versions.exact(wanted), f"package.json: engines.{manager}")
    return by_lock


def _release(tree: Tree) -> tuple[str, str] | None:
    """The release of yarn that the repository brings, and its version."""
    match = _RELEASE.search(tree.text(".yarnrc.yml") + "\n" + tree.text(".yarnrc"))
    path = match[1].removeprefix("./") if match else ""
    return (path, match[2]) if match and path in tree.paths else None


def _by_lock(manager: str, lock: str, text: str, node: str) -> Found:
    for row in table("managers.toml")["format"]:
        if _is(row, Found(manager, "")) and re.search(row["pattern"], text[:2000], re.MULTILINE):
            version = row["version"]
            if manager == "npm" and version and int(version) > int(npm_for(node).version):
                version = ""
            return Found(version, f"{lock}: its format" if lock else "no lock file")
    raise Unsupported("environment_failed", f"{lock}: no known format of {manager}'s lock file")


def _fits(row: dict[str, Any], manager: Found, version: Found, lock: bool, release: object) -> bool:
    """Whether a row of the installs is for this manager, this version, and what the repository brings."""
    in_range = "versions" not in row or versions.satisfies(versions.full(version.value), row["versions"])
    return _is(row, manager) and row["lock"] == lock and in_range and (bool(release) or not row.get("release"))


def _is(row: dict[str, Any], manager: Found) -> bool:
    return row["manager"] == manager.value


def _filled(word: str, places: dict[str, str]) -> str:
    for name, value in places.items():
        word = word.replace(name, value)
    return word
