"""A file or folder of an npm package with a pinned version and digest, kept in the user's cache folder.

Reads the npm registry (once, through the `npm` client), writes the cache folder.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import tarfile
from pathlib import Path
from typing import NamedTuple

from pipeline.core.cache import cache_root, once
from pipeline.core.errors import InfrastructureError
from pipeline.core.names import folder_name


class NpmPackage(NamedTuple):
    """`name` is name@version, `integrity` its digest in the registry, `member` the path of a file or folder in it."""

    name: str
    integrity: str
    member: str

    def file(self) -> Path:
        """The file or folder, downloaded at first use. Raises as `fetch` does."""
        folder = cache_root() / "npm" / folder_name(self.name)
        member: str = once(folder, self.fetch)
        return folder / member

    def fetch(self, folder: Path) -> str:
        """Download the package into `folder` and return the member's path in it.

        Raises InfrastructureError if npm is missing or cannot download it, or if the digest is not the pinned one.
        """
        archive = folder / self._pack(folder)
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if self.integrity != f"sha512-{digest}":
            message = f"{self.name} has the digest sha512-{digest}, but {self.integrity} is pinned"
            raise InfrastructureError(message, cause="registry")
        path = f"package/{self.member}"
        with tarfile.open(archive) as package:
            members = [member for member in package if member.name == path or member.name.startswith(f"{path}/")]
            package.extractall(folder, members, filter="data")
        archive.unlink()
        return path

    def _pack(self, folder: Path) -> str:
        command = ["npm", "pack", self.name, "--silent", "--pack-destination", str(folder)]
        try:
            process = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            raise InfrastructureError(f"npm is needed to download {self.name}", cause="registry") from None
        if process.returncode:
            raise InfrastructureError(f"npm could not download {self.name}: {process.stderr.strip()}", cause="registry")
        return process.stdout.strip()
