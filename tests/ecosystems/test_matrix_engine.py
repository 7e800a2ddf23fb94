"""Runners of several eras in the engine, with the options of their tables. For all versions: `just bench runners`."""

from __future__ import annotations

from pathlib import Path

import pytest
import runner_matrix

from pipeline.build import faults
from pipeline.core.cache import cache_root
from pipeline.ecosystems import all_runners
from pipeline.sandbox.docker.sandbox import DockerSandbox


@pytest.mark.engine
@pytest.mark.trap("flag-of-another-version")
@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("vitest", "0.10.5"),
        ("jest", "19.0.2"),
        ("jest", "22.4.4"),  # Node 8 and 10 write at a place of a file, which a pipe has not
        ("jest", "25.5.4"),  # Node 12 before 12.17, too
        ("mocha", "5.2.0"),
        ("mocha", "12.0.3"),
        ("karma", "6.4.4"),
        ("playwright", "1.62.1"),
        ("wtr", "1.0.0"),
    ],
)
def test_a_runner_gets_the_options_of_its_version(tmp_path: Path, name: str, version: str) -> None:
    run = runner_matrix.tried(DockerSandbox(cache_root()), tmp_path, name, version)
    assert runner_matrix.differences(name, run) == [], run.log.decode(errors="replace")[-3000:]


@pytest.mark.engine
@pytest.mark.trap("flag-of-another-version")
def test_an_unknown_option_is_a_known_fault(tmp_path: Path) -> None:
    """The real message of a current runner."""
    own = runner_matrix.environment("vitest", "3.2.7")
    words = (*own.test[:-1], "--no-such-option", own.test[-1])
    run = runner_matrix.tried(DockerSandbox(cache_root()), tmp_path, "vitest", "3.2.7", test=words)
    finding = next(faults.find("run", run.log.decode()))
    assert (run.end, finding.fault.name) == ("no_report", "unknown-option")
    assert "such" in finding.found["option"].lower()


@pytest.mark.trap("flag-of-another-version")
@pytest.mark.parametrize("name", sorted(all_runners()))
def test_every_runner_has_a_matrix(name: str) -> None:
    """A version outside the matrix gets options that nobody has tried."""
    matrix = runner_matrix.majors(name)
    assert matrix and all(rest and rest[0] for rest in matrix.values())
    assert all(runner_matrix.environment(name, version).runner == name for version in matrix)
