"""Archives from a container, which may contain anything."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from pipeline.sandbox.docker import tar


def archive(**kinds: bytes) -> bytes:
    """A member for each name and kind; `_` stands for the slash of a path."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as made:
        for name, kind in kinds.items():
            member = tarfile.TarInfo(f"out/{name.replace('_', '/')}")
            member.type, member.linkname, member.size = kind, "/etc/passwd", 3 if kind == tarfile.REGTYPE else 0
            made.addfile(member, io.BytesIO(b"abc"))
    return file.getvalue()


def extracted(data: bytes, folder: Path) -> dict[str, bytes]:
    tar.extract_files(io.BytesIO(data), folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_regular_files_are_kept_below_the_folder(tmp_path: Path) -> None:
    data = archive(one=tarfile.REGTYPE, deep=tarfile.DIRTYPE, deep_two=tarfile.REGTYPE)
    assert extracted(data, tmp_path) == {"one": b"abc", "deep/two": b"abc"}


@pytest.mark.trap("write-through-a-link")
def test_links_pipes_and_outside_paths_are_not_extracted(tmp_path: Path) -> None:
    """A link left by an agent would make later readers and writers use files of the host."""
    target = tmp_path / "target"
    kinds = {"soft": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "pipe": tarfile.FIFOTYPE, ".._.._up": tarfile.REGTYPE}
    assert extracted(archive(**kinds, one=tarfile.REGTYPE), target) == {"one": b"abc"}
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_a_truncated_archive_is_extracted_as_far_as_it_goes(tmp_path: Path) -> None:
    data = archive(one=tarfile.REGTYPE, two=tarfile.REGTYPE)
    assert extracted(data[:1100], tmp_path) == {"one": b"abc"}
    assert extracted(b"no archive", tmp_path / "none") == {}
