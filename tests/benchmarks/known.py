"""Benchmark of planning: what `build --pr N` takes until its first container, where thousands of candidates are known.

`just bench known [--candidates N] [--tests N] [--json FILE]`. Without an engine: the sandbox is the one for trusted
code, and the process ends where it would make its first layer. Writes a temporary folder: a generated repository with
a commit for each candidate, and a unit for each that an earlier build left. Making them is not measured. What an engine
takes to answer is not in the figures.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import click
from factories import FIX_PATCH, REPO, TEST_PATCH, make_candidate, make_instance

from benchmarks.goals import Figure, report
from benchmarks.processes import Spent, spent
from pipeline.core.store import Store, write_json, write_records

#: folders in the generated repository, and files in each
FOLDERS, FILES = 60, 10
MANIFEST = '{"name": "ui", "version": "1.0.0", "devDependencies": {"jest": "^29.0.0"}, "scripts": {"test": "jest"}}\n'
#: lines of a generated patch besides those that matter
PADDING = "".join(f"+  // line {number} of what a pull request says beside it\n" for number in range(60))
#: the output at its end, before the number of processes that it started
FIRST = "processes until the first layer: "
#: the code that runs in a process of its own
CHILD = "from benchmarks.known import child; import sys; child(*sys.argv[1:])"


@click.command()
@click.option("--candidates", default=5000, show_default=True)
@click.option("--tests", default=50, show_default=True, help="Tests of each instance.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here too.")
def main(candidates: int, tests: int, path: Path | None) -> None:
    """Measure planning; exit code 1 when a goal is missed."""
    report("known candidates", list(_figures(candidates, tests)), path)


def _figures(candidates: int, tests: int) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder), candidates, tests)
        run = planned(Path(folder), f"--pr={candidates // 2}")
    yield Figure(f"{candidates:,} known candidates, until the first container", run.seconds, "s", ("at most", 3))
    yield Figure("of it the processor", run.processor, "s")
    yield Figure("processes", float(run.said.rpartition(FIRST)[2]), "")
    yield Figure("peak memory", run.memory / 1e6, "MB")


def planned(folder: Path, *arguments: str) -> Spent:
    """Run `build` in a process of its own until its first layer. Raises CalledProcessError."""
    done = spent([sys.executable, "-c", CHILD, str(folder), *arguments])
    if FIRST not in done.said:
        raise SystemExit(f"no layer was asked for: {done.said}")
    return done


def child(folder: str, *arguments: str) -> None:
    """In a process of its own: run `build`, which ends where the first layer would be made."""
    from pipeline.cli import main as program
    from pipeline.sandbox.local.images import LocalImages

    os.environ["A11Y_BENCH_CACHE"] = f"{folder}/cache"
    processes, popen = count(), subprocess.Popen.__init__

    def counted(self: Any, *words: Any, **options: Any) -> None:
        next(processes)
        popen(self, *words, **options)

    def first(*_: object) -> None:
        print(f"{FIRST}{next(processes)}", flush=True)
        os._exit(0)

    subprocess.Popen.__init__ = counted
    LocalImages.environment = first
    sys.argv = ["a11y-bench", "build", str(REPO), "--data", f"{folder}/data", *arguments]
    sys.argv += ["--sandbox", "local", "--trust-local"]
    program()


# -- what is there before --------------------------------------------------------------------------------------------
def generate(folder: Path, number: int, tests: int, *, built: bool = True) -> None:
    """A clone, its candidates, and the results of an earlier build of all but the middle one."""
    store, clone = Store(folder / "data"), folder / "clone.git"
    commits = history(clone, number)
    titles = {f"src/c0/Menu.test.tsx > Menu > case {case}": "PPP" for case in range(tests)}
    named = titles | {"src/c0/Menu.test.tsx > Menu > has a name": "PFP"}
    base = make_candidate(1)
    candidates, instances = [], []
    for pull, (before, after) in enumerate(zip(commits, commits[1:], strict=False), 1):
        patches = {key: _patch(text, pull) for key, text in (("fix_patch", FIX_PATCH), ("test_patch", TEST_PATCH))}
        own: dict[str, Any] = {"base": base.base.model_copy(update={"sha": before}), "merge_sha": after, **patches}
        candidates.append(make_candidate(pull, **own))
        instances.append(make_instance(pull, tests=named, **own))
    write_records(store.raw(REPO) / "candidates.jsonl", candidates)
    write_json(store.raw(REPO) / "source.json", {"commit": commits[-1]})
    if built:
        write_records(store.dataset(REPO), instances)
    for one in instances if built else ():
        if one.number == number // 2:
            continue
        place = store.qualification(REPO) / "units" / one.instance_id / "manifest.json"
        write_json(place, {"inputs": {"candidate": "x"}, "result": one.model_dump(mode="json"), "finished": ""})
    (store.raw(REPO) / "clone").symlink_to(clone)


def _patch(text: str, number: int) -> str:
    folder = f"src/c{number % FOLDERS}/"
    return text.replace("src/", folder).replace("@@ -1 +1 @@", "@@ -1 +1,61 @@") + PADDING


def history(folder: Path, count: int) -> list[str]:
    """A bare repository with that many commits after the first, each of which changes a source and its test."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True)
    git = ["git", f"--git-dir={folder}"]
    stream = "".join(_commits(count))
    subprocess.run([*git, "fast-import", "--quiet"], input=stream.encode(), check=True, capture_output=True)
    return subprocess.check_output([*git, "rev-list", "--reverse", "main"], text=True).split()


def _commits(count: int) -> Iterator[str]:
    files = {f"src/c{a}/Part{b}.tsx": f"export const Part{b} = 0;\n" for a in range(FOLDERS) for b in range(FILES)}
    files |= {f"src/c{a}/Menu.tsx": "old\n" for a in range(FOLDERS)} | {"package.json": MANIFEST}
    yield _commit(0, files)
    for number in range(1, count + 1):
        place = f"src/c{number % FOLDERS}/Menu"
        yield _commit(number, {f"{place}.tsx": f"new {number}\n", f"{place}.test.tsx": f"test {number}\n"})


def _commit(number: int, files: dict[str, str]) -> str:
    message = f"Name the menu (#{number})\n"
    head = f"commit refs/heads/main\ncommitter A <a@example.org> {1700000000 + 60 * number} +0000\n"
    changes = "".join(f"M 100644 inline {path}\ndata {len(text)}\n{text}\n" for path, text in files.items())
    return f"{head}data {len(message)}\n{message}{changes}"


if __name__ == "__main__":
    main()
