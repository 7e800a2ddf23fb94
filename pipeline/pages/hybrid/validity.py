"""Whether a page follows the HTML standard, checked by html-validate (vendors/html-validate) in a process of its own,
and has a doctype and the usual tags (`html`, `head`, `title`, `body`), which the standard allows to leave out.

Reads the npm registry once, through the `npm` client; writes the cache folder. Scripts of a page are not run.
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
from pipeline.pages.answers import has_tag
from pipeline.pages.hybrid import formulas
from pipeline.pages.hybrid.records import Feedback, Part

ENGINE = VENDORS / "html-validate"
#: the files of the engine's folder that npm needs
PINNED = ("package.json", "package-lock.json")
#: seconds for npm; seconds and megabytes for the checker with one page
INSTALLING, CHECKING, HEAP = 300, 60, 512
#: a correct page: if the checker does not finish with it either, the machine is at fault
CONTROL = '<!DOCTYPE html>\n<html lang="en"><head><title>Nothing</title></head><body><h1>Nothing</h1></body></html>\n'
#: the number of faults in feedback
SHOWN = 5
#: the only variables that a checker gets
PASSED = ("PATH", "LANG", "LC_ALL")


def check(page: str) -> Part:
    """The part of the score; missing without a checker. An answer without any element gets 0, as does a page that the
    checker cannot finish."""
    if not has_tag(page):
        return Part(score=0, feedback=(Feedback(level="error", message="It has no element of HTML."),))
    try:
        faults = _faults(page)
    except (InfrastructureError, subprocess.TimeoutExpired) as error:
        return _unfinished(error)
    rules = [fault["rule"] for fault in faults]
    detail = {"valid": not faults, "faults": len(faults), "rules": formulas.repeated(rules)}
    return Part(score=formulas.validity(rules), feedback=_feedback(faults), detail=detail)


def _unfinished(error: InfrastructureError | subprocess.TimeoutExpired) -> Part:
    """The part of the score for a page that the checker did not finish. If the checker ran at all, a correct page shows
    whether the page or the machine is to blame."""
    if isinstance(error, InfrastructureError):
        why, ran = str(error), error.cause == "check"
    else:
        why, ran = f"it takes longer than {CHECKING} s", True
    if ran and _works():
        return Part(score=0, feedback=(Feedback(level="error", message=f"The checker did not finish with it: {why}"),))
    return Part(feedback=(Feedback(level="info", message=f"The HTML was not checked: {why}"),))


def _works() -> bool:
    """Whether the checker finishes with a correct page."""
    try:
        return not _faults(CONTROL)
    except (InfrastructureError, subprocess.TimeoutExpired):
        return False


def _feedback(faults: list[dict[str, Any]]) -> tuple[Feedback, ...]:
    if not faults:
        return (Feedback(level="success", message="The HTML follows the standard."),)
    messages = [f"Line {fault['line']}: {fault['message']} ({fault['rule']})" for fault in faults[:SHOWN]]
    if len(faults) > SHOWN:
        messages.append(f"{len(faults) - SHOWN} further faults of the HTML.")
    return tuple(Feedback(level="error", message=message) for message in messages)


def _faults(page: str) -> list[dict[str, Any]]:
    command = [_node(), f"--max-old-space-size={HEAP}", str(ENGINE / "check.js"), str(installed())]
    environment = {name: os.environ[name] for name in PASSED if name in os.environ}
    completed = subprocess.run(
        command, input=page.encode("utf-8", "replace"), capture_output=True, timeout=CHECKING, env=environment
    )
    try:
        return json.loads(completed.stdout)
    except ValueError:
        words = completed.stderr.decode("utf-8", "replace").strip()[-300:]
        raise InfrastructureError(
            f"html-validate ended with code {completed.returncode}: {words}", cause="check"
        ) from None


def installed() -> Path:
    """The folder with html-validate, made at first use. Raises InfrastructureError if npm cannot install it."""
    folder = cache_root() / "html-validate" / digest(*((ENGINE / name).read_bytes() for name in PINNED))[:16]
    once(folder, _install)
    return folder


def _install(folder: Path) -> None:
    for name in PINNED:
        shutil.copy(ENGINE / name, folder)
    npm = shutil.which("npm")
    if npm is None:
        raise InfrastructureError("npm is not installed", cause="registry")
    command = [npm, "ci", "--ignore-scripts", "--omit=optional", "--omit=peer", "--no-audit", "--no-fund", "--silent"]
    try:
        completed = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=INSTALLING)
    except subprocess.TimeoutExpired:
        why = f"npm takes longer than {INSTALLING} s to install html-validate"
        raise InfrastructureError(why, cause="registry") from None
    if completed.returncode:
        raise InfrastructureError(
            f"npm could not install html-validate: {completed.stderr.strip()[-500:]}", cause="registry"
        )


def _node() -> str:
    """The Node that the Python package playwright contains, as the engine uses it."""
    try:
        from playwright._impl._driver import compute_driver_executable
    except ImportError:
        raise InfrastructureError("playwright is not installed (uv sync)", cause="install") from None
    return str(compute_driver_executable()[0])
