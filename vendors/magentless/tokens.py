"""How many tokens a text has for a model: counted with the model's encoding if the settings name one, else estimated.

Reads the encodings' tables from the folder that the caller names: JSON files as in the npm package `tiktoken`. Without
that folder it estimates, on the safe side: 3.5 characters of code are a token; outside ASCII, two bytes are, so that a
Chinese character counts as one and a half tokens. Nothing is downloaded.
"""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import cache
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from magentless.causes import BadInput
from magentless.inputs import closest

if TYPE_CHECKING:
    from tiktoken import Encoding

Count = Callable[[str], int]

CHARS_PER_TOKEN, FOREIGN_BYTES_PER_TOKEN = 3.5, 2
#: encoding -> the table that it uses, and what differs in the pattern that splits a text. Qwen's merges begin with
#: those of cl100k_base, and each digit is a token. The further merges, mostly of Chinese, are left out: such text is
#: counted as longer than it is.
DERIVED = {"qwen": ("cl100k_base", (r"\p{N}{1,3}", r"\p{N}"))}


def counter(model: str, tokenizers: Mapping[str, str], tables: Path | None = None) -> Count:
    """The function that counts the tokens of `model`. `tables` is the folder of the encodings' tables; without it, and
    for a model without an encoding, tokens are estimated. Raises BadInput for an encoding without a table."""
    encoding = closest(model, tokenizers, "")
    if not encoding:
        return estimate
    if tables is None:
        _say_once(f"tokens of {model} are estimated, since no tables of encodings were given (--encodings)")
        return estimate
    return _exact(encoding, tables)


def estimate(text: str) -> int:
    """Tokens of a text for a model without a known encoding."""
    plain = len(text.encode("ascii", "ignore"))
    foreign = len(text.encode("utf-8", "surrogatepass")) - plain
    return ceil(plain / CHARS_PER_TOKEN + foreign / FOREIGN_BYTES_PER_TOKEN)


@cache
def _say_once(text: str) -> None:
    print(f"magentless: {text}", file=sys.stderr)


@cache
def _exact(encoding: str, tables: Path) -> Count:
    table, (split, instead) = DERIVED.get(encoding, (encoding, ("", "")))
    try:
        content = json.loads((tables / f"{table}.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = sorted([*DERIVED, *(path.stem for path in tables.glob("*.json"))])
        message = f"settings: context.tokenizers: no encoding '{encoding}' (known: {', '.join(known)})"
        raise BadInput(message) from None
    encoded = _encoding(encoding, content["pat_str"].replace(split, instead) if split else content["pat_str"], content)
    return lambda text: len(encoded.encode_ordinary(text))


def _encoding(name: str, pattern: str, content: Mapping[str, str]) -> Encoding:
    """Each line of the ranks is a mark, the rank of the first token, and the tokens in base64."""
    from tiktoken import Encoding

    ranks: dict[bytes, int] = {}
    for line in content["bpe_ranks"].splitlines():
        _, first, *tokens = line.split()
        ranks.update({b64decode(token): int(first) + number for number, token in enumerate(tokens)})
    return Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
