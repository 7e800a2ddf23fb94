"""The dependencies: each has its reason, and one that few people keep has one door."""

from __future__ import annotations

import re
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
#: a package of one author -> the one module that imports it
DOORS = {"nodesemver": "pipeline/ecosystems/versions.py"}


def name_of(requirement: str) -> str:
    return re.match(r"[\w.-]+", requirement)[0]


def listed(chapter: str) -> set[str]:
    """The packages of a table of the page."""
    text = PAGE.partition(f"## {chapter}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `([\w.-]+)` \| \S", text, re.MULTILINE))


@pytest.mark.parametrize("chapter", ["At run time", "Extras", "For development"])
def test_every_dependency_has_its_reason(chapter: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = {
        "At run time": [project["project"]["dependencies"]],
        "Extras": project["project"]["optional-dependencies"].values(),
        "For development": project["dependency-groups"].values(),
    }[chapter]
    assert listed(chapter) == {name_of(one) for group in declared for one in group if isinstance(one, str)}


@pytest.mark.parametrize(("package", "door"), DOORS.items())
def test_a_package_of_one_author_is_imported_in_one_module(package: str, door: str) -> None:
    """So that it can be replaced there, whatever becomes of it."""
    paths = [path for folder in ("pipeline", "vendors") for path in (ROOT / folder).rglob("*.py")]
    wanted = re.compile(rf"^\s*(?:import|from) {package}\b", re.MULTILINE)
    found = [str(path.relative_to(ROOT)) for path in paths if wanted.search(path.read_text(encoding="utf-8"))]
    assert found == [door]


@pytest.fixture
def audit() -> Any:
    spec = spec_from_file_location("audit_dependencies", ROOT / ".ci/audit_dependencies.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_license_that_is_not_known_is_told(audit: Any) -> None:
    rows = [{"Name": name, "License": text} for name, text in (("a", "MIT License"), ("b", "Proprietary"), ("c", ""))]
    assert audit.unknown_licenses(rows) == [("b", "Proprietary"), ("c", "")]


def test_advisories_are_told_and_so_is_what_was_not_looked_up(audit: Any) -> None:
    """An audit that looked nothing up must not pass for one that found nothing."""
    flaw = {"id": "GHSA-1", "fix_versions": ["1.1"]}
    said = {"dependencies": [{"name": "a", "version": "1.0", "vulns": [flaw]}, {"name": "b", "skip_reason": "no"}]}
    assert audit.advisories(said) == (["a 1.0: GHSA-1, fixed in 1.1"], ["b"])
    assert audit.advisories(None) == ([], ["everything"])


def test_a_tool_that_fails_is_said(audit: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.told("no_such_module") is None and "No module named" in capsys.readouterr().err
