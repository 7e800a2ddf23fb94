"""The environment of a base commit, inferred from its own files: Node, package manager, install, runner, test command.

Reads files through a `Reader` and nothing else; there is no class and no code per repository. Every field's evidence is
kept. Raises Unsupported where a commit's tests can not be run this way. Does not cover repairing what has rotted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from pipeline.core.errors import A11yBenchError
from pipeline.core.records import Environment

#: a file's text at the base commit, None where there is none
Reader = Callable[[str], str | None]


#: the tables of texts in package.json that say how to run it
_TABLES = ("engines", "volta", "scripts", "dependencies", "devDependencies")


class Unsupported(A11yBenchError):
    """No environment follows from the files; `reason` is from the closed list of the build stage."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason
        super().__init__(detail)


class Found(NamedTuple):
    """A value and the file that says so."""

    value: str
    evidence: str


#: file -> the Node version it names; asked in this order, before `package.json`'s engines and the date
NODE_FILES = {
    ".nvmrc": r"^\s*v?(\d+(?:\.\d+){0,2})",
    ".node-version": r"^\s*v?(\d+(?:\.\d+){0,2})",
    ".tool-versions": r"^nodejs\s+v?(\d+(?:\.\d+){0,2})",
    ".circleci/config.yml": r"(?:cimg|circleci)/node:(\d+(?:\.\d+){0,2})",
    ".github/workflows/ci.yml": r"node-version:\s*\[?\s*['\"]?v?(\d+(?:\.\d+){0,2})",
    ".github/workflows/test.yml": r"node-version:\s*\[?\s*['\"]?v?(\d+(?:\.\d+){0,2})",
    ".github/workflows/main.yml": r"node-version:\s*\[?\s*['\"]?v?(\d+(?:\.\d+){0,2})",
    ".travis.yml": r"node_js:\s*(?:-\s*)?['\"]?v?(\d+(?:\.\d+){0,2})",
}
#: Node's long-term lines by the day on which they became one, newest first (nodejs.org, release schedule)
NODE_BY_DATE = (
    ("2025-10-28", "24"),
    ("2024-10-29", "22"),
    ("2023-10-24", "20"),
    ("2022-10-25", "18"),
    ("2021-10-26", "16"),
    ("2020-10-27", "14"),
    ("2019-10-21", "12"),
    ("2018-10-30", "10"),
    ("2017-10-31", "8"),
)

#: lock file -> manager; the first that is there decides
LOCKS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "package-lock.json": "npm", "npm-shrinkwrap.json": "npm"}
#: manager -> pattern of the lock file's format -> version of the manager that wrote such files
LOCK_FORMATS = {
    "yarn": {r"^# yarn lockfile v1": "1.22.22", r"^  version: [89]\b": "4.5.3", r"^  version: [4-7]\b": "3.8.7"},
    "pnpm": {
        r"^lockfileVersion: '?9": "9.15.9",
        r"^lockfileVersion: '?6": "8.15.9",
        r"^lockfileVersion: '?5": "7.33.7",
    },
    "npm": {r"": ""},  # the one that comes with Node
}
_NPM = ("--ignore-scripts", "--no-audit", "--no-fund")
#: manager, with a lock file or not -> the install command
INSTALLS = {
    ("npm", True): ("npm", "ci", *_NPM),
    ("npm", False): ("npm", "install", *_NPM),
    ("yarn1", True): (
        "yarn",
        "install",
        "--frozen-lockfile",
        "--ignore-scripts",
        "--ignore-engines",
        "--non-interactive",
    ),
    ("yarn", True): ("yarn", "install", "--immutable"),
    ("pnpm", True): ("pnpm", "install", "--frozen-lockfile", "--ignore-scripts"),
}
#: what the newer managers take from the environment: no scripts, no foreign caches, a tree that any runner can read
INSTALL_ENVIRONMENTS = {
    "yarn": {
        "YARN_ENABLE_SCRIPTS": "0",
        "YARN_NODE_LINKER": "node-modules",
        "YARN_ENABLE_TELEMETRY": "0",
        "YARN_ENABLE_GLOBAL_CACHE": "1",
    },
    "pnpm": {"npm_config_manage_package_manager_versions": "false"},
}
#: runner -> (test command, parser); coverage is off: it costs time and decides nothing
RUNNERS = {
    "jest": (
        ("node", "node_modules/jest/bin/jest.js", "--ci", "--json", "--outputFile={report}", "--coverage=false")
        + ("--cacheDirectory={cache}", "--passWithNoTests", "--runTestsByPath", "{files}"),
        "jest-json",
    ),
    "vitest": (
        ("node", "node_modules/vitest/vitest.mjs", "run", "--reporter=default", "--reporter=json")
        + ("--outputFile.json={report}", "--coverage.enabled=false", "--passWithNoTests", "{files}"),
        "vitest-json",
    ),
}


def infer(read: Reader, date: str) -> Environment:
    """The environment of the commit whose files `read` gives, of the day `date` (ISO). Raises Unsupported."""
    manifest = _manifest(read)
    node, manager = _node(read, manifest, date), _manager(read, manifest)
    version, lock = _manager_version(read, manifest, manager.value)
    runner = _runner(manifest)
    test, parser = RUNNERS[runner.value]
    kind = "yarn1" if manager.value == "yarn" and version.value.startswith("1.") else manager.value
    return Environment(
        node=node.value,
        manager=manager.value,
        manager_version=version.value,
        install=INSTALLS[kind, lock],
        install_env=INSTALL_ENVIRONMENTS.get(kind, {}),
        runner=runner.value,
        runner_version=_dependencies(manifest)[runner.value],
        test=test,
        parser=parser,
        evidence={
            "node": node.evidence,
            "manager": manager.evidence,
            "manager_version": version.evidence,
            "install": manager.evidence,
            "runner": runner.evidence,
            "test": runner.evidence,
        },
    )


def _manifest(read: Reader) -> dict[str, Any]:
    """What is asked of package.json, in the forms that it should have; other forms say nothing."""
    text = read("package.json")
    if text is None:
        raise Unsupported("runner_unsupported", "there is no package.json at the root")
    try:
        data = json.loads(text)
    except ValueError as error:
        raise Unsupported("environment_failed", f"package.json is no JSON: {error}") from error
    if not isinstance(data, dict):
        raise Unsupported("environment_failed", "package.json is no JSON object")
    found = {key: data[key] for key in _TABLES if isinstance(data.get(key), dict)}
    tables = {key: {name: v for name, v in table.items() if isinstance(v, str)} for key, table in found.items()}
    named = data.get("packageManager")
    return {**tables, "packageManager": named if isinstance(named, str) else ""}


def _node(read: Reader, manifest: dict[str, Any], date: str) -> Found:
    pinned = manifest.get("volta", {}).get("node")
    if pinned:
        return Found(pinned, "package.json: volta.node")
    for path, pattern in NODE_FILES.items():
        match = re.search(pattern, read(path) or "", re.MULTILINE)
        if match:
            return Found(match[1], path)
    wanted = manifest.get("engines", {}).get("node", "")
    by_date = next((major for day, major in NODE_BY_DATE if day <= date), NODE_BY_DATE[-1][1])
    floor = re.fullmatch(r"\s*(\^|~|>=|=|v)?\s*v?(\d+)(?:\.[\dx*.]+)?\s*", wanted)
    if floor and (floor[1] != ">=" or int(floor[2]) > int(by_date)):
        return Found(floor[2], "package.json: engines.node")
    return Found(by_date, f"the long-term line of {date[:10]}" + (f" (engines: {wanted})" if wanted else ""))


def _manager(read: Reader, manifest: dict[str, Any]) -> Found:
    named = re.match(r"(npm|yarn|pnpm)@", manifest["packageManager"])
    if named:
        return Found(named[1], "package.json: packageManager")
    for path, manager in LOCKS.items():
        if read(path) is not None:
            return Found(manager, path)
    return Found("npm", "no lock file")


def _manager_version(read: Reader, manifest: dict[str, Any], manager: str) -> tuple[Found, bool]:
    """The manager's version, and whether there is a lock file."""
    lock = next((path for path, name in LOCKS.items() if name == manager and read(path) is not None), None)
    named = re.match(rf"{manager}@(\d+\.\d+\.\d+)", manifest["packageManager"])
    if named:
        version = Found(named[1], "package.json: packageManager")
    else:
        version = _by_lock(manager, lock, (read(lock) or "") if lock else "")
    if not lock and manager != "npm":
        raise Unsupported("environment_failed", f"{manager} without its lock file: nothing pins the dependencies")
    return version, lock is not None


def _by_lock(manager: str, lock: str | None, text: str) -> Found:
    for pattern, version in LOCK_FORMATS[manager].items():
        if re.search(pattern, text[:2000], re.MULTILINE):
            return Found(version, f"{lock}: its format" if lock else "no lock file")
    raise Unsupported("environment_failed", f"{lock}: no known format of {manager}'s lock file")


def _runner(manifest: dict[str, Any]) -> Found:
    known = [name for name in RUNNERS if name in _dependencies(manifest)]
    if not known:
        raise Unsupported("runner_unsupported", f"package.json names none of: {', '.join(RUNNERS)}")
    script = manifest.get("scripts", {}).get("test", "")
    return Found(
        next((name for name in known if name in script), known[0]), "package.json: dependencies and scripts.test"
    )


def _dependencies(manifest: dict[str, Any]) -> dict[str, str]:
    return {**manifest.get("dependencies", {}), **manifest.get("devDependencies", {})}
