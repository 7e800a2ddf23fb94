"""Which version of a package the lock file stands for: exact, where package.json names a range or nothing at all."""

from __future__ import annotations

import json
import re
from typing import Any

from pipeline.build.infer.tree import Found, Tree

#: lock file -> patterns of an entry (`{name}` is the package); their group is the version. yarn 1 and later; pnpm's
#: importers, then its packages
_ENTRIES = {
    "yarn.lock": (r'^"?(?:[^\n]*, "?)?{name}@(?:npm:)?{wanted}[",:][^\n]*\n  version:? "?([^"\s]+)',
                  r'^"?(?:[^\n]*, "?)?{name}@[^\n]*\n  version:? "?([^"\s]+)'),
    "pnpm-lock.yaml": (r"^ +'?{name}'?:\n +specifier: [^\n]*\n +version: (\d[^\s(]*)",
                       r"^ +'?{name}'?: (\d[^\s(_]*)",
                       r"^ +'?/?{name}[@/](\d+\.\d+\.\d+)"),
}  # fmt: skip


def find(tree: Tree, package: str, wanted: str = "") -> Found | None:
    """The version of a package that is wanted as `wanted` (a range of package.json), None where no lock file has it."""
    for path, patterns in _ENTRIES.items():
        text = tree.text(path)
        for pattern in patterns:
            filled = pattern.replace("{name}", re.escape(package)).replace("{wanted}", re.escape(wanted))
            if match := re.search(filled, text, re.MULTILINE):
                return Found(match[1], path)
    for path in ("package-lock.json", "npm-shrinkwrap.json"):
        if version := _of_npm(tree.text(path), package):
            return Found(version, path)
    return None


def _of_npm(text: str, package: str) -> str:
    try:
        data: Any = json.loads(text)
        entry = data.get("packages", {}).get(f"node_modules/{package}") or data.get("dependencies", {}).get(package)
        return entry.get("version", "") if entry else ""
    except (ValueError, AttributeError):
        return ""
