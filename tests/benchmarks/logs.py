"""Benchmark of reading logs: a large Jest log with one failing file in fifty, and output of tests in between.

`just bench logs [--megabytes N] [--json FILE]`. Writes nothing else. The log is generated in the form of Jest 29.
"""

from __future__ import annotations

import time
from itertools import count
from pathlib import Path

import click

from benchmarks.goals import Figure, report
from pipeline.core.records import Status
from pipeline.ecosystems import parser

#: the output of a component that warns: a message, and its origin
_PRINTED = """\
  console.error
    Warning: An update to %s inside a test was not wrapped in act(...).

    When testing, code that causes React state updates should be wrapped into act(...):

        at Button (/workspace/repo/src/js/components/Button/Button.js:31:9)
        at Menu (/workspace/repo/src/js/components/Menu/Menu.js:118:26)

      1 |   const [open, setOpen] = useState(false);
    > 2 |   useEffect(() => setOpen(true), []);
        |                   ^

      at printWarning (node_modules/react-dom/cjs/react-dom.development.js:86:30)
      at error (node_modules/react-dom/cjs/react-dom.development.js:60:7)

"""
_FAILURE = """\
  ● Component › case 3 keeps the focus where it was

    expect(received).toBe(expected) // Object.is equality

    Expected: "menu"
    Received: "body"

      at Object.toBe (src/js/components/Menu/__tests__/Menu-test.tsx:40:31)

"""
TESTS, REPEATS = 20, 3


def jest_log(size: int) -> tuple[bytes, int, int]:
    """A log of at least `size` bytes, its number of tests and of failed tests."""
    parts, length, failed = [], 0, 0
    for number in count():
        if length >= size:
            break
        fails = number % 50 == 0
        part = _file(number, fails)
        parts.append(part)
        length, failed = length + len(part), failed + fails
    return "".join([*parts, _totals(len(parts), failed)]).encode(), len(parts) * TESTS, failed


def _file(number: int, fails: bool) -> str:
    marks = ("✕" if fails and case == 3 else "✓" for case in range(TESTS))
    tests = "".join(
        f"    {mark} case {case} keeps the focus where it was ({case} ms)\n" for case, mark in enumerate(marks)
    )
    word = "FAIL" if fails else "PASS"
    header = f"{word} src/js/components/C{number}/__tests__/C{number}-test.tsx (5.{number % 10} s)\n  Component\n"
    return _PRINTED % f"C{number}" * 4 + header + tests + "\n" + (_FAILURE if fails else "")


def _totals(files: int, failed: int) -> str:
    suites = f"Test Suites: {failed} failed, {files - failed} passed, {files} total\n"
    return suites + f"Tests:       {failed} failed, {files * TESTS - failed} passed, {files * TESTS} total\n"


def figures(megabytes: int = 60) -> list[Figure]:
    """The speed of the text reader in processor seconds; it must find every test."""
    log, tests, failed = jest_log(megabytes * 10**6)
    started = time.process_time()
    found = parser("jest-text").read(log, "/workspace/repo").tests
    seconds = time.process_time() - started
    if (len(found), sum(status is Status.FAILED for status in found.values())) != (tests, failed):
        raise SystemExit("the reader missed tests")
    speed = Figure(
        f"text of Jest, {tests} tests in {megabytes} MB", len(log) / 10**6 / seconds, "MB/s", ("at least", 60)
    )
    return [speed]


@click.command()
@click.option("--megabytes", default=60, show_default=True, help="Size of the log.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Where to write the figures.")
def main(megabytes: int, path: Path | None) -> None:
    """Measure the reading of logs against its goal."""
    report("Reading logs", figures(megabytes), path)


if __name__ == "__main__":
    main()
