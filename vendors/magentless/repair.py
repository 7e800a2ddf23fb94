"""Third step: from the model's reply to a patch, through the stages edited, matched, applied, parses.

An edit that cannot be applied ends the attempt: a partial change is not what the model intended. A reply may give some
files as edits and others as a whole; a file that has edits is not taken as a whole. Other new code for a file that was
shown ends the attempt, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from magentless.causes import FUNNEL, Cause, Ended
from magentless.checkout import Checkout
from magentless.edits import Edit, parse_edits
from magentless.matching import Shown, apply_edit, occurs
from magentless.paths import namesakes
from magentless.rewritten import pieces, rewritten, unread
from magentless.syntax import collapsed, errors
from magentless.views import lines_of

#: path -> indices of the lines that were shown
Windows = Mapping[str, Sequence[int]]
NONE: Windows = MappingProxyType({})
#: what models put before a path, as `git diff` does
PREFIX = re.compile(r"^[ab]?/")


@dataclass
class Sample:
    """One sample of a patch. `files` are the patched texts (empty: removed), `reached` is the last stage of the funnel
    that it passed, `reasked` has the reasons for which it was requested again, `replies` the outcome of each reply."""

    number: int
    set: int
    temperature: float
    reached: str = "shown"
    cause: Cause | None = None
    detail: str = ""
    edits: list[dict[str, str]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    patch: bytes = b""
    reasked: list[str] = field(default_factory=list)
    replies: list[dict[str, Any]] = field(default_factory=list)

    @property
    def progress(self) -> int:
        """The index of the last stage in the funnel."""
        return FUNNEL.index(self.reached)

    def came_to(self, stage: str) -> bool:
        """Whether the sample passed this stage of the funnel."""
        return self.progress >= FUNNEL.index(stage)

    def reply(self) -> dict[str, Any]:
        """The result of the reply that this sample was made from."""
        return {"reached": self.reached, "cause": self.cause, "edits": self.edits}

    def record(self) -> dict[str, Any]:
        """The metadata of the sample."""
        names = ("number", "set", "temperature", "reached", "cause", "detail", "edits", "reasked", "replies")
        return {name: getattr(self, name) for name in names} | {"files": sorted(self.files)}


def repair(sample: Sample, reply: str, checkout: Checkout, windows: Windows = NONE) -> None:
    """Take the reply through all stages; `windows` are the lines that the model was shown. Raises Ended if it does not
    become a patch."""
    _edit(sample, reply, checkout, windows)
    sample.reached = "matched"
    _refuse_blank(sample, checkout)
    sample.patch = checkout.diff(sample.files)
    sample.reached = "applied"
    _refuse_broken(sample, checkout)
    sample.reached = "parses"


def _edit(sample: Sample, reply: str, checkout: Checkout, windows: Windows) -> None:
    """Apply the edits of the reply, then the files that it gives as a whole."""
    texts = {path: lines_of(text) for path, text in checkout.texts(windows).items()}
    offered = {path: pieces(lines, windows[path]) for path, lines in texts.items()}
    edits, whole = parse_edits(reply), rewritten(reply, offered)
    if not edits and not whole:
        raise Ended(Cause.NO_EDITS, "repair: the reply has no complete edit that changes anything")
    sample.reached = "edited"
    shown = {path: _marks(lines, windows[path]) for path, lines in texts.items()}
    for edit in edits:
        _apply(replace(edit, path=_meant(edit, sample, checkout, shown)), sample, checkout, shown)
    edited = set(sample.files)
    for edit in whole:
        if edit.path not in edited:
            _apply(edit, sample, checkout, shown)
    if path := unread(reply, offered, sample.files):
        raise Ended(Cause.NO_EDITS, f"repair: the code for {path!r} is neither an edit nor the whole file")


def _marks(lines: Sequence[str], shown: Sequence[int]) -> Shown:
    indices = set(shown)
    return [index in indices for index in range(len(lines))]


def _meant(edit: Edit, sample: Sample, checkout: Checkout, shown: Collection[str]) -> str:
    """The path of the file that the edit changes or creates.

    If there is no such file: the path without a first `/`, `a/` or `b/`, else the only shown file with this name. If
    several have it, or the path is missing, the only one of them that has the SEARCH lines.
    """
    bare = PREFIX.sub("", edit.path)
    if edit.makes_file:
        return bare if _is_prefixed(edit.path, bare, checkout) else edit.path
    for path in (edit.path, bare):
        if _text(path, sample, checkout) is not None:
            return path
    alike = namesakes(edit.path, shown) if edit.path else list(shown)
    if len(alike) > 1:
        alike = [path for path in alike if occurs(lines_of(_text(path, sample, checkout) or ""), edit)]
    return alike[0] if len(alike) == 1 else edit.path


def _is_prefixed(path: str, bare: str, checkout: Checkout) -> bool:
    """Whether only what follows the prefix is a path of the tree: its first folder exists, and none called `a`."""
    folder, first = path.partition("/")[0], bare.partition("/")[0]
    return "/" in bare and checkout.has_folder(first) and not (folder and checkout.has_folder(folder))


def _text(path: str, sample: Sample, checkout: Checkout) -> str | None:
    """The text of a file after the edits so far."""
    return sample.files.get(path, checkout.text(path))


def _apply(edit: Edit, sample: Sample, checkout: Checkout, shown: dict[str, Shown]) -> None:
    text = _text(edit.path, sample, checkout)
    if text and edit.makes_file:
        raise Ended(Cause.SEARCH_MISMATCH, f"{edit.path}: SEARCH is empty, and the file exists")
    if text is None and not (edit.makes_file and checkout.may_be_new(edit.path)):
        raise Ended(Cause.HALLUCINATED_FILE, f"repair: no such file: {edit.path!r}")
    if edit.makes_file:
        sample.files[edit.path], way = "".join(f"{line}\n" for line in edit.replace), "new file"
    else:
        sample.files[edit.path], way, shown[edit.path] = apply_edit(text or "", edit, shown.get(edit.path, ()))
    sample.edits.append({"path": edit.path, "match": way})


def _refuse_blank(sample: Sample, checkout: Checkout) -> None:
    if all(collapsed(text) == collapsed(checkout.text(path) or "") for path, text in sample.files.items()):
        raise Ended(Cause.WHITESPACE_ONLY, f"only white space changes in {', '.join(sample.files)}")


def _refuse_broken(sample: Sample, checkout: Checkout) -> None:
    for path, text in sample.files.items():
        if errors(path, text) > errors(path, checkout.text(path) or ""):
            raise Ended(Cause.INVALID_PATCH, f"{path}: syntax errors that were not there before")
