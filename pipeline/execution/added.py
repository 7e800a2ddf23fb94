"""Files of a patch that tests could load in place of others: links that lead out, files that claim another module's
name or that an import of a script could mean, and settings. And modules that are only named like tests, which the
patch may keep.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Set
from pathlib import PurePosixPath

from pipeline.core.patches import is_test_file
from pipeline.core.records import Environment
from pipeline.core.trees import leading_out
from pipeline.ecosystems.protection import is_by_name_alone, is_protected, without_extension
from pipeline.ecosystems.versions import full, satisfies
from pipeline.execution.tree import CLAIM, State, existing, listed, must
from pipeline.sandbox.base import Workspace

#: lists all links except those of installed packages, each followed by its target
_LINKS = (
    *("find", ".", "(", "-path", "./.git", "-o", "-name", "node_modules", ")", "-prune", "-o"),
    *("-type", "l", "-printf", r"%P\0%l\0"),
)
#: such a comment
_CLAIMS = re.compile(r"[\s\ufeff]*/\*(?:(?!\*/).)*@provides(?:Module)?(?!\w)", re.DOTALL)
#: scripts, whose extension an import may leave out
_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
_DECLARED = re.compile(r"\.d\.[cm]?ts$")
#: a text that code may quote, such as a path
_QUOTED = re.compile(r"""["'`]([^"'`]+)(?=["'`])""")
#: words before an extension by which programs choose one of several files for a platform
_PLATFORM = re.compile(
    r"(?:.*\.)?(?:android|browser|client|desktop|dev|electron|ios|macos|mobile|module|native|node|prod|react-server|"
    r"server|ssr|tablet|test|tv|vr|web|windows|worker)(?:\..*)?"
)
#: begins what bundlers and stacks add to the path of a file
_QUERY = re.compile(r"[?#]")
#: names of files in which programs look for their settings
_SETTINGS = re.compile(r"(?:^|/)(?:\.[\w-]+rc(?:\.\w+)?|\.?[\w-]+(?:\.[\w-]+)*\.config\.\w+)$")
#: files that Babel runs while it compiles files that import them, and the plugin that does so
_MACRO = re.compile(r"(?:^|[./])macro(?:/index)?\.[cm]?[jt]s$")
_OF_MACROS = "node_modules/babel-plugin-macros"
#: names of packages by the name of their settings: `uno.config.ts` belongs to `unocss`
_PACKAGES = ("{}", "{}css", "{}js", "@{}", "@{}css", "@{}js", ".bin/{}")
#: names of helpers and data of tests, which a module of the sources may have, too
_HELPING = re.compile(r"(?:^|/)tests?-(?:helpers?|util\w*|fixtures?|mocks?|data)\b[^/]*\.[cm]?[jt]sx?$")
#: the last word of a file's name, with what precedes it
_MARK = re.compile(r"[-_.][A-Za-z0-9]+$|[A-Z][a-z0-9]*$")
#: the files in which settings of runners may be, as git names them
_OF_SETTINGS = ("*.json", "*rc", "*rc.*", "*.config.*", "*.conf.*", "*.opts", "*.yml", "*.yaml", "*file*", ":!*lock*")


def misleading(workspace: Workspace, state: State, patch: str, golds_own: Collection[str]) -> set[str]:
    """The files of a patch that programs may load in place of others: those that claim a module's name, new ones that
    an import of a script could mean, new settings, macros, and new ones that look like a file with a query. None of the
    last four that gold has as well."""
    settings = {path for path in state.added if _SETTINGS.search(path)}.difference(golds_own)
    doubling = _doubling(workspace, state, golds_own, patch)
    macros = _macros(workspace, {*state.added, *state.changed}.difference(golds_own))
    asking = {path for path in state.added if _QUERY.search(path)}.difference(golds_own)
    return {*_claiming(workspace, state), *doubling, *_configuring(workspace, settings), *macros, *asking}


def _macros(workspace: Workspace, paths: Collection[str]) -> set[str]:
    """Those of the files that Babel runs while it compiles others, if the plugin that does so is installed."""
    found = {path for path in paths if _MACRO.search(path)}
    return found if found and existing(workspace, [_OF_MACROS]) else set()


def leaving(workspace: Workspace, links: Collection[str]) -> set[str]:
    """Those of a patch's links that lead out of the repository, where code could find another state of it, or files of
    ours: all of them if one of the base's links leads out through them."""
    if not links:
        return set()
    names = must(workspace, *_LINKS).decode(errors="surrogateescape").split("\0")
    out = leading_out(dict(zip(names[:-1:2], names[1::2], strict=True)))
    return out if out <= {*links} else {*links}


def knows_names(environment: Environment) -> bool:
    """Whether the runner lets files claim the names of modules."""
    return environment.runner == "jest" and not satisfies(full(environment.runner_version), ">=24")


def _claiming(workspace: Workspace, state: State) -> frozenset[str]:
    """The files that take another module's name, such as a package's that tests import. None if the base has such
    files: there it is how modules are named."""
    claiming = frozenset(path for path in state.claiming if _claims(workspace.read(f"{workspace.root}/{path}")))
    is_usual = claiming and workspace.run(["git", "grep", "-qE", CLAIM, "HEAD", "--"], ours=True).code == 0
    return frozenset() if is_usual else claiming


def _claims(text: bytes | None) -> bool:
    """Whether a file with such a mention claims a name: the mention is in the comment at its head. A file that is too
    large to be read does."""
    return text is None or bool(_CLAIMS.match(text.decode(errors="replace")))


def _doubling(workspace: Workspace, state: State, free: Collection[str], patch: str) -> frozenset[str]:
    """The new files of a patch that an import of a script of the base could mean: which of the two it means depends on
    the program, so tests could load another one than users. None that are `free`, none in folders where the base has
    such pairs, and none that programs do not prefer to the script if the patch imports them by their own name."""
    added = [path for path in state.added if path not in free]
    if not added:
        return frozenset()
    gone = set(listed(workspace, "git", "ls-files", "-z", "--deleted"))
    tracked = (path for path in listed(workspace, "git", "ls-files", "-z") if path not in gone and _SCRIPT.search(path))
    scripts = _Scripts(tracked)
    lines = (line for line in patch.splitlines() if line.startswith("+"))
    quoted = (text for line in lines for text in _QUOTED.findall(line))
    imports = [text.split("/") for text in quoted if "/" in text]
    named = {"/".join(parts[-count:]) for parts in imports for count in (1, 2)}
    return frozenset(path for path in added if scripts.may_be_taken_for(path, named))


class _Scripts:
    """The base's scripts, by the names under which imports find them: `src/menu` is `src/menu.js`, and
    `src/menu/index.js` as well."""

    def __init__(self, paths: Iterable[str]) -> None:
        modules = {path: module for path in paths if (module := _module(path))}
        self.counts = Counter(modules.values())
        self.first = {module for path, module in modules.items() if path == f"{module}.js"}
        self.folders = {folder for module in self.counts if (folder := _indexed(module))}
        self.usual = {posixpath.dirname(module) for module, count in self.counts.items() if count > 1}
        words = ((posixpath.dirname(module), self._word(module)) for module in self.counts)
        self.words = {pair for pair in words if pair[1]}

    def may_be_taken_for(self, path: str, named: Set[str]) -> bool:
        """Whether a new file may be loaded in place of a script, although the patch imports the `named` modules."""
        if self._has(path):
            return True
        module = _module(path)
        folder, name = posixpath.split(path)
        if self._has(module):
            if folder in self.usual and module in self.counts:
                return False
            # Node's first choice is always `.js`
            return not (path.endswith(".json") and module in self.first - self.folders and name in named)
        if (above := _indexed(module)) in self.counts:
            return named.isdisjoint(f"{posixpath.basename(above)}/{last}" for last in ("index", name))
        word = self._word(module) if _SCRIPT.search(path) else ""
        if not word or (folder, word) in self.words:
            return False
        return bool(_PLATFORM.fullmatch(word)) or named.isdisjoint((name, posixpath.basename(module)))

    def _has(self, module: str) -> bool:
        return module in self.counts or module in self.folders

    def _word(self, module: str) -> str:
        """What a module's name adds to another script's: `web` for `lamp.web`."""
        folder, name = posixpath.split(module)
        words = name.split(".")
        for end in range(len(words) - 1, 0, -1):
            if self._has(posixpath.join(folder, ".".join(words[:end]))):
                return ".".join(words[end:])
        return ""


def _indexed(module: str) -> str:
    """The folder that a module is the index of; empty for any other."""
    return posixpath.dirname(module) if posixpath.basename(module) == "index" else ""


def _configuring(workspace: Workspace, added: Collection[str]) -> set[str]:
    """Those of the new files called like settings that a program may look for: their name begins with a dot or is that
    of an installed package or program, or a manifest lies beside them. All others are modules of the sources, such as
    `menu.config.ts`."""
    hidden = {path for path in added if posixpath.basename(path).startswith(".")}
    signs = {path: {*_signs(path)} for path in added if path not in hidden}
    there = existing(workspace, sorted({sign for found in signs.values() for sign in found}))
    return hidden | {path for path, found in signs.items() if not there.isdisjoint(found)}


def _signs(path: str) -> Iterator[str]:
    """The files whose existence shows that a program may look for settings in this file."""
    words = posixpath.basename(path).partition(".config.")[0].split(".")
    yield posixpath.join(posixpath.dirname(path), "package.json")
    for folder in PurePosixPath(path).parents:
        yield from (str(folder / "node_modules" / name.format(word)) for word in words for name in _PACKAGES)


def own_modules(
    workspace: Workspace, added: Collection[str], golds_own: Collection[str], environment: Environment | None = None
) -> frozenset[str]:
    """Those of the new files that only a name such as `test-utils.js` or `hitTest.js` protects, and that neither tests
    nor the runner of the `environment` can load: neither the base nor gold has a file or a folder of that name, nor the
    folder that makes it a test. Sources may import them."""
    named = {path: module for path in added if is_by_name_alone(path) and (module := _module(path))}
    if not named:
        return frozenset()
    others = {*listed(workspace, "git", "ls-files", "-z"), *golds_own}
    taken = {str(folder) for path in others for folder in (_module(path) or path, *PurePosixPath(path).parents)}
    tests = {path for path in others if is_test_file(path) and _SCRIPT.search(path)}
    names = {posixpath.basename(path) for path in tests}
    free = {
        path
        for path, module in named.items()
        if module not in taken and _folder_of_tests(path) not in taken and posixpath.basename(path) not in names
    }
    if environment is None or _is_told_files(environment):
        return frozenset(free)
    return frozenset(path for path in free if _HELPING.search(path) or not _may_be_found(workspace, path, tests))


def _folder_of_tests(path: str) -> str:
    """The outermost folder whose name makes a file a test; empty if none does."""
    folders = [str(folder) for folder in PurePosixPath(path).parents][-2::-1]
    return next((folder for folder in folders if is_protected(f"{folder}/module.js")), "")


def _is_told_files(environment: Environment) -> bool:
    """Whether the runner loads the test files that it is told and no others."""
    return environment.runner == "vitest" or "--runTestsByPath" in (*environment.test, *environment.selection)


def _may_be_found(workspace: Workspace, path: str, tests: Iterable[str]) -> bool:
    """Whether a pattern by which a runner finds tests may match a file: one of the `tests` is in the same top-level
    folder or has a name of the same kind, or settings mention what makes this file a test."""
    mark = _mark(path)
    if any(_top(path) == _top(test) or mark == _mark(test) for test in tests):
        return True
    word = posixpath.basename(_folder_of_tests(path)) or posixpath.splitext(mark)[0]
    return workspace.run(["git", "grep", "-qF", "-e", word, "HEAD", "--", *_OF_SETTINGS], ours=True).code == 0


def _top(path: str) -> str:
    return path.partition("/")[0]


def _mark(path: str) -> str:
    """The last word of a file's name with what precedes it, and its extension: `-spec.js`, `Test.js`."""
    name, extension = posixpath.splitext(posixpath.basename(path))
    word = _MARK.search(name)
    return (word[0] if word else name) + extension


def _module(path: str) -> str:
    """A module's path without its extension; empty for other files and for type declarations."""
    name = without_extension(path)
    return "" if name == path or _DECLARED.search(path) else name
