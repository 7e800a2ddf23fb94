"""What of a file a prompt shows: all of it, or windows around the lines that share a word with the issue.

A file up to `whole_file_lines` is shown whole. Of a longer one: its beginning (the imports), and `window` lines above
and below each line with an identifier that also occurs in the issue; the words that are rarest in the file come first,
until `max_file_lines` are shown. Not covered: the syntax tree; windows may begin in the middle of a function.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby

from magentless.inputs import Files
from magentless.words import identifiers


def view(path: str, text: str, issue_words: set[str], settings: Files) -> str:
    """The file under its path, in the form in which the prompt shows it."""
    lines = text.split("\n")
    if len(lines) <= settings.whole_file_lines:
        return f"### {path}\n{text}"
    shown = window_lines(lines, issue_words, settings)
    return f"### {path}\n" + "\n".join(_runs(lines, shown))


def window_lines(lines: Sequence[str], issue_words: set[str], settings: Files) -> list[int]:
    """Indices of the lines to show, ascending."""
    shown = set(range(min(settings.window, settings.max_file_lines)))
    for hit in _hits(lines, issue_words):
        around = range(max(0, hit - settings.window), min(len(lines), hit + settings.window + 1))
        if len(shown.union(around)) > settings.max_file_lines:
            break
        shown.update(around)
    return sorted(shown)


def _hits(lines: Sequence[str], issue_words: set[str]) -> Iterable[int]:
    places = defaultdict(list)
    for index, line in enumerate(lines):
        for word in identifiers(line) & issue_words:
            places[word].append(index)
    return (index for word in sorted(places, key=lambda word: (len(places[word]), word)) for index in places[word])


def _runs(lines: Sequence[str], shown: Sequence[int]) -> Iterable[str]:
    for _, run in groupby(enumerate(shown), key=lambda pair: pair[1] - pair[0]):
        indices = [index for _, index in run]
        yield f"[lines {indices[0] + 1}-{indices[-1] + 1} of {len(lines)}]"
        yield from lines[indices[0] : indices[-1] + 1]
