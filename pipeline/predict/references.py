"""The two references that need no model: `oracle` answers with the gold patch, `nop` with none.

They check the benchmark itself (oracle resolves every instance, nop none), and only they see gold.
"""

from __future__ import annotations

from pipeline.core.records import Instance

REFERENCES = {
    "oracle": lambda instance: instance.fix_patch,
    "nop": lambda instance: "",
}


def answer(agent: str, instance: Instance) -> tuple[str, str]:
    """A reference's patch and its outcome."""
    return REFERENCES[agent](instance), "REFERENCE"
