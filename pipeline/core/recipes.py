"""The commands behind the recipes that messages name: an installed wheel has no justfile.

Reads the `*.just` files that ship with the package. Messages are written for a checkout (`just eval-run REPO MODEL`);
`runnable` rewrites them for a wheel (`a11y-bench evaluate REPO MODEL`) when they are printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pipeline.core.shipped import ROOT

_PACKAGE = Path(__file__).parents[1]
_CALL = re.compile(r"\bjust ([a-z]+(?:-[a-z]+)*)")
_RECIPE = re.compile(r"^([a-z][a-z-]*)[^:\n]*:[^=\n]*\n((?:[ \t]+\S.*\n?)+)", re.MULTILINE)
#: recipes of the main justfile, which does not ship, whose command has another name
_RENAMED = {"bench-run": "a11y-bench run"}
#: the others of the main justfile that users run
_SAME_NAME = ("demo", "doctor", "migrate", "campaign")


def runnable(text: str) -> str:
    """A message whose recipes are replaced by the commands behind them, unless there is a justfile."""
    if (ROOT / "justfile").is_file():
        return text
    return _CALL.sub(lambda call: commands().get(call[1], call[0]), text)


@cache
def commands() -> dict[str, str]:
    """Recipe -> the command that it runs; the arguments of the recipe follow."""
    files = [*_PACKAGE.glob("*/*.just"), *(ROOT / "docker").glob("*.just")]
    found = {name: command for path in files for name, command in _recipes(path.read_text(encoding="utf-8"))}
    return found | {name: f"a11y-bench {name}" for name in _SAME_NAME} | _RENAMED


def _recipes(text: str) -> Iterator[tuple[str, str]]:
    for name, body in _RECIPE.findall(text):
        yield name, " && ".join(_command(line.strip()) for line in body.splitlines())


def _command(line: str) -> str:
    """A line of a recipe as a shell can run it anywhere, with options before the arguments."""
    words = [word for word in re.sub(r"^uv run (--extra \w+ )?", "", line).split() if word != '"$@"']
    return " ".join(str(ROOT / word) if word.startswith("docker/") else word for word in words)
