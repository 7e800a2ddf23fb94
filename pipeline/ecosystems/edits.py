"""Changes to a repository's manifests before an install, so that it does not request packages that no longer work.

Pure functions on a commit's manifests (path -> content). They depend on `Environment.edits` alone, so that an image
that was removed can be made again. Does not cover which changes are needed (stage 02's repair).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from pipeline.core.records import Edit
from pipeline.core.texts import parse_json
from pipeline.ecosystems import locks
from pipeline.ecosystems.locked import table_in
from pipeline.ecosystems.manager_folder import Manager, all_managers, without_lock

Files = dict[str, bytes]
#: tables of a package.json that request packages
TABLES = ("dependencies", "devDependencies", "optionalDependencies")


def apply(edits: Sequence[Edit], files: Mapping[str, bytes], registry: Callable[[], str]) -> Files:
    """The files after all edits, in their order. `registry` returns the npm registry that the host is set up for."""
    edited = dict(files)
    for edit in edits:
        edited |= {path: text.encode() for path, text in _EDITORS[edit.kind](edit, edited, registry)}
    return edited


def restrict_workspace(folders: Sequence[str], files: Mapping[str, bytes]) -> Files:
    """The root's package.json, with these folders as the only packages of its workspace. It is private, without which
    yarn 1 refuses a workspace; a root whose packages only Lerna names need not say so."""
    root = next((data for path, data in packages(files) if path == "package.json"), {})
    workspaces = root.get("workspaces")
    root["workspaces"] = {**workspaces, "packages": list(folders)} if isinstance(workspaces, dict) else list(folders)
    root["private"] = True
    return {"package.json": _text(root).encode()}


def without_scripts(names: Collection[str], files: Mapping[str, bytes]) -> Files:
    """Every package.json that has scripts with these names, without them."""
    found: Files = {}
    for path, data in packages(files):
        scripts = data.get("scripts")
        if isinstance(scripts, dict) and not scripts.keys().isdisjoint(names):
            data["scripts"] = {name: text for name, text in scripts.items() if name not in names}
            found[path] = _text(data).encode()
    return found


def is_settings(path: str) -> bool:
    """Whether a path holds settings of a package manager."""
    return any(path.rpartition("/")[2] in manager.settings for manager in all_managers().values())


def packages(files: Mapping[str, bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Path and data of every package.json that is valid."""
    for path, content in files.items():
        if path.rpartition("/")[2] == "package.json":
            try:
                data = parse_json(content)
            except ValueError:
                continue
            if isinstance(data, dict):
                yield path, data


def dependency_tables(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """Name and content of each table of a package.json that requests packages."""
    return ((table, data[table]) for table in TABLES if isinstance(data.get(table), dict))


def _read(content: bytes) -> str:
    return content.decode(errors="replace")


def _text(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _drop(edit: Edit, files: Files, registry: Callable[[], str]) -> Iterator[tuple[str, str]]:
    for path, data in packages(files):
        if edit.folders and _folder(path) not in edit.folders:
            continue
        removed = [table.pop(edit.name) for _, table in dependency_tables(data) if edit.name in table]
        if removed:
            yield path, _text(data)


def _pin(edit: Edit, files: Files, registry: Callable[[], str]) -> Iterator[tuple[str, str]]:
    is_locked = False
    for path in filter(locks.is_lock, files):
        text = _read(files[path])
        is_locked = is_locked or any(_is_meant(edit, package) for package in locks.locked(path, text))
        yield path, locks.pin(path, text, edit.name, edit.old, edit.new, registry())
    homes = {".", *(_folder(path) for path in files if locks.is_lock(path))}
    for path, data in packages(files):
        tables = [table for _, table in dependency_tables(data) if table.get(edit.name) == edit.old]
        for table in tables:
            table[edit.name] = edit.new
        if is_home := _folder(path) in homes:
            start = path.removesuffix("package.json")
            inside = {name.removeprefix(start): text for name, text in files.items() if name.startswith(start)}
            overruled = _manager(inside).lock.overrule(edit, data, inside, is_locked or bool(tables))
            yield from ((f"{start}{name}", text) for name, text in overruled)
        if is_home or tables:
            yield path, _text(data)


def _folder(path: str) -> str:
    """The folder of a file; `.` is the root."""
    return path.rpartition("/")[0] or "."


def _manager(files: Files) -> Manager:
    """The manager of the lock file at the root, or the one that does not need a lock file."""
    return next((manager for manager in all_managers().values() if manager.lock_of(files)), without_lock())


def _is_meant(edit: Edit, package: locks.Locked) -> bool:
    return package.package == edit.name and edit.old in (package.version, *package.requested)


def _add(edit: Edit, files: Files, registry: Callable[[], str]) -> Iterator[tuple[str, str]]:
    for path, data in packages(files):
        if _folder(path) in (edit.folders or (".",)):
            table_in(data, "optionalDependencies")[edit.name] = edit.new
            yield path, _text(data)


def _rehost(edit: Edit, files: Files, registry: Callable[[], str]) -> Iterator[tuple[str, str]]:
    for path, content in files.items():
        if locks.is_lock(path):
            yield path, locks.rehost(_read(content), edit.name, registry())
        elif is_settings(path):
            yield path, re.sub(rf"https?://{re.escape(edit.name)}(?:[:/][^\s\"']*)?", registry(), _read(content))


def _reseal(edit: Edit, files: Files, registry: Callable[[], str]) -> Iterator[tuple[str, str]]:
    return ((path, _read(text).replace(edit.old, edit.new)) for path, text in files.items() if locks.is_lock(path))


def _unset(edit: Edit, files: Files, registry: Callable[[], str]) -> Iterator[tuple[str, str]]:
    setting = re.compile(rf"^{re.escape(edit.name)}\s*(?:[:=][^\n]*)(?:\n+(?:[ \t]|-)[^\n]*)*\n?", re.MULTILINE)
    for path, content in files.items():
        if is_settings(path):
            yield path, setting.sub("", _read(content))
    for path, data in packages(files):
        if path == "package.json" and data.pop(edit.name, None) is not None:
            yield path, _text(data)


def _gather(edit: Edit, files: Files, registry: Callable[[], str]) -> Iterator[tuple[str, str]]:
    return ((path, _read(text)) for path, text in restrict_workspace(edit.folders, files).items())


_EDITORS: dict[str, Callable[[Edit, Files, Callable[[], str]], Iterator[tuple[str, str]]]] = {
    "drop": _drop,
    "pin": _pin,
    "add": _add,
    "rehost": _rehost,
    "reseal": _reseal,
    "unset": _unset,
    "gather": _gather,
}
