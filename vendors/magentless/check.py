"""`python -m magentless.check SETTINGS`: whether a settings file can be used.

Reads the file and writes nothing. Exit code 0, or 2 with the reason on standard error. Does not cover whether the
models in it are known, which the caller checks.
"""

from __future__ import annotations

import sys
from pathlib import Path

from magentless.causes import BadInput
from magentless.inputs import load_settings


def main(path: str) -> int:
    """Check one file; returns the exit code."""
    try:
        load_settings(Path(path))
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
