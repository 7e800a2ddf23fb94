"""Cursors of connections: a position by the values that sort it, so that the next page starts where the last one ended.

A cursor names the last item itself, not its index: items that move meanwhile are neither lost nor returned twice.
"""

from __future__ import annotations

import base64
import binascii

from github_double.problems import Problem

Position = tuple[str, int]


class Cursors:
    """Writes and reads cursors; those of an earlier `epoch` are refused."""

    def __init__(self) -> None:
        self.epoch = 0

    def write(self, position: Position) -> str:
        key, number = position
        return base64.b64encode(f"cursor:{self.epoch}|{key}|{number}".encode()).decode()

    def read(self, text: str) -> Position:
        """Raises Problem for a text that is no cursor of ours."""
        try:
            epoch, key, number = base64.b64decode(text, validate=True).decode().split("|")
            position = key, int(number)
        except (binascii.Error, ValueError):
            raise _invalid(text) from None
        if epoch != f"cursor:{self.epoch}":
            raise _invalid(text)
        return position


def _invalid(text: str) -> Problem:
    return Problem("INVALID_CURSOR_ARGUMENTS", f"`{text}` does not appear to be a valid cursor.")
