"""The engine: Node processes (`vendors/page-runner`), one browser each, that run one page after another.

A process and its browser are reused while they work. A page that hangs or ends them has no result, and the next page
gets a new process. It also does if a case left something behind in the old one, or another process; these end with it
(`pipeline.pages.guard`). Reads axe-core and deepmerge from npm, pinned, once; writes temporary folders. Does not cover
what a page means for a verdict.
"""

from __future__ import annotations

import atexit
import base64
import json
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.browser import executable, ordinary
from pipeline.browser.axe import AXE
from pipeline.browser.fenced import ARGUMENTS, NOBODY, fence
from pipeline.browser.program import version
from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.npm_package import NpmPackage
from pipeline.core.texts import parse_json
from pipeline.core.vendors import VENDORS
from pipeline.pages import guard
from pipeline.pages.others import Others
from pipeline.pages.records import Observed

RUNNER = VENDORS / "page-runner"
#: `utils.merge`, as in the public harness
MERGE = NpmPackage(
    "deepmerge@4.3.1",
    "sha512-3sUqbMEc77XqpdNO7FRyRog+eW3ph+GYCbj+rK+uYyRMuwsVy0rMiVtPn+QJlKFvWP/1PYpapqYn0Me2knFn+A==",
    "dist/cjs.js",
)
#: the maximum heap of a runner's JavaScript in megabytes, whatever a page sends it
HEAP = 768
#: seconds for a runner to start its browser, and to report a result after a page's time limit
STARTING, GRACE = 30, 15
#: the maximum size of a result, in bytes
LONGEST_ANSWER = 64 * 2**20
#: our environment variables that a runner gets
PASSED = ("PATH", "LANG")


@dataclass(frozen=True)
class Limits:
    """Limits in seconds: for a whole page, its load, one action or wait of a case, one assertion, one audit."""

    page: float = 60
    load: float = 15
    action: float = 5
    assertion: float = 20
    audit: float = 20


class Code(NamedTuple):
    """The test of a case as plain data: its files, its digest, whether it names axe-core, and the gate."""

    digest: str
    files: dict[str, bytes]
    names_axe: bool
    gate: dict[str, list[str]]


@dataclass(frozen=True)
class Job:
    """A page, and the case to run it through; without a case it is only rendered and audited."""

    html: str
    code: Code | None = None
    screenshot: bool = False
    limits: Limits = field(default_factory=Limits)


class Looked(NamedTuple):
    """The result of a job; the screenshot is a PNG."""

    observed: Observed
    screenshot: bytes = b""


def look(job: Job) -> Looked:
    """Run a job in a free process, or in a new one. Faults of the machine are returned in `machine`, never raised.

    Raises UserError without a browser, and InfrastructureError if npm cannot download a package.
    """
    with _borrowed() as worker:
        return worker.look(job)


# -- the processes -----------------------------------------------------------------------------------------------------
_free: list[Worker] = []
_lock = threading.Lock()


@contextmanager
def _borrowed() -> Iterator[Worker]:
    with _lock:
        worker = _free.pop() if _free else None
    worker = worker or Worker()
    try:
        yield worker
    except BaseException:
        worker.end()
        raise
    with _lock:
        _free.append(worker)


@atexit.register
def close() -> None:
    """End all free processes."""
    with _lock:
        ended, _free[:] = list(_free), []
    for worker in ended:
        worker.end()


class Worker:
    """A Node process with its browser. It is started with the first job, and again after a job that ended it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._home, self._to, self._from, self._buffer = Path(), -1, -1, b""
        self._pages, self._known = 0, set[int]()
        self.ran: dict[str, str] = {}

    def look(self, job: Job) -> Looked:
        if self._process and (self._process.poll() is not None or _is_readable(self._from, 0)):
            self.end()
        process = self._process or self._start()
        folder = self._unpacked(job.code) if job.code else None
        request = {
            "id": secrets.token_hex(16),
            "html": job.html,
            "folder": folder and str(folder),
            "axe": bool(job.code and job.code.names_axe),
            "gate": job.code.gate if job.code else {},
            "screenshot": job.screenshot,
            "limits": asdict(job.limits),
        }
        try:
            with Others(process.pid) as others:
                self._send(request)
                answer = self._answer(job.limits.page + GRACE)
        except _Silent as silent:
            self.end()
            return Looked(Observed(ended=silent.end, detail=silent.why, busy=others.busy, ran=self.ran))
        if answer.pop("id", "") != request["id"] or self._buffer:
            self.end()
            return Looked(Observed(fault="the case wrote to the engine in place of the runner", ran=self.ran))
        if "done" not in answer:
            self.end()
            return Looked(_without_result(answer, self.ran))
        result = answer["done"]
        if not result.pop("sound") or self._children() - self._known:
            self.end()
        return _looked(result, others.busy, self.ran)

    def end(self) -> None:
        """End the process, its browser, and all processes that a case started."""
        process, self._process = self._process, None
        for descriptor in (self._to, self._from):
            with suppress(OSError):
                os.close(descriptor)
        self._to = self._from = -1
        if process:
            if not _ended(process, 2):
                process.terminate()
            if not _ended(process, 2 * guard.ENDING):
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if self._home.name:
            shutil.rmtree(self._home, ignore_errors=True)
        self._home = Path()

    def _start(self) -> subprocess.Popen[bytes]:
        node, playwright = playwright_core()
        self._home = Path(tempfile.mkdtemp(prefix="a11y-bench-pages-"))
        if not os.geteuid():
            os.chown(self._home, NOBODY, NOBODY)
        try:
            self._process = self._spawn(node, json.dumps(_settings(self._home, playwright)))
        except BaseException:
            self.end()
            raise
        try:
            answer = self._answer(STARTING)
        except _Silent as silent:
            answer = {"broken": silent.why}
        if "ready" not in answer:
            why = answer.get("broken") or _tail(self._home / "errors")
            self.end()
            raise InfrastructureError(f"the page runner does not start: {why}", cause="browser")
        self._known = self._children()
        self.ran = {**answer["ready"], "axe": AXE.name, "runner": "page-runner"}
        return self._process

    def _spawn(self, node: str, settings: str) -> subprocess.Popen[bytes]:
        (theirs, self._to), (self._from, ours) = os.pipe(), os.pipe()
        self._buffer = b""
        guarded = [sys.executable, "-I", "-S", guard.__file__, node, f"--max-old-space-size={HEAP}"]
        command = [*guarded, str(RUNNER / "worker.js"), str(theirs), str(ours), settings]
        try:
            with (self._home / "errors").open("wb") as errors:
                return subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    pass_fds=(theirs, ours),
                    cwd=self._home,
                    env=_environment(self._home),
                    start_new_session=True,
                )
        finally:
            os.close(theirs)
            os.close(ours)

    def _children(self) -> set[int]:
        """The guard's and the runner's child processes: the runner and its browser, and what a case started."""
        own = guard.children(self._process.pid) if self._process else set()
        return own.union(*map(guard.children, own))

    def _unpacked(self, code: Code) -> Path:
        """Copy the files of a case into the runner's own folder; the runner can read nothing else of the case.

        Each page gets a new path: Node keeps ES modules, and with them what they know of earlier pages, by path."""
        kept, pages = self._home / "cases" / code.digest, self._home / "pages"
        for name, data in code.files.items():
            path = kept / name
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        self._pages += 1
        shutil.rmtree(pages, ignore_errors=True)
        return shutil.copytree(kept, pages / str(self._pages), copy_function=os.link)

    def _send(self, request: dict[str, Any]) -> None:
        data, deadline = memoryview(json.dumps(request).encode() + b"\n"), time.monotonic() + STARTING
        while data:
            _, ready, _ = select.select([], [self._to], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise _Silent("hung", "the runner does not read")
            try:
                data = data[os.write(self._to, data[:65536]) :]
            except BrokenPipeError:
                raise _Silent("ended", "the runner ended") from None

    def _answer(self, seconds: float) -> dict[str, Any]:
        """The runner's next line. Raises _Silent if none arrives in time."""
        parts, size, deadline = [self._buffer], len(self._buffer), time.monotonic() + seconds
        while b"\n" not in parts[-1]:
            if not _is_readable(self._from, max(0, deadline - time.monotonic())):
                raise _Silent("hung", f"the runner said nothing for {seconds:g} s")
            data = os.read(self._from, 2**20)
            size += len(data)
            if not data:
                raise _Silent("ended", "the runner ended without a result")
            if size > LONGEST_ANSWER:
                raise _Silent("ended", "the runner's result is too large")
            parts.append(data)
        line, _, self._buffer = b"".join(parts).partition(b"\n")
        try:
            return dict(parse_json(line))
        except (TypeError, ValueError) as error:
            raise _Silent("ended", f"the runner's result cannot be read: {error}") from None


class _Silent(Exception):
    """The runner gave no result: `end` is how it ended, `why` says so in words."""

    def __init__(self, end: str, why: str) -> None:
        self.end, self.why = end, why
        super().__init__(why)


def _without_result(line: dict[str, Any], ran: dict[str, str]) -> Observed:
    """The observation if a runner prints something else than a result: its case ended it, or it broke."""
    if "left" in line:
        return Observed(fault=f"the case ended the runner's process with code {line['left']}", ran=ran)
    return Observed(machine=line.get("broken", "the runner broke"), ran=ran)


def _looked(result: dict[str, Any], busy: str, ran: dict[str, str]) -> Looked:
    picture = base64.b64decode(result.pop("screenshot", "") or "")
    machine = result.pop("broken", "")
    return Looked(Observed(**result, machine=machine, busy=busy, ran=ran), picture)


def _is_readable(descriptor: int, seconds: float) -> bool:
    return bool(select.select([descriptor], [], [], seconds)[0])


def _ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _tail(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")[-1000:].strip() or "it printed nothing"


def playwright_core() -> tuple[str, str]:
    """Node and playwright-core as the Python package contains them, in the version of the browser floor."""
    from playwright._impl._driver import compute_driver_executable

    node, script = compute_driver_executable()
    return str(node), str(Path(script).parent)


def _settings(home: Path, playwright: str) -> dict[str, Any]:
    program = executable()
    if program is None:
        raise UserError("no browser is installed", hint="run: just browser-install")
    return {
        "home": str(home),
        "playwright": playwright,
        "merge": str(MERGE.file()),
        "axe": str(AXE.file()),
        "browser": str(fence(program, home, drop=False)),
        "arguments": ARGUMENTS,
        "agent": ordinary.agent(version(program)),
        "ordinary": ordinary.script(),
    }


def _environment(home: Path) -> dict[str, str]:
    """The variables that a runner needs to start; secrets are not among them."""
    inherited = {name: os.environ[name] for name in PASSED if name in os.environ}
    return {**inherited, "HOME": str(home), "TMPDIR": str(home)}
