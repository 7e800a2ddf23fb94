"""How a repository builds its stories: the command, from its manifest. Pure.

The contract is Storybook's: `-o DIR` makes a static site there, with `index.json` (or `stories.json`) and
`iframe.html?id=ID&viewMode=story`. Any program that the script calls may fulfil it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

#: scripts of package.json that build stories
SCRIPTS = ("build-storybook", "storybook:build", "build:storybook")
#: package -> its command: the first for Storybook 7 and later, the others for Storybook up to 6
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "storybook": ("node_modules/.bin/storybook", "build"),
    **dict.fromkeys(("@storybook/react", "@storybook/vue3", "@storybook/html"), ("node_modules/.bin/build-storybook",)),
}


def command(manifest: bytes | None, out: str) -> tuple[str, ...]:
    """The command that builds into the folder `out`; empty if the manifest has none."""
    parsed = _table(_parsed(manifest))
    scripts = _table(parsed.get("scripts"))
    for name in SCRIPTS:
        if name in scripts:
            return ("npm", "run", name, "--", "-o", out)
    packages = {**_table(parsed.get("dependencies")), **_table(parsed.get("devDependencies"))}
    return next(((*arguments, "-o", out) for package, arguments in COMMANDS.items() if package in packages), ())


def _parsed(manifest: bytes | None) -> Any:
    """The content of a manifest, which a patch may have broken; None if it cannot be read."""
    try:
        return json.loads(manifest or b"{}")
    except (ValueError, RecursionError):
        return None


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def variables(node: str) -> dict[str, str]:
    """The variables of a build. Webpack 4 needs a digest that OpenSSL 3 (Node 17 and later) no longer offers by
    default."""
    legacy = int(node.partition(".")[0]) >= 17
    return {
        "STORYBOOK_DISABLE_TELEMETRY": "1",
        "npm_config_update_notifier": "false",
        **({"NODE_OPTIONS": "--openssl-legacy-provider"} if legacy else {}),
    }
