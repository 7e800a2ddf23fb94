"""Files that a repository's own commands make before its tests run: compiled siblings, icons, tokens.

They are made once, in a workspace without network, and become part of the layer of sources, next to the commit's files.
If a patch changes a package with such files, they are made again before the tests run. Does not cover changes that
such commands make to files of the commit, links, and what they leave in `node_modules`.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.core.errors import A11yBenchError
from pipeline.core.patches import is_test_file
from pipeline.core.records import Environment
from pipeline.sandbox.base import DEFAULT, Completed, InstallFailed, Limit, Sandbox, Workspace

#: the list of made files, in a place where no patch can write
LISTING = ".git/a11y-bench-made"
#: what the commands that failed printed, next to it
FAILURES = ".git/a11y-bench-failures"
#: what these commands may use; their outputs are as large as a build's
LIMITS = replace(DEFAULT, seconds=900, output=2**29)

#: options of Node that the commands get if the tests have them: compilers need them as well
OPTIONS = ("--openssl-legacy-provider",)

#: lists the files that the commit does not have
UNTRACKED = ("git", "ls-files", "-z", "--others", "--exclude=node_modules")
_PACK = ("sh", "-c", 'mkdir -p "$1" && tar -cf - --null -T "$0" | tar -xf - -C "$1"')
_REMOVE = ("sh", "-c", 'xargs -0 rm -f -- < "$0"')


class OverLimit(A11yBenchError):
    """A command that makes files reached a limit, which closed its workspace; `output` is what the commands printed."""

    def __init__(self, limit: Limit, output: bytes) -> None:
        self.limit, self.output = limit, output
        super().__init__(f"making files reached the limit on {limit}")


def variables(environment: Environment) -> dict[str, str]:
    """The variables of the commands."""
    kept = [word for word in environment.test_env.get("NODE_OPTIONS", "").split() if word in OPTIONS]
    return {"NODE_OPTIONS": " ".join(kept)} if kept else {}


def add(sandbox: Sandbox, plain: str, environment: Environment, sources: Path) -> None:
    """Run the environment's commands in the image `plain` and add what they make to the checkout `sources`.

    A command that fails does not stop the others, and the files that it made are kept: if a whole workspace is built,
    packages that no test needs may fail. Raises InstallFailed if nothing is made or a limit is reached.
    """
    with sandbox.open(plain, cache="none", limits=LIMITS) as workspace, TemporaryDirectory() as folder:
        failures = _failures(workspace, environment)
        made, visible = _listed(workspace), _listed(workspace, "--exclude-standard")
        if not made:
            raise failures[0] if failures else InstallFailed(f"{' '.join(environment.prepare[-1])} makes no file", "")
        listing, packed = f"{workspace.scratch}/made", f"{workspace.scratch}/packed"
        workspace.write(listing, _joined(made))
        workspace.run([*_PACK, listing, packed], ours=True)
        workspace.fetch(packed, Path(folder, "made"))
        added = list(_copied(Path(folder, "made"), sources))
    (sources / LISTING).write_bytes(_joined(added))
    said = "\n".join(f"{failed}\n{failed.log[-20_000:]}" for failed in failures)
    (sources / FAILURES).write_text(said, encoding="utf-8")
    with (sources / ".git" / "info" / "exclude").open("a") as rules:
        rules.writelines(f"/{_escaped(path)}\n" for path in sorted(set(visible) & set(added)))


def _failures(workspace: Workspace, environment: Environment) -> list[InstallFailed]:
    """Run the commands and return their failures. Raises one that reached a limit, which closes the workspace."""
    failures = []
    for argv in environment.prepare:
        completed = workspace.run(argv, env=variables(environment))
        if completed.code:
            output = completed.output.decode(errors="replace")
            failures.append(InstallFailed(f"{' '.join(argv)} ended with {completed.code}", output))
        if completed.limit:
            raise failures[-1]
    return failures


def made_in(workspace: Workspace) -> frozenset[str]:
    """The files that were made for this image."""
    return frozenset(filter(None, (workspace.read(f"{workspace.root}/{LISTING}") or b"").decode().split("\0")))


def failures_in(workspace: Workspace) -> str:
    """What the commands that failed printed when the files of this image were made; empty if none did."""
    return (workspace.read(f"{workspace.root}/{FAILURES}") or b"").decode(errors="replace")


def renew(workspace: Workspace, environment: Environment, changed: Collection[str]) -> bytes:
    """Make the files again that depend on changed ones, and return the commands' output. A command that fails leaves
    its files missing. Raises OverLimit."""
    made = made_in(workspace) if environment.prepare and changed else frozenset()
    if not made or not _concerned(workspace, made, changed):
        return b""
    workspace.run([*_REMOVE, f"{workspace.root}/{LISTING}"], ours=True)
    output = b""
    for argv in environment.prepare:
        completed = workspace.run(argv, env=variables(environment))
        output += _transcript(argv, completed)
        if completed.limit:
            raise OverLimit(completed.limit, output)
    return output


def _concerned(workspace: Workspace, made: Collection[str], changed: Collection[str]) -> bool:
    """Whether a made file changed, or a source in a package that has made files."""
    manifests = workspace.run(["git", "ls-files", "-z", "--", "package.json", "*/package.json"], ours=True).output
    packages = {posixpath.dirname(path) for path in manifests.decode(errors="replace").split("\0")}
    homes = {_home(path, packages) for path in made}
    return any(path in made or not is_test_file(path) and _home(path, packages) in homes for path in changed)


def _home(path: str, packages: Collection[str]) -> str:
    """The folder of the nearest package above a file; empty for the root."""
    folder = posixpath.dirname(path)
    while folder and folder not in packages:
        folder = posixpath.dirname(folder)
    return folder


def _listed(workspace: Workspace, *options: str) -> list[str]:
    listed = workspace.run([*UNTRACKED, *options], ours=True).output.decode(errors="surrogateescape").split("\0")
    return [path for path in listed if path]


def _copied(made: Path, sources: Path) -> Iterator[str]:
    """Copy the files and yield their paths. Skip any that a link would lead outside, or that would replace a link."""
    inside: Callable[[Path], bool] = lambda path: path.resolve().is_relative_to(sources.resolve())  # noqa: E731
    for path in sorted(made.rglob("*")):
        name = path.relative_to(made)
        target = sources / name
        if path.is_file() and name.parts[0] != ".git" and inside(target.parent) and not target.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
            yield str(name)


def _joined(paths: Collection[str]) -> bytes:
    return "\0".join(sorted(paths)).encode(errors="surrogateescape")


def _escaped(path: str) -> str:
    """A path as a git ignore rule that matches this file only."""
    return re.sub(r"([\\*?\[\]!# ])", r"\\\1", path)


def _transcript(argv: Sequence[str], completed: Completed) -> bytes:
    return f"$ {' '.join(argv)} (ended with {completed.code})\n".encode() + completed.output[-20_000:] + b"\n"
