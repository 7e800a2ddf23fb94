"""Whether dask-kubernetes and Kubernetes accept the manifest in docs/remote.md, as far as this needs no cluster.

`just bench kubernetes`. Exits with 1 if something is wrong. `kubernetes_check.py` runs with their packages, in an
environment of its own.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from uv import find_uv_bin

DOCS = Path(__file__).parents[2] / "docs" / "remote.md"
CHECK = Path(__file__).with_name("kubernetes_check.py")
PACKAGES = ("dask-kubernetes==2026.3.0", "kubernetes", "jsonschema", "pyyaml")


def manifest() -> str:
    """The only manifest in the docs, as YAML."""
    (text,) = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(), re.DOTALL)
    return text


def checked(text: str) -> dict[str, Any]:
    """The objects that the operator makes from a manifest, and the errors in them."""
    packages = [word for package in PACKAGES for word in ("--with", package)]
    command = [find_uv_bin(), "run", "--quiet", "--no-project", "--isolated", *packages, "python", "-I", str(CHECK)]
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True, cwd=CHECK.parent)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    found = checked(manifest())
    print(*found["made"], *(f"WRONG: {line}" for line in found["wrong"]), sep="\n")
    raise SystemExit(bool(found["wrong"]))


if __name__ == "__main__":
    main()
