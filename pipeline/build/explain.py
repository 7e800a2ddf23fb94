"""What the rejections of a repository have in common: log lines that no known fault explains, in groups.

Reads the units below `02_dataset/<repo>/units/` and the table of faults; writes and runs nothing. A group is the next
row to write in the table (docs/repair.md), or shows that no row would help. Lines count as equal if they differ only in
what varies from commit to commit: numbers, versions, paths, quoted text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pipeline.build import faults
from pipeline.build.faults import Stage
from pipeline.core.console import say, table
from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.records import Rejection
from pipeline.core.store import Store, Unit
from pipeline.core.texts import unzipped

#: groups that are shown, lines of one log that are considered, characters of a line that are shown
SHOWN, MOST, WIDTH = 25, 400, 160

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\x1b\]8;;[^\x07]*\x07")
#: words of a line that says why something failed
_TELLING = re.compile(
    r"\berr(?:or)?\b|ERR!|Error\b|\bcannot\b|can't|could(?:n't| not)|\bfail(?:ed|ure)\b|not (?:found|defined|supported)"
    r"|\b(?:unknown|invalid|missing|refused|unexpected|unsupported|incompatible|denied)\b|no such|is not an?\b",
    re.IGNORECASE,
)
#: lines that surround every failure of a kind and do not say what failed
_PLAIN = re.compile(
    r"npm (?:ERR!|error|WARN)\s*$|npm WARN |A complete log of this run|_logs/|^\s*at |^\s*(?:PASS|FAIL|✓|✕|●)\s"
    r"|info (?:Visit|If you think)|^[\s│]*[├└]|notarget (?:In most cases|a package version)"
)
#: what varies from commit to commit -> its replacement, in this order
_VARYING = (
    (re.compile(r"https?://\S+"), "<address>"),
    (re.compile(r"(?:\.{0,2}/)?(?:[\w@.+-]+/){1,}[\w@.+-]+"), "<path>"),
    (re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`"), "<words>"),
    (re.compile(r"\b[0-9a-f]{8,}\b"), "<digest>"),
    (re.compile(r"\bv?\d+(?:[.:]\d+)*(?:-[\w.]+)?\b"), "<number>"),
)


class Group(NamedTuple):
    """Rejections whose logs share a line: the line as one log has it, their instances and their reasons."""

    line: str
    instances: tuple[str, ...]
    reasons: tuple[str, ...]


class Explained(NamedTuple):
    """`known`: fault of the table -> the rejections that show it; `unknown`: groups, the largest first; `silent`:
    rejections without a log, or whose log has no telling line."""

    known: dict[str, list[str]]
    unknown: list[Group]
    silent: list[str]


def explain(store: Store, repo: Repo) -> Explained:
    """The rejections of a repository in groups; empty if it was never built."""
    known, lines = defaultdict[str, list[str]](list), defaultdict[str, list[tuple[Rejection, str]]](list)
    silent = []
    for unit, rejection in _rejections(store, repo):
        stage, log = _log(unit)
        for name in dict.fromkeys(finding.fault.name for finding in faults.find(stage, log)):
            known[name].append(rejection.instance_id)
        telling = {normalized(line): line for line in unexplained(stage, log)}
        for key, line in telling.items():
            lines[key].append((rejection, line))
        if not telling:
            silent.append(rejection.instance_id)
    groups = [_group(pairs) for pairs in lines.values()]
    return Explained(dict(known), sorted(groups, key=lambda group: -len(group.instances)), silent)


def unexplained(stage: Stage, log: str) -> Iterator[str]:
    """The telling lines of a log that no known fault of the stage matches."""
    log = _COLOUR.sub("", log)[-faults.END :]
    spans = [
        match.span()
        for fault in faults.table()
        if fault.stage == stage
        for pattern in fault.patterns
        for match in pattern.finditer(log)
    ]
    start, found = 0, 0
    for line in log.splitlines(keepends=True):
        end = start + len(line)
        if _is_telling(line[: faults.LINE]) and not any(first < end and start < last for first, last in spans):
            yield line.strip()[: faults.LINE]
            found += 1
        if found == MOST:
            return
        start = end


def normalized(line: str) -> str:
    """A line without what varies from commit to commit."""
    for pattern, word in _VARYING:
        line = pattern.sub(word, line)
    return " ".join(line.split())


def show(repo: Repo, explained: Explained) -> None:
    """The groups as a table on stdout, known faults and silent rejections on stderr."""
    rows = [
        (len(group.instances), group.line[:WIDTH], ", ".join(group.reasons), _numbers(group.instances))
        for group in explained.unknown[:SHOWN]
    ]
    table(f"Rejections of {repo} by what no known fault explains", ("count", "line", "reason", "pull requests"), rows)
    for name, instances in sorted(explained.known.items(), key=lambda row: -len(row[1])):
        say(f"known fault {name}: {_numbers(instances)}")
    if explained.silent:
        say(f"without an error line: {_numbers(explained.silent)}")


def _rejections(store: Store, repo: Repo) -> Iterator[tuple[Path, Rejection]]:
    for folder in sorted((store.qualification(repo) / "units").glob("*/")):
        unit = Unit(folder)
        if unit.inputs() and "reason" in (result := unit.result()):
            yield folder, Rejection.model_validate(result)


def _log(folder: Path) -> tuple[Stage, str]:
    """The decisive log and its stage: the install's if that failed, else the last test run's."""
    install = folder / "install.log.gz"
    runs = [path for name in ("fix", "test", "run") for path in sorted(folder.glob(f"{name}.*.log.gz"))]
    path = next((path for path in (install, *runs) if path.exists()), None)
    text = unzipped(path).decode(errors="replace") if path else ""
    return ("install" if path == install else "run"), text


def _is_telling(line: str) -> bool:
    return bool(_TELLING.search(line)) and not _PLAIN.search(line)


def _group(pairs: Iterable[tuple[Rejection, str]]) -> Group:
    rejections = {rejection.instance_id: rejection for rejection, _ in pairs}
    line = next(line for _, line in pairs)
    return Group(line, tuple(rejections), tuple(dict.fromkeys(rejection.reason for rejection in rejections.values())))


def _numbers(instances: Iterable[str]) -> str:
    return " ".join(f"#{parse_instance_id(name)[1]}" for name in instances)
