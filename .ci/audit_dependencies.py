"""Licenses and known vulnerabilities of every distribution that is installed: `just audit-dependencies`.

Reads the metadata of the environment, and PyPI's advisories through pip-audit. A check that cannot be made fails, and
the message names it: an audit without network must not look like one that found nothing. Does not cover what vendors/
installs, whose versions are pinned with hashes.

Exit code: 0 nothing is found, 1 an unknown license or an advisory, 2 nothing is found, but not all could be checked.
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
#: distributions whose metadata name no known license -> the license in their files
READ = {"a11y-bench": "MIT"}
#: this project, which has no advisories
OURS = {"a11y-bench"}
LICENSES = ("piplicenses", "--format=json")
ADVISORIES = ("pip_audit", "--skip-editable", "--progress-spinner=off", "--format=json")


def main() -> int:
    """Print what is found and what could not be checked; returns the exit code."""
    rows, audit = output_of(*LICENSES), output_of(*ADVISORIES)
    found = [] if rows is None else unknown_licenses(rows)
    known, unchecked = advisories(audit)
    found += known
    skipped = ["the licenses"] if rows is None else []
    skipped += ["the advisories"] if audit is None else []
    skipped += [f"the advisories of {len(unchecked)} distributions ({unchecked[0]}, ...)"] if unchecked else []
    for line in found:
        print(line)
    for check in skipped:
        print(f"not checked: {check}")
    print(f"{len(found)} unknown licenses and advisories" + (", but not everything was checked" if skipped else ""))
    return 1 if found else 2 if skipped else 0


def unknown_licenses(rows: list[dict[str, Any]]) -> list[str]:
    """A line for each distribution whose license is not known to be free."""
    licenses = {row["Name"]: READ.get(row["Name"], row["License"]) for row in rows}
    return [f"{name}: unknown license: {text}" for name, text in licenses.items() if not FREE.search(text)]


def advisories(audit: dict[str, Any] | None) -> tuple[list[str], list[str]]:
    """A line for each advisory, and the distributions that could not be looked up, by the output of pip-audit."""
    if audit is None:
        return [], []
    found = [
        f"{row['name']} {row['version']}: {flaw['id']}, fixed in {', '.join(flaw['fix_versions']) or 'no version'}"
        for row in audit["dependencies"]
        for flaw in row.get("vulns", ())
    ]
    skipped = [row["name"] for row in audit["dependencies"] if "skip_reason" in row and row["name"] not in OURS]
    return found, skipped


def output_of(module: str, *arguments: str) -> Any:
    """The JSON that a tool of this environment prints; None, and a message, if it fails."""
    command = [sys.executable, "-m", module, *arguments]
    try:
        completed = subprocess.run(command, capture_output=True, text=True, timeout=300)
        return json.loads(completed.stdout)
    except subprocess.TimeoutExpired:
        print(f"{module}: no answer within 5 minutes", file=sys.stderr)
    except ValueError:
        print(f"{module}: {(completed.stderr.strip().splitlines() or ['no output'])[-1]}", file=sys.stderr)
    return None


if __name__ == "__main__":
    sys.exit(main())
