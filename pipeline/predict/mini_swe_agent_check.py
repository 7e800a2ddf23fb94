"""`python -m pipeline.predict.mini_swe_agent_check SETTINGS`: whether mini-swe-agent can use a settings file.

Exit code 0, or 2 with the reason on standard error. It is not among the agent's own files, whose change would ask again
for all answers.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

#: setting -> the types that its value may have; all are needed
KINDS = {
    "config": (str,),
    "steps": (int,),
    "seconds": (int, float),
    "command_seconds": (int, float),
    "answer_seconds": (int, float),
    "request": (dict,),
}


def problem(settings: dict[str, Any]) -> str:
    """What is wrong with the settings; empty if nothing is."""
    if unknown := [name for name in settings if name not in KINDS]:
        return f"there is no setting '{unknown[0]}' (known: {', '.join(KINDS)})"
    if missing := [name for name in KINDS if name not in settings]:
        return f"the setting '{missing[0]}' is missing"
    if wrong := [name for name, kinds in KINDS.items() if type(settings[name]) not in kinds]:
        return f"'{wrong[0]}' has a value of the wrong type: {settings[wrong[0]]!r}"
    low = [name for name, value in settings.items() if type(value) in (int, float) and not value > 0]
    return f"'{low[0]}' is not above 0: {settings[low[0]]}" if low else ""


def main(path: str) -> int:
    try:
        found = problem(tomllib.loads(Path(path).read_text(encoding="utf-8-sig")))
    except (OSError, ValueError) as error:
        found = str(error)
    if found:
        print(found, file=sys.stderr)
    return 2 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
