"""Licenses and known vulnerabilities of every distribution that is installed: `just audit-dependencies`.

Reads the metadata of the environment, and PyPI's advisories through pip-audit. Where these are not reached, it says
what was not looked up. Does not cover what vendors/ installs, whose versions are pinned with hashes.

Exit code: 0 nothing is found, 1 a license that is not in the table or an advisory.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

#: words of licenses that allow use and redistribution beside MIT code
FREE = re.compile(
    r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|MPL|Mozilla|Zope|Zlib|Unlicense|Public Domain|CC0|LGPL|HPND",
    re.IGNORECASE,
)
#: distributions whose metadata do not name their license in words that are understood -> what their files say
READ = {"a11y-bench": "MIT"}


def main() -> int:
    """Print what is found; returns the exit code."""
    licenses = unknown_licenses(told("piplicenses", "--format=json"))
    for name, license in licenses:
        print(f"{name}: its license is not one that is known: {license}")
    found, skipped = advisories(told("pip_audit", "--skip-editable", "--progress-spinner=off", "--format=json"))
    for line in found:
        print(line)
    if skipped:
        print(f"skipped: {len(skipped)} distributions could not be looked up for advisories ({skipped[0]}, ...)")
    print(f"{len(licenses)} unknown licenses, {len(found)} advisories")
    return int(bool(licenses or found))


def unknown_licenses(rows: Any) -> list[tuple[str, str]]:
    """Name and license of each distribution whose license is not known to be free."""
    named = ((row["Name"], READ.get(row["Name"], row["License"])) for row in rows or ())
    return [(name, license) for name, license in named if not FREE.search(license)]


def advisories(said: Any) -> tuple[list[str], list[str]]:
    """The advisories in words, and the names of what could not be looked up; all of it where nothing was said."""
    if said is None:
        return [], ["everything"]
    found = [
        f"{one['name']} {one['version']}: {flaw['id']}, fixed in {', '.join(flaw['fix_versions']) or 'no version'}"
        for one in said["dependencies"]
        for flaw in one.get("vulns", ())
    ]
    return found, [one["name"] for one in said["dependencies"] if "skip_reason" in one]


def told(module: str, *words: str) -> Any:
    """What a tool of this environment prints as JSON; None where it does not come to an end."""
    done = subprocess.run([sys.executable, "-m", module, *words], capture_output=True, text=True, timeout=300)
    try:
        return json.loads(done.stdout)
    except ValueError:
        print(f"{module}: {(done.stderr.strip().splitlines() or ['it says nothing'])[-1]}", file=sys.stderr)
        return None


if __name__ == "__main__":
    sys.exit(main())
