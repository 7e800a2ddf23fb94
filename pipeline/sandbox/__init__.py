"""Sandboxes by name. To add one: a module and a row here; the contract suite in tests/ says when it is right."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from pipeline.core.errors import UserError, unknown
from pipeline.sandbox.base import Sandbox

#: name -> module:class; the class takes the folder of its cache
SANDBOXES = {
    "docker": "pipeline.sandbox.docker.sandbox:DockerSandbox",
    "local": "pipeline.sandbox.local.sandbox:LocalSandbox",
    "scripted": "pipeline.sandbox.scripted:ScriptedSandbox",
}


def open_sandbox(name: str, cache: Path) -> Sandbox:
    """The sandbox of that name, checked. Raises UserError for an unknown one, or one that can not work here."""
    if name not in SANDBOXES:
        raise unknown("sandbox", name, [one for one in SANDBOXES if one != "scripted"])
    sandbox = _sandbox_class(name)(cache)
    sandbox.check()
    return sandbox


def _sandbox_class(name: str) -> Callable[[Path], Sandbox]:
    module, _, attribute = SANDBOXES[name].partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        hint = "install the project with all its extras: uv sync --all-extras"
        raise UserError(f"the sandbox '{name}' needs the Python package '{error.name}'", hint=hint) from None
