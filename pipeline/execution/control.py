"""Checking that a patch's run can fail at all: negative controls, and test files that must stay unchanged.

The runner and the code under test share a process. Code of a patch can replace assertions, swallow exceptions, or write
the runner's report or test files that have not run yet. Code that makes all tests pass also makes the control pass: a
test that must fail, at the end of every test file. It calls each matcher that the file uses with values for which every
matcher fails, and fails unless one of them passes. Its title is derived from gold, which no agent sees, so a patch
cannot contain it, and from the file's path: a file may be loaded by another test file, whose tests then include its
own. A file with its control is the same for every patch, so runners find it in their caches.

Not covered: code that tells tests apart, for example by reading what gold's tests expect while they run, and runners
without a control.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from string import Template

from pipeline.core.errors import InfrastructureError
from pipeline.core.records import Status
from pipeline.core.store import digest
from pipeline.ecosystems import parser as named
from pipeline.execution.tree import must, shown
from pipeline.sandbox.base import Workspace

#: matchers in use, and calls that keep other tests of a file from running
_USED = re.compile(r"^(.*?):(?:\.(to[A-Z]\w*)|(\.only\b|\bf(?:it|describe)\())$", re.MULTILINE)
_GREP = r"\.to[A-Z][A-Za-z0-9]*|\.only\b|\bf(it|describe)\("
#: methods that every object has, and matchers that write files
_NO_MATCHERS = re.compile(r"to(?:Locale)?String|to\w*(?:Image|File)\w*")
_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
#: prints the digest, two blanks, the name and a zero byte for each listed file that exists; exits with _UNREADABLE if
#: some cannot be read. A pipe in place of a file is skipped, since reading it would never end
_DIGESTS = (
    "sh",
    "-c",
    r"""xargs -0 -r sh -c '
        odd=
        for f; do [ -f "$f" ] || [ ! -e "$f" ] || odd=1; done
        [ ! "$odd" ] || for f; do shift; [ ! -f "$f" ] || set -- "$@" "$f"; done
        [ $# = 0 ] || exec sha256sum -z -- "$@"
    ' sh < "$0" 2> /dev/null""",
)
_UNREADABLE = 123
#: lists the files that exist, then, after an empty line, the matches in them
_SURVEY = ("sh", "-c", 'ls -1d -- "$@" 2> /dev/null; echo; grep -HoE -e "$0" -- "$@" 2> /dev/null || :')
#: appends a text to each file: FILE TEXT FILE TEXT ...
_APPEND = ("sh", "-ec", 'while [ $# -gt 0 ]; do printf %s "$2" >> "$1"; shift 2; done', "sh")


@dataclass(frozen=True)
class Control:
    """The titles of a run's controls, by the files that hold them."""

    titles: dict[str, str] = field(default_factory=dict)

    def silenced(self, results: Mapping[str, Status]) -> list[str]:
        """The files in which a test passed and the control did not fail."""
        passed = {name.partition(" > ")[0] for name, status in results.items() if status is Status.PASSED}
        found = self._found(results)
        return [file for file in self.titles if file in passed and found[file] != {Status.FAILED}]

    def unreached(self, results: Mapping[str, Status]) -> list[str]:
        """The silenced files whose control did not run."""
        found = self._found(results)
        return [file for file in self.silenced(results) if found[file] <= {Status.SKIPPED}]

    def without(self, results: Mapping[str, Status]) -> dict[str, Status]:
        """The results of all other tests."""
        titles = {*self.titles.values()}
        return {name: status for name, status in results.items() if titles.isdisjoint(name.split(" > "))}

    def _found(self, results: Mapping[str, Status]) -> dict[str, set[Status]]:
        """The results of each file's control, a test or a group of tests, under whatever file it is reported."""
        files = {title: file for file, title in self.titles.items()}
        found: dict[str, set[Status]] = {file: set() for file in self.titles}
        for name, status in results.items():
            for part in name.split(" > "):
                if part in files:
                    found[files[part]].add(status)
        return found


def plant(workspace: Workspace, parser: str, tests: Sequence[str], secret: str) -> Control:
    """Append a control to each of these test files, except to files in which some tests keep others from running
    (`.only`). Their titles follow from the `secret`."""
    scripts = [file for file in tests if _SCRIPT.search(file)] if named(parser).control else []
    if not scripts:
        return Control()
    present, _, matches = must(workspace, *_SURVEY, _GREP, *scripts).decode(errors="replace").partition("\n\n")
    uses = _USED.findall(matches)
    alone = {file for file, _, only in uses if only}
    chosen = [file for file in scripts if file in present.split("\n") and file not in alone]
    titles = {file: digest(secret, file)[:16] for file in chosen}
    used = {file: {name for place, name, _ in uses if name and place == file} for file in chosen}
    if texts := {file: text(parser, used[file], title) for file, title in titles.items()}:
        must(workspace, *_APPEND, *chain.from_iterable(texts.items()))
    return Control(titles)


def text(parser: str, matchers: Collection[str], title: str) -> str:
    """The text that is appended as a control: `control.js` in one line that type checks ignore. It begins with a
    semicolon, since the file may end without one.

    `matchers` are names that follow a dot in the test file.
    """
    names = ", ".join(f'"{name}"' for name in sorted(matchers) if not _NO_MATCHERS.fullmatch(name))
    folder = named(parser)
    parts = {name: Template(word).substitute(title=title) for name, word in dict(folder.control or {}).items()}
    lines = (line.strip() for line in folder.control_text().splitlines())
    statement = Template(" ".join(lines)).substitute(parts, title=title, matchers=names)
    return f"\n{parts['imports']}\n// @ts-ignore\n;{statement}\n"


def digests(workspace: Workspace, files: Sequence[str]) -> dict[str, str]:
    """The digest of each file by path, without those that are missing. Raises InfrastructureError if a limit or a
    signal ended the command: unreadable files do not prove that they were changed."""
    listing = f"{workspace.scratch}/digests"
    workspace.write(listing, "\0".join(files).encode(errors="surrogateescape"))
    done = workspace.run([*_DIGESTS, listing], ours=True)
    if done.limit or done.code not in (0, _UNREADABLE):
        why = done.limit or f"exit code {done.code}"
        raise InfrastructureError(f"the files of the tests cannot be read: {why}", cause="workspace")
    lines = [line.partition("  ") for line in done.output.decode(errors="surrogateescape").split("\0")]
    return {file: digest for digest, _, file in lines if file}


def changed(workspace: Workspace, before: Mapping[str, str]) -> tuple[str, ...]:
    """The files that are missing or differ from before."""
    after = digests(workspace, list(before))
    return tuple(shown(file) for file, digest in before.items() if after.get(file) != digest)
