"""GitHub's published GraphQL schema, from the npm package of one pinned version, kept in the user's cache folder.

Reads the npm registry (once, through the `npm` client), writes the cache folder. The package is refused when its digest
is another than the pinned one.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import tarfile
from functools import cache
from pathlib import Path

from graphql import GraphQLSchema, build_schema

from pipeline.core.cache import cache_root, once

PACKAGE = "@octokit/graphql-schema@15.26.1"
INTEGRITY = "sha512-RFDC2MpRBd4AxSRvUeBIVeBU7ojN/SxDfALUd7iVYOSeEK3gZaqR2MGOysj4Zh2xj2RY5fQAUT+Oqq7hWTraMA=="


@cache
def github_schema() -> GraphQLSchema:
    """The schema, built once for each process (half a second). Raises as `fetch` does."""
    folder = cache_root() / "github-schema" / PACKAGE.rpartition("@")[2]
    text = (folder / once(folder, fetch)).read_text(encoding="utf-8")
    return build_schema(text, assume_valid=True, assume_valid_sdl=True)


def fetch(folder: Path, integrity: str = INTEGRITY) -> str:
    """Download the package into `folder` and return the schema's file name.

    Raises CalledProcessError when npm can not get it, and ValueError when its digest is not the pinned one.
    """
    command = ["npm", "pack", PACKAGE, "--silent", "--pack-destination", str(folder)]
    archive = folder / subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if integrity != f"sha512-{digest}":
        raise ValueError(f"{PACKAGE}: its digest is sha512-{digest}, pinned is {integrity}")
    with tarfile.open(archive) as package:
        package.extract("package/schema.graphql", folder, filter="data")
    archive.unlink()
    return "package/schema.graphql"
