"""How many tokens a text is for a model: counted with the model's own tokenizer where it is known, else estimated.

The settings say which models have which encoding; the encodings' tables come with quicktok, so that nothing is fetched.
An estimate is characters / 3.5, which is on the safe side for code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatch
from functools import cache
from math import ceil

from magentless.causes import BadInput

Count = Callable[[str], int]

CHARS_PER_TOKEN = 3.5


def counter(model: str, tokenizers: Mapping[str, str]) -> Count:
    """What counts the tokens of `model`. Raises BadInput for an encoding that is not there."""
    name = model.lower()
    found = (encoding for pattern, encoding in tokenizers.items() if fnmatch(name, pattern.lower()))
    encoding = next(found, None)
    return _exact(encoding) if encoding else estimate


def estimate(text: str) -> int:
    """Tokens of a text for a model without a known tokenizer."""
    return ceil(len(text) / CHARS_PER_TOKEN)


@cache
def _exact(encoding: str) -> Count:
    from quicktok import get_encoding

    try:
        return get_encoding(encoding).count
    except RuntimeError as error:
        raise BadInput(f"settings: context.tokenizers: no encoding '{encoding}': {error}") from None
