"""The part of a file that a prompt shows: windows around places, or the whole file.

With places: `window` lines above and below each, and the beginning of the file, with its imports. Without places: a
file of up to `whole_file_lines` lines is shown whole; in a longer file, the lines that share a word with the issue are
the places, those with the rarest words first. At most `max_file_lines` lines of a file are shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby

from magentless.elements import Element
from magentless.inputs import Files
from magentless.replies import Span
from magentless.words import identifiers

#: characters of an element's first line in an outline
HEAD_CHARS = 120


def view(path: str, text: str, spans: Sequence[Span], issue_words: set[str], settings: Files) -> str:
    """The file under its path, as the repair prompt shows it."""
    lines, shown = lines_of(text), window(text, spans, issue_words, settings)
    if len(shown) == len(lines) and not spans:
        return f"### {path}\n{text}"
    return f"### {path}\n" + "\n".join(_runs(lines, shown))


def window(text: str, spans: Sequence[Span], issue_words: set[str], settings: Files) -> list[int]:
    """The indices of the shown lines of a file, ascending."""
    lines = lines_of(text)
    if not spans and len(lines) <= settings.whole_file_lines:
        return list(range(len(lines)))
    return shown_lines(lines, spans or _hits(lines, issue_words), settings)


def numbered(path: str, text: str, spans: Sequence[Span], settings: Files) -> str:
    """The places under the file's path, with line numbers; the whole file if there are no places."""
    lines = lines_of(text)
    wanted = {line for first, last in spans or [(1, len(lines))] for line in range(first, last + 1)}
    shown = sorted(wanted)[: settings.max_file_lines]
    return "\n".join([f"### {path}", *(f"{line:5} | {lines[line - 1]}" for line in shown)])


def outline(path: str, text: str, elements: Iterable[Element]) -> str:
    """The elements under the file's path, each with its lines and the beginning of its first line."""
    lines = lines_of(text)
    rows = [f"{name} (lines {start}-{end}): {lines[start - 1].strip()[:HEAD_CHARS]}" for name, start, end in elements]
    return "\n".join([f"### {path} ({len(lines)} lines)", *(rows or ["(no elements)"])])


def with_text(outlined: str, text: str) -> str:
    """An outline, followed by the text of the file."""
    return f"{outlined}\n[text]\n{text}"


def lines_of(text: str) -> list[str]:
    """The lines of a text as git and editors count them: a final line end begins no further line."""
    return text.removesuffix("\n").split("\n")


def shown_lines(lines: Sequence[str], spans: Iterable[Span], settings: Files) -> list[int]:
    """The indices of the lines to show, ascending."""
    shown = set(range(min(settings.window, settings.max_file_lines, len(lines))))
    for first, last in spans:
        around = range(max(0, first - 1 - settings.window), min(len(lines), last + settings.window))
        if len(shown.union(around)) > settings.max_file_lines:
            break
        shown.update(around)
    return sorted(shown)


def _hits(lines: Sequence[str], issue_words: set[str]) -> Iterable[Span]:
    found = defaultdict(list)
    for number, line in enumerate(lines, 1):
        for word in identifiers(line) & issue_words:
            found[word].append((number, number))
    return (hit for word in sorted(found, key=lambda word: (len(found[word]), word)) for hit in found[word])


def _runs(lines: Sequence[str], shown: Sequence[int]) -> Iterable[str]:
    for _, run in groupby(enumerate(shown), key=lambda pair: pair[1] - pair[0]):
        indices = [index for _, index in run]
        yield f"[lines {indices[0] + 1}-{indices[-1] + 1} of {len(lines)}]"
        yield from lines[indices[0] : indices[-1] + 1]
