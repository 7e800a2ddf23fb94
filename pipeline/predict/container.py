"""Running an agent in the container of its instance: the image of stage 02, the agent's tools, the gateway.

The prediction is the diff of the checkout against its only commit, whatever the agent reports. It does not contain
files that the repository ignores, such as installed packages.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipeline.core.briefing import prompt
from pipeline.core.errors import InfrastructureError
from pipeline.core.git import CLEAN, opened_clone
from pipeline.core.retry import patiently
from pipeline.core.store import MANIFEST, write_bytes, write_json
from pipeline.execution.images import ensure, recipe
from pipeline.predict import reported
from pipeline.predict.pictures import note
from pipeline.predict.request import AgentFailed, Ask, Say
from pipeline.sandbox.base import DEFAULT, Completed, Workspace, serves

#: seconds that an agent has to end by itself after its time is over
GRACE = 30
#: our files next to an agent's own
OURS = (MANIFEST, "agent.log", "patch.diff")
#: exact to the byte, and independent of settings that an agent may have left in the repository
EXACT = ("--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv")
#: the exit code of `git add` if it left files out
LEFT_OUT = 1
#: the outcome of a task for which the agent reports none, by whether it has a patch
ENDS = {True: "SUCCESSFUL_PATCH", False: "NO_EDITS"}
TIME_LIMIT = "TIME_LIMIT"
#: errors of this machine's own disk
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)


def run(ask: Ask, folder: Path, say: Say) -> int:
    """Let the agent work on one task; its files and the patch are then in `folder`. Returns the exit code.

    If its time runs out, its changes so far are the answer. Raises AgentFailed if a limit ended it, no patch can be
    made, or it filled the engine's disk; InfrastructureError.
    """
    call, room, clone = ask.agent.call, ask.room, opened_clone(ask.clone)
    if room is None:
        raise ValueError("the request names no container to work in")
    sandbox = room.sandbox.sandbox()
    image_recipe = recipe(clone, room.environment, ask.base, room.manifests)
    ensure(sandbox, clone, image_recipe, say)
    limits = replace(DEFAULT, seconds=call.seconds + 2 * GRACE)
    tools = patiently(lambda: sandbox.images.tools(room.kit, say), say)
    connections: dict[str, Any] = {"tools": tools, "reach": ask.base_url}
    try:
        with sandbox.open(image_recipe.image, cache="none", limits=limits, **connections) as workspace:
            return _run_agent(ask, workspace, folder, say)
    except InfrastructureError as error:
        if error.cause != "disk" or not serves(sandbox, image_recipe.image, limits):
            raise
        raise AgentFailed(f"there is room again without the agent: {error}") from error


def _run_agent(ask: Ask, workspace: Workspace, folder: Path, say: Say) -> int:
    """The agent's exit code, after its work is copied into `folder`."""
    call, values = ask.agent.call, _write_instructions(workspace, ask)
    base = _git(workspace, "rev-parse", "HEAD").strip()
    say(f"{ask.agent.name} works")
    timed = ("timeout", f"--kill-after={GRACE}", str(call.seconds))
    completed = workspace.run([*timed, *call.argv(values)], env=call.variables(values))
    write_bytes(folder / "agent.log", completed.output)
    with _blaming_the_agent(workspace):
        _keep(workspace, values["out"], folder)
        return _conclude(workspace, base, completed, completed.seconds >= call.seconds, folder)


def _write_instructions(room: Workspace, ask: Ask) -> dict[str, str]:
    """Write the agent's instructions, and return the values of the placeholders."""
    pictures = f"{room.scratch}/pictures"
    room.run(["mkdir", pictures], ours=True)
    for name, data in ask.pictures.items():
        room.write(f"{pictures}/{name}", data)
    instructions = prompt(ask.agent.call.prompt, ask.task) + note(pictures, list(ask.pictures))
    files = {
        "task": ("task.json", ask.task.model_dump_json(indent=2).encode()),
        "prompt": ("prompt.md", instructions.encode()),
        "settings": ("settings.toml", ask.settings),
    }
    for name, data in files.values():
        room.write(f"{room.scratch}/{name}", data)
    out = f"{room.scratch}/out"
    room.run(["mkdir", out], ours=True)
    return {
        **{placeholder: f"{room.scratch}/{name}" for placeholder, (name, _) in files.items()},
        "statement": instructions,
        "pictures": pictures,
        "checkout": room.root,
        "out": out,
        "model": ask.model,
        "contexts": json.dumps(ask.contexts),
        "choices": str(ask.choices),
        "answer": ask.answer,
        "agent": room.tools,
        "base_url": room.url,
        "key": ask.key,
    }


@contextmanager
def _blaming_the_agent(room: Workspace) -> Iterator[None]:
    """Raise AgentFailed if an agent's files cannot be read, unless this machine's disk or the engine is to blame. An
    engine that still runs commands is not to blame."""
    try:
        yield
    except (ValueError, RecursionError, OSError) as error:
        if any(os.strerror(number) in str(error) for number in DISK):
            raise
        raise AgentFailed(f"what the agent left cannot be read: {error!r}") from error
    except InfrastructureError as error:
        if error.cause != "engine" or room.run(["true"]).code:
            raise
        raise AgentFailed(f"what the agent left cannot be fetched: {error}") from error


def _keep(room: Workspace, out: str, folder: Path) -> None:
    """Copy the files that the agent wrote, except those with names of our own."""
    with TemporaryDirectory(prefix="a11y-bench-") as copy:
        room.fetch(out, Path(copy))
        shutil.copytree(copy, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*OURS))


def _conclude(room: Workspace, base: str, completed: Completed, late: bool, folder: Path) -> int:
    if completed.limit:
        raise AgentFailed(f"the agent reached its limit: {completed.limit}")
    patch = _patch(room, base)
    write_bytes(folder / "patch.diff", patch)
    metadata, path = {"outcome": ENDS[bool(patch.strip())]}, folder / "metadata.json"
    if path.is_file():
        metadata |= reported.metadata(path.read_bytes())
    shutil.rmtree(path, ignore_errors=True)
    write_json(path, metadata | ({"outcome": TIME_LIMIT} if late else {}))
    return 0 if late else completed.code


def _patch(room: Workspace, base: str) -> bytes:
    """The difference to `base`, with our own index: an agent may have committed, or left its index locked. Files that
    it may not read, and repositories that it has begun in its checkout, are left out. A patch that is not UTF-8 is
    written with all files as binary."""
    _git(room, "read-tree", base)
    _git(room, "add", "--all", "--ignore-errors", fine=(0, LEFT_OUT))
    patch = _diff(room, "diff", "--cached", base)
    try:
        patch.decode()
    except UnicodeDecodeError:
        return _as_binary(room, base)
    return patch


def _as_binary(room: Workspace, base: str) -> bytes:
    """The same difference with all files as binary, by a repository apart: attributes of the checkout such as `*.css
    diff=css` make a file a text, whatever it contains."""
    apart = f"{room.scratch}/apart"
    trees = _git(room, "rev-parse", f"{base}^{{tree}}").strip(), _git(room, "write-tree").strip()
    objects = _git(room, "rev-parse", "--path-format=absolute", "--git-path", "objects")
    _git(room, "init", "--quiet", "--bare", apart)
    room.run(["mkdir", "-p", f"{apart}/info"])
    room.write(f"{apart}/info/attributes", b"* -diff\n")
    room.write(f"{apart}/objects/info/alternates", objects.encode())
    return _diff(room, f"--git-dir={apart}", "diff-tree", *trees)


def _diff(room: Workspace, *command: str) -> bytes:
    path = f"{room.scratch}/patch.diff"
    _git(room, *command, *EXACT, f"--output={path}")
    patch = room.read(path)
    if patch is None:
        raise AgentFailed("the patch is too large")
    return patch


def _git(room: Workspace, *arguments: str, fine: Sequence[int] = (0,)) -> str:
    completed = room.run(["git", *arguments], env=CLEAN | {"GIT_INDEX_FILE": f"{room.scratch}/index"})
    output = completed.output.decode(errors="replace")
    if completed.code not in fine:
        raise AgentFailed(f"git {arguments[0]} in the agent's checkout: {output.strip()}")
    return output
