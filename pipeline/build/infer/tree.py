"""The files of one commit as inference sees them: paths, texts, manifests. Malformed parts are ignored."""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, NamedTuple

from pipeline.build.infer import unfolding
from pipeline.core.errors import A11yBenchError
from pipeline.core.texts import parse_json

#: tables of dependencies in manifests; the later wins
_DEPENDENCIES = ("peerDependencies", "optionalDependencies", "dependencies", "devDependencies")


class Unsupported(A11yBenchError):
    """No environment follows from the files; `reason` is from the closed list of the build stage."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason
        super().__init__(detail)


class Found(NamedTuple):
    """A value and its evidence."""

    value: str
    evidence: str


class Manifest:
    """One package.json at `path`. Malformed fields count as missing."""

    def __init__(self, path: str, data: dict[str, Any]) -> None:
        self.path, self.data = path, data
        self.dependencies = {name: version for key in _DEPENDENCIES for name, version in self.table(key).items()}

    def table(self, key: str) -> dict[str, str]:
        """The texts of a field that is an object."""
        found = self.data.get(key)
        return {name: text for name, text in found.items() if isinstance(text, str)} if isinstance(found, dict) else {}

    def text(self, key: str) -> str:
        found = self.data.get(key)
        return found if isinstance(found, str) else ""

    @cached_property
    def scripts(self) -> dict[str, str]:
        """Its scripts as shell texts, wherever it keeps their commands."""
        return unfolding.scripts(self.data)

    @property
    def is_package(self) -> bool:
        """Whether managers install it: some manifests only say where files are (`main`, `module`)."""
        return bool(self.text("name") or self.dependencies or self.scripts)

    @property
    def programs(self) -> dict[str, str]:
        """The files of the package's programs, by name. A single one without a name has the package's."""
        if file := self.text("bin"):
            return {self.text("name").rpartition("/")[2]: file}
        return self.table("bin")


class Tree:
    """The files of a commit: their `paths`, and `read` for the text of one (None: the clone lacks it). `added` are the
    texts of files that are not in the commit, such as new tests."""

    def __init__(
        self, paths: Iterable[str], read: Callable[[str], str | None], added: Mapping[str, str] | None = None
    ) -> None:
        self.paths = frozenset(paths)
        self._read, self._added = cache(read), added or {}

    def text(self, path: str) -> str:
        """A file's text, empty where there is none."""
        return (self._read(path) or "") if path in self.paths else self._added.get(path, "")

    def matching(self, wanted: Callable[[str], object]) -> list[str]:
        """The sorted paths for which `wanted` is true."""
        return sorted(filter(wanted, self.paths))

    def root(self) -> Manifest:
        """The manifest at the root; an empty one if only folders have one. Raises Unsupported if it cannot be read."""
        if "package.json" not in self.paths:
            if any(path.endswith("/package.json") for path in self.paths):
                return Manifest("package.json", {})
            raise Unsupported("runner_unsupported", "there is no package.json")
        try:
            data = parse_json(self.text("package.json"))
        except ValueError as error:
            raise Unsupported("environment_failed", f"package.json is not valid JSON: {error}") from error
        if not isinstance(data, dict):
            raise Unsupported("environment_failed", "package.json is not a JSON object")
        return Manifest("package.json", data)

    def manifest(self, folder: str) -> Manifest | None:
        """The manifest of a folder; None if there is none that can be read."""
        path = posixpath.join(folder, "package.json")
        try:
            data = parse_json(self.text(path))
        except ValueError:
            return None
        return Manifest(path, data) if isinstance(data, dict) else None

    def is_package(self, folder: str) -> bool:
        """Whether a folder is that of a package."""
        manifest = self.manifest(folder)
        return manifest is not None and (not folder or manifest.is_package)

    def asks_for_manager(self, folder: str) -> bool:
        """Whether a package's manifest may require a manager, so that npm runs its scripts only with `--force`."""
        manifest = self.manifest(folder)
        return manifest is not None and "devEngines" in manifest.data


def below(tree: Tree, folder: str) -> Tree:
    """The tree of a folder, as if it were the root."""
    start = f"{folder}/"
    inside = (path.removeprefix(start) for path in tree.paths if path.startswith(start))
    return Tree(inside, lambda path: tree.text(f"{start}{path}"))


def own_packages(tree: Tree) -> dict[str, str]:
    """The repository's own packages: name -> folder."""
    folders: dict[str, str] = {}
    for path in tree.matching(lambda path: posixpath.basename(path) == "package.json" and "node_modules" not in path):
        folder = posixpath.dirname(path)
        manifest = tree.manifest(folder)
        if manifest and (name := manifest.text("name")):
            folders.setdefault(name, folder)
    return folders


def above(path: str) -> Iterator[str]:
    """The folders that hold a file, the nearest first; the root is empty."""
    while path:
        path = posixpath.dirname(path)
        yield path


@cache
def table(name: str) -> dict[str, Any]:
    """A table of this package."""
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))
