"""Multi-SWE-bench's own classes, in their own environment, judge our instances, for comparison with our results.

The environment is made at first use, in seconds, from the package index.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from typing import Any

from pipeline.core import verdict
from pipeline.core.records import Instance
from pipeline.core.vendors import VENDORS, vendor_python
from pipeline.dataset.forms import TRANSITIONS, lines


def theirs(instances: Iterable[Instance]) -> list[dict[str, Any]]:
    """Whether each instance is valid, and the names of its tests by class."""
    command = [vendor_python("multi-swe-bench", print), VENDORS / "multi-swe-bench" / "report.py"]
    done = subprocess.run(command, input=lines("multi-swe-bench", instances), stdout=subprocess.PIPE, check=True)
    return [{key: said[key] for key in ("valid", *TRANSITIONS)} for said in map(json.loads, done.stdout.splitlines())]


def ours(instance: Instance) -> dict[str, Any]:
    """The same from our table and the instance's three results."""
    classes = {name: sorted(getattr(instance, name)) for name in TRANSITIONS}
    return {"valid": not verdict.qualify(instance.triples).reason, **classes}
