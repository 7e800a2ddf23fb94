"""The scripts of docker/ without an engine: style, help, refusals, mirrors."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from docker_scripts import BOOTSTRAP, BUILD, DOCKER, MIRRORS, START, STOP, need, run

SCRIPTS = sorted(DOCKER.glob("*/*.sh"))
PARTS = {"common.sh", "inside.sh"}  # sourced or passed into the image, never run
PROGRAMS = [script for script in SCRIPTS if script.name not in PARTS]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_syntax_is_valid(script: Path) -> None:
    assert run("bash", "-n", script).stderr == ""


def test_shellcheck_finds_nothing() -> None:
    need("shellcheck")
    assert run("shellcheck", "-x", "-P", "SCRIPTDIR", *SCRIPTS).stdout == ""


@pytest.mark.parametrize("script", PROGRAMS, ids=lambda path: path.name)
def test_help_names_the_usage_and_every_variable(script: Path) -> None:
    assert os.access(script, os.X_OK)
    shown = run(script, "--help")
    assert shown.returncode == 0
    assert f"Usage: docker/{script.parent.name}/{script.name}" in shown.stdout
    used = set(re.findall(r"\$\{(A11Y_BENCH_\w+)", script.read_text()))
    assert used <= set(re.findall(r"A11Y_BENCH_\w+", shown.stdout))


@pytest.mark.parametrize(
    "name", ["engine/install.sh", "engine/start.sh", "engine/stop.sh", "base/build.sh", "browser/install.sh"]
)
def test_unknown_argument_is_refused(name: str) -> None:
    refused = run(DOCKER / name, "--nonsense")
    assert refused.returncode == 1
    assert "unknown argument '--nonsense'" in refused.stderr


def test_the_part_for_the_image_refuses_to_run_on_the_host() -> None:
    """It deletes documentation and apt sources."""
    refused = run("sh", DOCKER / "base/inside.sh")
    assert refused.returncode == 1
    assert "only docker/base/from-*.sh may run this" in refused.stderr


def test_start_says_that_a_remote_engine_cannot_be_started() -> None:
    refused = run(START, DOCKER_HOST="tcp://127.0.0.1:1")
    assert refused.returncode == 1
    assert "only a unix:// socket can be started" in refused.stderr


def test_stop_leaves_a_process_alone_that_took_the_id_of_the_engine(tmp_path: Path) -> None:
    bystander = subprocess.Popen(["sleep", "60"])
    (tmp_path / "dockerd.pid").write_text(str(bystander.pid))
    try:
        stopped = run(STOP, A11Y_BENCH_DOCKER_RUN=str(tmp_path))
        assert (stopped.returncode, bystander.poll()) == (0, None)
        assert "nothing to stop" in stopped.stderr
    finally:
        bystander.kill()
        bystander.wait()


def test_build_with_an_unknown_way_lists_the_ways() -> None:
    refused = run(BUILD, A11Y_BENCH_BASE_FROM="thin-air")
    assert refused.returncode == 1
    assert all(way in refused.stderr for way in ("thin-air", "auto", "registry", "debootstrap"))


def test_build_says_how_to_get_an_engine() -> None:
    refused = run(BUILD, DOCKER_HOST="tcp://127.0.0.1:1")
    assert refused.returncode == 1
    assert "docker/engine/start.sh" in refused.stderr


def apt_sources(folder: Path, name: str, text: str) -> dict[str, str]:
    """The environment in which apt reads `text` as its only source; `name` ends in .list or .sources."""
    parts = folder / "sources.d"
    parts.mkdir()
    (parts / name).write_text(text)
    config = folder / "apt.conf"
    config.write_text(f'Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "{parts}";\n')
    return {"APT_CONFIG": str(config)}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("one-line.list", "deb http://mirror.example/debian bookworm main\n"),
        (
            "deb822.sources",
            "Types: deb\nURIs: http://mirror.example/debian/\nSuites: bookworm bookworm-updates\nComponents: main\n",
        ),
    ],
)
def test_mirrors_reads_both_forms_of_apt_sources(tmp_path: Path, name: str, text: str) -> None:
    need("apt-get")
    found = run(MIRRORS, "bookworm", **apt_sources(tmp_path, name, text))
    assert found.stdout.split() == ["http://mirror.example/debian", "http://deb.debian.org/debian"]


def test_mirrors_passes_over_other_suites(tmp_path: Path) -> None:
    need("apt-get")
    sources = apt_sources(tmp_path, "other.list", "deb http://mirror.example/debian trixie main\n")
    assert run(MIRRORS, "bookworm", **sources).stdout.split() == ["http://deb.debian.org/debian"]


@pytest.mark.engine("root")
@pytest.mark.invariant(6)
def test_the_password_of_a_mirror_is_not_printed(tmp_path: Path) -> None:
    """A private mirror's URL can contain one. No server has this suite any more, so the command fails at once."""
    need("apt-get", "debootstrap")
    sources = apt_sources(tmp_path, "private.list", "deb http://me:hunter2@127.0.0.1:9/debian potato main\n")
    failed = run(BOOTSTRAP, "potato", "git", TMPDIR=str(tmp_path), **sources)
    assert failed.returncode == 1
    assert "//***@127.0.0.1:9/debian" in failed.stderr
    assert "hunter2" not in failed.stdout + failed.stderr
