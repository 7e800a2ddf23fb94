"""The programs that the test scripts of a package.json call: through other scripts, launchers, and shell files.

A script is read as words (`words`), never run. Variables, folders (`cd ../..`) and words that a script passes to
another one are recorded with the call. Does not cover shell control flow: the lines of a shell file are read one by
one, and if none of them calls a program, the file is searched for the programs' names. Files for Node are searched, too
(`launchers` says what they give to a program).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import dropwhile, pairwise, zip_longest
from typing import NamedTuple

from pipeline.build.infer import coverage, launchers, makefiles, shell, sources
from pipeline.build.infer.tree import Manifest, Tree, own_packages
from pipeline.build.infer.words import (
    CHOOSING,
    CLOSED,
    OPENED,
    assigned,
    assigned_in,
    commands,
    is_assignment,
    is_closed,
    is_environment_file,
    launched,
    parts,
    program,
)
from pipeline.ecosystems.manager_folder import all_managers
from pipeline.ecosystems.runner_folder import Runner, all_runners

#: options that name a configuration
CONFIGURING = ("--config", "-c", "--opts")
#: the scripts that are read, in this order
NAMES = ("test", "test:unit", "unit", "test-unit", "test:ci", "test:jest", "jest", "test:vitest", "vitest", "test:ct")
#: names of other scripts that may test
_TESTS = re.compile(r"test|spec|unit|jest|vitest|mocha|karma|jasmine")
_OTHERS = re.compile(r"^(?:pre|post)|watch|update|debug|coverage|e2e|visual|lint|typ(?:es|ings|e-?[Cc]heck)")
#: names of scripts that test in other ways, which are read last
_LATER = re.compile(r"vrt|integration|contract|a11y|accessib|perf|acceptance|storybook|browserstack|sauce")
_END_TO_END = re.compile(r"e2e|visual")
#: programs that start others by configurations or scripts of their own
TASKS = frozenset({"gulp", "grunt", "node", "babel-node", "ts-node", "tsx", "make", "nx", "turbo", "lerna", "wireit"})
#: programs that call scripts by name, beside the package managers; the last one also runs commands
_CALLERS = ("run-s", "run-p", "npm-run-all", "concurrently")
_NAMED = re.compile(r"^(?:npm|yarn|pnpm|bun|node):(.+)$")
#: programs that load something into Node and start another program: the options of Node that do the same. The first
#: package that the manifest depends on decides; the last one needs none
_LOADERS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "babel-node": (("@babel/node", ("--require", "@babel/register")), ("", ("--require", "babel-register"))),
    "ts-node": (("", ("--require", "ts-node/register")),),
    "ts-node-esm": (("", ("--loader", "ts-node/esm")),),
    "tsx": (("", ("--import", "tsx")),),
}
#: programs that set the variables of environment files for what they start
_FROM_FILES = frozenset({"env-cmd", "dotenv", "dotenvx"})
#: extensions of shell files, and of files that Node runs if one of these programs gets them
_SHELL, _MODULES = ("", ".sh", ".bash"), (".js", ".cjs", ".mjs", ".ts")
_NODES = frozenset({"node", "babel-node", "ts-node", "tsx"})
#: their options that take a value
_WITH_VALUES = ("-r", "--require", "--import", "--loader", "--experimental-loader", "-P", "--project", "--env-file")
#: managers with further options that choose a package: this one means something else to pnpm
_CHOOSING_OF = {"npm": CHOOSING | {"-w"}}
#: words for the arguments of a shell file
_ARGUMENTS = ("$@", "$*", "${@}", "${*}")
#: commands that name programs but do not start them
_IDLE = re.compile(r"(?:echo|printf|rm|mkdir|cp|mv|which) |(?:npm|yarn|pnpm|bun) (?:-\S+ )*(?:install|i|add|ci)\b")
#: names of configurations, and texts that may be paths
_CONFIGURED, _PATH = re.compile(r"conf|\.opts$"), re.compile(r"[\w.@/-]{1,200}")


class Call(NamedTuple):
    """One program as a script calls it: its name (`jest`), the words after it, variables, options of Node. `folder` is
    where the script calls it; None: the folder of its package. `by` is the program that is called in its place and
    starts it; empty for none."""

    program: str
    words: tuple[str, ...]
    env: dict[str, str]
    node: tuple[str, ...]
    evidence: str
    folder: str | None = None
    by: str = ""


class _Way(NamedTuple):
    """The way to a script: its folder, the variables set so far, and the scripts before it, as text and by name."""

    folder: str
    env: dict[str, str]
    trail: str
    seen: tuple[str, ...] = ()


class _Reader(NamedTuple):
    """What is read, and for which programs; without any, for all. `manifest` is that of the package in `home`."""

    tree: Tree
    home: str
    manifest: Manifest
    programs: Sequence[str]

    def scripts(self, folder: str) -> Mapping[str, str]:
        manifest = self.manifest if folder == self.home else self.tree.manifest(folder)
        return manifest.scripts if manifest else {}


def calls(
    tree: Tree, folder: str, manifest: Manifest, programs: Sequence[str], script_names: Sequence[str] = NAMES
) -> Iterator[Call]:
    """The calls of these programs by the scripts that test, in order."""
    reader = _Reader(tree, folder, manifest, programs)
    for name in script_names:
        if name in manifest.scripts:
            way = _Way(folder, {}, f"{manifest.path}: scripts.{name}")
            for call in _of_script(reader, name, way):
                yield call._replace(node=_loaded(call.node, manifest))


def of_command(tree: Tree, manifest: Manifest, programs: Sequence[str], command: shell.Command) -> Iterator[Call]:
    """The calls of these programs by a command in a script of a package."""
    reader = _Reader(tree, posixpath.dirname(manifest.path), manifest, programs)
    return _of_text(reader, command.text, _Way(command.folder, {}, manifest.path))


def called(words: Sequence[str], scripts: Mapping[str, str]) -> list[str]:
    """The scripts that a command calls, in its order."""
    return [name for name, _ in _callees(words, scripts, _Way("", {}, ""))]


def is_parallel(words: Sequence[str]) -> bool:
    """Whether a command runs what it calls side by side."""
    caller = words[_caller(words) : _caller(words) + 1]
    return caller in (["run-p"], ["concurrently"]) or not {"-p", "--parallel"}.isdisjoint(words)


def started(tree: Tree, manifest: Manifest) -> list[str]:
    """The programs that the test command of a package finally starts, by name."""
    folder = posixpath.dirname(manifest.path)
    return list(dict.fromkeys(call.program for call in calls(tree, folder, manifest, (), ("test",))))


def names(manifest: Manifest) -> list[str]:
    """All scripts that may test, the likeliest first, without those that npm runs by itself or that watch."""
    others = [name for name in manifest.scripts if _TESTS.search(name) and name not in NAMES]
    return [
        *(name for name in NAMES if name in manifest.scripts),
        *sorted((name for name in others if not _OTHERS.search(name)), key=lambda name: bool(_LATER.search(name))),
    ]


def end_to_end(manifest: Manifest) -> list[str]:
    """The scripts that test a served application, by their names."""
    return [name for name in manifest.scripts if _END_TO_END.search(name)]


def starts_task(manifest: Manifest) -> bool:
    """Whether the test command starts a program that may start any runner: the base's own log and probe say more. A
    command that such a program keeps (wireit) counts, too."""
    return bool(_task(manifest))


def task_variables(manifest: Manifest) -> dict[str, str]:
    """The variables that the test command sets for such a program, and so for the runner."""
    return assigned(_task(manifest))


def _task(manifest: Manifest) -> list[str]:
    texts = (table.get("test", "") for table in (manifest.scripts, manifest.table("scripts")))
    found = (words for text in texts for words in commands(text))
    return next((words for words in found if any(program(word) in TASKS for word in words)), [])


def _of_script(reader: _Reader, name: str, way: _Way, extra: Sequence[str] = ()) -> Iterator[Call]:
    """The calls of a script; its last command gets the `extra` words."""
    inside = way._replace(seen=(*way.seen, f"{way.folder}:{name}"))
    yield from _of_text(reader, reader.scripts(way.folder)[name], inside, extra)


def _of_text(reader: _Reader, text: str, way: _Way, extra: Sequence[str] = ()) -> Iterator[Call]:
    """The calls of commands, with the folder and variables that earlier commands set. A subshell (`(cd lib && make)`)
    sets none for later commands."""
    found, outer = list(parts(text)), list[_Way]()
    last = max((index for index, words in enumerate(found) if words != CLOSED), default=0)
    for index, words in enumerate(found):
        if words == OPENED:
            outer.append(way)
        elif words == CLOSED:
            way = outer.pop() if outer else way
        elif words[0] in ("cd", "pushd") and len(words) > 1:
            way = way._replace(folder=_entered(words[1], way.folder))
        elif words[0] in ("export", "set"):
            way = way._replace(env=way.env | assigned(words[1:]))
        else:
            yield from _of_command(reader, [*words, *(extra if index == last else ())], way)


def _entered(path: str, folder: str) -> str:
    """The folder after `cd`; unchanged if the new one is outside the repository or unknown."""
    moved = shell.inside(path, folder)
    return folder if moved is None else moved


def _of_command(reader: _Reader, words: Sequence[str], way: _Way) -> Iterator[Call]:
    if chosen := _elsewhere(reader.tree, words, way.folder):
        folder, words = chosen
        way = way._replace(folder=folder)
    scripts, programs = reader.scripts(way.folder), reader.programs
    named = [i for i, word in enumerate(words) if program(word) in programs and program(word) != "node"]
    index = next((i for i in named if not _file(reader.tree, words, i, way.folder)), None)
    callees = list(_callees(words, scripts, way))
    if callees:
        variables = _variables(reader.tree, words[: _caller(words)], way)
        for callee, extra in callees:
            further = way._replace(env=variables, trail=f"{way.trail} -> {callee}")
            yield from _of_script(reader, callee, further, extra)
    elif any(" " in word for word in words) and "concurrently" in map(program, words):
        for text in filter(lambda word: " " in word, words):
            yield from _of_text(reader, text, way)
    elif "node" in words and "--test" in words and "node" in programs:
        yield _call(words, words.index("node"), reader, way)
    elif index is not None:
        yield _call(words, index, reader, way)
    elif target := _target(reader.tree, words, way):
        further = way._replace(trail=f"{way.trail} -> {target}", seen=(*way.seen, target))
        yield from _of_text(reader, _recipe(reader.tree, way.folder, target), further)
    elif found := list(_of_file(reader, words, way)):
        yield from found
    elif named:
        yield _call(words, named[0], reader, way)
    else:
        yield from _of_unknown(reader, words, way)


def _elsewhere(tree: Tree, words: Sequence[str], folder: str) -> tuple[str, list[str]] | None:
    """The folder of the package that a manager's words choose (`yarn workspace NAME`, `--filter NAME`, `-C FOLDER`) and
    the words without this choice; None if they choose none of the repository's, or several."""
    start = _caller(words)
    manager, after = words[start : start + 1], list(words[start + 1 :])
    end = after.index("--") if "--" in after else len(after)
    if manager == ["yarn"] and after[:1] == ["workspace"] and len(after) > 2:
        found = [(0, 2, after[1])]
    else:
        found = list(_choices(after[:end], _CHOOSING_OF.get(manager[0], CHOOSING))) if manager else []
    if len(found) != 1:
        return None
    index, length, value = found[0]
    chosen = own_packages(tree).get(value, shell.inside(value, folder))
    if chosen is None or tree.manifest(chosen) is None:
        return None
    return chosen, [*words[: start + 1], *after[:index], *after[index + length :]]


def _choices(words: Sequence[str], options: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """The values of these options: each with its position, and with the number of its words."""
    for index, word in enumerate(words):
        option, is_whole, value = word.partition("=")
        if option in options:
            yield (index, 1, value) if is_whole else (index, 2, "".join(words[index + 1 : index + 2]))


def _of_unknown(reader: _Reader, words: Sequence[str], way: _Way) -> Iterator[Call]:
    """The call of the runner whose configuration an unknown program gets; if all programs are wanted, the call of the
    program itself."""
    own = launched(words)
    if own and not reader.programs:
        yield _call(words, len(words) - len(own), reader, way)
    options = list(dropwhile(lambda word: not word.startswith("-"), own))
    runner = next((found for value in configurations(options) if (found := _configured(value))), None)
    if runner and runner.programs[0] in reader.programs:
        call = _call(words, len(words) - len(own), reader, way)
        command = (runner.command,) if runner.command else ()
        yield call._replace(program=runner.programs[0], words=(*command, *options), by=call.program)


def configurations(words: Sequence[str]) -> Iterator[str]:
    """The values of options that name a configuration."""
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        option, is_whole, value = word.partition("=")
        if option in CONFIGURING:
            yield value if is_whole else following


def _configured(path: str) -> Runner | None:
    """The runner whose configuration a path is, by a name that begins with the runner's (`jest.unit.config.js`)."""
    name = posixpath.basename(path).removeprefix(".")
    return next((runner for runner in all_runners().values() if runner.entries and _is_of(runner, name)), None)


def _is_of(runner: Runner, name: str) -> bool:
    return bool(re.match(rf"(?:{'|'.join(map(re.escape, runner.programs))})(?:rc\b|[^a-z].*conf)", name))


def _callees(words: Sequence[str], scripts: Mapping[str, str], way: _Way) -> Iterator[tuple[str, Sequence[str]]]:
    """The scripts that a command calls, each with the words that it passes on. A manager passes on what follows. What
    other programs pass on in quotes (`run-s 'test:* -- {@}'`) is left out."""
    start = _caller(words)
    found = [
        (index, name)
        for index, word in enumerate(words[start:], start)
        for name in _matching(word.partition(" ")[0] if words[start] in _CALLERS[:-1] else word, scripts)
        if f"{way.folder}:{name}" not in way.seen
    ]
    single = len(found) == 1 and words[start] in all_managers()
    for index, name in found:
        yield name, _passed(words[start], words[index + 1 :]) if single else []


def _passed(manager: str, words: Sequence[str]) -> Sequence[str]:
    """The words that a manager passes on to a script. npm takes options for its own, except those after `--`."""
    end = words.index("--") if "--" in words else len(words)
    if manager != "npm":
        return words[1:] if end == 0 else words
    return [*(word for word in words[:end] if not word.startswith("-")), *words[end + 1 :]]


def _caller(words: Sequence[str]) -> int:
    """The position of the word that calls scripts; that of the end if there is none."""
    return next((index for index, word in enumerate(words) if word in (*all_managers(), *_CALLERS)), len(words))


def _matching(word: str, scripts: Mapping[str, str]) -> list[str]:
    """The scripts that a word calls: the one of this name, or those of a pattern (`test:*`, without further colons)."""
    name = match[1] if (match := _NAMED.match(word)) and word not in scripts else word
    if name in scripts or "*" not in name:
        return [name] if name in scripts else []
    pattern = re.escape(name).replace(r"\*\*", ".*").replace(r"\*", "[^:]*")
    return [script for script in scripts if re.fullmatch(pattern, script)]


def _target(tree: Tree, words: Sequence[str], way: _Way) -> str:
    """`make` and the target that these words make, the first one by default; empty for other words."""
    called = [word for word in words if not is_assignment(word) and not word.startswith("-")]
    if called[:1] != ["make"]:
        return ""
    name = called[1] if called[1:] else makefiles.first(makefiles.read(tree, way.folder))
    target = f"make {name}" if name else ""
    return target if target not in way.seen else ""


def _recipe(tree: Tree, folder: str, target: str) -> str:
    """The recipe of a target as a script: its prerequisites, then its commands. Variables are left out, since most name
    the folder of programs."""
    rule = makefiles.rule(makefiles.read(tree, folder), target.removeprefix("make "))
    if not rule:
        return ""
    plain = (re.sub(r"\$[({]\w+[)}]/?", "", line.replace("$(MAKE)", "make")) for line in rule.lines)
    return " && ".join([*(f"make {word}" for word in rule.prerequisites), *plain])


def _call(words: Sequence[str], index: int, reader: _Reader, way: _Way) -> Call:
    before = words[:index]
    env = _variables(reader.tree, before, way)
    node = before[before.index("node") + 1 :] if "node" in before else []
    loader = next((index for index, word in enumerate(before) if program(word) in _LOADERS), None)
    if loader is not None:
        node = [program(before[loader])]
        projects = [value for word, value in pairwise(before[loader:]) if word in ("--project", "-P")]
        env |= {"TS_NODE_PROJECT": projects[0]} if projects else {}
    evidence = f"{way.trail}: {' '.join(words)}"
    folder = None if way.folder == reader.home else way.folder
    return Call(program(words[index]), tuple(words[index + 1 :]), env, tuple(node), evidence, folder)


def _variables(tree: Tree, before: Sequence[str], way: _Way) -> dict[str, str]:
    """The variables of what a command starts after these words, among them those of environment files, and the options
    of Node by which nyc loads modules."""
    env = _of_environment_files(tree, before, way.folder) | way.env | assigned(before)
    options = coverage.options(tree, way.folder, before)
    return env | {"NODE_OPTIONS": " ".join(filter(None, (env.get("NODE_OPTIONS"), *options)))} if options else env


def _of_environment_files(tree: Tree, before: Sequence[str], folder: str) -> dict[str, str]:
    """The variables of the files that words name to a program that sets them; those of `.env` if they name none."""
    if _FROM_FILES.isdisjoint(map(program, before)):
        return {}
    words = (word.partition("=")[2] if word.startswith("-") else word for word in before)
    paths = [posixpath.normpath(posixpath.join(folder, word)) for word in words if is_environment_file(word)]
    return {
        name: value
        for path in paths or [posixpath.join(folder, ".env")]
        for name, value in assigned_in(tree.text(path)).items()
    }


def _loaded(node: tuple[str, ...], manifest: Manifest) -> tuple[str, ...]:
    """The options of Node, including those that replace programs which load something."""
    rows = _LOADERS.get(node[0], ()) if node else ()
    return next((options for package, options in rows if not package or package in manifest.dependencies), node)


def _of_file(reader: _Reader, words: Sequence[str], way: _Way) -> Iterator[Call]:
    """The calls of shell files that a command starts, and of files that it runs with Node. They run in the command's
    folder."""
    for index in range(len(words)):
        path = _file(reader.tree, words, index, way.folder)
        if not path or path in way.seen:
            continue
        env = _variables(reader.tree, words[:index], way)
        further = way._replace(env=env, trail=f"{way.trail}: {path}", seen=(*way.seen, path))
        if posixpath.splitext(path)[1] in _MODULES or index == _main(words):
            yield from _of_launcher(reader, path, further, words, index)
        else:
            text = reader.tree.text(path)
            yield from list(_of_lines(reader, text, words[index + 1 :], further)) or _by_name(reader, text, further)


def _file(tree: Tree, words: Sequence[str], index: int, folder: str) -> str:
    """The shell file, or the file for Node, that a word of a command stands for; empty for none. Node finds the file
    that it runs without its extension, too, or as the `index.js` of a folder."""
    path = posixpath.normpath(posixpath.join(folder, words[index]))
    if path in tree.paths:
        end = posixpath.splitext(path)[1]
        return path if end in _SHELL or (end in _MODULES and _node(words[:index]) is not None) else ""
    ends = (*_MODULES, f"/index{_MODULES[0]}") if index == _main(words) else ()
    return next((f"{path}{end}" for end in ends if f"{path}{end}" in tree.paths), "")


def _node(words: Sequence[str]) -> int | None:
    """The position of the first program that runs files with Node; None if there is none."""
    return next((index for index, word in enumerate(words) if program(word) in _NODES), None)


def _main(words: Sequence[str]) -> int | None:
    """The position of the file that Node runs: the first word after it that is neither an option nor its value."""
    node = _node(words)
    after = () if node is None else range(node + 1, len(words))
    return next((i for i in after if not words[i].startswith("-") and words[i - 1] not in _WITH_VALUES), None)


def _of_lines(reader: _Reader, text: str, handed: Sequence[str], way: _Way) -> Iterator[Call]:
    """The calls of a shell file's lines, each read as a script. The words that the file was `handed` replace its
    arguments."""
    lines = [line.strip() for line in re.sub(r"\\\n\s*", " ", text).splitlines()]
    useful = [line for line in lines if line and not line.startswith("#") and not _IDLE.match(line) and is_closed(line)]
    for call in _of_text(reader, " ; ".join(useful), way):
        filled = [other for word in call.words for other in (handed if word in _ARGUMENTS else (word,))]
        yield call._replace(words=tuple(filled))


def _by_name(reader: _Reader, text: str, way: _Way) -> Iterator[Call]:
    """The call of the first program that a file names; its words are unknown."""
    if name := _first_named(reader, text):
        yield Call(name, (), way.env, (), f"{way.trail} names {name}")


def _first_named(reader: _Reader, text: str) -> str:
    """The first of the programs that a file names; empty if it names none."""
    named = re.findall(rf"(?<![\w./-])({'|'.join(map(re.escape, reader.programs))})(?![\w-])", text)
    return next((name for name in named if name not in ("node", "")), "")


def _of_launcher(reader: _Reader, path: str, way: _Way, words: Sequence[str], index: int) -> Iterator[Call]:
    """The call of the first program that a file for Node names, as far as its literals say how it is called. If they do
    not, only a file that the command names by its extension counts: its configuration may be elsewhere. Of the
    command's words, the file's is at `index`. Those after it are the program's if the file hands them on or has its
    name; options of Node before it are, if the file loads the program."""
    source = sources.without_remarks(reader.tree.text(path))
    name = _first_named(reader, source)
    if not name:
        return
    found = launchers.command(source, name)
    own = found or [name]
    at = next(at for at, word in enumerate(own) if program(word) == name)
    call = _call(own, at, reader, way._replace(env=way.env | launchers.variables(source)))
    call = call._replace(evidence=f"{way.trail} names {' '.join(own)}", node=call.node or _options(words, index, found))
    given = (*call.words, *_named_in(reader.tree, path, source, call, way.folder))
    if program(words[index]) == name or launchers.hands_on(source):
        given = (*given, *words[index + 1 :])
    if found or given or words[index].endswith(_MODULES):
        yield call._replace(words=given)


def _options(words: Sequence[str], index: int, command: Sequence[str]) -> tuple[str, ...]:
    """The options of Node before the file at `index`, unless the file starts another process by a command."""
    node = None if command else _node(words[:index])
    return () if node is None or program(words[node]) != "node" else tuple(words[node + 1 : index])


def _named_in(tree: Tree, path: str, source: str, call: Call, folder: str) -> tuple[str, ...]:
    """The words for the only configuration of a runner that a file names, if the runner's call names none."""
    runner = next((found for found in all_runners().values() if call.program in found.programs), None)
    if runner is None or (runner.command and runner.command not in call.words[:1]) or _configures(call):
        return ()
    texts = {literal.text for literal in sources.literals(source) if _PATH.fullmatch(literal.text)}
    folders = {folder, posixpath.dirname(path)}
    paths = {posixpath.normpath(posixpath.join(home, text)) for text in texts for home in folders}
    found = [named for named in paths if named in tree.paths and _is_configuration(runner, named)]
    if len(found) != 1:
        return ()
    option = "--opts" if found[0].endswith(".opts") else "--config"
    return option, posixpath.relpath(found[0], folder or ".")


def _configures(call: Call) -> bool:
    """Whether a call names a configuration."""
    return any(word.partition("=")[0] in CONFIGURING or _CONFIGURED.search(word) for word in call.words)


def _is_configuration(runner: Runner, path: str) -> bool:
    """Whether a file is a runner's configuration: by its name, or because it and its folders name both."""
    name = posixpath.basename(path)
    return bool(re.search(runner.configuration, name)) or runner.name in path and bool(_CONFIGURED.search(name))
