"""Invalid arguments, environment and input: exit code 2, nothing written."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest
from magentless.inputs import DEFAULT_SETTINGS

from .conftest import FILES, VENDORS


def refused(done) -> bool:
    return done.code == 2 and not done.out.exists()


def test_help_needs_no_heavy_import():
    probe = (
        "import sys, magentless.cli; sys.exit(bool({'httpx', 'numpy', 'pydantic', 'tree_sitter'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", probe], env={"PYTHONPATH": str(VENDORS)}).returncode == 0


def test_a_missing_key_is_refused(make_checkout, run_agent):
    done = run_agent(make_checkout(FILES), "http://127.0.0.1:9/v1", OPENAI_API_KEY="")
    assert refused(done) and "OPENAI_API_KEY" in done.stderr


@pytest.mark.parametrize(
    ("toml", "field"),
    [("[samples]\nset = 1\n", "samples.set"), ("[files]\ntop = 'x'\n", "files.top"), ("[", "run.toml")],
)
def test_settings_that_cannot_be_used_are_named(make_checkout, run_agent, toml, field):
    done = run_agent(make_checkout(FILES), "http://127.0.0.1:9/v1", toml=toml)
    assert refused(done) and field in done.stderr


def test_a_folder_inside_another_repository_is_refused(make_checkout, run_agent):
    done = run_agent(make_checkout(FILES) / "src", "http://127.0.0.1:9/v1")
    assert refused(done) and "not a git working tree" in done.stderr


def test_the_manifest_passes_every_option():
    manifest = tomllib.loads((VENDORS / "magentless" / "agent.toml").read_text())
    options = {word for word in manifest["command"] if word.startswith("--")}
    places = {"--task", "--pictures", "--checkout", "--out", "--cache", "--encodings", "--settings"}
    assert options == places | {"--model", "--contexts", "--choices", "--answer"}
    assert (VENDORS / "magentless" / manifest["settings"]) == DEFAULT_SETTINGS
