"""A library with very fast tests, and one pull request for each possible end of a qualification.

Its runner is `tiny_jest.js` instead of Jest, a package of the library's own: installing it takes npm and no registry.
Writes below the given folder. `Bench` collects and builds it with the real stages in the local sandbox.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from factories import REPO
from histories import Content, History

from pipeline.build.environments import recipe
from pipeline.build.plan import Listed
from pipeline.build.qualify import Settings
from pipeline.build.stage import Outcome, build
from pipeline.collect.stage import collect
from pipeline.core.errors import InfrastructureError
from pipeline.core.git import open_clone
from pipeline.core.records import Candidate, Instance
from pipeline.core.retry import Patience
from pipeline.core.store import Store, read_records, write_records
from pipeline.sandbox.base import Completed, Limits, Workspace
from pipeline.sandbox.local.sandbox import LocalSandbox

#: a run that writes more is ended; the time limit is generous, since machines differ
LIMITS = Limits(seconds=120, output=200_000)
#: the machine fails on purpose: no need to wait
IMPATIENT = Patience(tries=2, seconds=0.1)
BUILD = "mkdir -p dist && cp src/[mp]a[dr][et].js dist"
MANIFEST = (
    f'{{{{"name": "tiny", "version": "1.0.0", "private": true, "scripts": {{{{"build": "{BUILD}"}}}}, '
    '"devDependencies": {{{}}}}}\n'
)
JEST = '"jest": "file:./jest"'


class Pull(NamedTuple):
    """A pull request on `src/NAME.js` and `src/NAME.test.js`: how it ends, both files before and after, and other
    files."""

    ends: str
    tests: str | None
    tests_before: str | None = "works | {src} | old\n"
    fix: str = "old new\n"
    fix_before: str | None = "old\n"
    others: dict[str, Content] = {}


NAMED = "works | {src} | old\nnamed | {src} | new\n"
#: a component whose tests compare its markup: the class, and further markup
BUTTON = '<button\n  class="{}"\n{}/>\n'
PRESSED = '  aria-pressed="true"\n'
SHOWN = 'works | {{src}} | <button\nrenders | {{src}} | class="{}"\n'
SNAPSHOT = "// Jest Snapshot v1\n\nexports[`renders 1`] = `\n" + BUTTON.format("new", PRESSED) + "`;\n"
#: name -> pull request. Its position is its number; those that spoil package.json come last
PULLS = {
    "menu": Pull("qualified", NAMED),
    "badge": Pull("qualified", "needs {src}\nnamed | {src} | new\n", tests_before=None, fix_before=None),
    "toggle": Pull(
        "qualified", SHOWN.format("new"), SHOWN.format("old"), BUTTON.format("new", PRESSED),
        BUTTON.format("old", ""), {"src/__snapshots__/toggle.test.js.snap": SNAPSHOT},
    ),
    "tabs": Pull("qualified", NAMED + "turns {counter}\n", "works | {src} | old\nturns {counter}\n"),
    "alert": Pull("no_fix_transition", "works | {src} | old\nalso | {src} | old\n"),
    "dialog": Pull("regression", NAMED, fix="new\n"),
    "card": Pull("gold_does_not_fix", "works | {src} | old\nnever | {src} | never\n"),
    "list": Pull("test_lost", "works | {src} | old | old\n", "works | {src} | old | old\n\n", fix="new\n"),
    "link": Pull("anomalous", "works | {src} | never | new\n"),
    "image": Pull("no_tests_run", None, None, others={"src/__tests__/image.json": "{}\n"}),
    "input": Pull("no_report", "works | {src} | old\nbreaks no-report\n"),
    "label": Pull("report_untrusted", "works | {src} | old\nbreaks totals\n"),
    "table": Pull("output_limit", "works | {src} | old\nbreaks flood\n"),
    "video": Pull("patch_failed", NAMED),
    "hint": Pull("no_fix_transition", "works | setupTests.js | ready\n", others={"setupTests.js": "ready\n"}),
    "hash": Pull("qualified", NAMED + "breaks hashes\n", "works | {src} | old\nbreaks hashes\n"),
    "made": Pull(
        "qualified", "needs dist/made.js\nworks | dist/made.js | old\nnamed | dist/made.js | new\n",
        "needs dist/made.js\nworks | dist/made.js | old\n",
    ),
    "born": Pull("qualified", "needs dist/made.js\nnamed | {src} | new\n", tests_before=None, fix_before=None),
    "part": Pull(
        "qualified", "asks dist/part.js\nworks | {src} | old\nnamed | dist/part.js | new\n",
        "asks dist/part.js\nworks | {src} | old\nshown | dist/part.js | old\n",
    ),
    "sick": Pull("environment_failed", NAMED.replace("{src}", "gone"), "works | gone | old\n"),
    "icon": Pull("qualified", NAMED, others={
        "package.json": MANIFEST.format(f'{JEST}, "dep": "file:./dep"'),
        "dep/package.json": '{"name": "dep", "version": "1.0.0"}\n',
    }),
    "chip": Pull("environment_failed", NAMED, others={
        "package.json": MANIFEST.format(f'{JEST}, "gone": "file:./gone.tgz"'),
    }),
    "grid": Pull("runner_unsupported", NAMED, others={"package.json": MANIFEST.format("")}),
}  # fmt: skip
NUMBERS = {name: number for number, name in enumerate(PULLS, 1)}
QUALIFIED = tuple(name for name, pull in PULLS.items() if pull.ends == "qualified")


def instance_id(name: str) -> str:
    return REPO.instance_id(NUMBERS[name])


def make_library(folder: Path, pulls: Mapping[str, Pull] = PULLS, base: Mapping[str, Content] | None = None) -> History:
    """The history: one commit with everything before (and the files of `base`), and one for each pull request."""
    library = History(folder / "library")
    files: dict[str, Content] = {
        "package.json": MANIFEST.format(JEST),
        "jest/package.json": '{"name": "jest", "version": "29.0.0"}\n',
        "jest/bin/jest.js": Path(__file__).with_name("tiny_jest.js").read_bytes(),
        ".gitignore": "node_modules\ndist\n",
        **(base or {}),
    }
    for name, pull in pulls.items():
        files |= _files(folder, name, pull.fix_before, pull.tests_before)
    library.commit("first", {path: content for path, content in files.items() if content is not None})
    for number, (name, pull) in enumerate(pulls.items(), 1):
        changed = _files(folder, name, pull.fix, pull.tests) | pull.others
        library.commit(f"Add an aria label to {name} (#{number})", changed)
    return library


def _files(folder: Path, name: str, fix: str | None, tests: str | None) -> dict[str, Content]:
    source = f"src/{name}.js"
    filled = tests and tests.format(src=source, counter=folder / f"{name}.counter")
    return {source: fix} | ({f"src/{name}.test.js": filled} if filled else {})


class WatchedSandbox(LocalSandbox):
    """Counts the workspaces in which something is run. For images in `broken`, opening raises their error."""

    def __init__(self, cache: Path) -> None:
        super().__init__(cache)
        self.opened: list[str] = []
        self.broken: dict[str, Exception] = {}

    @contextmanager
    def open(self, digest: str, **options: Any) -> Iterator[Workspace]:
        if digest in self.broken:
            raise self.broken[digest]
        with super().open(digest, **options) as workspace:
            yield _Watched(workspace, partial(self.opened.append, digest))


class _Watched:
    """A workspace that reports when something is first run in it."""

    def __init__(self, workspace: Workspace, say: Callable[[], None]) -> None:
        self._workspace, self._say, self._said = workspace, say, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workspace, name)

    @property
    def root(self) -> str:
        return self._workspace.root

    @root.setter
    def root(self, folder: str) -> None:  # a disguised run moves the repository
        self._workspace.root = folder

    def run(self, *args: Any, **options: Any) -> Completed:
        if not self._said:
            self._say()
        self._said = True
        return self._workspace.run(*args, **options)


@dataclass
class Bench:
    """The library, a data directory, and a sandbox whose cache may be shared."""

    folder: Path
    library: Path
    cache: Path
    sandbox: WatchedSandbox = field(init=False)
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sandbox, self.store = WatchedSandbox(self.cache), Store(self.folder / "data")

    def copy(self, folder: Path) -> Bench:
        """The same data in another folder, with a counter of its own."""
        shutil.copytree(self.store.root, folder / "data")
        return Bench(folder, self.library, self.cache)

    def collect(self) -> None:
        """Collect everything; the gold patch of `video` is replaced by one that does not apply."""
        collect(self.store, REPO, self.library)
        path = self.store.raw(REPO) / "candidates.jsonl"
        write_records(path, [_spoiled(candidate) for candidate in read_records(path, Candidate)])

    def build(self, *names: str, settings: Settings | None = None, **more: Any) -> dict[str, Outcome]:
        """Build some pull requests, or all. Returns the results of all built ones, by the pull request's name."""
        numbers = [NUMBERS[name] for name in names]
        how = {
            "numbers": numbers,
            "trust_local": True,
            "patience": IMPATIENT,
            "listed": {NUMBERS["tabs"]: Listed(2)},
        } | more
        outcomes = build(self.store, REPO, settings or Settings(self.sandbox, repeats=1, limits=LIMITS), **how)
        self.outcomes = {list(PULLS)[int(outcome.instance_id.rpartition("-")[2]) - 1]: outcome for outcome in outcomes}
        return self.outcomes

    def candidate(self, name: str) -> Candidate:
        candidates = read_records(self.store.raw(REPO) / "candidates.jsonl", Candidate)
        return next(candidate for candidate in candidates if candidate.number == NUMBERS[name])

    def instance(self, name: str) -> Instance:
        return next(
            instance
            for instance in read_records(self.store.dataset(REPO), Instance)
            if instance.number == NUMBERS[name]
        )

    def break_image(self, name: str, error: Exception | None = None) -> None:
        """From now on, the sandbox cannot open this pull request's image."""
        image = recipe(open_clone(self.library), self.candidate(name)).image
        self.sandbox.broken[image] = error or InfrastructureError("the engine is gone", cause="engine")


def _spoiled(candidate: Candidate) -> Candidate:
    if candidate.number != NUMBERS["video"]:
        return candidate
    return candidate.model_copy(update={"fix_patch": candidate.fix_patch.replace("-old", "-other")})
