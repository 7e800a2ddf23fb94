"""What the proxy's process gets: enough, and no more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from pipeline.llm.config import BACK_OFF, SETTINGS, configuration, environment
from pipeline.llm.models import DEMO, SHIPPED, load_models

GIVEN = {
    "PATH": "/bin",
    "HTTPS_PROXY": "http://way-out",
    "A11Y_BENCH_SCRIPTED_KEY": "sk-scripted",
    "DEEPINFRA_API_KEY": "sk-deepinfra",
    "GITHUB_TOKEN": "ghp-canary",
    "DATABASE_URL": "postgres://canary",
}


@pytest.mark.invariant(6)
def test_only_variables_of_the_list_are_passed_on() -> None:
    """A proxy that does not see a token cannot print it; a stray DATABASE_URL would switch LiteLLM's mode."""
    given = environment(load_models(DEMO), Path("/l"), Path("/h"), "sk-master", GIVEN)
    assert {name for name in GIVEN if name in given} == {"PATH", "HTTPS_PROXY", "A11Y_BENCH_SCRIPTED_KEY"}
    assert (given["HOME"], given["PYTHONPATH"]) == ("/h", "/h")


@pytest.mark.invariant(6)
def test_no_key_is_in_the_configuration() -> None:
    """The configuration is a file; keys stay in the environment."""
    models = load_models(SHIPPED)
    written = json.dumps(configuration(models))
    assert "os.environ/DEEPINFRA_API_KEY" in written
    assert "sk-" not in written


def test_prices_are_passed_to_the_hooks_as_digits() -> None:
    given = environment(load_models(DEMO), Path("/l"), Path("/h"), "sk-master", GIVEN)
    listed = json.loads(given["A11Y_BENCH_GATEWAY"])["models"]["scripted"]
    assert listed["kind"] == "llm"
    amounts = {"input": "0.0000004", "output": "0.0000016", "cached": "0.0000004", "stored": "0.0000004"}
    assert listed["price"] == {**amounts, "reasoning": None, "tiers": []}


def test_both_deployments_have_the_same_retries() -> None:
    """The embedded proxy reads its retries and time-outs from the deployed one's file."""
    settings = yaml.safe_load(SETTINGS.read_text(encoding="utf-8"))
    embedded = configuration(load_models(DEMO))
    assert embedded["router_settings"] == settings["router_settings"]
    assert embedded["litellm_settings"]["request_timeout"] == settings["litellm_settings"]["request_timeout"]
    given = environment(load_models(DEMO), Path("/l"), Path("/h"), "sk-master", {})
    assert {name: given[name] for name in BACK_OFF} == BACK_OFF


def test_nothing_is_cached_without_a_folder(tmp_path: Path) -> None:
    assert configuration(load_models(DEMO))["litellm_settings"]["cache"] is False
    cached = configuration(load_models(DEMO), tmp_path)["litellm_settings"]["cache_params"]
    assert (cached["mode"], cached["disk_cache_dir"]) == ("default_on", str(tmp_path))
