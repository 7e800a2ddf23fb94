"""Counter-runs: the same tests once more in a fresh workspace, for a patch that all of them accept.

    falsified   gold's test files with false expectations (`falsified`): what gold fails here, a patch must fail
    first       the same with the first expectation of each test that has several, where `falsified` has the last
    former      the same with the values that the base expected: tests that contradict gold's, a patch must fail
    disguised   variables, arguments, stacks and files do not reveal that tests run, and the functions by which
                assertions read values and elements cannot be replaced (`begin.cjs`): what gold passes here, a patch
                must pass

The disguised run has the first of several forms (`FORMS`) in which gold passes most of the tests that it fixes. If gold
passes at least nine tenths of them there, the runs with false expectations are disguised, too (`hidden`), so that a
patch cannot distinguish them from the true run. Command, titles, control and test files are those of the run before.
The material is made once per instance, with gold (`made`), and kept in its record: when a patch is evaluated, only
files that gold changes are parsed, if they seem to use a runner. `build.judge` and `evaluate.grade` say what the runs
mean.

The disguise applies to sources only (`askers.cjs`): tests, runners and libraries notice nothing. It hides the runner's
globals (`begin.cjs`), files (`files.cjs`) and the machine (`machine.cjs`), whatever function lists or describes them
(`veiling.cjs`), makes the document and its functions look like a browser's (`document.cjs`, `texts.cjs`), leaves only
modules that a page may have (`modules.cjs`), and keeps sources from replacing functions that others call
(`keeping.cjs`; in pages, `reading.cjs`). Does not cover traces of the disguise.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from pipeline.core import patches
from pipeline.core.record import Record
from pipeline.core.records import CounterRuns, Environment
from pipeline.core.store import digest
from pipeline.ecosystems.protection import protection
from pipeline.ecosystems.runners.jest import snapshots
from pipeline.execution import falsified
from pipeline.execution.added import own_modules
from pipeline.execution.applying import apply
from pipeline.execution.falsified import Falsified, Pool, tokens
from pipeline.execution.falsified.nodes import uses_runner
from pipeline.execution.generated import UNTRACKED
from pipeline.execution.run import TestRun
from pipeline.execution.runs import Plan, prepared, run_patch
from pipeline.execution.tree import every_file, listed, must
from pipeline.sandbox.base import Cache, Workspace

Kind = Literal["falsified", "first", "former", "disguised"]
#: in their order
KINDS: tuple[Kind, ...] = ("falsified", "first", "former", "disguised")

#: prints a patch of files as text, without warnings, whatever the repository's attributes say
_DIFF = (
    *("git", "--literal-pathspecs", "-c", "core.safecrlf=false", "diff"),
    *("--text", "--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/"),
)
_SNAPSHOTS = re.compile(r"(?:(.*)/)?__snapshots__/([^/]+)\.snap$")
#: copies a repository to a new folder and prints its path
_MOVE = ("sh", "-ec", files(__package__).joinpath("move.sh").read_text(encoding="utf-8"))
#: the scripts that hide that tests run; test files load the first one, and Node loads `early.cjs` before the runner
DISGUISE = (
    *("begin.cjs", "askers.cjs", "document.cjs", "early.cjs", "files.cjs", "imports.cjs", "keeping.cjs", "kept.cjs"),
    *("machine.cjs", "modules.cjs", "reading.cjs", "texts.cjs", "veiling.cjs", "watching.cjs"),
)
#: how code uses a runner, for `git grep`
_OF_TESTS = r"(^|[^.[:alnum:]_$])(expect|describe|(before|after)(Each|All)) ?\(|\b(jest|vi)\.(fn|mock|spyOn|use)"
#: modules that no page has: modules of Node that no bundler provides, libraries by which tests check or replace what
#: sources do, and tools of developers; and how code loads them, for `git grep`
_ALONE = (
    "async_hooks|child_process|cluster|dgram|diagnostics_channel|dns|domain|fs|http|http2|https|inspector|module|net|"
    "perf_hooks|readline|repl|tls|trace_events|tty|v8|vm|wasi|worker_threads|axe-core|sinon|@babel/core|"
    "@swc/core|esbuild|eslint|gulp|husky|lerna|nx|parcel|prettier|rollup|storybook|stylelint|ts-node|turbo|typescript|"
    "vite|webpack"
)
_LOADS_ALONE = rf"""['"](node:test|(node:)?({_ALONE}))(/[^'"]*)?['"]"""
_OF_ALONE = re.compile(_LOADS_ALONE)
#: what stands for the digits of a name in a host
_LETTERS = str.maketrans("0123456789", "ghijklmnop")
#: what may precede the first statement of a file, and what makes a file a module
_HEAD = re.compile(r"""(?:\s+|//[^\n]*|#![^\n]*|/\*.*?\*/|(["'])use \w+\1;?)*""", re.DOTALL)
_MODULE = re.compile(r"^\s*(?:import|export)\b", re.MULTILINE)
_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
#: files that the grammars read
_READABLE = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte)$")
_MANIFEST = re.compile(r"^(?!.*node_modules/)(?:.*/)?package\.json$")


class Form(NamedTuple):
    """How a disguised run hides that tests run: whether the repository is `moved` to a folder of another name, and
    whether elements have `boxes` and pages have the address of a `site`, as in a browser (which snapshots may
    contain)."""

    moved: bool = False
    boxes: bool = True
    site: bool = True


def form_of(counter_runs: CounterRuns) -> Form:
    """The form of an instance's disguised runs."""
    return Form(counter_runs.moved, counter_runs.boxes, counter_runs.site)


#: the forms; those that hide more come first
FORMS = tuple(Form(*form) for form in itertools.product((True, False), repeat=3))


class Made(Record):
    """The material for an instance's counter-runs.

    `falsified`, `first` and `former` are patches on gold's tests. The numbers count the expectations at gold's lines:
    all of them, those with a value that can be changed, and those that can only be negated. The other fields are by
    kind and file (see `Falsified`): `telling` lists the tests (`group > title`) whose failure prints two plain values,
    `changed` all tests with false expectations (for a file of snapshots, their keys; None if it may be any test), and
    `nested` those that may pass without reaching theirs (None if it may be any test).
    """

    falsified: str = ""
    assertions: int = 0
    by_value: int = 0
    by_negation: int = 0
    first: str = ""
    former: str = ""
    telling: dict[str, dict[str, tuple[str, ...]]] = {}
    changed: dict[str, dict[str, tuple[str, ...] | None]] = {}
    nested: dict[str, dict[str, tuple[str, ...] | None]] = {}

    def patch(self, kind: str) -> str:
        """The patch of a kind of counter-run; empty for `disguised`."""
        return {"falsified": self.falsified, "first": self.first, "former": self.former}.get(kind, "")

    def tells(self, kind: str, name: str) -> bool:
        """Whether a test, `file > group > title`, is one whose failure prints two plain values."""
        file, _, title = name.partition(" > ")
        return title in self.telling.get(kind, {}).get(file, ())

    def reaches(self, kind: str, name: str, files: Collection[str]) -> bool:
        """Whether a test, `file > group > title`, may have false expectations of a kind. A change outside of the test
        `files` may concern any test, one in a test with a computed title any test of its file. Groups are not compared,
        since their names may be computed, too."""
        return _is_among(self.changed.get(kind, {}), name, files)

    def may_miss(self, kind: str, name: str, files: Collection[str]) -> bool:
        """Whether such a test may pass without reaching its false expectation of a kind."""
        return _is_among(self.nested.get(kind, {}), name, files)


def _is_among(listed: Mapping[str, tuple[str, ...] | None], name: str, files: Collection[str]) -> bool:
    """Whether a test may be one of those listed by file."""
    file, last = name.partition(" > ")[0], name.rpartition(" > ")[2]
    for path, tests in listed.items():
        place = _test_of(path)
        if place not in files or (place == file and tests is None):
            return True
        titles = {test.rpartition(" > ")[2] for test in tests or ()}
        if place == file and (last in titles or snapshots.of_test(name, tests or ())):
            return True
    return False


def made(plan: Plan, fix_patch: str, test_patch: str) -> Made:
    """Make the expectations of gold's tests false. Raises PatchFailed."""
    sections = dict(patches.sections(test_patch))
    with prepared(plan, "", fix_patch, test_patch) as (workspace, _):
        gold = {path: text for path in sections if (text := _read(workspace, path)) is not None}
        pool = _pool(workspace, gold, fix_patch, test_patch)
        false = {
            "falsified": _falsified(gold, sections, pool, first=False),
            "first": _falsified(gold, sections, pool, first=True),
            "former": {path: falsified.former(path, _at_base(workspace, path), text) for path, text in gold.items()},
        }
        numbers = {
            name: sum(getattr(changed, name) for changed in false["falsified"].values())
            for name in ("assertions", "by_value", "by_negation")
        }
        return Made(
            falsified=_patch(workspace, gold, false["falsified"]),
            first=_patch(workspace, gold, false["first"]),
            former=_patch(workspace, gold, false["former"]),
            **numbers,
            telling={kind: _listed(by_path, "telling") for kind, by_path in false.items()},
            changed={kind: _listed(by_path, "tests") for kind, by_path in false.items()},
            nested={kind: _listed(by_path, "nested") for kind, by_path in false.items()},
        )


def _falsified(
    gold: Mapping[str, str], sections: Mapping[str, str], pool: Pool, *, first: bool
) -> dict[str, Falsified]:
    """Gold's files with false expectations, by path. With `first`, only tests with several expectations change."""
    return {
        path: falsified.falsify(path, text, falsified.added(section), falsified.beside(section), first=first, pool=pool)
        for path, text in gold.items()
        for section in [sections[path]]
    }


def _pool(workspace: Workspace, gold: Mapping[str, str], fix_patch: str, test_patch: str) -> Pool:
    """The roles and words of false values: those that no file of the repository and no patch of gold contains."""
    roles, words = tokens()["rare"], tokens()["words"]
    pattern = "|".join(sorted(roles | words))
    found = workspace.run(["git", "grep", "-IohiE", pattern, "--", ":!*.svg", ":!*.lock"], ours=True).output
    texts = (found.decode(errors="replace"), fix_patch, *gold.values())
    mentioned = {match[0].lower() for text in texts for match in re.finditer(pattern, text, re.IGNORECASE)}
    return Pool(digest(fix_patch, test_patch), roles - mentioned, words - mentioned)


def _listed(by_path: Mapping[str, Falsified], field: Literal["telling", "tests", "nested"]) -> dict[str, Any]:
    """The tests in a field of each file, sorted; None stays None, and files without any are left out."""
    tests = {path: getattr(false, field) for path, false in by_path.items()}
    return {path: names and tuple(sorted(names)) for path, names in tests.items() if names or names is None}


def run(
    kind: Kind,
    plan: Plan,
    patch: str,
    fix_patch: str,
    test_patch: str,
    tests: Collection[str],
    false: str = "",
    *,
    form: Form | None,
    build: str = "",
    cache: Cache = "use",
) -> TestRun:
    """One counter-run of a patch. `tests` are the files with a control, `false` is the patch that makes the kind's
    expectations false, and `form` says how the run is disguised, if it is. Sources then see that they are in this
    `build`, if it is not the one that libraries see. A folder of another name is the same for all patches of an
    instance, so that runners find its compiled files in the `cache`. Raises PatchFailed."""

    def alter(workspace: Workspace) -> None:
        if kind != "disguised":
            apply(workspace, false, "falsified")
        if form is None:
            return
        former = workspace.root if form.moved else ""
        if form.moved:
            _move(workspace, _name(fix_patch, test_patch))
        is_protected, fixed = protection(plan.protected), patches.paths(fix_patch)
        about = _about(workspace, is_protected, {*tests, *patches.paths(test_patch)}, fixed)
        about |= {"former": former, "boxes": form.boxes, "host": host_of(fix_patch, test_patch) if form.site else ""}
        about |= {"build": build, "cache": workspace.cache}
        _disguise(workspace, tests, about)

    if form is not None:
        plan = replace(plan, environment=_disguised(plan.environment), preloads=("begin/early.cjs",))
    return run_patch(plan, patch, fix_patch, test_patch, tests, alter, cache=cache)


def _name(fix_patch: str, test_patch: str) -> str:
    """A name for the folder of an instance's disguised runs, which nobody can guess and all patches share."""
    return digest(test_patch, fix_patch)[:10]


def host_of(fix_patch: str, test_patch: str) -> str:
    """The host of the site in which pages seem to be in an instance's disguised runs, with letters only."""
    return f"www.{_name(fix_patch, test_patch).translate(_LETTERS)}.com"


def shared(patch: str, false: str) -> tuple[str, ...]:
    """The roles and words of false values that a patch contains, too: with these, an expectation may be true."""
    lines = ([line[1:] for line in text.splitlines() if line.startswith("+")] for text in (patch, false))
    ours, theirs = ({word for line in added for word in re.findall(r"[\w-]+", line.lower())} for added in lines)
    return tuple(sorted((tokens()["rare"] | tokens()["words"]) & ours & theirs))


def kind_of(name: str) -> Kind:
    """The kind of a counter-run by its name. A kind may run several times: `disguised.2`."""
    return next(kind for kind in KINDS if kind == name.partition(".")[0])


def _test_of(path: str) -> str:
    """The test file of a file of snapshots; any other file itself."""
    snapshot = _SNAPSHOTS.search(path)
    return "/".join(filter(None, snapshot.groups())) if snapshot else path


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
    shown = workspace.run(["git", "show", f"HEAD:{path}"], ours=True)
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


def _move(workspace: Workspace, name: str) -> None:
    """Move the repository to a folder of this name: its own files are copied, installed packages are linked, and
    links among its own packages are kept."""
    workspace.root = must(workspace, *_MOVE, workspace.root, name).decode().strip().splitlines()[-1]


def _about(
    workspace: Workspace, is_protected: Callable[[str], bool], gold: Collection[str], fixed: Collection[str]
) -> dict[str, Any]:
    """What the disguise must know of a repository. `files` may know that tests run: the protected ones and gold's, and
    those that use a runner in the base, except where the patch changes them and the gold patch (`fixed`) does not. Of
    files that gold changes, comments and texts that look like such a use do not count.
    Further: `tests`, `manifests`, and the modules in `_ALONE` that no other file of the base loads (`alone`)."""
    changed = {*listed(workspace, "git", "diff", "--name-only", "-z", "HEAD")}.difference(fixed)
    using = {path for path, _ in _grep(workspace, "-lE", _OF_TESTS)} - changed
    using -= {path for path in using.intersection(fixed).difference(gold) if not _uses_runner(workspace, path)}
    files = every_file(workspace)
    own = own_modules(workspace, listed(workspace, *UNTRACKED), {*gold, *fixed})
    askers = {path for path in files if path in using or path in gold or (is_protected(path) and path not in own)}
    loads = [text for path, text in _grep(workspace, "-oE", _LOADS_ALONE) if path not in askers]
    loaded = {match[1].replace("node:", "") for text in loads if (match := _OF_ALONE.fullmatch(text))}
    return {
        "root": workspace.root,
        "files": [path for path in files if path in askers],
        "tests": [path for path in files if path in askers and patches.is_test_file(path)],
        "manifests": [path for path in files if _MANIFEST.search(path)],
        "alone": [name for name in ("test", *_ALONE.split("|")) if name not in loaded],
    }


def _uses_runner(workspace: Workspace, path: str) -> bool:
    """Whether a file of the base uses a runner, as far as a grammar can say."""
    return not _READABLE.search(path) or uses_runner(path, _at_base(workspace, path))


def _grep(workspace: Workspace, option: str, pattern: str) -> list[tuple[str, str]]:
    """The files of the base that match a pattern; with `-oE`, one row per match, with its text."""
    listing = workspace.run(["git", "grep", "-z", option, pattern, "HEAD", "--"], ours=True)
    found = listing.output.decode(errors="surrogateescape")
    lines = found.split("\n") if option == "-oE" else found.split("\0")
    return [(path.partition(":")[2], text) for path, _, text in (line.partition("\0") for line in lines) if path]


def _disguise(workspace: Workspace, tests: Collection[str], about: Mapping[str, Any]) -> None:
    """Make every test file begin by hiding what the runner reveals."""
    folder = f"{workspace.scratch}/begin"
    workspace.write(f"{folder}/askers.json", json.dumps(about).encode())
    for name in DISGUISE:
        workspace.write(f"{folder}/{name}", files(__package__).joinpath(name).read_bytes())
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
