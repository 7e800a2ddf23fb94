"""Making expectations of test files false, as text: these tests must fail for code that makes the true ones pass.

    falsify        a file with false expectations
    former         a file with the values that its former version expects
    added, beside  the lines of a file that are gold's

    scripts    expectations in JavaScript and TypeScript, by their grammars (`nodes`)
    stored     expected output in files of its own: snapshots, and golden files
    values     the other values
    versions   two versions of a file

Runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from pipeline.execution.falsified import scripts, stored, versions
from pipeline.execution.falsified.values import BY_LETTERS, Falsified, Pool, tokens

__all__ = ["Falsified", "Pool", "added", "beside", "falsify", "former", "tokens"]

_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
_SNAPSHOTS = re.compile(r"\.snap$")
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)")


def falsify(
    path: str,
    text: str,
    lines: Collection[int],
    around: Collection[int] = (),
    *,
    first: bool = False,
    pool: Pool = BY_LETTERS,
) -> Falsified:
    """A file with false expectations, at gold's `lines`; the unchanged file if there are none. Where gold only removes
    lines of a snapshot, golden file or test, the lines `around` these count as gold's. With `first`, the first
    expectation of each test that has several is changed, and other tests stay. Other roles and words are drawn from the
    `pool`."""
    if _SNAPSHOTS.search(path):
        return stored.falsify_snapshots(text, lines, around, first)
    if _SCRIPT.search(path):
        return scripts.falsify(path, text, lines, around, first, pool)
    return stored.falsify_golden(path, text, lines, around, first)


def former(path: str, before: str, gold: str) -> Falsified:
    """Gold's version of a file with the former version's values, in tests that differ in nothing but their values."""
    if _SNAPSHOTS.search(path):
        return stored.former_snapshots(before, gold)
    return versions.former(path, before, gold) if _SCRIPT.search(path) else Falsified(gold)


def added(section: str) -> frozenset[int]:
    """The numbers of the lines that a file's part of a patch adds."""
    numbers, number = set(), 0
    for line in section.split("\n"):
        if hunk := _HUNK.match(line):
            number = int(hunk[1])
        elif number and line[:1] in ("+", " ", ""):
            if line[:1] == "+":
                numbers.add(number)
            number += 1
    return frozenset(numbers)


def beside(section: str) -> frozenset[int]:
    """The numbers of the lines around those that a file's part of a patch removes without replacement."""
    numbers: set[int] = set()
    number, before = 0, ""
    for line in section.split("\n"):
        if hunk := _HUNK.match(line):
            number, before = int(hunk[1]), ""
        elif number and line[:1] in ("+", "-", " ", ""):
            if before == "-" and line[:1] in (" ", ""):
                numbers |= {number - 1, number}
            number += line[:1] != "-"
            before = line[:1]
    return frozenset(numbers)
