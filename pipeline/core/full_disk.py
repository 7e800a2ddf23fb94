"""A full disk of this machine, whoever reports it: the system, a program that we started, or a sandbox."""

from __future__ import annotations

import errno
import shutil
import socket
import subprocess

from pipeline.core.errors import InfrastructureError

FULL = (errno.ENOSPC, errno.EDQUOT)
TEXTS = (b"No space left on device", b"Disk quota exceeded")
HINT = "free space there, or set A11Y_BENCH_CACHE and TMPDIR there to folders on a larger disk"


def is_full(error: BaseException) -> bool:
    """Whether an error says that no space is left."""
    if isinstance(error, subprocess.CalledProcessError):
        output = error.stderr or b""
        return isinstance(output, bytes) and any(text in output for text in TEXTS)
    if isinstance(error, InfrastructureError):
        return error.cause == "disk"
    if isinstance(error, shutil.Error):  # of a copied tree: source, target and error of each file, the last one as text
        starts = tuple(f"[Errno {code}]" for code in FULL)
        return any(str(why).startswith(starts) for _, _, why in error.args[0])
    return isinstance(error, OSError) and error.errno in FULL


def explained(error: BaseException) -> InfrastructureError:
    """The same as an error with the cause `disk`, which says where and what to do."""
    if isinstance(error, InfrastructureError):
        return error
    place = getattr(error, "filename", None) or "its cache or temporary folder"
    message = f"no space left on {socket.gethostname()}, in {place}"
    return InfrastructureError(f"{message}; {HINT}", cause="disk")
