"""Benchmark of stage 01: points, time and memory of mining a generated GitHub, and the speed of the pattern scan.

`just bench collect [--pulls N] [--clone PATH] [--json FILE]`. The GitHub double (tests/github_double) runs in a process
of its own; the client is the console program, so start-up counts. Writes a temporary folder. The texts that are scanned
are the commit messages of the clone, or generated ones.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

import click
from github_double import World

from benchmarks.goals import Figure, report
from pipeline.collect.evidence import evidence
from pipeline.collect.patterns import shipped
from pipeline.collect.prose import filled
from pipeline.collect.sources.clone import paged
from pipeline.core.names import parse_repo
from pipeline.core.patches import patterns
from pipeline.core.records import Base, Evidence, PullRequest
from pipeline.core.store import Store, read_json

TESTS = Path(__file__).parents[1]
REPO = "acme/ui"
#: byte code is kept between starts, whatever the shell's settings
AS_INSTALLED = {"PYTHONDONTWRITEBYTECODE": ""}
#: ru_maxrss counts kibibytes, on macOS bytes
RSS_UNIT = 2**20 if sys.platform == "darwin" else 2**10


class Run(NamedTuple):
    """One run of the client: seconds, processor seconds, peak memory in MB, points, requests, the funnel."""

    seconds: float
    processor: float
    memory: float
    points: int
    requests: int
    funnel: dict[str, Any]


@click.command()
@click.option("--pulls", default=100_000, show_default=True, help="Pull requests of the generated repository.")
@click.option("--clone", type=click.Path(path_type=Path, exists=True), help="A clone: its commit messages are scanned.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Where to write the figures.")
def main(pulls: int, clone: Path | None, path: Path | None) -> None:
    """Measure stage 01 against its goals."""
    figures = [*_scanning(_messages(clone) if clone else _generated_texts(min(pulls, 10_000))), *_mining(pulls)]
    report("collect", figures, path)


def _mining(pulls: int) -> Iterator[Figure]:
    """A tenth of the size first, to see whether memory grows with the size."""
    with served(pulls // 10) as url, TemporaryDirectory() as data:
        tenth = collect(url, data)
    with served(pulls) as url, TemporaryDirectory() as data:
        whole, again = collect(url, data), collect(url, data)
    merged = whole.funnel["total"]
    yield Figure("points for 100 pull requests", whole.points * 100 / merged, "points", ("at most", 5))
    yield Figure(f"{pulls:,} pull requests to candidates", whole.seconds, "s", ("at most", 120))
    yield Figure("of it the client's processor", whole.processor, "s")
    yield Figure("the same again, nothing new", again.seconds, "s", ("below", 2))
    yield Figure("of it the client's processor", again.processor, "s")
    yield Figure(f"peak memory of the client, {pulls // 10:,}", tenth.memory, "MB")
    yield Figure(f"peak memory of the client, {pulls:,}", whole.memory, "MB")
    yield Figure("requests", whole.requests, "")
    yield Figure("merged", merged, "pull requests")
    yield Figure("candidates", whole.funnel["sample"] + whole.funnel["without_issue"], "pull requests")


@contextmanager
def served(pulls: int) -> Iterator[str]:
    """The address of a double with a generated repository, for the duration of the block."""
    command = [sys.executable, "-m", "github_double", "--pulls", str(pulls)]
    with subprocess.Popen(command, cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        yield server.stdout.readline().strip()
        server.stdin.close()


def collect(url: str, data: str) -> Run:
    """Run the client to its end. Raises CalledProcessError with its output."""
    before = _recorded(url)
    program = Path(sys.executable).with_name("a11y-bench")
    command = [program, "collect", REPO, "--source", "github", "--data", data]
    environment = os.environ | {"GITHUB_API_URL": url, "GITHUB_TOKEN": "benchmark"} | AS_INSTALLED
    started = time.perf_counter()
    with open(f"{data}/log", "w+") as log:  # noqa: PTH123 - a descriptor for the process
        client = subprocess.Popen(command, cwd=TESTS.parent, env=environment, stdout=log, stderr=log)
        _, status, usage = os.wait4(client.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        raise subprocess.CalledProcessError(status, command, Path(f"{data}/log").read_text())
    points, requests = (after - first for after, first in zip(_recorded(url), before, strict=True))
    funnel = read_json(Store(Path(data)).raw(parse_repo(REPO)) / "funnel.json")
    processor = usage.ru_utime + usage.ru_stime
    return Run(seconds, processor, usage.ru_maxrss * RSS_UNIT / 1e6, points, requests, funnel)


def _recorded(url: str) -> tuple[int, int]:
    """The GraphQL points and requests that the double has counted so far."""
    with urlopen(Request(f"{url}/_double/record")) as answer:
        requests = json.load(answer)["requests"]
    return sum(request["cost"] for request in requests if request["path"] == "/graphql"), len(requests)


def _scanning(pulls: Sequence[PullRequest]) -> Iterator[Figure]:
    """The scan compared with a loop over all patterns. Raises AssertionError if the results differ."""
    size = sum(len(pull.title.encode()) + len(pull.body.encode()) for pull in pulls) / 1e6
    seconds, found = _best(lambda: _evidence(pulls), 50)
    naive_seconds, expected = _best(lambda: [tuple(_naive(pull)) for pull in pulls], 1)
    different = [pull.number for pull, one, other in zip(pulls, found, expected, strict=True) if one != other]
    assert not different, f"the scan and the naive loop differ in texts {different[:5]}"
    yield Figure(f"pattern scan of {size:.1f} MB", size / seconds, "MB/s", ("at least", 30))
    yield Figure("the naive loop", size / naive_seconds, "MB/s")
    yield Figure("evidence, the same by both", sum(map(len, found)), "")


def _best(work: Callable[[], Any], times: int) -> tuple[float, Any]:
    """The shortest of several times, and the result."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        made = work()
        seconds.append(time.perf_counter() - started)
    return min(seconds), made


def _evidence(pulls: Sequence[PullRequest]) -> list[tuple[Evidence, ...]]:
    """In pages of the same size as a clone's pull requests come in."""
    pages = ([(pull, ()) for pull in page.pulls] for page in paged(iter(pulls)))
    return [found for page in pages for found in evidence(page)]


def _naive(pull: PullRequest) -> Iterator[Evidence]:
    """The definition: every pattern on every text, with Python's `re` alone."""
    rows, ours = patterns()["a11y"], shipped()
    for field, text, searched, keys in (
        ("title", pull.title, pull.title, ("text", "label")),
        ("body", pull.body, filled(pull.body), ("text",)),
    ):
        for pattern in dict.fromkeys(row for key in keys for row in rows[key]):
            for match in re.finditer(pattern, *ours.without_names([searched]), re.IGNORECASE):
                found = text[match.start() : match.end()]
                yield Evidence(field=field, pattern=pattern, text=found, place=match.start())


def _messages(clone: Path) -> list[PullRequest]:
    command = ["git", "-C", str(clone), "log", "--format=%B%x00"]
    log = subprocess.run(command, check=True, capture_output=True).stdout.decode("utf-8", "replace")
    texts = (message.strip().partition("\n") for message in log.split("\0"))
    return [_pull(number, title, body) for number, (title, _, body) in enumerate(texts, 1)]


def _generated_texts(pulls: int) -> list[PullRequest]:
    repository = World().generate(REPO, pulls)
    made = map(repository.get, repository.numbers("pull"))
    return [_pull(pull_request.number, pull_request.title, pull_request.body) for pull_request in made]


def _pull(number: int, title: str, body: str) -> PullRequest:
    base = Base(label="acme:main", ref="main", sha="0" * 40)
    return PullRequest(
        org="acme", repo="ui", number=number, title=title, body=body, base=base, merge_sha="", merged_at=""
    )


if __name__ == "__main__":
    main()
