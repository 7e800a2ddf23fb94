"""What is known of a test runner: its folder's table, `runners/<name>/runner.toml`, and what stands beside it.

    runner.toml    how it is recognized, its words by version, the files that configure it, its parsers
    report.py      the reader of its report: `read(text, root) -> Report` (a parser may name another module)
    reporter.*     a reporter that it is handed, where its own do not say enough; nothing is installed for it
    hooks.cjs      what Node loads before the runner, so that its report tells of hooks that failed
    control.js     its negative control, where the common one does not suit it
    snapshots.py   the form of its snapshot files: `read(text)`, `of_test(name, keys)`
    reads.*        what tells which files of the repository it reads (execution.reads)
    others         hooks that keep the documents of its tests

Reads tables and writes nothing. What a folder lacks lowers the assurance of its verdicts: `Parser.lacks`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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

#: how a project is named in a configuration
_NAMED = re.compile(r"\bname:\s*['\"`]([^'\"`$]+)['\"`]")
#: a module that exports what a runner without configuration has
_NO_CONFIGURATION = "data:text/javascript,export default {}"


class Words(Table):
    """Words of a command line for a range of versions. The rows that fit are put together; one does not fit where the
    repository's own call has an option of `unless`."""

    versions: str = ""
    unless: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    selection: tuple[str, ...] | None = None
    env: dict[str, str] = {}
    parser: str = ""


class Wrapper(Table):
    """A program that brings the runner along; `through` is its own file and words, where it is called itself."""

    program: str
    package: str
    command: str
    through: tuple[str, ...] = ()
    env: dict[str, str] = {}


class Control(Table):
    """How a test file gets at the runner's `it` and `expect`; `$title` is a word that no file holds."""

    it: str = '(typeof it === "function" ? it : test)'
    expect: str = "expect"
    imports: str = ""


class Snapshots(Table):
    """The flag that writes snapshots anew, and the runner in whose form (`snapshots.py`) its files are: its own."""

    update: str
    form: str = ""


class Documents(Table):
    """Files that make the runner keep what its tests render, and how it is told of them in `{folder}`."""

    files: tuple[str, ...]
    node_options: str = ""
    words: tuple[str, ...] = ()

    def told(self, environment: Environment, folder: str) -> Environment:
        """The environment in which the runner knows of the files in `folder`."""
        variables = dict(environment.test_env)
        if self.node_options:
            options = (variables.get("NODE_OPTIONS", ""), self.node_options.replace("{folder}", folder))
            variables["NODE_OPTIONS"] = " ".join(filter(None, options))
        words = tuple(word.replace("{folder}", folder) for word in self.words)
        return environment.model_copy(update={"test": (*environment.test, *words), "test_env": variables})


class Reads(Table):
    """How a runner tells what it reads, beside what Node loads for it: a `file` that is loaded into its processes, or
    handed over by `words` in which `{reads}` is its place. `apart` is a pattern of programs that only run tests.
    """

    file: str
    words: tuple[str, ...] = ()
    apart: str = ""


class SnapshotForm(Protocol):
    """The module `snapshots` of a runner's folder."""

    def read(self, text: str) -> dict[str, str]: ...
    def of_test(self, name: str, keys: Any) -> list[str]: ...


class Parser(Table):
    """One way of reading what a runner says; its name stands in `Environment.parser`.

    `announcement` begins the line with which the runner says, at its end, that it wrote its report.
    """

    name: str = ""
    runner: str = ""
    reader: str = "report"
    reporter: str = ""
    preload: str = Field(default="", description="the file that Node loads before the runner, in each of its processes")
    log: bool = Field(default=False, description="what the runner prints is its report")
    once: bool = Field(default=False, description="the report is written once, and never read back: it leaves at once")
    names_files: bool = True
    announcement: str = ""
    control: Control | None = None
    snapshots: Snapshots | None = None
    documents: Documents | None = None

    def read(self, text: bytes, root: str) -> Report:
        """Read a report; `root` is the repository's folder as the runner saw it.

        Raises ReportError, whatever a reader stumbles on: who wrote the report could else choose how our program fails.
        """
        reader = import_module(folders.module("runner", self.runner, self.reader))
        try:
            return reader.read(text, root)
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
            raise ReportError(f"the report is not what the runner writes: {error!r}") from error

    def announced(self, output: bytes, report: str) -> bool:
        """Whether the runner itself said, at its end, that it wrote the report (some name it relative to their folder).

        Of one that says nothing, and of a log, the totals alone must do.
        """
        name, lines = report.rpartition("/")[2], output.decode(errors="replace").splitlines()
        said = (line for line in lines if line.startswith(self.announcement))
        return not self.announcement or any(line.rstrip().endswith(name) for line in said)

    def reporter_file(self) -> Traversable | None:
        """The reporter that the runner is given, None where its own is read."""
        return self.file(self.reporter) if self.reporter else None

    def preload_file(self) -> Traversable | None:
        """What Node loads before the runner, None where nothing is."""
        return self.file(self.preload) if self.preload else None

    def control_text(self) -> str:
        """The template of the negative control: the runner's own, else the common one."""
        own = self.file("control.js")
        template = own if own.is_file() else files(__package__).joinpath("control.js")
        return template.read_text(encoding="utf-8")

    def snapshot_form(self) -> SnapshotForm:
        """The reader of the runner's snapshot files. Of a parser that has `snapshots`."""
        form = self.snapshots.form if self.snapshots else ""
        return import_module(folders.module("runner", form or self.runner, "snapshots"))

    def hook_files(self, configuration: str) -> Iterator[tuple[str, bytes]]:
        """The files that keep documents, by name. They stand on the runner's own `configuration` (a path, if any)."""
        for name in self.documents.files if self.documents else ():
            text = self.file(name).read_text(encoding="utf-8")
            yield name, text.replace("CONFIGURATION", configuration or _NO_CONFIGURATION).encode()

    def lacks(self) -> tuple[str, ...]:
        """What verdicts do without where this parser reads them, in short words that stay: lower assurance."""
        return tuple(word for word, there in self._assurances().items() if not there)

    def decides_run(self) -> tuple[Any, ...]:
        """All that decides, beside the instance's own command, what a run leaves: reporter, hooks and control, and how
        the runner was asked what it reads."""
        own = (file.read_bytes() if file else b"" for file in (self.reporter_file(), self.preload_file()))
        control = (self.control, self.control_text()) if self.control else ()
        asked = runner(self.runner).reads
        reads = (str(asked), self.file(asked.file).read_bytes()) if asked else ()
        return (*own, *map(str, control), *reads)

    def decides_reading(self) -> tuple[str, ...]:
        """The modules that decide how what a run left is read, and the words by which it is believed."""
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
    """How a configuration's projects for other browsers than the image's are left out: `others` is a pattern of what
    names one of these, `word` the word that asks for the project `{name}`."""

    others: str
    word: str

    def words(self, text: str) -> tuple[str, ...]:
        """The words that ask for the other projects of a configuration; none where it has none for other browsers.

        A project is what stands from one `name` to the next. Does not cover names that are computed.
        """
        parts = _NAMED.split(text)[1:]
        found = list(zip(parts[::2], parts[1::2], strict=True))
        kept = [name for name, rest in found if not re.search(self.others, name + rest)]
        return tuple(self.word.format(name=name) for name in kept) if kept and len(kept) < len(found) else ()


class Logged(Table):
    """What the runner's logs say of a known fault of the table (`build/faults.toml`)."""

    patterns: tuple[str, ...]


class Runner(Folder):
    """A test runner. `parser` is the one that reads it, where no row of its `words` names another."""

    programs: tuple[str, ...] = Field(description="what scripts call")
    packages: tuple[str, ...] = Field(description="what package.json depends on")
    entries: tuple[str, ...] = Field(description="the runner's own file, in node_modules; none: Node itself")
    configuration: str = Field(description="pattern of its files, from its folder")
    finds: str = Field(default="", description="pattern of those that it finds itself; none: all")
    configured: str = Field(default="", description="the word that hands it another {configuration}")
    key: str = Field(default="", description="its field in package.json")
    aggregate: str = Field(default="", description="what a configuration says that runs the packages' tests")
    imports: str = Field(default="", description="pattern of how tests name it")
    command: str = Field(default="", description="the first word of a call that tests")
    keep: tuple[str, ...] = Field(default=(), description="arguments of a script that shape how tests run")
    flags: tuple[str, ...] = Field(default=(), description="those that take no value")
    by_script: bool = Field(default=False, description="the reporter starts commands, and takes over what they start")
    positional: bool = Field(default=False, description="words without a dash name tests")
    protected: tuple[str, ...] = Field(description="patterns of paths that decide how tests run")
    browser: bool = Field(default=False, description="whether its tests always run in a browser")
    projects: Projects | None = Field(default=None, description="of its configuration, where they name browsers")
    reads: Reads | None = Field(default=None, description="how it tells what it reads; none: Node alone does")
    browsers: tuple[str, ...] = Field(default=(), description="packages beside which its tests start a browser")
    parser: str
    words: tuple[Words, ...]
    faults: dict[str, Logged] = Field(default={}, description="known faults of the table, as its logs show them")
    parsers: dict[str, Parser]
    wrapper: tuple[Wrapper, ...] = ()

    def model_post_init(self, context: Any, /) -> None:
        """Parsers know their own names: they go around alone."""
        named = {name: one.model_copy(update={"name": name, "runner": self.name}) for name, one in self.parsers.items()}
        object.__setattr__(self, "parsers", named)

    def merged(self, version: str, call: Iterable[str] = ()) -> Words:
        """The rows that fit a version and the words of a call, put together; the later win. An unknown version is a
        new one."""
        from pipeline.ecosystems import versions

        exact = versions.full(version) if version else "99.0.0"
        all_of_it, given = Words(parser=self.parser), {word.partition("=")[0] for word in call}
        for row in self.words:
            if not given & set(row.unless) and (not row.versions or versions.satisfies(exact, row.versions)):
                selection = all_of_it.selection if row.selection is None else row.selection
                words, env = all_of_it.words + row.words, all_of_it.env | row.env
                all_of_it = Words(words=words, selection=selection, env=env, parser=row.parser or all_of_it.parser)
        return all_of_it

    def respoken(self, environment: Environment, version: str) -> Environment:
        """An environment whose command was made for another version, in the words of this one.

        What else is in its command stays, and so does all of a command that holds no words of the version before.
        """
        before, after = self.merged(environment.runner_version), self.merged(version)
        start = _place(environment.test, before.words)
        known = environment.model_copy(update={"runner_version": version})
        if start is None or before == after:
            return known
        test = (*environment.test[:start], *after.words, *environment.test[start + len(before.words) :])
        kept = {name: value for name, value in environment.test_env.items() if name not in before.env}
        said = {"test": test, "selection": after.selection or (), "test_env": kept | after.env, "parser": after.parser}
        return known.model_copy(update=said)

    def lacks(self, parser: str = "") -> tuple[str, ...]:
        """What its verdicts do without, as read by `parser`: its usual one, unless one is named."""
        return self.parsers[parser or self.parser].lacks()


def _place(words: tuple[str, ...], wanted: tuple[str, ...]) -> int | None:
    """Where the wanted words stand among the others, one after the other."""
    starts = range(len(words) - len(wanted) + 1)
    return next((start for start in starts if words[start : start + len(wanted)] == wanted), None)


def all_runners() -> dict[str, Runner]:
    """Every runner by name, those first that are likelier where a package has several."""
    return folders.found(Runner, "runner")


def runner(name: str) -> Runner:
    """The runner of that name. Raises UserError."""
    return folders.one(Runner, "runner", name)


@cache
def all_parsers() -> dict[str, Parser]:
    """Every parser of every runner by name."""
    return {name: parser for one in all_runners().values() for name, parser in one.parsers.items()}


def parser(name: str) -> Parser:
    """The parser of that name. Raises UserError."""
    if name not in all_parsers():
        raise unknown("parser", name, list(all_parsers()))
    return all_parsers()[name]
