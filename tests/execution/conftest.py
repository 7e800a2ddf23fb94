"""A repository whose tests need no installation, and a sandbox that runs them in plain folders."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import factories
import pytest
from disguise import prepare
from histories import History, put

from pipeline.execution.runs import Plan
from pipeline.sandbox.base import DEFAULT, Limits
from pipeline.sandbox.local.workspace import LocalWorkspace, copy

RUNNER = Path(__file__).parents[1] / "tiny_jest.js"
TESTS = ("src/Menu.test.js", "src/New.test.js")


class FolderSandbox:
    """A sandbox that opens copies of one checkout as workspaces, as the local sandbox does; one module is installed."""

    name = "local"

    def __init__(self, checkout: Path, folder: Path) -> None:
        self.checkout, self.folder, self.numbers = checkout, folder, itertools.count()

    @contextmanager
    def open(self, digest: str, *, cache: str = "use", limits: Limits = DEFAULT) -> Iterator[LocalWorkspace]:
        workspace = LocalWorkspace(self.folder / str(next(self.numbers)), Path(sys.executable).parent, limits)
        copy(self.checkout, Path(workspace.root))
        put(Path(workspace.root, "node_modules", "dep", "index.js"), "installed\n")
        yield workspace


@pytest.fixture
def sandbox_of(tmp_path: Path) -> Callable[[Path], FolderSandbox]:
    """`sandbox_of(folder)`: a sandbox that opens copies of the folder."""
    return lambda checkout: FolderSandbox(checkout, tmp_path / "workspaces")


@pytest.fixture(scope="session")
def first_commit(tmp_path_factory: pytest.TempPathFactory) -> History:
    """The library, for copying."""
    history = History(tmp_path_factory.mktemp("first") / "library")
    files = {
        "src/Menu.js": "<nav>\n",
        "src/Menu.test.js": "opens | src/Menu.js | <nav\n",
        "src/__snapshots__/Menu.snap": "<nav>\n",
        "package.json": '{"jest": {}}\n',
        "jest.config.js": "module.exports = {}\n",
        ".gitignore": "node_modules\n",
    }
    history.commit("base", files)
    return history


@pytest.fixture
def library(first_commit: History, tmp_path: Path) -> History:
    """One commit with a component, its test, its snapshot and its configuration."""
    return first_commit.copy(tmp_path / "library")


@pytest.fixture
def plan(library: History, tmp_path: Path) -> Callable[..., Plan]:
    """`plan(files, limits)`: runs the library's tests with `tiny_jest.js`."""
    sandbox = FolderSandbox(library.folder, tmp_path / "workspaces")
    command = ("node", str(RUNNER), "--outputFile={report}", "--runTestsByPath", "{files}")

    def make(files: tuple[str, ...] = TESTS, limits: Limits = DEFAULT) -> Plan:
        return Plan(sandbox, "image", factories.make_environment(test=command), files, limits)

    return make


@pytest.fixture(scope="session")
def first_patch(first_commit: History, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """A patch against the first commit, which many tests ask for: each is made once."""
    history = first_commit.copy(tmp_path_factory.mktemp("patches") / "library")
    made: dict[str, str] = {}

    def make(files: dict[str, str | None]) -> str:
        if (key := repr(files)) not in made:
            made[key] = _patch(history, files)
        return made[key]

    return make


@pytest.fixture
def patch(library: History, first_commit: History, first_patch: Callable[..., str]) -> Callable[..., str]:
    """`patch({path: text})`: a patch against the library's commit; None removes a file."""

    def make(files: dict[str, str | None]) -> str:
        return first_patch(files) if library.head == first_commit.head else _patch(library, files)

    return make


def _patch(history: History, files: dict[str, str | None]) -> str:
    base = history.head
    head = history.commit("change", files)
    text = history.git("diff", "--binary", "--full-index", base, head) + "\n"
    history.git("reset", "-q", "--hard", base)
    return text


@pytest.fixture
def begin(tmp_path: Path) -> Path:
    """The module that a disguised test file loads first."""
    return prepare(tmp_path)
