"""Where code of repositories runs: the protocols, then three implementations.

    base                      `Sandbox` (open a workspace) and `Workspace` (run, read, write, fetch), limits, ends
    images                    `Images`: layers and agents' tools, made, kept and removed; the data that they serve
    handle                    a sandbox as plain data, for requests
    watch                     the end of a batch whose sandbox is gone
    docker/                   containers without network: for untrusted code, and for agents that run code
    local/                    folders and processes of this machine: for trusted code only
    scripted                  nothing runs: for tests of code that uses a sandbox
    installation, install     the request of an install, and what it needs in any sandbox
    node, progress            Node and tools as npm packages; progress for a waiting person

To add a sandbox, write a module with a class that takes its cache folder, and a row in SANDBOXES. The contract suite,
`tests/sandbox/test_contract.py`, says when it is right. Abilities that it lacks are missing from `can`, and refused.
"""

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


def offered() -> list[str]:
    """The names that people can choose; the scripted sandbox is for tests."""
    return [name for name in SANDBOXES if name != "scripted"]


def open_sandbox(name: str, cache: Path) -> Sandbox:
    """The sandbox of this name, checked. Raises UserError if it is unknown or cannot work here."""
    if name not in SANDBOXES:
        raise unknown("sandbox", name, offered())
    sandbox = _sandbox_class(name)(cache)
    sandbox.check()
    return sandbox


def _sandbox_class(name: str) -> Callable[[Path], Sandbox]:
    module, _, attribute = SANDBOXES[name].partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        hint = "reinstall the project: uv sync"
        raise UserError(f"the sandbox '{name}' needs the Python package '{error.name}'", hint=hint) from None
