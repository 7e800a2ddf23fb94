"""Counter-runs: the same tests once more in a fresh workspace, for a patch that all of them accept.

    falsified   gold's test files with false expectations (`falsified`): what gold fails here, a patch must fail
    first       the same with the first expectation of each test that has several, where `falsified` has the last
    former      the base's versions of the test files: tests that contradict gold's, a patch must fail
    disguised   variables, arguments, stacks and files do not reveal that tests run, and the functions by which
                assertions read values and elements cannot be replaced (`begin.cjs`): what gold passes here, a patch
                must pass

The disguised run takes place in a folder of another name if gold passes there, too. Command, titles, control and test
files are those of the run before. The material is made once per instance, with gold (`made`), and kept in its record,
so nothing is parsed when a patch is evaluated. `build.judge` and `evaluate.grade` say what the runs mean. Does not
cover the globals of a runner, which tests themselves need, where packages are installed, and traces of the disguise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib.resources import files
from typing import Literal

from pipeline.core import patches
from pipeline.core.record import Record
from pipeline.core.records import Environment
from pipeline.execution import falsified
from pipeline.execution.applying import apply, listed, must
from pipeline.execution.falsified import Falsified
from pipeline.execution.run import TestRun
from pipeline.execution.runs import Plan, prepared, run_patch
from pipeline.sandbox.base import Workspace

Kind = Literal["falsified", "first", "former", "disguised"]
#: in their order
KINDS: tuple[Kind, ...] = ("falsified", "first", "former", "disguised")

#: a patch of files as text, without warnings, whatever the repository's attributes say of them
_DIFF = (
    *("git", "--literal-pathspecs", "-c", "core.safecrlf=false", "diff"),
    *("--text", "--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/"),
)
_SNAPSHOTS = re.compile(r"(?:(.*)/)?__snapshots__/([^/]+)\.snap$")
#: copies a repository to a new folder and prints its path
_MOVE = ("sh", "-ec", files(__package__).joinpath("move.sh").read_text(encoding="utf-8"))
#: what may precede the first statement of a file, and what makes a file a module
_HEAD = re.compile(r"""(?:\s+|//[^\n]*|#![^\n]*|/\*.*?\*/|(["'])use \w+\1;?)*""", re.DOTALL)
_MODULE = re.compile(r"^\s*(?:import|export)\b", re.MULTILINE)
_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")


class Made(Record):
    """The material for an instance's counter-runs.

    `falsified` and `first` are patches on gold's tests. The numbers count the expectations at gold's lines: all of
    them, those with a value that can be changed, and those that can only be negated. `former` lists by file the tests
    (`group > title`; None: all) that contradict the base's, `telling` those whose failure prints two plain values, and
    `first_telling` the same for `first` (`Falsified`).
    """

    falsified: str = ""
    assertions: int = 0
    by_value: int = 0
    by_negation: int = 0
    former: dict[str, tuple[str, ...] | None] = {}
    telling: dict[str, tuple[str, ...]] = {}
    first: str = ""
    first_telling: dict[str, tuple[str, ...]] = {}

    def tells(self, kind: str, name: str) -> bool:
        """Whether a test, `file > group > title`, is one whose failure prints two plain values."""
        file, _, title = name.partition(" > ")
        return title in (self.first_telling if kind == "first" else self.telling).get(file, ())

    def contradicts(self, name: str) -> bool:
        """Whether a test, `file > group > title`, is one of `former`."""
        file, _, title = name.partition(" > ")
        return file in self.former and (self.former[file] is None or title in (self.former[file] or ()))


def made(plan: Plan, fix_patch: str, test_patch: str) -> Made:
    """Make the expectations of gold's tests false. Raises PatchFailed."""
    sections = dict(patches.sections(test_patch))
    with prepared(plan, "", fix_patch, test_patch) as (workspace, _):
        gold = {path: text for path in sections if (text := _read(workspace, path)) is not None}
        last, earliest = (_falsified(gold, sections, first=first) for first in (False, True))
        former = {path: _at_base(workspace, path) for path in _former(workspace, test_patch)}
        contradicted = {
            file: contradictions
            for path, at_base in former.items()
            for file, contradictions in [_contradicted(workspace, path, at_base, gold.get(path, ""))]
        }
        numbers = {
            name: sum(getattr(changed, name) for changed in last.values())
            for name in ("assertions", "by_value", "by_negation")
        }
        contradicting = {
            file: None if names is None else tuple(sorted(names))
            for file, names in contradicted.items()
            if names != frozenset()
        }
        return Made(
            falsified=_patch(workspace, gold, last),
            former=contradicting,
            telling=_telling(last),
            first=_patch(workspace, gold, earliest),
            first_telling=_telling(earliest),
            **numbers,
        )


def _falsified(gold: Mapping[str, str], sections: Mapping[str, str], *, first: bool) -> dict[str, Falsified]:
    """Gold's files with false expectations, by path. With `first`, only tests with several expectations change."""
    return {
        path: falsified.falsify(
            path, text, falsified.added(sections[path]), falsified.beside(sections[path]), first=first
        )
        for path, text in gold.items()
    }


def _telling(by_path: Mapping[str, Falsified]) -> dict[str, tuple[str, ...]]:
    return {path: tuple(sorted(false.telling)) for path, false in by_path.items() if false.telling}


def run(
    kind: Kind,
    plan: Plan,
    patch: str,
    fix_patch: str,
    test_patch: str,
    tests: Collection[str],
    false: str = "",
    *,
    moved: bool = False,
) -> TestRun:
    """One counter-run of a patch; `tests` are the files that hold a control, `false` is the patch of falsified
    expectations. The disguised run is `moved` to a folder of another name. Raises PatchFailed."""

    def alter(workspace: Workspace) -> None:
        if kind in ("falsified", "first"):
            apply(workspace, false, "falsified")
        elif kind == "former":
            must(
                workspace, "git", "--literal-pathspecs", "checkout", "-q", "HEAD", "--", *_former(workspace, test_patch)
            )
        else:
            if moved:
                _move(workspace)
            _disguise(workspace, tests)

    if kind == "disguised":
        plan = replace(plan, environment=_disguised(plan.environment))
    return run_patch(plan, patch, fix_patch, test_patch, tests, alter)


def kind_of(name: str) -> Kind:
    """The kind of a counter-run by its name. A kind may run several times: `disguised.2`."""
    return next(kind for kind in KINDS if kind == name.partition(".")[0])


def _former(workspace: Workspace, test_patch: str) -> list[str]:
    """The test files and snapshots of a test patch that the base has."""
    candidates = [path for path in patches.paths(test_patch) if patches.is_runnable(path) or _SNAPSHOTS.search(path)]
    command = ("git", "--literal-pathspecs", "ls-tree", "-r", "--name-only", "-z", "HEAD", "--")
    return listed(workspace, *command, *candidates) if candidates else []


def _contradicted(workspace: Workspace, path: str, before: str, gold: str) -> tuple[str, frozenset[str] | None]:
    """The test file of a path, and its tests that contradict the base's. A changed snapshot contradicts all of them."""
    if snapshot := _SNAPSHOTS.search(path):
        file = "/".join(filter(None, snapshot.groups()))
        current = _read(workspace, file)
        unchanged = current is not None and current == _at_base(workspace, file)
        return file, None if unchanged and before != gold else falsified.contradicted(
            file, _at_base(workspace, file), current or ""
        )
    return path, falsified.contradicted(path, before, gold)


def _patch(workspace: Workspace, gold: Mapping[str, str], by_path: Mapping[str, Falsified]) -> str:
    """The patch, as git writes it, that falsifies gold's files. The files are restored afterwards."""
    changed = {path: false.text for path, false in by_path.items() if false.text != gold[path]}
    if not changed:
        return ""
    must(workspace, "git", "--literal-pathspecs", "add", "-f", "--", *changed)
    for path, text in changed.items():
        workspace.write(f"{workspace.root}/{path}", text.encode())
    diff = must(workspace, *_DIFF, "--", *changed).decode()
    for path in changed:
        workspace.write(f"{workspace.root}/{path}", gold[path].encode())
    return diff


def _read(workspace: Workspace, path: str) -> str | None:
    """A file's text; None if it is missing or not text."""
    return _decoded(workspace.read(f"{workspace.root}/{path}"))


def _at_base(workspace: Workspace, path: str) -> str:
    """The base's version of a file; empty if there is none or it is not text."""
    shown = workspace.run(["git", "show", f"HEAD:{path}"])
    return (_decoded(shown.output) or "") if shown.code == 0 else ""


def _decoded(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return None


def _disguised(environment: Environment) -> Environment:
    """An environment whose variables do not mention tests. Compilers still get theirs from BABEL_ENV."""
    node_env = environment.test_env.get("NODE_ENV", "test")
    variables = {"BABEL_ENV": node_env, **environment.test_env, "NODE_ENV": "development"}
    return environment.model_copy(update={"test_env": variables})


def _move(workspace: Workspace) -> None:
    """Move the repository to a folder of another name: its own files are copied, installed packages are linked, and
    links among its own packages are kept."""
    workspace.root = must(workspace, *_MOVE, workspace.root).decode().strip().splitlines()[-1]


def _disguise(workspace: Workspace, tests: Collection[str]) -> None:
    """Make every test file begin by hiding what the runner reveals."""
    folder = f"{workspace.scratch}/begin"
    workspace.write(f"{folder}/begin.cjs", files(__package__).joinpath("begin.cjs").read_bytes())
    for number, path in enumerate(sorted(tests)):
        if _SCRIPT.search(path) and (text := _read(workspace, path)) is not None:
            module, file = f"{folder}/{number}.cjs", f"{workspace.root}/{path}"
            workspace.write(module, f'require("./begin.cjs")({json.dumps(file)});\n'.encode())
            workspace.write(file, _begun(path, text, module).encode())


def _begun(path: str, text: str, module: str) -> str:
    """The text of a test file that loads a module first."""
    statement = (
        f'import "{module}";' if _MODULE.search(text) or path.endswith((".mjs", ".mts")) else f'require("{module}");'
    )
    head = _HEAD.match(text)
    start = head.end() if head else 0
    return f"{text[:start]}\n// @ts-ignore\n{statement}\n{text[start:]}"
