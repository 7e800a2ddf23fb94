"""Which npm package provides which tool. Fetching them is covered by the tests of the sandboxes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline.sandbox.base import InstallFailed
from pipeline.sandbox.installation import Package
from pipeline.sandbox.node import deviations, major, prefix, releases


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
