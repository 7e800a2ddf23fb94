"""The list of models: what is refused, and what the shipped lists contain."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.errors import UserError
from pipeline.core.vendors import vendor_python
from pipeline.llm.config import limits
from pipeline.llm.models import DEMO, PROXY_URL, SHIPPED, Model, load_models
from pipeline.llm.prices import Price, Usage

PARAMETERS = "model_list[0].litellm_params"
GOOD = """\
model_list:
  - model_name: small
    litellm_params:
      model: openai/small
      api_key: os.environ/SMALL_KEY
    model_info:
      mode: chat
      input_cost_per_token: 4e-07
      output_cost_per_token: 0.0000016
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "models.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_list_is_read(tmp_path: Path) -> None:
    model = load_models(write(tmp_path, GOOD)).get("small")
    assert (model.kind, model.scripted, model.environment) == ("chat", False, ("SMALL_KEY",))
    assert model.price[:4] == (Decimal("4E-7"), Decimal("0.0000016"), Decimal("4E-7"), Decimal("4E-7"))


def test_an_unknown_model_lists_the_available_ones(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="unknown model 'large'\n.*available: small"):
        load_models(write(tmp_path, GOOD)).get("large")


@pytest.mark.rule("prices-known")
@pytest.mark.parametrize("price", ["", "null", "cheap", "-1", ".nan", ".inf", "true", "1E+999999"])
def test_a_price_is_never_guessed(tmp_path: Path, price: str) -> None:
    """An unknown price is an error with its location; a free model has the price 0."""
    text = GOOD.replace("0.0000016", price)
    with pytest.raises(UserError) as caught:
        load_models(write(tmp_path, text))
    assert caught.value.line == 2
    assert caught.value.field == "model_list[0].model_info.output_cost_per_token"
    assert "USD per token" in (caught.value.hint or "")


def test_the_path_of_credentials_is_no_secret(tmp_path: Path) -> None:
    text = GOOD.replace("api_key: os.", "vertex_credentials: /keys/vertex.json\n      api_key: os.")
    assert load_models(write(tmp_path, text)).get("small").environment == ("SMALL_KEY",)


def test_an_address_without_a_secret_may_be_written(tmp_path: Path) -> None:
    text = GOOD.replace("api_key: os.", "api_base: http://[::1]:8000/v1?api-version=1\n      api_key: os.")
    assert load_models(write(tmp_path, text)).get("small")


def test_zero_is_a_price(tmp_path: Path) -> None:
    assert load_models(write(tmp_path, GOOD.replace("0.0000016", "0"))).get("small").price.output == 0


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("model_name: small", "model_name: 3", "model_list[0].model_name"),
        ("model: openai/small", "models: x", f"{PARAMETERS}.model"),
        ("mode: chat", "mode: video", "model_list[0].model_info.mode"),
        ("model_list:", "router_settings: {}\nmodel_list:", "model_list"),
        ("os.environ/SMALL_KEY", "sk-canary", f"{PARAMETERS}.api_key"),
        (
            "api_key: os.",
            "aws_secret_access_key: sk-canary\n      api_key: os.",
            f"{PARAMETERS}.aws_secret_access_key",
        ),
        (
            "api_key: os.",
            "extra_headers: {Authorization: sk-canary}\n      api_key: os.",
            f"{PARAMETERS}.extra_headers.Authorization",
        ),
        ("api_key: os.", "api_base: http://me:sk-canary@h/v1\n      api_key: os.", f"{PARAMETERS}.api_base"),
        ("api_key: os.", "base_url: http://h/v1?key=sk-canary\n      api_key: os.", f"{PARAMETERS}.base_url"),
        ("api_key: os.", "max_parallel_requests: 0\n      api_key: os.", f"{PARAMETERS}.max_parallel_requests"),
        ("api_key: os.", "api_base: 8000\n      api_key: os.", f"{PARAMETERS}.api_base"),
        ("api_key: os.", "8000: x\n      api_key: os.", PARAMETERS),
        ("mode: chat", "mode: chat\n      8000: x", "model_list[0].model_info"),
        ("model_name: small", "model_name: oracle", "model_list[0].model_name"),
        ("mode: chat", "mode: chat\n      max_input_tokens: 128k", "model_list[0].model_info.max_input_tokens"),
        ("mode: chat", "mode: chat\n      max_input_tokens: 1e6", "model_list[0].model_info.max_input_tokens"),
        ("mode: chat", "mode: chat\n      max_output_tokens: 0", "model_list[0].model_info.max_output_tokens"),
        ("api_key: os.", "max_tokens: many\n      api_key: os.", f"{PARAMETERS}.max_tokens"),
        ("api_key: os.", "max_completion_tokens: 0\n      api_key: os.", f"{PARAMETERS}.max_completion_tokens"),
        ("api_key: os.", "max_output_tokens: 9\n      api_key: os.", f"{PARAMETERS}.max_output_tokens"),
        ("mode: chat", "mode: chat\n      max_tokens: true", "model_list[0].model_info.max_tokens"),
        ("mode: chat", 'mode: chat\n      supports_vision: "true"', "model_list[0].model_info.supports_vision"),
        ("mode: chat", "mode: chat\n      scripted: 1", "model_list[0].model_info.scripted"),
        ("api_key: os.", "temperature: .nan\n      api_key: os.", f"{PARAMETERS}.temperature"),
        ("api_key: os.", "top_p: high\n      api_key: os.", f"{PARAMETERS}.top_p"),
        (
            "api_key: os.",
            "additional_drop_params: seed\n      api_key: os.",
            f"{PARAMETERS}.additional_drop_params",
        ),
    ],
)
def test_bad_entries_are_refused_by_field(tmp_path: Path, old: str, new: str, field: str) -> None:
    with pytest.raises(UserError) as caught:
        load_models(write(tmp_path, GOOD.replace(old, new)))
    assert caught.value.field == field
    assert "sk-canary" not in str(caught.value)


def test_a_duplicate_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'small' is listed twice") as caught:
        load_models(write(tmp_path, GOOD + GOOD.partition("\n")[2]))
    assert caught.value.line == 10


@pytest.mark.rule("prices-known")
@pytest.mark.parametrize(
    ("line", "field", "says"),
    [
        ("      output_cost_per_token: 0.1\n", "output_cost_per_token", "is also in line 9"),
        ("      mode: embedding\n", "mode", "is also in line 7"),
        ("model_list: []\n", "model_list", "is also in line 1"),
    ],
)
def test_a_duplicate_field_is_refused(tmp_path: Path, line: str, field: str, says: str) -> None:
    """YAML silently takes the last one: nobody knows which of two prices was meant."""
    with pytest.raises(UserError, match=says) as caught:
        load_models(write(tmp_path, GOOD + line))
    assert (caught.value.line, caught.value.field) == (10, field)


def test_models_may_share_fields_by_an_anchor(tmp_path: Path) -> None:
    """An anchor is one place with two names; a field next to `<<` counts."""
    shared = GOOD.replace("model_info:", "model_info: &info") + (
        "  - model_name: twin\n    litellm_params: {model: openai/twin, api_key: none}\n"
        "    model_info:\n      <<: *info\n      output_cost_per_token: 3\n"
    )
    models = load_models(write(tmp_path, shared))
    assert [models.get(name).price.output for name in ("small", "twin")] == [Decimal("0.0000016"), 3]


def test_broken_yaml_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        load_models(write(tmp_path, "model_list:\n  - [\n"))
    assert caught.value.line == 3


def test_a_missing_file_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        load_models(tmp_path / "none.yaml")


def test_the_shipped_list_has_the_models_of_the_thesis() -> None:
    models = load_models(SHIPPED).models
    thesis = {"GLM-4.6", "Qwen3-Coder-480B-A35B-Instruct-Turbo", "DeepSeek-V3.1-Terminus", "Qwen3-Embedding-4B"}
    assert thesis <= set(models)
    assert not any(model.scripted for model in models.values())


def test_the_model_of_the_thesiss_own_command_is_listed() -> None:
    """`agt-run mui__material-ui ts gpt-4o` was parsed, and then refused."""
    assert load_models(SHIPPED).get("gpt-4o").sees


def test_only_the_demo_is_scripted() -> None:
    """A scripted model is trusted, so a list that names a real provider must not have the mark."""
    model = load_models(DEMO).get("scripted")
    assert model.scripted
    assert model.environment == ("A11Y_BENCH_SCRIPTED_URL", "A11Y_BENCH_SCRIPTED_KEY")
    assert model.price.input > 0


@pytest.mark.rule("prices-known")
def test_the_shipped_prices_are_litellms() -> None:
    """A wrong price is a wrong cost in every table. Prices that are not in LiteLLM's own file name their source."""
    python = vendor_python("litellm", print)
    (known,) = python.parents[1].glob("lib/*/site-packages/litellm/model_prices_and_context_window_backup.json")
    table = json.loads(known.read_text(encoding="utf-8"))
    listed = [model for model in load_models(SHIPPED).models.values() if any(model.price)]
    unknown = [model.name for model in listed if litellms(table, model) is None]
    assert unknown == ["Qwen3-Embedding-4B"]
    for model in listed:
        theirs = litellms(table, model) or {}
        ours = {name: value for name, value in model.entry["model_info"].items() if "cost" in name or "max" in name}
        assert {name: float(ours[name]) for name in ours if name in theirs} == {
            name: float(value) for name, value in theirs.items() if name in ours
        }
        tiers = [name for name in theirs if re.fullmatch(r"\w+_above_\d+k_tokens", name)]
        assert not set(tiers) - ours.keys(), "depends on the prompt"


def litellms(table: dict[str, Any], model: Model) -> dict[str, Any] | None:
    """LiteLLM's entry for a model; its own providers are listed there without their prefix."""
    name = model.entry["litellm_params"]["model"]
    return table.get(name) or table.get(name.partition("/")[2])


def test_models_of_one_key_share_a_limit() -> None:
    """A provider counts by key, and if it needs none, by address."""
    models = load_models(SHIPPED)
    assert models.get("GLM-4.6").provider == models.get("Qwen3-Embedding-4B").provider == "os.environ/DEEPINFRA_API_KEY"
    assert models.get("ollama-qwen2.5-coder").provider == "os.environ/OLLAMA_URL"
    assert limits(models)["os.environ/ANTHROPIC_API_KEY"] == {"max_parallel_requests": 16}


def test_a_proxy_that_runs_already_has_the_providers_keys() -> None:
    models = load_models(SHIPPED)
    assert models.get("GLM-4.6").missing({}) == ["DEEPINFRA_API_KEY"]
    assert models.ready("GLM-4.6", {PROXY_URL: "http://127.0.0.1:4000"}).name == "GLM-4.6"


# -- prices ----------------------------------------------------------------------------------------------------------
TIERED = """\
model_list:
  - model_name: long
    litellm_params: {model: openai/long, api_key: none}
    model_info:
      mode: chat
      input_cost_per_token: "1"
      output_cost_per_token: "10"
      cache_read_input_token_cost: "0.1"
      output_cost_per_reasoning_token: "5"
      input_cost_per_token_above_200k_tokens: "2"
      output_cost_per_token_above_200k_tokens: "15"
"""


@pytest.mark.rule("prices-known")
def test_a_long_prompt_has_the_price_of_its_tier(tmp_path: Path) -> None:
    """Above the tier's mark, the whole request costs more; its recorded cost was too low."""
    price = load_models(write(tmp_path, TIERED)).get("long").price
    assert price.cost(Usage(200_000, 1)) == 200_010
    assert price.cost(Usage(200_001, 1)) == 400_002 + 15
    assert price.cost(Usage(100, 10, tokens_cached=50, tokens_reasoning=4)) == 50 + 5 + 60 + 20
    assert Price.read(json.loads(json.dumps(price.described()))) == price
    assert price.worst({"max_tokens": 1}, 0, 0) >= 15


@pytest.mark.rule("prices-known")
def test_a_tier_has_the_prices_of_the_shorter_one(tmp_path: Path) -> None:
    """But reasoning never costs less than what is shown; a price between two tiers went missing."""
    more = """\
      input_cost_per_token_above_128k_tokens: "1.5"
      cache_read_input_token_cost_above_128k_tokens: "0.2"
"""
    long = load_models(write(tmp_path, TIERED + more)).get("long").price
    assert long.cost(Usage(250_000, 10, tokens_reasoning=9)) == 500_000 + 150
    assert long.cost(Usage(150_000, 10, tokens_cached=100_000)) == 75_000 + 20_000 + 100
    assert long.cost(Usage(250_000, 0, tokens_cached=100_000)) == 300_000 + 20_000
    own = f"{TIERED}      output_cost_per_reasoning_token_above_200k_tokens: '7'\n"
    assert load_models(write(tmp_path, own)).get("long").price.cost(Usage(250_000, 10, tokens_reasoning=9)) == 500_078


@pytest.mark.rule("prices-known")
@pytest.mark.parametrize(
    "name",
    ["input_cost_per_image", "input_cost_per_token_above_x_tokens", "cost_per_query", "Price", "outputCostPerToken"],
)
def test_an_unsupported_price_is_refused(tmp_path: Path, name: str) -> None:
    text = TIERED.replace("output_cost_per_reasoning_token", name)
    with pytest.raises(UserError, match="a price that is not used") as error:
        load_models(write(tmp_path, text))
    assert error.value.field == f"model_list[0].model_info.{name}"


def test_limits_and_prices_do_not_affect_answers(tmp_path: Path) -> None:
    """A new price asks nothing again; a new parameter does."""
    shaping = load_models(write(tmp_path, TIERED)).get("long").shaping
    dearer = TIERED.replace('"10"', '"11"').replace("api_key: none", "api_key: os.environ/K, max_parallel_requests: 3")
    assert load_models(write(tmp_path, dearer)).get("long").shaping == shaping
    warm = TIERED.replace("api_key: none", "api_key: none, temperature: 1")
    assert load_models(write(tmp_path, warm)).get("long").shaping != shaping


@pytest.mark.rule("run-identity")
def test_the_longest_answer_shapes_answers(tmp_path: Path) -> None:
    """The gateway asks for no more than `max_output_tokens`; answers to shorter requests were taken for the same."""
    one, other, none = (
        load_models(write(tmp_path, TIERED + more)).get("long").shaping
        for more in ("      max_output_tokens: 500\n", "      max_output_tokens: 600\n", "")
    )
    assert one != other != none != one


def test_a_default_that_is_written_out_shapes_nothing(tmp_path: Path) -> None:
    plain, blind, seeing = (
        load_models(write(tmp_path, TIERED + more)).get("long").shaping
        for more in ("", "      supports_vision: false\n", "      supports_vision: true\n")
    )
    assert plain == blind != seeing


@pytest.mark.rule("run-identity")
@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://127.0.0.1:18917/v1", "http://127.0.0.1:18918/v1", True),
        ("http://127.0.0.1:18917/v1", "http://localhost/v1", True),
        ("http://[::1]:8000/v1", "http://127.1.2.3/v1", True),
        ("http://127.0.0.1:18917/v1", "http://127.0.0.1:18917/v2", False),
        ("http://127.0.0.1:18917/v1", "http://127.0.0.1.example.org:18917/v1", False),
        ("https://one.example.org/v1", "https://other.example.org/v1", False),
        ("http://[no address/v1", "http://[no address/v2", False),
    ],
)
def test_a_local_server_may_move_to_another_port(tmp_path: Path, one: str, other: str, same: bool) -> None:
    """Every answer was asked for again if a server on this machine was started on another port."""
    first, second = (
        load_models(write(tmp_path, TIERED.replace("api_key: none", f'api_key: none, api_base: "{address}"')))
        for address in (one, other)
    )
    assert (first.get("long").shaping == second.get("long").shaping) is same
