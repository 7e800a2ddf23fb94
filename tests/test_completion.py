"""Shell completion, as a shell requests it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).with_name("a11y-bench")
PAGE = Path(__file__).parents[1] / "docs/commands.md"


def ask(instruction: str, **given: str) -> str:
    env = {**os.environ, **given, "_A11Y_BENCH_COMPLETE": instruction}
    return subprocess.run([PROGRAM], env=env, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("words", "last", "offered"),
    [
        ("a11y-bench da", 1, {"dataset"}),
        ("a11y-bench dataset re", 2, {"rebuild"}),
        ("a11y-bench build a/b --sco", 3, {"--scope"}),
        ("a11y-bench build a/b --scope t", 4, {"touched"}),
    ],
    ids=["command", "sub-command", "option", "choice"],
)
def test_a_shell_gets_the_available_names(words: str, last: int, offered: set[str]) -> None:
    lines = ask("bash_complete", COMP_WORDS=words, COMP_CWORD=str(last)).splitlines()
    assert {line.partition(",")[2] for line in lines} == offered


def test_an_unknown_command_prints_nothing_into_the_prompt() -> None:
    """The error of the command appeared between what the user had typed."""
    given = {"COMP_WORDS": "a11y-bench frobnicate ", "COMP_CWORD": "2", "_A11Y_BENCH_COMPLETE": "bash_complete"}
    done = subprocess.run([PROGRAM], env=os.environ | given, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_names_of_commands_are_completed_without_importing_them() -> None:
    """A shell waits for them at every press of a key."""
    code = (
        "import sys\nfrom pipeline.cli import COMMANDS, program\n"
        "names = [one.value for one in program.shell_complete(None, '')]\n"
        "assert names == list(COMMANDS)\n"
        "sys.exit(', '.join(module for module, _ in COMMANDS.values() if module in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_documented_shell_has_a_completion_script(shell: str) -> None:
    assert re.search(rf"_A11Y_BENCH_COMPLETE={shell}_source", PAGE.read_text(encoding="utf-8"))
    if shell != "bash":  # which is asked for its version, where there is one
        assert "a11y-bench" in ask(f"{shell}_source")
