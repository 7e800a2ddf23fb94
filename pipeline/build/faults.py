"""The known faults of old environments: how a log shows them, and which remedies are tried.

The table is `faults.toml`. Folders of package managers and test runners add patterns of their logs to its rows, and
package managers add rows of their own. Reads only logs. The remedies are in `remedies`; `repair` tries them in turn.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from pipeline.core.store import digest
from pipeline.ecosystems.manager_folder import all_managers
from pipeline.ecosystems.runner_folder import all_runners

Stage = Literal["install", "run"]

#: characters of a log and of a line that are searched: patterns must not take forever on what a test prints
END, LINE = 500_000, 1000

#: placeholders in patterns: a package, a version or range, a host, a version in an archive's name
_WORDS = {
    "{name}": r"(?P<name>(?:(?:@|%40)[\w.~-]+(?:/|%2[fF]))?[\w.~-]+)",
    "{range}": r"(?P<old>[^\s:]\S*?(?: (?:\|\| |- )?[<>=^~]*\d\S*?)*)",
    "{host}": r"(?P<host>[\w-]+(?:\.[\w-]+)+)",
    "{archive}": r"(?P<old>\d+\.[\w.+-]+?)\.tgz",
}


class Fault(NamedTuple):
    """A row of the table: remedies are `(name, arguments)`, `since` the lines of Node that first have what `{builtin}`
    stands for, `reason` is the rejection's when no remedy helps."""

    name: str
    stage: Stage
    patterns: tuple[re.Pattern[str], ...]
    remedies: tuple[tuple[str, dict[str, Any]], ...]
    tells: str
    reason: str
    since: dict[str, int]


class Finding(NamedTuple):
    """A fault that a log shows, with what its pattern captured: `name`, `old`, `host`, `node`, …"""

    fault: Fault
    found: dict[str, str]


@cache
def table() -> tuple[Fault, ...]:
    """The rows, in the order in which they are tried."""
    return tuple(_fault(row) for row in _rows())


@cache
def table_digest() -> str:
    """Changes whenever a log may be judged differently."""
    return digest(_rows())


def find(stage: Stage, log: str) -> Iterator[Finding]:
    """The faults that a log shows, in the table's order, each distinct capture of its patterns once.

    Only the end of a long log and the beginning of a long line are searched.
    """
    log, seen = "\n".join(line[:LINE] for line in log[-END:].splitlines()), []
    for fault in (fault for fault in table() if fault.stage == stage):
        for match in (match for pattern in fault.patterns for match in pattern.finditer(log)):
            found = {key: _plain(value) for key, value in match.groupdict().items() if value}
            if fault.since:
                found["node"] = str(fault.since[found["builtin"]])
            finding = Finding(fault, found)
            if finding not in seen:
                seen.append(finding)
                yield finding


def _rows() -> list[dict[str, Any]]:
    """The rows of the table, with patterns of managers and runners, and managers' own rows after the one they name."""
    rows = tomllib.loads(files("pipeline.build").joinpath("faults.toml").read_text(encoding="utf-8"))["fault"]
    for manager in all_managers().values():
        for row in rows:
            if added := manager.faults.get(row["name"]):
                row["patterns"] += added.patterns
        for extra in manager.fault:
            position = next(index for index, row in enumerate(rows) if row["name"] == extra["after"])
            rows.insert(position + 1, {**extra, "patterns": list(extra["patterns"])})
    for runner in all_runners().values():
        for row in rows:
            if logged := runner.faults.get(row["name"]):
                row["patterns"] += logged.patterns
    return rows


def _fault(row: dict[str, Any]) -> Fault:
    since = row.get("since", {})
    words = _WORDS | {"{builtin}": rf"(?P<builtin>{'|'.join(since)})"}
    patterns = tuple(re.compile(_written_out(pattern, words), re.MULTILINE) for pattern in row["patterns"])
    remedies = tuple(
        (remedy["remedy"], {key: remedy[key] for key in remedy if key != "remedy"}) for remedy in row["remedies"]
    )
    return Fault(row["name"], row["stage"], patterns, remedies, row["tells"], row.get("reason", ""), since)


def _written_out(pattern: str, words: Mapping[str, str]) -> str:
    for word, meaning in words.items():
        pattern = pattern.replace(word, meaning)
    return pattern


def _plain(captured: str) -> str:
    """A captured text without the escapes that registries use for scoped names in addresses."""
    return captured.replace("%2f", "/").replace("%2F", "/").replace("%40", "@")
