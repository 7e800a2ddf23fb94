"""What a release needs agrees: the version in every place, the citation, the templates."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from pipeline import __version__

ROOT = Path(__file__).parents[2]
CHECK = Path(sys.executable).with_name("check-jsonschema")
SUBJECT = ROOT / ".ci/commit-subject"


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    assert tomllib.loads(text("pyproject.toml"))["project"]["version"] == __version__
    assert yaml.safe_load(text("CITATION.cff"))["version"] == __version__
    assert re.search(rf"(?m)^## {re.escape(__version__)} \(", text("CHANGELOG.md"))


@pytest.mark.parametrize(
    ("schema", "file"),
    [("citation-file-format", "CITATION.cff"), ("github-workflows", ".github/workflows/ci.yml")],
)
def test_files_of_others_forms_follow_their_schema(schema: str, file: str) -> None:
    done = subprocess.run([CHECK, "--builtin-schema", f"vendor.{schema}", ROOT / file])
    assert done.returncode == 0


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda path: path.name
)
def test_a_template_asks_for_something(path: Path) -> None:
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form["name"] and form["description"]
    assert any(part.get("validations", {}).get("required") for part in form["body"])


@pytest.mark.parametrize(("length", "code"), [(72, 0), (73, 1)])
def test_the_hook_refuses_a_long_subject(tmp_path: Path, length: int, code: int) -> None:
    (tmp_path / "message").write_text("x" * length + "\n\nbody\n")
    assert subprocess.run([SUBJECT, tmp_path / "message"]).returncode == code
