"""A base on which no test runs, or too few: a sick base, and what its tree and log say about it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pipeline.build.history_lock import HistoryLock
from pipeline.build.infer import Tree, Unsupported, infer, sources
from pipeline.build.infer.tree import above, own_packages
from pipeline.build.infer.uses import Use
from pipeline.build.missing import Missing, missing_from, own_folders
from pipeline.build.observe import Observation
from pipeline.build.situation import Situation
from pipeline.core.records import Environment, Health
from pipeline.ecosystems import runner

#: fields that decide how tests are run; the others belong to the install
RUN_FIELDS = (
    "runner", "runner_version", "folder", "configuration", "entries", "test", "selection", "everything", "test_env",
    "parser", "browser",
)  # fmt: skip
#: a server that a runner's configuration starts for its tests; tools that start one for Jest, and how
_SERVER = re.compile(r"\bwebServer\b")
_SERVING = re.compile(r"(?:^|/)jest-(?:puppeteer|playwright|dev-server|process-manager)\.config\.[cm]?[jt]s$")
_SERVED = re.compile(r"\b(?:server|serverOptions|command)[\"']?\s*:")


@dataclass(frozen=True)
class Case:
    """A sick base: the files and date of its commit, its test files, the `fixed` fields, the environment in which it
    was sick, its health and log there, and `preparations`, the commands that helped neighbors. `observe` starts the
    repository's own test command; `history_lock` finds the lock file of another commit."""

    tree: Tree
    date: str
    tests: Sequence[str]
    fixed: Mapping[str, tuple[object, str]]
    environment: Environment
    health: Health
    log: str
    root: str
    situation: Situation
    observe: Callable[[], list[Observation]]
    preparations: Sequence[tuple[tuple[str, ...], ...]] = ()
    history_lock: Callable[[], HistoryLock | None] = lambda: None

    def with_use(self, use: Use) -> Environment | None:
        """The environment that runs the tests by this use, with the current install; None if there cannot be one."""
        try:
            inferred = infer(self.tree, self.date, self.tests, self.fixed, use)
        except Unsupported:
            return None
        fields = {name: getattr(inferred, name) for name in RUN_FIELDS}
        evidence = {name: inferred.evidence[name] for name in RUN_FIELDS if name in inferred.evidence}
        return self.environment.model_copy(update=fields | {"evidence": self.environment.evidence | evidence})

    @cached_property
    def observed(self) -> list[Observation]:
        """The runners that the repository's own test command starts."""
        return self.observe()

    @cached_property
    def missing(self) -> Missing:
        """What the log reports as missing."""
        return missing(self.tree, self.tests, self.log, self.root)

    @property
    def is_served(self) -> bool:
        """Whether the configuration of tests in a browser starts a server, which may serve what has to be built."""
        environment = self.environment
        path = posixpath.normpath(posixpath.join(environment.folder, environment.configuration))
        if runner(environment.runner).browser and _SERVER.search(self._code(path)):
            return True
        beside = [
            path for path in self.tree.matching(_SERVING.search) if posixpath.dirname(path) in ("", environment.folder)
        ]
        return bool(environment.browser) and any(_SERVED.search(self._code(path)) for path in beside)

    @property
    def tested(self) -> str:
        """The folder of the nearest package above the tests."""
        return next(iter(packages_above(self.tree, self.tests)), self.environment.folder)

    def _code(self, path: str) -> str:
        return sources.without_remarks(self.tree.text(path))

    @property
    def unbuilt(self) -> tuple[str, ...]:
        """The packages of the repository that the log names, and those, except the tested one, in whose folders it
        misses a file."""
        packages, missing, tested = own_packages(self.tree), self.missing, self.tested
        named = {folder: name for name, folder in packages.items()}
        inside = self.environment.folder
        paths = (
            home for path in missing.files for home in (path.lstrip("/"), posixpath.join(inside, path.lstrip("/")))
        )
        owners = (next((named[folder] for folder in above(path) if folder in named), "") for path in paths)
        others = (name for name in owners if packages.get(name, "") not in ("", tested))
        return tuple(dict.fromkeys((*missing.own, *others)))


def missing(tree: Tree, tests: Sequence[str], log: str, root: str) -> Missing:
    """What a log of these tests reports as missing."""
    scripts = {name for home in packages_above(tree, tests) for name in scripts_of(tree, home)}
    return missing_from(log, own_packages(tree), root, own_folders(tree), scripts)


def packages_above(tree: Tree, tests: Sequence[str], tested: str = "") -> list[str]:
    """The folders of the nearest package above the tests, of the one that they are `tested` in, and of the outermost
    one: the root, if it is one."""
    folders = [folder for test in tests for folder in above(test) if tree.is_package(folder)]
    return list(dict.fromkeys((*folders[:1], *filter(tested.__eq__, folders), *folders[-1:])))


def scripts_of(tree: Tree, folder: str) -> Mapping[str, str]:
    """The scripts of the package in a folder."""
    manifest = tree.manifest(folder)
    return manifest.scripts if manifest else {}
