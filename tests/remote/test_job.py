"""A server's jobs, without the server: they run independently, and report their state."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from pipeline.remote.jobs import LOCAL_SCRIPT


def script(folder: Path, *arguments: str, **how: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", LOCAL_SCRIPT, *arguments], cwd=folder, capture_output=True, text=True, **how)


def begin(folder: Path, name: str, *command: str) -> subprocess.Popen[bytes]:
    job = folder / ".remote/jobs" / name
    job.mkdir(parents=True)
    (job / "command").write_text(" ".join(command) + "\n")
    words = ["bash", LOCAL_SCRIPT, "run", f".remote/jobs/{name}", *command]
    return subprocess.Popen(words, cwd=folder, start_new_session=True)


def states(folder: Path) -> dict[str, tuple[str, str]]:
    rows = [line.split("\t") for line in script(folder, "list").stdout.splitlines()]
    return {row[0]: (row[1], row[2]) for row in rows}


def wait_for(folder: Path, name: str, state: str) -> None:
    until = time.monotonic() + 20
    while states(folder).get(name, ("", ""))[0] != state:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_job_leaves_its_log_and_its_exit_code(tmp_path: Path) -> None:
    begin(tmp_path, "one", "sh", "-c", "echo said; echo wrong >&2; exit 3").wait(20)
    assert (tmp_path / ".remote/jobs/one/log").read_text() == "said\nwrong\n"
    assert states(tmp_path) == {"one": ("ended", "3")}


def test_a_job_is_asked_to_end(tmp_path: Path) -> None:
    job = begin(tmp_path, "one", "sh", "-c", "trap 'echo ending; exit 130' TERM; echo up; while :; do sleep 0.1; done")
    wait_for(tmp_path, "one", "running")
    log, until = tmp_path / ".remote/jobs/one/log", time.monotonic() + 20
    while not (log.exists() and log.read_text()):
        assert time.monotonic() < until
        time.sleep(0.05)
    script(tmp_path, "stop", ".remote/jobs/one", check=True)
    job.wait(20)
    assert states(tmp_path) == {"one": ("ended", "130")}
    assert log.read_text().splitlines()[-1] == "ending"


def test_a_stopped_job_leaves_no_processes_behind(tmp_path: Path) -> None:
    """A recipe runs in a shell, and the program is its child."""
    inner = "trap 'touch ended; exit 130' TERM; touch begun; while :; do sleep 0.1; done"
    job = begin(tmp_path, "one", "sh", "-c", f'sh -c "{inner}"; true')
    until = time.monotonic() + 20
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    script(tmp_path, "stop", ".remote/jobs/one", check=True)
    job.wait(20)
    while not (tmp_path / "ended").exists():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_job_whose_machine_stopped_is_lost(tmp_path: Path) -> None:
    job = begin(tmp_path, "one", "sleep", "600")
    wait_for(tmp_path, "one", "running")
    child = int(subprocess.check_output(["pgrep", "-P", str(job.pid)]))
    job.kill()
    job.wait(20)
    assert states(tmp_path)["one"] == ("lost", "")
    subprocess.run(["kill", str(child)], check=True)


@pytest.mark.invariant(6)
def test_keys_are_in_the_environment_of_jobs_only(tmp_path: Path) -> None:
    (tmp_path / ".secrets.env").write_text("SOME_KEY='a key; $(date)'\n")
    begin(tmp_path, "one", "sh", "-c", 'test "$SOME_KEY" = "a key; \\$(date)" && echo "$A11Y_BENCH_CLONES"').wait(20)
    assert states(tmp_path)["one"] == ("ended", "0")
    assert (tmp_path / ".remote/jobs/one/log").read_text() == f"{tmp_path}/clones\n"
