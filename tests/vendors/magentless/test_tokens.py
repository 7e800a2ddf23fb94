"""Counting tokens."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import pytest
from magentless.causes import BadInput
from magentless.tokens import counter, estimate

from pipeline.predict.agents import load_agent
from pipeline.predict.encodings import TABLES, tables

CODE = "export const Menu = ({ label }) => <ul aria-label={label} />;\n"
SPLIT = r"\p{N}{1,3}|\p{L}+|[^\p{L}\p{N}]+"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """The table of an encoding that merges `me`, `nu`, `menu` and `12`."""
    tokens = [*(bytes([number]) for number in range(256)), b"me", b"nu", b"menu", b"12"]
    ranks = " ".join(["!", "0", *(b64encode(token).decode() for token in tokens)])
    table = {"pat_str": SPLIT, "special_tokens": {"<|end|>": 260}, "bpe_ranks": ranks}
    (tmp_path / "cl100k_base.json").write_text(json.dumps(table))
    return tmp_path


@pytest.mark.parametrize(("text", "tokens"), [("menu", 1), ("menus", 2), ("12", 1), ("<|end|>", 7)])
def test_a_model_with_an_encoding_is_counted_exactly(made: Path, text: str, tokens: int) -> None:
    """Text that looks like a special token is text."""
    assert counter("m", {"m": "cl100k_base"}, made)(text) == tokens


def test_each_digit_is_a_token_for_qwen(made: Path, make_settings) -> None:
    assert counter("Qwen3-8B", make_settings().context.tokenizers, made)("menu12") == 3


def test_other_models_are_estimated(made: Path, make_settings) -> None:
    assert counter("GLM-4.6", make_settings().context.tokenizers, made) is estimate
    assert counter("gpt-4o-mine", {"gpt-*": "cl100k_base", "gpt-4o*": ""}, made) is estimate


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("seven c", 2), ("无障碍", 5), ("é", 1), ("\N{WHEELCHAIR SYMBOL}", 2), ("\ud800", 2)]
)
def test_text_that_is_not_ascii_has_more_tokens(text: str, tokens: int) -> None:
    """A Chinese issue was estimated at a quarter of its tokens, and its prompt did not fit into the context."""
    assert estimate(text) == tokens


def test_without_tables_tokens_are_estimated_and_the_log_says_so_once(capsys: pytest.CaptureFixture[str]) -> None:
    counts = [counter("gpt-without-tables", {"*": "cl100k_base"}) for _ in range(2)]
    assert counts == [estimate, estimate]
    assert capsys.readouterr().err.count("tokens of gpt-without-tables are estimated") == 1


def test_an_unknown_encoding_is_refused(made: Path) -> None:
    with pytest.raises(BadInput, match=r"no encoding 'morse' \(known: cl100k_base, qwen\)"):
        counter("m", {"*": "morse"}, made)


@pytest.mark.parametrize(("model", "known"), [("gpt-5", True), ("GLM-4.6", True), ("local", False)])
def test_whether_an_agent_needs_tables_depends_on_all_its_models(model: str, known: bool) -> None:
    """GLM's own encoding is not known; that of its embedding model is."""
    assert load_agent("magentless").counts_exactly(model) is known


def test_without_a_known_model_nothing_is_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert tables(load_agent("magentless"), "local") == ""


@pytest.mark.engine("npm")
@pytest.mark.parametrize("model", ["Qwen3-Coder-480B-A35B-Instruct-Turbo", "gpt-5-mini", "text-embedding-3-small"])
def test_the_published_tables_count_code(make_settings, model: str) -> None:
    count = counter(model, make_settings().context.tokenizers, TABLES.file())
    assert (count(CODE), count("<|endoftext|>")) == (16, 7)
    for text in (CODE * 50, "按钮没有可访问的名称。", "ボタンに名前がありません。", "У кнопки нет доступного имени."):
        assert count(text) <= estimate(text)
