"""Where code of repositories runs. The protocols first, then three implementations, one package or module each.

    base                      `Sandbox` (open a workspace) and `Workspace` (run, read, write, fetch), limits, ends
    images                    `Images`: layers and agents' tools, made, kept and removed; whom they serve; what runs
    handle                    a sandbox as plain data, for requests
    docker/                   containers without network: for code that nobody has read, and for agents that run code
    local/                    folders and processes of this machine: for trusted code only
    scripted                  nothing runs: for tests of what stands on a sandbox
    installation, install     what is told of an install, and what it takes in any sandbox
    node, progress            Node and tools as npm packages; telling a waiting person

To add a sandbox: a module with a class that takes the folder of its cache, and a row in SANDBOXES. The contract suite,
`tests/sandbox/test_contract.py`, says when it is right; what it can not do it leaves out of `can`, and refuses.
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
        hint = "install the project anew: uv sync"
        raise UserError(f"the sandbox '{name}' needs the Python package '{error.name}'", hint=hint) from None
