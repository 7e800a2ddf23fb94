"""Setting up a server: repeatable, nothing changes in a dry run, and the configuration is valid."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pipeline.remote.prepare import SCRIPT, STATES

BASH = str(shutil.which("bash"))


def prepare(root: Path, *arguments: str) -> list[tuple[str, str]]:
    command = ["bash", "-s", "--", "--root", str(root), "--folder", str(root / "bench"), *arguments]
    done = subprocess.run(command, input=SCRIPT.read_text(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    assert {state for state, _, _ in lines} <= set(STATES)
    return [(state, what.strip()) for state, _, what in lines]


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_dry_run_lists_all_changes_and_makes_none(tmp_path: Path) -> None:
    found = prepare(tmp_path, "--dry-run")
    assert [what for state, what in found if state == "would"] == [
        "/etc/sysctl.d/90-a11y-bench.conf",
        "/etc/security/limits.d/90-a11y-bench.conf",
        "/etc/docker/daemon.json",
        "/etc/systemd/system/docker.service.d/90-a11y-bench.conf",
        *(f"folder {tmp_path}/bench{part}" for part in ("", "/data", "/clones", "/.remote/jobs")),
    ]
    assert list(tmp_path.iterdir()) == []


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    first = prepare(tmp_path)
    before = files(tmp_path)
    assert [what for state, what in first if state == "done"]
    assert not [what for state, what in prepare(tmp_path) if state in ("done", "would")]
    assert files(tmp_path) == before


def test_limits_are_those_of_the_thesis(tmp_path: Path) -> None:
    prepare(tmp_path)
    kernel = (tmp_path / "etc/sysctl.d/90-a11y-bench.conf").read_text().splitlines()
    assert dict(line.split(" = ") for line in kernel) == {
        "fs.inotify.max_user_watches": "524288",
        "fs.inotify.max_user_instances": "1024",
        "fs.file-max": "2097152",
    }
    assert "* hard nofile 1048576" in (tmp_path / "etc/security/limits.d/90-a11y-bench.conf").read_text()


def test_limits_of_the_running_kernel_are_set_by_valid_names(tmp_path: Path) -> None:
    """sysctl refuses a name that mixes dots and slashes."""
    command = ["bash", str(SCRIPT), "--dry-run", "--folder", str(tmp_path / "bench")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    names = re.findall(r"kernel: ([^ \n]+)", done.stdout)
    assert names == ["fs.inotify.max_user_watches", "fs.inotify.max_user_instances", "fs.file-max"]
    assert all(Path("/proc/sys", *name.split(".")).exists() for name in names)


def test_the_engines_configuration_keeps_other_settings(tmp_path: Path) -> None:
    place = tmp_path / "etc/docker/daemon.json"
    place.parent.mkdir(parents=True)
    place.write_text('{"registry-mirrors": ["https://mirror.example"], "data-root": "/big", "log-driver": "journald"}')
    prepare(tmp_path)
    configuration = json.loads(place.read_text())
    assert configuration["registry-mirrors"] == ["https://mirror.example"]
    assert configuration["data-root"] == "/big"
    assert configuration["log-driver"] == "json-file"
    assert configuration["default-ulimits"]["nofile"]["Hard"] == 1048576
    assert configuration["max-concurrent-downloads"] == 20


def test_the_data_root_can_be_set(tmp_path: Path) -> None:
    prepare(tmp_path, "--data-root", str(tmp_path / "layers"))
    configuration = json.loads((tmp_path / "etc/docker/daemon.json").read_text())
    assert configuration["data-root"] == str(tmp_path / "layers")


@pytest.mark.parametrize("text", ['{\n// a comment\n"storage-driver": "overlay2"}', "[]"])
def test_configuration_that_is_not_json_is_left_alone(tmp_path: Path, text: str) -> None:
    place = tmp_path / "etc/docker/daemon.json"
    place.parent.mkdir(parents=True)
    place.write_text(text)
    found = prepare_with_errors(tmp_path)
    assert ("todo", "/etc/docker/daemon.json: it is not JSON; correct or move it") in found
    assert place.read_text() == text


def prepare_with_errors(root: Path) -> list[tuple[str, str]]:
    """Python may print on stderr what is broken."""
    command = ["bash", "-s", "--", "--root", str(root), "--folder", str(root / "bench")]
    done = subprocess.run(command, input=SCRIPT.read_text(), capture_output=True, text=True, check=True)
    return [(state, what.strip()) for state, _, what in (line.partition(" ") for line in done.stdout.splitlines())]


def test_a_user_without_access_to_the_engine_gets_a_hint(tmp_path: Path) -> None:
    """The engine was started anew each time, without effect."""
    engine = tmp_path / "bin/docker"
    engine.parent.mkdir()
    engine.write_text("#!/bin/sh\necho 'permission denied while trying to connect to the docker API' >&2\nexit 1\n")
    engine.chmod(0o755)
    command = ["bash", "-s", "--", "--dry-run", "--folder", str(tmp_path / "bench")]
    environment = os.environ | {"PATH": f"{engine.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        command, input=SCRIPT.read_text(), capture_output=True, text=True, check=True, env=environment
    )
    assert "todo  this user may not use the engine: sudo usermod -aG docker " in done.stdout
    assert "the engine starts" not in done.stdout


@pytest.mark.parametrize(("subject", "program"), [("node_is", "npm"), ("uv_is", "python3"), ("packages", "apt-get")])
def test_failed_installations_are_reported(tmp_path: Path, subject: str, program: str) -> None:
    """Links to programs that were never installed used to be made and reported as done."""
    failing = tmp_path / "bin" / program
    failing.parent.mkdir()
    lines = ("the registry is away", "npm ERR!", "npm ERR! A complete log of this run can be found in: /root/_logs/x")
    failing.write_text("#!/bin/sh\n" + "".join(f"echo '{line}' >&2\n" for line in lines) + "exit 1\n")
    failing.chmod(0o755)
    for name in ("mkdir", "mktemp", "ln", "uname", "sed", "tail", "env"):
        (failing.parent / name).symlink_to(str(shutil.which(name)))
    script = SCRIPT.read_text().replace('\nmain "$@"\n', f'\nERRORS=$(mktemp)\nas_root() {{ "$@"; }}\n{subject}\n')
    environment = {"HOME": str(tmp_path), "PATH": str(failing.parent)}
    done = subprocess.run([BASH, "-s"], input=script, capture_output=True, text=True, check=True, env=environment)
    assert re.fullmatch(r"todo  .+: the registry is away\n", done.stdout)
    assert not list((tmp_path / ".local/bin").glob("*"))
