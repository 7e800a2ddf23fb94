"""One file of an npm package of a pinned version and digest, kept in the user's cache folder.

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
    """`name` is name@version, `integrity` its digest as the registry gives it, `member` the file that is wanted."""

    name: str
    integrity: str
    member: str

    def file(self) -> Path:
        """The file. Raises as `fetch` does."""
        folder = cache_root() / "npm" / folder_name(self.name)
        return folder / once(folder, self.fetch)

    def fetch(self, folder: Path) -> str:
        """Download the package into `folder` and return the path of the file in there.

        Raises InfrastructureError when npm cannot get it, or when its digest is not the pinned one.
        """
        command = ["npm", "pack", self.name, "--silent", "--pack-destination", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise InfrastructureError(f"npm could not fetch {self.name}: {done.stderr.strip()}", cause="registry")
        archive = folder / done.stdout.strip()
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if self.integrity != f"sha512-{digest}":
            message = f"{self.name}: its digest is sha512-{digest}, pinned is {self.integrity}"
            raise InfrastructureError(message, cause="registry")
        with tarfile.open(archive) as package:
            package.extract(f"package/{self.member}", folder, filter="data")
        archive.unlink()
        return f"package/{self.member}"
