"""A printed key is found in every encoding; nothing else is changed."""

from __future__ import annotations

import base64
import html
import json
import secrets
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest

from pipeline.core.concealed import conceal, conceal_text

KEY = "sk-Zq3_x9-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789+/w"
#: an encoding of a key -> the function for it
WAYS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "reversed": lambda key: key[::-1],
    "hex": lambda key: key.encode().hex(),
    "HEX": lambda key: key.encode().hex().upper(),
    "hex in groups": lambda key: key.encode().hex(" "),
    "xxd": lambda key: key.encode().hex(":"),
    "hex reversed": lambda key: key[::-1].encode().hex(),
    "URL": lambda key: quote(key, safe=""),
    "URL, every letter": lambda key: "".join(f"%{ord(letter):02x}" for letter in key),
    "JSON": lambda key: json.dumps({"key": key}),
    "JSON, every letter": lambda key: "".join(f"\\u{ord(letter):04x}" for letter in key),
    "JSON in JSON": lambda key: json.dumps("".join(f"\\u{ord(letter):04X}" for letter in key)),
    "HTML": lambda key: "".join(f"&#{ord(letter)};" for letter in key),
    "HTML, hex": lambda key: "".join(f"&#x{ord(letter):x};" for letter in html.escape(key)),
    "C": lambda key: "".join(f"\\x{ord(letter):02x}" for letter in key),
    "C, octal": lambda key: "".join(f"\\{ord(letter):03o}" for letter in key),
    "C, point": lambda key: "".join(f"\\u{{{ord(letter):x}}}" for letter in key),
    "mail": lambda key: "".join(f"={ord(letter):02X}" for letter in key),
    "numbers": lambda key: json.dumps({"type": "Buffer", "data": list(key.encode())}),
    "numbers in lines": lambda key: json.dumps(list(key.encode()), indent=2),
    "octal numbers": lambda key: " ".join(f"{code:03o}" for code in key.encode()),
    "bits": lambda key: " ".join(f"{code:08b}" for code in key.encode()),
    "base32": lambda key: base64.b32encode(key.encode()).decode(),
    "base32 within": lambda key: base64.b32encode(f"abc{key}def".encode()).decode().lower(),
    "base64 of UTF-16": lambda key: base64.b64encode(key.encode("utf-16-le")).decode(),
    "base64, reversed": lambda key: base64.b64encode(key[::-1].encode()).decode(),
    "over lines": lambda key: f"{key[:20]}\n{key[20:]}",
    "in a diff": lambda key: f"+a {key[:9]}\n+{key[9:30]}\n+{key[30:]}",
    "added up": lambda key: f"'{key[:9]}' + '{key[9:30]}' + \"{key[30:]}\"",
    "letter by letter": lambda key: " ".join(key),
    **{
        f"base64 at {before}": lambda key, before=before: base64.b64encode(b"abc"[:before] + key.encode()).decode()
        for before in range(3)
    },
    **{
        f"base64 within, {after}": lambda key, after=after: base64.b64encode(f"{'x' * after}{key}{'y' * 90}".encode())
        .decode()
        for after in (1, 5, 90)
    },
    "base64 of an address": lambda key: base64.urlsafe_b64encode(f"??>>{key}".encode()).decode(),
    "base64 in lines": lambda key: base64.encodebytes(f"{'environment ' * 6}{key}".encode()).decode(),
}  # fmt: skip


def remains(data: bytes) -> list[str]:
    """Parts of the key, in any of these encodings, that are long enough to recognize it."""
    parts = [KEY[start : start + 12] for start in range(0, len(KEY) - 12, 6)]
    return [part for part in parts if part.encode() in data or part.encode().hex().encode() in data.lower()]


def test_blanks_without_end_take_no_time():
    """A log of an agent stopped all work for hours."""
    started = time.monotonic()
    conceal(f'%73 {KEY[0]}"{" " * 200_000}'.encode(), [KEY])
    assert time.monotonic() - started < 20


@pytest.mark.invariant(6)
@pytest.mark.trap("token-in-log")
@pytest.mark.parametrize("way", WAYS)
def test_a_key_is_concealed_in_every_notation(way: str) -> None:
    written = WAYS[way](KEY)
    concealed = conceal_text(f"before {written} after", [KEY])
    assert concealed.startswith("before ") and concealed.endswith(" after")
    assert "***" in concealed and remains(concealed.encode()) == []
    assert len(concealed) < len(written) or "base64" in way, "nothing of it stays"
    if "base64" in way:
        kept = "".join(concealed.split()[1:-1])
        assert len(max(kept.split("***"), key=len)) <= len(written) - len(KEY)


@pytest.mark.invariant(6)
def test_a_key_in_utf_16_is_concealed() -> None:
    for name in ("utf-16-le", "utf-16-be"):
        assert b"***" in conceal(KEY.encode(name), [KEY])


def test_line_ends_are_kept() -> None:
    """A patch remains a patch: the number of lines stays, and each keeps its marker."""
    patch = f"@@ -1 +1,3 @@\n-a\n+x {KEY[:9]}\n+{KEY[9:30]}\n+{KEY[30:]} y\n"
    assert conceal_text(patch, [KEY]) == "@@ -1 +1,3 @@\n-a\n+x ***\n+***\n+*** y\n"


def test_text_without_a_key_is_unchanged() -> None:
    text = "sk-abc Zq3_x9 'a' + 'b'\n+base64 c2stWnEz\n" * 100
    assert conceal_text(text, [KEY, ""]) == text
    assert conceal(bytes(range(256)) * 9, [KEY]) == bytes(range(256)) * 9
    assert conceal_text("a key of abc", ["abc"]) == "a key of ***"


def test_a_large_log_takes_little_time() -> None:
    key = f"sk-{secrets.token_urlsafe(32)}"
    log = (b"sk-" + secrets.token_hex(500).encode() + b"\n+sss  kkk\n") * 2000 + key.encode()
    began = time.perf_counter()
    assert conceal(log, [key]).endswith(b"***")
    assert time.perf_counter() - began < 5


def test_a_secret_with_other_letters_is_hidden():
    assert conceal("the key geheim-schlüssel-ß!".encode(), ["geheim-schlüssel-ß"]) == b"the key ***!"
