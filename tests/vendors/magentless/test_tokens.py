"""Counting tokens."""

from __future__ import annotations

import pytest
from magentless.causes import BadInput
from magentless.tokens import counter, estimate

CODE = "export const Menu = ({ label }) => <ul aria-label={label} />;\n"


@pytest.mark.parametrize(("model", "tokens"), [("Qwen3-Coder-480B-A35B-Instruct-Turbo", 16), ("gpt-5-mini", 16)])
def test_known_models_are_counted_by_their_tokenizer(make_settings, model, tokens):
    count = counter(model, make_settings().context.tokenizers)
    assert (count(CODE), count("<|endoftext|>")) == (tokens, 7)


def test_others_are_estimated_on_the_safe_side(make_settings):
    count = counter("GLM-4.6", make_settings().context.tokenizers)
    assert count is estimate
    assert counter("gpt-5", make_settings().context.tokenizers)(CODE * 50) < count(CODE * 50)


def test_an_encoding_that_is_not_there_is_refused():
    with pytest.raises(BadInput, match="no encoding 'morse'"):
        counter("m", {"*": "morse"})
