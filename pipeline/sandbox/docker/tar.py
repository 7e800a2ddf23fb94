"""Tar archives, in which files enter and leave containers. Owners are set here, so no chown is needed."""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

#: uid and gid of the user that owns a repository in a container, and of the user that owns tools
BENCH, ROOT = 1000, 0
#: the maximum depth and length in bytes of paths that are unpacked here
DEEPEST, LONGEST = 40, 1000


def of_folder(folder: Path, name: str, owner: int = BENCH, only: Collection[str] | None = None) -> IO[bytes]:
    """A folder as an archive under `name`, with links as links, in a temporary file positioned at its start. `only`
    are the paths in it to take, without what is in them."""

    def set_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = owner
        member.uname = member.gname = ""
        member.mode |= 0o755 if member.isdir() else 0o444
        return member

    file = tempfile.TemporaryFile()  # noqa: SIM115  the reader closes it
    with tarfile.open(fileobj=file, mode="w") as archive:
        if only is None:
            archive.add(folder, name, filter=set_owner)
        for path in sorted(only or ()):
            archive.add(folder / path, f"{name}/{path}", recursive=False, filter=set_owner)
    file.seek(0)
    return file


def of_entries(entries: Mapping[str, bytes | None], owner: int = BENCH) -> bytes:
    """An archive of files (bytes) and folders (None), by path."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, data in entries.items():
            archive.addfile(_member(name, data, owner), io.BytesIO(data or b""))
    return file.getvalue()


def of_pipe(folder: str, name: str) -> bytes:
    """An archive of a pipe in a folder of root's: everybody can write to the pipe, only root can read or replace it."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(_member(folder, None, ROOT))
        member = _member(f"{folder}/{name}", b"", ROOT)
        member.type, member.mode = tarfile.FIFOTYPE, 0o622
        archive.addfile(member)
    return file.getvalue()


def _member(name: str, data: bytes | None, owner: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.mode = (tarfile.DIRTYPE, 0o755) if data is None else (tarfile.REGTYPE, 0o644)
    member.size, member.mtime = len(data or b""), int(time.time())
    member.uid = member.gid = owner
    return member


def only_file(data: bytes) -> bytes | None:
    """The bytes of an archive's first member; None if it is not a regular file or the archive is incomplete."""
    with suppress(tarfile.ReadError), tarfile.open(fileobj=io.BytesIO(data)) as archive:
        member = archive.next()
        content = archive.extractfile(member) if member and member.isreg() else None
        return content.read() if content else None
    return None


def extract_files(archive: IO[bytes], target: Path) -> None:
    """Extract the regular files of an untrusted archive, below its first folder, as far as the archive is complete.

    Links and too deep paths are skipped; no path leaves `target`.
    """
    with suppress(tarfile.ReadError), tarfile.open(fileobj=archive) as members:
        for member in members:
            path = Path(*Path(member.name).parts[1:])
            if member.isreg() and _is_near(path) and (content := members.extractfile(member)):
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                (target / path).write_bytes(content.read())


def _is_near(path: Path) -> bool:
    """Whether a path stays below its folder and is neither too deep nor too long."""
    return ".." not in path.parts and len(path.parts) <= DEEPEST and len(os.fsencode(path)) <= LONGEST
