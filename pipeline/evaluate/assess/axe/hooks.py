"""How runners are made to keep what their tests render: files that are put beside each other, and a changed command.

To add a runner: a row in the table, and a hook that writes what `documents` reads. Nothing of the tests changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import NamedTuple

from pipeline.core.records import Environment

#: a module that exports what a runner without configuration has
NO_CONFIGURATION = "data:text/javascript,export default {}"

Changed = Callable[[Environment, str], Environment]


class Hook(NamedTuple):
    """The hook's files, and the environment with it, of the folder in which they stand."""

    files: tuple[str, ...]
    changed: Changed


def texts(hook: Hook, configuration: str) -> Iterator[tuple[str, bytes]]:
    """What is written into the folder; `configuration` is the path of the runner's own, empty where there is none."""
    for name in hook.files:
        text = files(__package__).joinpath(name).read_text(encoding="utf-8")
        yield name, text.replace("CONFIGURATION", configuration or NO_CONFIGURATION).encode()


def _required(environment: Environment, folder: str) -> Environment:
    """Node loads the hook before the runner, and takes several options in one variable."""
    options = f"{environment.test_env.get('NODE_OPTIONS', '')} --require={folder}/jest.cjs".strip()
    return environment.model_copy(update={"test_env": {**environment.test_env, "NODE_OPTIONS": options}})


def _configured(environment: Environment, folder: str) -> Environment:
    """The runner gets a configuration that stands on the repository's own."""
    return environment.model_copy(update={"test": (*environment.test, f"--config={folder}/vitest.config.mjs")})


#: the parser of a runner's report -> its hook
HOOKS = {
    "jest-json": Hook(("jest.cjs",), _required),
    "vitest-json": Hook(("vitest.config.mjs", "vitest.runner.mjs"), _configured),
}
