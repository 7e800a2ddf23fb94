"""Rules for all of the code: no shell strings, no evaluation of text, and which package may import which."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path for folder in ("pipeline", "vendors") for path in (ROOT / folder).rglob("*.py"))
#: calls that run text as code, or pass it to a shell
FORBIDDEN = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "os.system",
    "os.popen",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "asyncio.create_subprocess_shell",
    "pickle.load",
    "pickle.loads",
    "yaml.load",
}
#: units travel between a coordinator and its workers, which belong to one person and trust each other (docs/remote.md)
TRUSTED = {("pipeline/core/cluster.py", "pickle.loads"), ("pipeline/core/slot.py", "pickle.loads")}
SHELLS = {"sh", "bash", "/bin/sh", "/bin/bash"}


def faults(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and kind of everything that is not allowed."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in FORBIDDEN and not _makes_data(node):
            yield node.lineno, ast.unparse(node.func)
        if isinstance(node, ast.keyword) and node.arg == "shell":
            yield node.value.lineno, "shell="
        if isinstance(node, ast.List | ast.Tuple) and _is_shell_string(node):
            yield node.lineno, "a shell string that is put together"


def _makes_data(call: ast.Call) -> bool:
    """Whether YAML is read by a loader that creates no objects."""
    given = [ast.unparse(arg) for arg in (*call.args[1:], *(word.value for word in call.keywords))]
    return ast.unparse(call.func) == "yaml.load" and any(
        re.search(r"\bC?(?:Safe|Base)Loader\b", line) for line in given
    )


def _is_shell_string(node: ast.List | ast.Tuple) -> bool:
    """`sh -c TEXT` with a text that is not constant."""
    words = [item.value if isinstance(item, ast.Constant) else None for item in node.elts]
    return len(words) > 2 and words[0] in SHELLS and words[1] == "-c" and words[2] is None


@pytest.mark.invariant(5)
@pytest.mark.trap("eval-on-path")
def test_no_text_is_executed_as_code() -> None:
    """MagentLess evaluates a path that the model wrote, and puts paths into shell strings."""
    assert len(SOURCES) > 80
    trees = {str(path.relative_to(ROOT)): ast.parse(path.read_bytes()) for path in SOURCES}
    found = [
        (name, *fault) for name, tree in trees.items() for fault in faults(tree) if (name, fault[1]) not in TRUSTED
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    ["eval(path)", "exec(a)", "subprocess.run(a, shell=True)", "os.system(a)", "run(['sh', '-c', f'cat {path}'])"],
)
def test_the_check_finds_executed_text(code: str) -> None:
    assert list(faults(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "db.execute(query)",
        "yaml.load(text, yaml.CSafeLoader)",
        "run(['sh', '-c', 'exec \"$@\"', *words])",
        "re.compile(text)",
    ],
)
def test_the_check_accepts_other_code(code: str) -> None:
    assert not list(faults(ast.parse(code)))


@pytest.mark.rule("stages-know-only-the-floor")
def test_stages_never_import_each_other() -> None:
    """They communicate through files in data/ only, so a stage can be replaced, or run elsewhere."""
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
