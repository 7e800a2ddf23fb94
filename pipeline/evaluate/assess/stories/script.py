"""How a repository builds its stories: the command, from its manifest. Pure.

The contract is Storybook's: `-o DIR` makes a static site there, with `index.json` (or `stories.json`) and
`iframe.html?id=ID&viewMode=story`. Any program behind the script that keeps it will do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

#: scripts of package.json that build stories
SCRIPTS = ("build-storybook", "storybook:build", "build:storybook")
#: package -> its command; the first is Storybook 7 and later, the others have it up to 6
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "storybook": ("node_modules/.bin/storybook", "build"),
    **dict.fromkeys(("@storybook/react", "@storybook/vue3", "@storybook/html"), ("node_modules/.bin/build-storybook",)),
}


def command(manifest: bytes | None, out: str) -> tuple[str, ...]:
    """The command that builds into the folder `out`, empty where the manifest names none."""
    found = _parsed(manifest)
    scripts = found.get("scripts") or {}
    for name in SCRIPTS:
        if name in scripts:
            return ("npm", "run", name, "--", "-o", out)
    known = {**(found.get("dependencies") or {}), **(found.get("devDependencies") or {})}
    return next(((*words, "-o", out) for package, words in COMMANDS.items() if package in known), ())


def _parsed(manifest: bytes | None) -> dict[str, Any]:
    try:
        found = json.loads(manifest or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def variables(node: str) -> dict[str, str]:
    """What a build is told beside. Webpack 4 wants a digest that OpenSSL 3 (Node 17 and later) has put away."""
    legacy = int(node.partition(".")[0]) >= 17
    return {
        "STORYBOOK_DISABLE_TELEMETRY": "1",
        "npm_config_update_notifier": "false",
        **({"NODE_OPTIONS": "--openssl-legacy-provider"} if legacy else {}),
    }
