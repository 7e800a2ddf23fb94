"""Which npm package provides which tool. Fetching them is covered by the tests of the sandboxes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.sandbox import node
from pipeline.sandbox.base import InstallFailed
from pipeline.sandbox.installation import Package
from pipeline.sandbox.node import deviations, exact, major, prefix, releases


def test_release_within_the_range_is_no_deviation() -> None:
    assert deviations({"20": "20.19.5", "yarn@1.22": "yarn@1.22.22", "npm@9.8.1": "npm@9.8.1"}) == []
    assert deviations({"20.1": "20.19.5"}) == ["20.19.5 in place of 20.1"]


def test_what_is_no_version_is_said() -> None:
    with pytest.raises(InstallFailed, match="'lts' is not a version"):
        major("lts")


def test_npm_is_asked_once_for_each_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Repair reads settings in every attempt for every candidate, and npm takes most of a second to start."""
    (tmp_path / "npm").write_text(f'#!/bin/sh\necho asked >> {tmp_path}/log\necho \'["1.0.0", "2.0.0"]\'\n')
    (tmp_path / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    for registry in ("http://one.test", "http://one.test", "http://other.test"):
        monkeypatch.setenv("npm_config_registry", registry)
        assert releases("left-pad") == ["1.0.0", "2.0.0"]
    assert (tmp_path / "log").read_text().splitlines() == ["asked", "asked"]


#: an npm that fails as the real one does when another one writes to the same cache: `mkdir` shows which was first
COLLIDING = """#!/bin/sh
for word; do case $word in --cache=*) cache=${word#--cache=};; --prefix=*) target=${word#--prefix=};; esac; done
cache=${cache:-$HOME/.npm}
mkdir -p "$cache"
mkdir "$cache/_cacache" || { echo "npm error code EEXIST" >&2; echo "npm error path $cache/_cacache" >&2; exit 1; }
sleep 1
rmdir "$cache/_cacache"
mkdir -p "$target/bin"
"""


@pytest.mark.trap("shared-install-cache")
def test_two_fetches_side_by_side_do_not_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They collided in the host's shared npm cache, and a candidate was rejected for it."""
    (tmp_path / "npm").write_text(COLLIDING)
    (tmp_path / "npm").chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    wanted = [Package("pnpm", "9.15.9"), Package("yarn", "1.22.22")]
    with ThreadPoolExecutor(2) as both:
        made = list(both.map(lambda package: prefix(tmp_path / "cache", package), wanted))
    assert all((folder / "bin").is_dir() for folder in made)


@pytest.mark.invariant(5)
@pytest.mark.parametrize(
    "name", ["http://169.254.169.254/x", "git+ssh://host/x", "acme/x", "../x", "--registry=http://x"]
)
def test_npm_is_not_asked_for_what_is_no_package(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fetches addresses and reads options, and a repository chose the name."""
    (tmp_path / "npm").write_text(f"#!/bin/sh\necho asked >> {tmp_path}/log\necho '[\"1.0.0\"]'\n")
    (tmp_path / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert releases(name) == []
    for wanted in (Package(name, "1"), Package("yarn", "http://169.254.169.254/1"), Package("yarn", "npm:x@1")):
        with pytest.raises(InstallFailed):
            exact(tmp_path, wanted)
    assert not (tmp_path / "log").exists()


def test_a_package_that_is_called_like_an_option_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "npm").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/log\necho \'["1.0.0"]\'\n')
    (tmp_path / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert releases("--hepl") == ["1.0.0"]
    prefix(tmp_path / "cache", Package("--hepl", "1.0.0"))
    asked, installed = (tmp_path / "log").read_text().splitlines()
    assert asked.endswith(" -- --hepl versions") and installed.endswith(" -- --hepl@1.0.0")


@pytest.mark.invariant(4)
def test_an_npm_that_does_not_end_is_a_fault_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "npm").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(node, "SECONDS", 0.2)
    for ask in (lambda: releases("slow"), lambda: prefix(tmp_path / "cache", Package("slow", "1.0.0"))):
        with pytest.raises(InfrastructureError, match=r"npm did not end within 0\.2 s") as caught:
            ask()
        assert caught.value.cause == "registry"


@pytest.mark.rule("bad-input")
def test_a_host_without_npm_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="install Node with npm"):
        releases("nobody-asked-for-this")
