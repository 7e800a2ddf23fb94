"""A test runner, described by its folder: the table `runners/<name>/runner.toml`, and the files next to it.

    runner.toml    how it is recognized, its arguments by version, its configuration files, its parsers
    report.py      the reader of its report: `read(text, root) -> Report` (a parser may name another module)
    reporter.*     a reporter passed to the runner if its own says too little; nothing is installed for it
    hooks.cjs      loaded by Node before the runner, so that its report includes hooks that failed
    control.js     its negative control, if the common one does not suit it
    snapshots.py   the format of its snapshot files: `read(text)`, `of_test(name, keys)`
    reads.*        reports which files of the repository the runner reads (execution.reads)
    others         hooks that keep the documents of its tests

Reads tables and writes nothing. Whatever a folder lacks lowers the assurance of its verdicts: `Parser.lacks`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Protocol

from pydantic import Field

from pipeline.core.errors import unknown
from pipeline.core.records import Environment
from pipeline.ecosystems import folders
from pipeline.ecosystems.folders import Folder, Table
from pipeline.ecosystems.reports import Report, ReportError

#: a module that exports an empty configuration
_NO_CONFIGURATION = "data:text/javascript,export default {}"


class Words(Table):
    """Words of a command line for a range of versions. All matching rows are combined; a row does not match if the
    repository's own call has an option of `unless`."""

    versions: str = ""
    unless: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    selection: tuple[str, ...] | None = None
    env: dict[str, str] = {}
    parser: str = ""


class Wrapper(Table):
    """A program that includes the runner. `through` are its own file and arguments, if the program must be called in
    place of the runner; `formerly` are the places of that file in earlier versions.

    With `file`, it includes this runner only if a file of that name describes the project of the tests and names a
    builder that matches `builder`. With `words`, it is called with these in place of the runner's and of a script's
    words; `{project}` is the project's name, and `{entry}` its own file if that is not the first word. `in_browser` are
    further words for tests that start a browser, which are in files that match `browsed`.
    """

    program: str
    package: str
    command: str
    through: tuple[str, ...] = ()
    formerly: tuple[str, ...] = ()
    env: dict[str, str] = {}
    file: str = ""
    builder: str = ""
    words: tuple[str, ...] = ()
    selection: tuple[str, ...] = ()
    parser: str = ""
    browsed: str = ""
    in_browser: tuple[str, ...] = ()

    def starts_browser(self, files: Iterable[str]) -> bool:
        """Whether it starts a browser for some of these tests."""
        return bool(self.browsed) and any(re.search(self.browsed, file) for file in files)

    @property
    def files(self) -> tuple[str, ...]:
        """The places where its own file may be, if it must be called itself."""
        return (*self.through[:1], *self.formerly)

    def includes(self, file: str, builder: str) -> bool:
        """Whether it includes the runner for the tests of a project that this file describes with this builder."""
        return not self.file or bool(re.fullmatch(self.file, file) and re.search(self.builder, builder))


class Control(Table):
    """How a test file refers to the runner's `it` and `expect`; `$title` is a word that occurs in no file."""

    it: str = '(typeof it === "function" ? it : test)'
    expect: str = "expect"
    imports: str = ""


class Snapshots(Table):
    """The flag that updates snapshots, and the runner whose `snapshots.py` reads its snapshot files; empty: its own."""

    update: str
    form: str = ""


class Documents(Table):
    """Files that make the runner keep what its tests render, and the options that load them from `{folder}`."""

    files: tuple[str, ...]
    node_options: str = ""
    words: tuple[str, ...] = ()

    def apply_to(self, environment: Environment, folder: str) -> Environment:
        """The environment, with options that load the files from `folder`."""
        variables = dict(environment.test_env)
        if self.node_options:
            options = (variables.get("NODE_OPTIONS", ""), self.node_options.replace("{folder}", folder))
            variables["NODE_OPTIONS"] = " ".join(filter(None, options))
        words = tuple(word.replace("{folder}", folder) for word in self.words)
        return environment.model_copy(update={"test": (*environment.test, *words), "test_env": variables})


class Reads(Table):
    """How a runner reports what it reads, beyond what Node loads for it: by a `file` that is loaded into its processes,
    or passed by `words`, in which `{reads}` is the file's path. `apart` is a pattern of programs that only run tests.
    With a parser in `unless`, it does not report.
    """

    file: str
    words: tuple[str, ...] = ()
    apart: str = ""
    unless: tuple[str, ...] = ()


class SnapshotForm(Protocol):
    """The module `snapshots` of a runner's folder."""

    def read(self, text: str) -> dict[str, str]: ...
    def of_test(self, name: str, keys: Any) -> list[str]: ...


class Parser(Table):
    """One way of reading a runner's results, named in `Environment.parser`.

    `announcement` begins what the runner prints at its end, when it has written its report: the rest is the report's
    path.
    """

    name: str = ""
    runner: str = ""
    reader: str = "report"
    reporter: str = ""
    preload: str = Field(default="", description="the file that Node loads before the runner in each process")
    log: bool = Field(default=False, description="the runner's output is its report")
    once: bool = Field(default=False, description="the report is written once and never read back, so a pipe works")
    names_files: bool = True
    announcement: str = ""
    control: Control | None = None
    snapshots: Snapshots | None = None
    documents: Documents | None = None

    def read(self, text: bytes, root: str) -> Report:
        """Read a report; `root` is the repository's folder as the runner saw it.

        Raises ReportError whatever is wrong; otherwise the author of a report could choose how our program fails.
        """
        reader = import_module(folders.module("runner", self.runner, self.reader))
        try:
            return reader.read(text, root)
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
            raise ReportError(f"the report is not what the runner writes: {error!r}") from error

    def announced(self, output: bytes, report: str) -> bool:
        """Whether the runner announced at its end that it wrote the report (some print a path relative to a folder).

        The announcement need not begin a line: it may come between two parts of what another stream prints. True for
        runners that announce nothing, and for logs: there, only the totals can be checked.
        """
        name, lines = report.rpartition("/")[2], output.decode(errors="replace").splitlines()
        announced = (line.rpartition(self.announcement)[2] for line in lines if self.announcement in line)
        return not self.announcement or any(path.rstrip().endswith(name) for path in announced)

    def reporter_file(self) -> Traversable | None:
        """The reporter that is passed to the runner, or None if its own is used."""
        return self.file(self.reporter) if self.reporter else None

    def preload_file(self) -> Traversable | None:
        """The file that Node loads before the runner, or None."""
        return self.file(self.preload) if self.preload else None

    def control_text(self) -> str:
        """The template of the negative control: the runner's own, else the common one."""
        bundled = self.file("control.js")
        template = bundled if bundled.is_file() else files(__package__).joinpath("control.js")
        return template.read_text(encoding="utf-8")

    def snapshot_form(self) -> SnapshotForm:
        """The reader of the runner's snapshot files, for a parser that has `snapshots`."""
        form = self.snapshots.form if self.snapshots else ""
        return import_module(folders.module("runner", form or self.runner, "snapshots"))

    def hook_files(self, configuration: str) -> Iterator[tuple[str, bytes]]:
        """Names and contents of the files that keep documents. They extend the runner's `configuration` (a path)."""
        for name in self.documents.files if self.documents else ():
            text = self.file(name).read_text(encoding="utf-8")
            yield name, text.replace("CONFIGURATION", configuration or _NO_CONFIGURATION).encode()

    def lacks(self) -> tuple[str, ...]:
        """The safeguards that verdicts lack with this parser, as fixed identifiers. Each lowers assurance."""
        return tuple(word for word, present in self._assurances().items() if not present)

    def decides_run(self) -> tuple[Any, ...]:
        """Everything, except the instance's own command, that decides what a run leaves behind: reporter, hooks,
        control, and how the runner reports what it reads."""
        code = (file.read_bytes() if file else b"" for file in (self.reporter_file(), self.preload_file()))
        control = (self.control, self.control_text()) if self.control else ()
        reads_setup = runner(self.runner).reads_with(self.name)
        reads = (str(reads_setup), self.file(reads_setup.file).read_bytes()) if reads_setup else ()
        return (*code, *map(str, control), *reads)

    def decides_reading(self) -> tuple[str, ...]:
        """What decides how the results of a run are read: the module, whether it reads the log, the announcement."""
        return folders.module("runner", self.runner, self.reader), str(self.log), self.announcement

    def file(self, name: str) -> Traversable:
        """A file of the runner's folder."""
        return folders.file("runner", self.runner, name)

    def _assurances(self) -> dict[str, bool]:
        return {
            "negative_control": self.control is not None,
            "announced_report": bool(self.announcement),
            "test_files": self.names_files,
            "updated_snapshots": self.snapshots is not None,
            "documents": self.documents is not None,
        }


class Projects(Table):
    """How to leave out a configuration's projects for browsers that the image lacks: `named` is a pattern of the names
    of projects, `others` a pattern of projects to leave out, `word` the argument that selects the project `{name}`."""

    named: str = r"\bname:\s*['\"`]([^'\"`$]+)['\"`]"
    others: str
    word: str

    def words(self, text: str) -> tuple[str, ...]:
        """The arguments that select the remaining projects of a configuration; empty if no project is left out."""
        kept, left_out = self._split(text)
        return tuple(dict.fromkeys(self.word.format(name=name) for name in kept)) if kept and left_out else ()

    def without(self, words: Sequence[str], text: str) -> tuple[str, ...]:
        """The arguments, except those that select projects that are left out."""
        return self.unselected(words, self._split(text)[1])

    def unselected(self, words: Sequence[str], names: Iterable[str]) -> tuple[str, ...]:
        """The arguments, except those that select the projects with these names."""
        option = self.word.partition("=")[0]
        joined = re.sub(rf"(^|\n){re.escape(option)}\n", rf"\1{option}=", "\n".join(words)).split("\n")
        left_out = {self.word.format(name=name) for name in names}
        return tuple(word for word in joined if word not in left_out) if left_out.intersection(joined) else tuple(words)

    def _split(self, text: str) -> tuple[list[str], list[str]]:
        """The names of the projects that remain, and of those that do not. A project is the text from one name to the
        next. Does not cover computed names."""
        parts = re.split(self.named, text)[1:]
        names: tuple[list[str], list[str]] = [], []
        for name, options in zip(parts[::2], parts[1::2], strict=True):
            names[bool(re.search(self.others, name + options))].append(name)
        return names


class Logged(Table):
    """How the runner's logs show a known fault of the table (`build/faults.toml`)."""

    patterns: tuple[str, ...]


class Runner(Folder):
    """A test runner. `parser` is its usual parser; rows of its `words` may name another."""

    programs: tuple[str, ...] = Field(description="the programs that scripts call")
    packages: tuple[str, ...] = Field(description="the packages that package.json depends on")
    entries: tuple[str, ...] = Field(description="the runner's own file, in node_modules; none: Node itself")
    configuration: str = Field(description="pattern of its configuration files, from their package's folder")
    finds: str = Field(default="", description="pattern of the configuration files that it finds itself; none: all")
    usual: str = Field(default="", description="pattern of the configuration file that it prefers")
    configured: str = Field(default="", description="the argument that selects another {configuration}")
    key: str = Field(default="", description="its field in package.json")
    at_home: tuple[str, ...] = Field(
        default=(), description="words for a configuration in another folder: paths in it are relative to the run's"
    )
    aggregate: str = Field(default="", description="pattern in a configuration that runs the packages' tests")
    imports: str = Field(default="", description="pattern by which tests name it")
    tests: str = Field(default="", description="pattern by which its configuration names the folder of its tests")
    adapter: str = Field(default="", description="the package that makes another {runner} its framework")
    command: str = Field(default="", description="the first word of a call that runs tests")
    keep: tuple[str, ...] = Field(default=(), description="arguments of a script that shape how tests run")
    flags: tuple[str, ...] = Field(default=(), description="such arguments that take no value")
    by_script: bool = Field(default=False, description="the reporter can start a script and take over the runner in it")
    positional: bool = Field(default=False, description="words without a dash name tests")
    protected: tuple[str, ...] = Field(description="patterns of paths that decide how tests run")
    browser: bool = Field(default=False, description="whether its tests always run in a browser")
    projects: Projects | None = Field(default=None, description="projects of its configuration, if they name browsers")
    reads: Reads | None = Field(default=None, description="how it reports what it reads; none: only Node does")
    unchecked: dict[str, str] = Field(default={}, description="variables that switch off the type checks of its tests")
    browsers: tuple[str, ...] = Field(default=(), description="packages with which its tests start a browser")
    parser: str
    words: tuple[Words, ...]
    faults: dict[str, Logged] = Field(default={}, description="known faults of the table, as its logs show them")
    parsers: dict[str, Parser]
    wrapper: tuple[Wrapper, ...] = ()

    def model_post_init(self, context: Any, /) -> None:
        """Add the names of parser and runner to each parser, since parsers are used without their runner."""
        names = {name: {"name": name, "runner": self.name} for name in self.parsers}
        parsers = {name: self.parsers[name].model_copy(update=update) for name, update in names.items()}
        object.__setattr__(self, "parsers", parsers)

    def merged(self, version: str, call: Iterable[str] = ()) -> Words:
        """The rows that match a version and the words of a call, combined; later rows win. An empty version counts as
        the newest."""
        from pipeline.ecosystems import versions

        exact = versions.full(version) if version else "99.0.0"
        merged, call_options = Words(parser=self.parser), {word.partition("=")[0] for word in call}
        for row in self.words:
            if not call_options & set(row.unless) and (not row.versions or versions.satisfies(exact, row.versions)):
                selection = merged.selection if row.selection is None else row.selection
                words, env = merged.words + row.words, merged.env | row.env
                merged = Words(words=words, selection=selection, env=env, parser=row.parser or merged.parser)
        return merged

    def adapted(self, environment: Environment, version: str) -> Environment:
        """The environment, with its command adapted from another version to this one.

        Other words of the command stay. A command without the words of the previous version is not changed at all.
        """
        before, after = self.merged(environment.runner_version), self.merged(version)
        start = _position(environment.test, before.words)
        unchanged = environment.model_copy(update={"runner_version": version})
        if start is None or before == after:
            return unchanged
        test = (*environment.test[:start], *after.words, *environment.test[start + len(before.words) :])
        kept = {name: value for name, value in environment.test_env.items() if name not in before.env}
        changes = {"test": test, "selection": after.selection or (), "test_env": kept | after.env}
        return unchanged.model_copy(update=changes | {"parser": after.parser})

    def reads_with(self, parser: str) -> Reads | None:
        """How it reports what it reads, with a parser; None if only Node does."""
        return None if self.reads and parser in self.reads.unless else self.reads

    def lacks(self, parser: str = "") -> tuple[str, ...]:
        """The safeguards that verdicts lack with a parser, by default the usual one."""
        return self.parsers[parser or self.parser].lacks()


def _position(words: tuple[str, ...], sought: tuple[str, ...]) -> int | None:
    """The position of a sequence of words in another one; None if it does not occur."""
    starts = range(len(words) - len(sought) + 1)
    return next((start for start in starts if words[start : start + len(sought)] == sought), None)


def all_runners() -> dict[str, Runner]:
    """Every runner by name; for packages with several, the likelier ones come first."""
    return folders.all_of(Runner, "runner")


def runner(name: str) -> Runner:
    """The runner of this name. Raises UserError."""
    return folders.by_name(Runner, "runner", name)


@cache
def all_parsers() -> dict[str, Parser]:
    """Every parser of every runner by name."""
    return {name: parser for candidate in all_runners().values() for name, parser in candidate.parsers.items()}


def parser(name: str) -> Parser:
    """The parser of this name. Raises UserError."""
    if name not in all_parsers():
        raise unknown("parser", name, list(all_parsers()))
    return all_parsers()[name]
