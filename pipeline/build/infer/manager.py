"""The package manager of a commit, its version, and the command that installs exactly what its lock file says."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from pipeline.build.infer import jobs
from pipeline.build.infer.tree import Found, Manifest, Tree, Unsupported, table
from pipeline.ecosystems import versions
from pipeline.ecosystems.manager_folder import Manager, all_managers, without_lock


class Installation(NamedTuple):
    """How dependencies are installed; an empty `version` is the manager that comes with Node."""

    manager: Found
    version: Found
    words: tuple[str, ...]
    env: dict[str, str]
    evidence: str


def find(tree: Tree, manifest: Manifest, node: str, date: str, fixed: dict[str, Found]) -> Installation:
    """The installation; `fixed` values (manager, manager_version) are not inferred. Raises Unsupported."""
    named = fixed.get("manager") or _manager(tree, manifest)
    manager = all_managers().get(named.value)
    if manager is None:
        raise Unsupported("environment_failed", f"unknown package manager: {named.value}")
    lock = manager.lock_of(tree.paths)
    if not lock:
        _refuse_unpinned(tree, manager)
    version = fixed.get("manager_version") or _version(tree, manifest, manager, lock, node)
    release = _release(tree, manager)
    release = release if release and release[1] == version.value else None
    row = manager.install_for(version.value or manager.with_node(node), lock=bool(lock), release=bool(release))
    if row is None:
        raise Unsupported("environment_failed", f"no exact install is known for {manager.name} {version.value}")
    fill = {"{release}": release[0] if release else "", "{date}": versions.published_by(date[:10])}
    words = tuple(_filled(word, fill) for word in row.words)
    return Installation(named, version, words, row.env, lock or "no lock file")


def _manager(tree: Tree, manifest: Manifest) -> Found:
    known = "|".join(map(re.escape, all_managers()))
    locks = {name: lock for name, manager in all_managers().items() if (lock := manager.lock_of(tree.paths))}
    for field, text in (("packageManager", manifest.text("packageManager")), ("devEngines", _development(manifest))):
        if match := re.match(rf"({known})\b", text):
            if match[1] in locks or len(locks) != 1:
                return Found(match[1], f"package.json: {field}")
            break  # Corepack may have added the field: only another manager's lock file pins the dependencies
    name, lock = next(iter(locks.items()), (without_lock().name, "no lock file"))
    return (_installing(tree, locks) if len(locks) > 1 else None) or Found(name, lock)


def _installing(tree: Tree, names: Collection[str]) -> Found | None:
    """Of several managers with a lock file, the one that continuous integration installs with."""
    for step in jobs.installs(tree):
        name = next((word for word in step.text.split() if word in names), None)
        if name:
            return Found(name, f"{step.where}: {step.text}")
    return None


def _development(manifest: Manifest) -> str:
    """`devEngines.packageManager` as `pnpm@^9`; the first of several."""
    engines = manifest.data.get("devEngines")
    named = engines.get("packageManager") if isinstance(engines, dict) else None
    named = next(iter(named), None) if isinstance(named, list) else named
    return f"{named.get('name', '')}@{named.get('version', '')}" if isinstance(named, dict) else ""


def _version(tree: Tree, manifest: Manifest, manager: Manager, lock: str, node: str) -> Found:
    for name, text in (("packageManager", manifest.text("packageManager")), ("devEngines", _development(manifest))):
        if match := re.match(rf"{manager.name}@(\d+\.\d+\.\d+)", text):
            return Found(match[1], f"package.json: {name}")
    if versions.exact(pinned := manifest.table("volta").get(manager.name, "")):
        return Found(versions.exact(pinned), f"package.json: volta.{manager.name}")
    if release := _release(tree, manager):
        return Found(release[1], f"{release[0]}: its name")
    by_lock = _by_lock(manager, lock, tree.text(lock), node)
    wanted = manifest.table("engines").get(manager.name, "")
    exact = versions.exact(wanted)
    is_other = exact.count(".") == 2 and not versions.satisfies(versions.full(by_lock.value), wanted)
    if is_other and manager.install_for(exact, lock=bool(lock), release=False):
        return Found(exact, f"package.json: engines.{manager.name}")
    return by_lock


def _release(tree: Tree, manager: Manager) -> tuple[str, str] | None:
    """The release of the manager that the repository contains: its path and version."""
    settings = "\n".join(map(tree.text, manager.settings))
    match = re.search(manager.release, settings, re.MULTILINE) if manager.release else None
    path = match[1].removeprefix("./") if match else ""
    return (path, match[2]) if match and path in tree.paths else None


def _by_lock(manager: Manager, lock: str, text: str, node: str) -> Found:
    """The version by the lock file's format, but not above the one that comes with Node, if one does."""
    found = (
        (row, re.search(row.pattern, part, re.MULTILINE)) for part in (text[:2000], text) for row in manager.format
    )
    row = next((row for row, match in found if match), None)
    if row is None:
        raise Unsupported("environment_failed", f"{lock}: unknown format of {manager.name}'s lock file")
    with_node = manager.with_node(node)
    newer = with_node and row.version and int(row.version) > int(with_node)
    return Found("" if newer else row.version, f"{lock}: its format" if lock else "no lock file")


def _refuse_unpinned(tree: Tree, manager: Manager) -> None:
    """Raise Unsupported if an unknown manager's lock file pins the dependencies, or this manager needs its own."""
    if foreign := _foreign(tree):
        raise Unsupported("environment_failed", f"{foreign}: a lock file that no known package manager reads")
    if all(row.lock for row in manager.install):
        detail = f"{manager.name} without its lock file: nothing pins the dependencies"
        raise Unsupported("environment_failed", detail)


def _foreign(tree: Tree) -> str:
    """A lock file of an unsupported manager; empty if there is none."""
    claimed = {path for manager in all_managers().values() for path in manager.locks}
    unclaimed = re.compile("|".join(f"(?:{row['path']})" for row in table("foreign.toml")["lock"]))
    return next((path for path in tree.matching(unclaimed.search) if path not in claimed), "")


def _filled(word: str, places: dict[str, str]) -> str:
    for name, value in places.items():
        word = word.replace(name, value)
    return word
