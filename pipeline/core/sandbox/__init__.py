"""Sandboxes by name. To add one: a module and a row here; the contract suite in tests/ says when it is right."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pipeline.core.errors import unknown
from pipeline.core.sandbox.base import Sandbox

#: name -> module:class; the class takes the folder of its cache
SANDBOXES = {
    "docker": "pipeline.core.sandbox.docker:DockerSandbox",
    "local": "pipeline.core.sandbox.local:LocalSandbox",
    "scripted": "pipeline.core.sandbox.scripted:ScriptedSandbox",
}


def open_sandbox(name: str, cache: Path) -> Sandbox:
    """The sandbox of that name, checked. Raises UserError for an unknown one, or one that can not work here."""
    if name not in SANDBOXES:
        raise unknown("sandbox", name, list(SANDBOXES))
    module, _, attribute = SANDBOXES[name].partition(":")
    sandbox = getattr(import_module(module), attribute)(cache)
    sandbox.check()
    return sandbox
