"""What produced the runs that are shown: in a frame, and in the report."""

from __future__ import annotations

import json
from typing import Any

import pytest
from analyze.conftest import HOSTILE, UI, make_data
from bs4 import BeautifulSoup

from pipeline import analyze
from pipeline.analyze.measures.definition import definition
from pipeline.analyze.report import first, is_informative
from pipeline.analyze.report.pages import pages
from pipeline.analyze.report.settings import NO_TEXT, blocks
from pipeline.core.store import Store, write_json

ABOUT = {
    "agent": "magentless",
    "model": "model-a",
    "instances": None,
    "started": "2026-01-02T03:04:05Z",
    "settings": "0123456789abcdef",
    "attempts": 2,
    "served_by": [{"model": "glm-4.6-0930", "fingerprint": "fp_1"}, {"model": "glm-4.6-0930", "fingerprint": "fp_1"}],
    "shaped_by": {
        "tool": "1.2.3",
        "version": "0.2.0",
        "model": {"model_info": {"input_cost_per_token": "0.0000005", "output_cost_per_token": 0.000002}},
    },
}


@pytest.fixture
def store(tmp_path) -> Store:
    return make_data(tmp_path / "data")


def test_a_run_has_the_versions_settings_and_prices_that_produced_it(store):
    (path,) = [
        file for file in store.root.rglob("predictions.jsonl") if "model-a" in str(file) and UI.slug in str(file)
    ]
    write_json(path.with_name("run.json"), ABOUT)
    row = analyze.load(store).runs.query("model == 'model-a' and repo == 'acme/ui'").iloc[0]
    assert (row["tool"], row["agent_version"], row["settings"], row["attempts"]) == (
        "1.2.3",
        "0.2.0",
        "0123456789ab",
        2,
    )
    assert (row["served_by"], row["input_usd"], row["output_usd"]) == ("glm-4.6-0930 fp_1", 0.5, 2.0)


PARAMETERS = {"model": "openai/glm", "temperature": 0.7, "api_key": "os.environ/LAB_KEY"}
PRICES = {
    "input_cost_per_token": "0.0000005",
    "cache_read_input_token_cost": 5e-8,
    "output_cost_per_reasoning_token": "0.000003",
    "input_cost_per_token_above_200k_tokens": "0.000001",
    "mode": "chat",
}


def described(store: Store, model: str, **shaped: Any) -> None:
    """Write the record of a model's run on acme/ui."""
    (path,) = store.predictions(UI, "magentless", model).glob("*/predictions.jsonl")
    entry = {"model_name": model, "litellm_params": PARAMETERS, "model_info": PRICES}
    record = {"agent": "magentless", "model": model, "settings": f"digest of {model}"}
    write_json(path.with_name("run.json"), record | {"shaped_by": {"model": entry, **shaped}})


def test_settings_parameters_and_all_prices_are_shown_once(store):
    """The report had only the beginning of their digest, and two of the prices."""
    embedding = {"model_name": "embed", "litellm_params": {"model": "openai/embed"}, "model_info": {}}
    for model in ("model-a", "lab/model-b"):
        described(store, model, settings_text=f"[samples]\nsets = 1  # {HOSTILE}\n", further_models=[embedding])
    frames = analyze.load(store)
    made = BeautifulSoup(first(frames, pages(frames), analyze.tables(frames), []), "html.parser")
    folded = made.find(id="table-provenance").parent.find("summary", string="Settings, request parameters and prices")
    texts = {block["aria-label"]: block.get_text() for block in folded.parent.find_all("pre")}
    assert list(texts) == [
        "Settings 1 (digest of la, digest of mo)",
        "Model 1: lab/model-b (digest of la)",
        "Model 2: model-a (digest of mo)",
    ]
    assert texts["Settings 1 (digest of la, digest of mo)"] == f"[samples]\nsets = 1  # {HOSTILE}\n"
    shown = json.loads(texts["Model 2: model-a (digest of mo)"])
    assert shown["request parameters"] == {
        "model-a": {"model": "openai/glm", "temperature": 0.7},
        "embed": {"model": "openai/embed"},
    }
    assert shown["USD per token"]["model-a"] == {
        "input_cost_per_token": "0.0000005",
        "cache_read_input_token_cost": "0.00000005",
        "output_cost_per_reasoning_token": "0.000003",
        "input_cost_per_token_above_200k_tokens": "0.000001",
    }
    assert "LAB_KEY" not in str(made)


def test_a_run_with_the_agents_own_settings_says_so(store):
    described(store, "model-a", settings_text="", further_models=None)
    settings, model = blocks(analyze.load(store).runs)
    assert settings == ("Settings 1 (digest of mo)", NO_TEXT) and model.title == "Model 1: model-a (digest of mo)"
    assert blocks(analyze.load(make_data(store.root / "another")).runs) == []


def test_a_run_without_description_is_listed_without_versions(store):
    """Predictions of other harnesses, and of older versions."""
    runs = analyze.load(store).runs
    assert len(runs) and runs["tool"].isna().all()


def test_provenance_tables_have_a_digest_of_the_instances(store):
    frames = analyze.load(store)
    made = analyze.tables(frames)
    assert {"provenance", "data"} <= made.keys()
    before = made["data"].set_index("repo")["instances_digest"]
    fewer = analyze.tables(frames.without({"acme__ui-1"}))["data"].set_index("repo")["instances_digest"]
    assert before["acme/ui"] != fewer["acme/ui"] and before["acme/forms"] == fewer["acme/forms"]


def test_a_table_by_class_with_a_single_class_is_left_out(store):
    made = analyze.tables(analyze.load(store))
    for name in ("repositories", "by_size"):
        table, about = made[name], definition(name)
        column = next(one for one in about.by if one not in ("model", "agent", "kind"))
        assert is_informative(about, table) == (table[column].nunique() > 1)
        assert not is_informative(about, table[table[column] == table[column].iloc[0]])
    assert is_informative(definition("leaderboard"), made["leaderboard"])


def test_pass_at_k_is_left_out_without_second_attempts(store):
    about, table = definition("pass_at_k"), analyze.tables(analyze.load(store))["pass_at_k"]
    once, twice = (table.head(1).assign(k=k) for k in (1, 2))
    assert not is_informative(about, once) and is_informative(about, twice)
