"""Benchmark of stage 00: the viewer's list over many candidates, and a detail view with a long diff.

`just bench triage [--candidates N] [--lines N] [--json FILE]`. The viewer is the console program, asked over loopback;
the first list, for which all candidates are read, is measured apart. Writes a temporary folder.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click
import factories

from benchmarks.goals import Figure, report
from pipeline.core import journal
from pipeline.core.store import Store, write_records

#: requests for the median
TIMES = 9


class Answer(NamedTuple):
    """Seconds to the first byte and to the last, and bytes."""

    first: float
    whole: float
    size: int


@click.command()
@click.option("--candidates", default=5000, show_default=True)
@click.option("--lines", default=5000, show_default=True, help="Changed lines of the long diff.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here too.")
def main(candidates: int, lines: int, path: Path | None) -> None:
    """Measure the viewer; exit code 1 when a goal is missed."""
    report("00 triage", list(_figures(candidates, lines)), path)


def _figures(candidates: int, lines: int) -> Iterator[Figure]:
    with TemporaryDirectory() as folder:
        store = generate(Store(Path(folder) / "data"), candidates, lines)
        with serving(store) as url:
            yield Figure(f"first list of {candidates:,}, all read", _asked(url).whole, "s")
            for name, path in (("list", "/"), ("words", "/?q=menu+name"), ("filter", "/?status=super&difficulty=easy")):
                answers = [_asked(url + path) for _ in range(TIMES)]
                yield Figure(name, 1000 * median(measured.whole for measured in answers), "ms", ("below", 100))
            answers = [_asked(f"{url}/candidate/acme__ui-1") for _ in range(TIMES)]
            yield Figure(
                f"detail, {lines:,} lines of diff",
                1000 * median(measured.whole for measured in answers),
                "ms",
                ("below", 300),
            )
            yield Figure("its first byte", 1000 * median(measured.first for measured in answers), "ms")
            yield Figure("its page", answers[0].size / 1e6, "MB")


def generate(store: Store, candidates: int, lines: int) -> Store:
    """Candidates of one repository, two ratings for every third one, and one candidate with a long diff."""
    chance, repo = Random(1), factories.REPO
    body = "".join(f"-old line {number} of a file\n+new line {number} of a file\n" for number in range(lines // 2))
    long = f"diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1,{lines // 2} +1,{lines // 2} @@\n{body}"
    made = [factories.make_candidate(1, fix_patch=long, merged_at="2026-01-01T00:00:00Z")]
    for number in range(2, candidates + 1):
        title = " ".join(chance.choices(("Menu", "has", "no", "name", "Dialog", "focus", "lost"), k=6))
        made.append(
            factories.make_candidate(number, title=title, fix_patch=factories.FIX_PATCH * chance.randint(1, 20))
        )
    write_records(store.raw(repo) / "candidates.jsonl", made)
    reviews = (
        factories.make_review(
            candidate.number, rater=rater, status=chance.choice(("super", "accepted")), difficulty="easy"
        )
        for candidate in made[::3]
        for rater in ("ann", "bob")
    )
    journal.append(store.reviews(repo), reviews)
    return store


@contextmanager
def serving(store: Store) -> Iterator[str]:
    """The viewer in a process of its own; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ("triage", "serve", "--port", str(port), "--data", str(store.root))
    program = subprocess.Popen([Path(sys.executable).with_name("a11y-bench"), *words], stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield url
    finally:
        program.terminate()
        program.wait()


def _asked(url: str) -> Answer:
    started = time.perf_counter()
    with urllib.request.urlopen(url, timeout=120) as answer:
        first_byte = answer.read(1)
        first = time.perf_counter() - started
        size = len(first_byte) + len(answer.read())
    return Answer(first, time.perf_counter() - started, size)


if __name__ == "__main__":
    main()
