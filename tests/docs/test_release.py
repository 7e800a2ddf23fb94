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
    ("schema", "pattern"),
    [
        ("vendor.citation-file-format", "CITATION.cff"),
        ("vendor.github-workflows", ".github/workflows/*.yml"),
        ("vendor.github-issue-forms", ".github/ISSUE_TEMPLATE/[!c]*.yml"),
        ("vendor.github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
    ],
)
def test_what_github_reads_follows_its_schema(schema: str, pattern: str) -> None:
    files = [str(path) for path in ROOT.glob(pattern)]
    assert files
    done = subprocess.run([CHECK, "--builtin-schema", schema, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("length", "code"), [(72, 0), (73, 1)])
def test_the_hook_refuses_a_long_subject(tmp_path: Path, length: int, code: int) -> None:
    (tmp_path / "message").write_text("x" * length + "\n\nbody\n")
    assert subprocess.run([SUBJECT, tmp_path / "message"]).returncode == code
