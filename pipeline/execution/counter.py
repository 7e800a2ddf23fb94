"""Counter-runs: the same tests once more in a fresh workspace, for a patch that all of them accept.

    falsified   gold's test files with false expectations (`falsified`): what gold fails there, a patch must fail
    first       the same with the first expectation of each test that has several, where `falsified` has the last
    former      the base's own versions of the test files: what contradicts gold's, a patch must fail
    disguised   variables, arguments, stacks and files do not say that tests run, and what assertions read values and
                elements by cannot be replaced (`begin.cjs`): what gold passes so, a patch must pass

The disguised run is in a folder of another name, where gold passes there, too. Command, titles, control and files that
run are those of the run before. What is made of an instance is made once, with
gold (`made`), and stands in its record, so that nothing is parsed when a patch is evaluated. What the runs mean is
`build.judge`'s and `evaluate.grade`'s. Does not cover the globals of a runner, which tests themselves need, where
packages are installed, and what the disguise itself leaves behind.
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

_SNAPSHOTS = re.compile(r"(?:(.*)/)?__snapshots__/([^/]+)\.snap$")
#: copies a repository to a new folder and says which
_MOVE = ("sh", "-ec", files(__package__).joinpath("move.sh").read_text(encoding="utf-8"))
#: what may stand before the first statement of a file, and files whose statements are modules'
_HEAD = re.compile(r"""(?:\s+|//[^\n]*|#![^\n]*|/\*.*?\*/|(["'])use \w+\1;?)*""", re.DOTALL)
_MODULE = re.compile(r"^\s*(?:import|export)\b", re.MULTILINE)
_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")


class Made(Record):
    """What counter-runs of an instance are made of.

    `falsified` and `first` are patches on gold's tests, with the numbers of its expectations: all at gold's lines,
    those with a value that can be changed, those that can be negated only. `former` names tests that contradict the
    base's, by file (none: all of it) as `group > title`, `telling` those whose failure says two plain values, and
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
        """Whether a test, `file > group > title`, is one of those whose failure says two plain values."""
        file, _, title = name.partition(" > ")
        return title in (self.first_telling if kind == "first" else self.telling).get(file, ())

    def contradicts(self, name: str) -> bool:
        """Whether a test, `file > group > title`, is one of `former`."""
        file, _, title = name.partition(" > ")
        return file in self.former and (self.former[file] is None or title in (self.former[file] or ()))


def made(plan: Plan, fix_patch: str, test_patch: str) -> Made:
    """Make false expectations of gold's tests. Raises PatchFailed."""
    sections = dict(patches.sections(test_patch))
    with prepared(plan, "", fix_patch, test_patch) as (workspace, _):
        gold = {path: text for path in sections if (text := _read(workspace, path)) is not None}
        found, sooner = (_falsified(gold, sections, first=first) for first in (False, True))
        former = {path: _at_base(workspace, path) for path in _former(workspace, test_patch)}
        contradicted = {
            file: contradictions
            for path, before in former.items()
            for file, contradictions in [_contradicted(workspace, path, before, gold.get(path, ""))]
        }
        numbers = {
            name: sum(getattr(one, name) for one in found.values())
            for name in ("assertions", "by_value", "by_negation")
        }
        named = {
            file: None if names is None else tuple(sorted(names))
            for file, names in contradicted.items()
            if names != frozenset()
        }
        return Made(
            falsified=_patch(workspace, gold, found),
            former=named,
            telling=_telling(found),
            first=_patch(workspace, gold, sooner),
            first_telling=_telling(sooner),
            **numbers,
        )


def _falsified(gold: Mapping[str, str], sections: Mapping[str, str], *, first: bool) -> dict[str, Falsified]:
    """Gold's files with false expectations, by path; with `first`, of those tests that have several."""
    return {
        path: falsified.falsify(
            path, text, falsified.added(sections[path]), falsified.beside(sections[path]), first=first
        )
        for path, text in gold.items()
    }


def _telling(found: Mapping[str, Falsified]) -> dict[str, tuple[str, ...]]:
    return {path: tuple(sorted(one.telling)) for path, one in found.items() if one.telling}


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
    """The kind of a counter-run, which may be made several times: `disguised.2`."""
    return next(kind for kind in KINDS if kind == name.partition(".")[0])


def _former(workspace: Workspace, test_patch: str) -> list[str]:
    """The test files and snapshots of a test patch that the base has."""
    wanted = [path for path in patches.paths(test_patch) if patches.is_runnable(path) or _SNAPSHOTS.search(path)]
    command = ("git", "--literal-pathspecs", "ls-tree", "-r", "--name-only", "-z", "HEAD", "--")
    return listed(workspace, *command, *wanted) if wanted else []


def _contradicted(workspace: Workspace, path: str, before: str, gold: str) -> tuple[str, frozenset[str] | None]:
    """The test file of a path, and its tests that contradict the base's; of snapshots, that is any of them."""
    if kept := _SNAPSHOTS.search(path):
        file = "/".join(filter(None, kept.groups()))
        now = _read(workspace, file)
        same = now is not None and now == _at_base(workspace, file)
        return file, None if same and before != gold else falsified.contradicted(
            file, _at_base(workspace, file), now or ""
        )
    return path, falsified.contradicted(path, before, gold)


def _patch(workspace: Workspace, gold: Mapping[str, str], found: Mapping[str, Falsified]) -> str:
    """What git says of files of gold's that become others; they are gold's again afterwards."""
    changed = {path: one.text for path, one in found.items() if one.text != gold[path]}
    if not changed:
        return ""
    must(workspace, "git", "--literal-pathspecs", "add", "-f", "--", *changed)
    for path, text in changed.items():
        workspace.write(f"{workspace.root}/{path}", text.encode())
    command = (
        "git",
        "--literal-pathspecs",
        "diff",
        "--no-color",
        "--no-ext-diff",
        "--src-prefix=a/",
        "--dst-prefix=b/",
    )
    said = must(workspace, *command, "--", *changed).decode()
    for path in changed:
        workspace.write(f"{workspace.root}/{path}", gold[path].encode())
    return said


def _read(workspace: Workspace, path: str) -> str | None:
    """A file's text; None where it is gone, or none."""
    return _decoded(workspace.read(f"{workspace.root}/{path}"))


def _at_base(workspace: Workspace, path: str) -> str:
    """The base's version of a file; empty where there is none, or it is no text."""
    done = workspace.run(["git", "show", f"HEAD:{path}"])
    return (_decoded(done.output) or "") if done.code == 0 else ""


def _decoded(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return None


def _disguised(environment: Environment) -> Environment:
    """An environment whose variables say nothing of tests. What compiles them may still ask for its own."""
    told = environment.test_env.get("NODE_ENV", "test")
    variables = {"BABEL_ENV": told, **environment.test_env, "NODE_ENV": "development"}
    return environment.model_copy(update={"test_env": variables})


def _move(workspace: Workspace) -> None:
    """Let the repository be in a folder of another name: its own files there are copies, what is installed are links,
    and links among its packages stay such."""
    workspace.root = must(workspace, *_MOVE, workspace.root).decode().strip().splitlines()[-1]


def _disguise(workspace: Workspace, tests: Collection[str]) -> None:
    """Let every test file begin by taking back what the runner told."""
    folder = f"{workspace.scratch}/begin"
    workspace.write(f"{folder}/begin.cjs", files(__package__).joinpath("begin.cjs").read_bytes())
    for number, path in enumerate(sorted(tests)):
        if _SCRIPT.search(path) and (text := _read(workspace, path)) is not None:
            module, place = f"{folder}/{number}.cjs", f"{workspace.root}/{path}"
            workspace.write(module, f'require("./begin.cjs")({json.dumps(place)});\n'.encode())
            workspace.write(place, _begun(path, text, module).encode())


def _begun(path: str, text: str, module: str) -> str:
    """A test file that loads a module first."""
    statement = (
        f'import "{module}";' if _MODULE.search(text) or path.endswith((".mjs", ".mts")) else f'require("{module}");'
    )
    head = _HEAD.match(text)
    place = head.end() if head else 0
    return f"{text[:place]}\n// @ts-ignore\n{statement}\n{text[place:]}"
