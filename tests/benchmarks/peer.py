"""The command line of the peers' scripts: `SCRIPT ACTION FOLDER` runs an action there and prints what it took.

It is loaded from beside the script, in the peer's own environment: standard library only.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path


def main(actions: Mapping[str, Callable[[Path], int]]) -> None:
    """Print the count that an action returns, and the seconds of the processor that it took, as JSON."""
    action, where = sys.argv[1], Path(sys.argv[2]).absolute()
    os.chdir(where)
    begun = time.process_time()
    count = actions[action](where)
    print(json.dumps({"count": count, "whole": time.process_time() - begun}))
