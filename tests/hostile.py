"""Malicious clones: commands in every setting that can make git start one, and trees that git itself would not make.

Each function takes the folder of a clone with files, and changes that clone.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from histories import git

#: hooks that git starts while it reads a tree, checks files out, or changes a reference
HOOKS = ("post-checkout", "post-index-change", "pre-auto-gc", "reference-transaction", "fsmonitor-watchman")


def poison(clone: Path, marker: Path) -> None:
    """Make everything that git can start leave a mark: hooks, filters, drivers, monitors, signatures, transports."""
    program = marker.with_name("program.sh")
    program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{marker}'\ncat\n")
    program.chmod(0o755)
    hooks = clone / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        shutil.copy(program, hooks / name)
    included = marker.with_name("included")
    git(clone, "config", "--file", str(included), "core.fsmonitor", str(program))
    for name, value in {
        "core.fsmonitor": program, "core.hooksPath": hooks, "core.sshCommand": program,
        "core.alternateRefsCommand": program, "core.askPass": program, "core.pager": program,
        "filter.evil.smudge": program, "filter.evil.clean": program, "filter.evil.process": program,
        "diff.evil.textconv": program, "diff.evil.command": program, "diff.external": program,
        "gpg.program": program, "log.showSignature": "true", f"includeIf.gitdir:{clone}/.path": included,
        "remote.origin.url": f"ext::{program}", "remote.origin.promisor": "true", "protocol.ext.allow": "always",
        "extensions.partialClone": "origin", "core.repositoryFormatVersion": "1", "credential.helper": program,
    }.items():  # fmt: skip
        git(clone, "config", name, str(value))
    info = clone / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("* filter=evil diff=evil\n")


def sign(clone: Path) -> None:
    """Sign the newest commit, for readers that verify it with a program chosen by the configuration."""
    text = git(clone, "cat-file", "commit", "HEAD") + "\n"
    head, _, message = text.partition("\n\n")
    signed = f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n{message}"
    path = clone / ".git" / "signed"
    path.write_text(signed)
    git(clone, "update-ref", "HEAD", git(clone, "hash-object", "-t", "commit", "-w", str(path)))


def graft(clone: Path, name: str, mode: str, content: str) -> str:
    """A commit on HEAD whose tree has one additional entry with any name; `..` is a folder that contains `evil.txt`."""
    entry = f"{mode} {_blob(clone, content)} {name}"
    if name == "..":
        entry = f"40000 {made_tree(clone, [f'{mode} {_blob(clone, content)} evil.txt'])} .."
    return commit_tree(clone, made_tree(clone, [entry, *rows(clone)]), "HEAD", "a tree of no good")


def rows(clone: Path, commit: str = "HEAD") -> list[str]:
    """The entries of a commit's tree: mode, object name, file name."""
    listed = (row.split("\t") for row in git(clone, "ls-tree", commit).splitlines())
    return [f"{about.split()[0].lstrip('0')} {about.split()[2]} {name}" for about, name in listed]


def folder(clone: Path, files: dict[str, str]) -> str:
    """A tree of files."""
    return made_tree(clone, [f"100644 {_blob(clone, text)} {name}" for name, text in sorted(files.items())])


def made_tree(clone: Path, entries: list[str]) -> str:
    """A tree object with exactly these entries."""
    parts = (entry.split(" ", 2) for entry in entries)
    data = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(found) for mode, found, name in parts)
    return _object(clone, data, "-t", "tree", "--literally")


def commit_tree(clone: Path, tree: str, parent: str, message: str) -> str:
    commit = git(clone, "commit-tree", tree, "-p", parent, "-m", message)
    git(clone, "update-ref", "HEAD", commit)
    return commit


def _blob(clone: Path, content: str) -> str:
    return _object(clone, content.encode())


def _object(clone: Path, data: bytes, *how: str) -> str:
    path = clone / ".git" / "written"
    path.write_bytes(data)
    return git(clone, "hash-object", *how, "-w", "--no-filters", str(path))
