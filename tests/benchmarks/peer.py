"""The command line of the peers' scripts: `SCRIPT ACTION FOLDER` runs an action there and prints its cost.

It is loaded from the script's folder, in the peer's own environment: standard library only.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path


def main(actions: Mapping[str, Callable[[Path], int]]) -> None:
    """Print the count that an action returns, and its processor seconds, as JSON."""
    action, where = sys.argv[1], Path(sys.argv[2]).absolute()
    os.chdir(where)
    begun = time.process_time()
    count = actions[action](where)
    print(json.dumps({"count": count, "whole": time.process_time() - begun}))
