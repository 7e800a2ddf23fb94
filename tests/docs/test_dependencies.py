"""The dependencies: each has a reason, and a package with few maintainers is imported in one module."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions, requires
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
#: a package with one author -> the only module that imports it
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
    assert listed(chapter) == {
        name_of(requirement) for group in declared for requirement in group if isinstance(requirement, str)
    }


@pytest.mark.parametrize(("package", "door"), DOORS.items())
def test_a_package_with_a_single_author_is_imported_in_one_module(package: str, door: str) -> None:
    """So that it can be replaced there if it is abandoned."""
    paths = [path for folder in ("pipeline", "vendors") for path in (ROOT / folder).rglob("*.py")]
    wanted = re.compile(rf"^\s*(?:import|from) {package}\b", re.MULTILINE)
    found = [str(path.relative_to(ROOT)) for path in paths if wanted.search(path.read_text(encoding="utf-8"))]
    assert found == [door]


#: modules of other environments: the proxy's, and that of a harness that runs an export
ELSEWHERE = {"fastapi", "litellm", "inspect_ai"}
#: packages that we import but do not declare -> the package that depends on them and exposes them in its interface
BROUGHT = {
    "dask": "distributed",
    "markupsafe": "jinja2",
    "pydantic-core": "pydantic",
    "requests": "docker",
    "werkzeug": "flask",
}


def imported(source: str) -> set[str]:
    """The packages outside the standard library and this project that a module imports anywhere."""
    nodes = [*ast.walk(ast.parse(source))]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"pipeline"} - ELSEWHERE


def test_the_wheel_declares_everything_that_it_imports() -> None:
    """The tests' environment contains more: a missing declaration would fail only in an installed wheel."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    declared = {canonicalize_name(name_of(requirement)) for group in groups for requirement in group}
    modules = set().union(*(imported(path.read_text(encoding="utf-8")) for path in (ROOT / "pipeline").rglob("*.py")))
    providers = packages_distributions()
    used = {canonicalize_name(providers[module][0]) for module in modules}
    assert used - declared == BROUGHT.keys()
    for package, bringer in BROUGHT.items():
        assert bringer in declared
        assert package in {canonicalize_name(name_of(require)) for require in requires(bringer) or ()}


@pytest.fixture
def audit() -> Any:
    spec = spec_from_file_location("audit_dependencies", ROOT / ".ci/audit_dependencies.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_unknown_license_is_reported(audit: Any) -> None:
    rows = [{"Name": name, "License": text} for name, text in (("a", "MIT License"), ("b", "Proprietary"), ("c", ""))]
    assert audit.unknown_licenses(rows) == ["b: unknown license: Proprietary", "c: unknown license: "]


def test_every_installed_package_has_a_permissible_license(audit: Any) -> None:
    """Advisories need the network; licenses do not, so every test run checks them."""
    rows = audit.output_of(*audit.LICENSES)
    assert len(rows) > 100 and audit.unknown_licenses(rows) == []


FLAWED = {"name": "a", "version": "1.0", "vulns": [{"id": "GHSA-1", "fix_versions": ["1.1"]}]}
SOUND, SKIPPED = {"name": "a", "version": "1.0", "vulns": []}, {"name": "b", "skip_reason": "not found on PyPI"}
OURS = {"name": "a11y-bench", "skip_reason": "distribution marked as editable"}


@pytest.mark.parametrize(
    ("licenses", "dependencies", "code", "line"),
    [
        ([], [SOUND, OURS], 0, "0 unknown licenses and advisories"),
        ([], [FLAWED, SKIPPED], 1, "a 1.0: GHSA-1, fixed in 1.1"),
        ([], [SOUND, SKIPPED], 2, "not checked: the advisories of 1 distributions (b, ...)"),
        ([], None, 2, "not checked: the advisories"),
        (None, [SOUND], 2, "not checked: the licenses"),
    ],
)
def test_an_audit_that_is_incomplete_does_not_pass(
    audit: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    licenses: Any,
    dependencies: Any,
    code: int,
    line: str,
) -> None:
    answers = {"piplicenses": licenses, "pip_audit": dependencies and {"dependencies": dependencies}}
    monkeypatch.setattr(audit, "output_of", lambda module, *_: answers[module])
    assert audit.main() == code
    assert line in capsys.readouterr().out.splitlines()


def test_a_tool_that_fails_is_reported(audit: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.output_of("no_such_module") is None and "No module named" in capsys.readouterr().err
