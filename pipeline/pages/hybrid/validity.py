"""Whether a page keeps to the HTML standard: html-validate says (vendors/html-validate), in a process of its own.

Reads the npm registry once, through the `npm` client; writes the cache folder. No script of a page runs here.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from pipeline.core.cache import cache_root, once
from pipeline.core.errors import InfrastructureError
from pipeline.core.store import digest
from pipeline.core.vendors import VENDORS
from pipeline.pages.hybrid import formulas
from pipeline.pages.hybrid.records import Feedback, Part

ENGINE = VENDORS / "html-validate"
#: what npm needs of the engine's folder
PINNED = ("package.json", "package-lock.json")
#: seconds for npm, and for the checker with one page; its memory in megabytes
INSTALLING, CHECKING, HEAP = 300, 60, 512
#: faults that feedback tells
TOLD = 5
#: the only variables that a checker gets
PASSED = ("PATH", "LANG", "LC_ALL")


def check(page: str) -> Part:
    """The part of the score; absent where there is no checker. A page that the checker does not end with gets 0."""
    try:
        faults = _faults(page)
    except InfrastructureError as error:
        return Part(feedback=(Feedback(level="info", message=f"The HTML was not checked: {error}"),))
    except subprocess.TimeoutExpired:
        message = f"The checker does not come to an end with it in {CHECKING} s."
        return Part(score=0, feedback=(Feedback(level="error", message=message),))
    rules = [one["rule"] for one in faults]
    detail = {"valid": not faults, "faults": len(faults), "rules": formulas.repeated(rules)}
    return Part(score=formulas.validity(rules), feedback=_feedback(faults), detail=detail)


def _feedback(faults: list[dict[str, Any]]) -> tuple[Feedback, ...]:
    if not faults:
        return (Feedback(level="success", message="The HTML keeps to the standard."),)
    told = [f"Line {one['line']}: {one['message']} ({one['rule']})" for one in faults[:TOLD]]
    more = [f"{len(faults) - TOLD} further faults of the HTML."] if len(faults) > TOLD else []
    return tuple(Feedback(level="error", message=message) for message in (*told, *more))


def _faults(page: str) -> list[dict[str, Any]]:
    command = [_node(), f"--max-old-space-size={HEAP}", str(ENGINE / "check.js"), str(installed())]
    environment = {name: os.environ[name] for name in PASSED if name in os.environ}
    done = subprocess.run(
        command, input=page.encode("utf-8", "replace"), capture_output=True, timeout=CHECKING, env=environment
    )
    try:
        return json.loads(done.stdout)
    except ValueError:
        words = done.stderr.decode("utf-8", "replace").strip()[-300:]
        raise InfrastructureError(f"html-validate ended with code {done.returncode}: {words}", cause="check") from None


def installed() -> Path:
    """The folder with html-validate, made at first use. Raises InfrastructureError where npm cannot get it."""
    folder = cache_root() / "html-validate" / digest(*((ENGINE / name).read_bytes() for name in PINNED))[:16]
    once(folder, _install)
    return folder


def _install(folder: Path) -> None:
    for name in PINNED:
        shutil.copy(ENGINE / name, folder)
    npm = shutil.which("npm")
    if npm is None:
        raise InfrastructureError("npm is not there", cause="registry")
    command = [npm, "ci", "--ignore-scripts", "--omit=optional", "--omit=peer", "--no-audit", "--no-fund", "--silent"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=INSTALLING)
    if done.returncode:
        raise InfrastructureError(
            f"npm could not install html-validate: {done.stderr.strip()[-500:]}", cause="registry"
        )


def _node() -> str:
    """The Node that Playwright brings: the engine's, at one version."""
    try:
        from playwright._impl._driver import compute_driver_executable
    except ImportError:
        raise InfrastructureError("playwright is not there (uv sync)", cause="install") from None
    return str(compute_driver_executable()[0])
