"""Which code may run in the local sandbox, which isolates nothing: the demo's, or code that the user vouches for.

The demo's commits are known by their SHAs, so no other repository can pose as it. Does not cover a forged data
directory: its records are trusted.
"""

from __future__ import annotations

import json
from functools import cache

from pipeline.core.console import say
from pipeline.core.errors import UserError
from pipeline.core.shipped import ROOT

DEMO = ROOT / "data" / "demo"


@cache
def demo_commits() -> frozenset[str]:
    """Base and merge commits of the embedded benchmark; empty if the project's data is missing."""
    path = DEMO / "commits.json"
    if not path.exists():
        return frozenset()
    pulls = json.loads(path.read_text(encoding="utf-8"))["pulls"]
    return frozenset(sha for pull in pulls.values() for sha in pull.values())


def require_trust(sandbox: str, trust_local: bool, *commits: str, trusted_patch: bool = True) -> None:
    """Raise UserError if code would run in the local sandbox that is neither the demo's nor vouched for.

    `trusted_patch` is False for a patch that a model wrote.
    """
    if sandbox != "local" or (trusted_patch and demo_commits().issuperset(commits)):
        return
    if trust_local:
        say("warning: untrusted code runs on this machine, as you, without isolation")
        return
    code = "a model's patch" if not trusted_patch else "code that is not the demo's"
    hint = "use --sandbox docker, or add --trust-local if you trust this code with your own user account"
    raise UserError(f"the local sandbox isolates nothing and would run {code}", hint=hint)
