"""The variants of an instance, drawn by a seed from all edits of the files that gold changed.

Reads the clone; runs and writes nothing. Drawn edits are left out and counted if they equal gold, the base or another
variant, do not parse, or have no effect although they should.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pipeline.core.audit import Kind
from pipeline.core.git import Clone
from pipeline.core.patches import paths, sections
from pipeline.core.records import Instance
from pipeline.core.store import digest
from pipeline.dataset.applied import DoesNotApply, Scratch, scratch
from pipeline.dataset.audit import harmful, same
from pipeline.dataset.audit.code import FUNCTIONS, TAGS, Code, Edit, edits, is_code
from pipeline.dataset.audit.hunks import changed_lines, hunks, section
from pipeline.ecosystems.protection import protected

#: the largest number of hunks of one instance that are left out in turn
MOST_HUNKS = 40
#: characters of a text that the record holds
_CUT = 160
#: files that show examples to people and that tests do not use
_EXAMPLES = re.compile(
    r"(?:^|/)(?:stories|docs?|examples?|demos?|website|storybook)/|\.(?:stories|story|docs?|figma)\."
)
#: signs that a test looks at more of the markup than what users perceive
_LOOKS = re.compile(
    rb"[Ss]napshot|(?:inner|outer)HTML|toHaveClass|classList|className|querySelector|(?:first|last)(?:Element)?Child"
    rb"|\bchildren\b|childNodes|parent(?:Element|Node)|\bclosest\(|Sibling|\.html\(|\bshallow\b|\bmount\b|\.find\("
)


class DrawnVariant(NamedTuple):
    """A variant as it is run; `before` and `after` show the edit."""

    kind: Kind
    rule: str
    path: str
    line: int
    before: str
    after: str
    patch: str

    @property
    def digest(self) -> str:
        return digest(self.patch)


class Draft(NamedTuple):
    """An edit of one file."""

    kind: Kind
    rule: str
    code: Code
    edit: Edit


@dataclass
class Drawn:
    """The variants of an instance, and how many edits were left out, by kind and reason."""

    variants: list[DrawnVariant] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def draw(instance: Instance, clone: Clone, count: int, seed: int) -> Drawn:
    """Gold, at most `count` variants of each kind, and gold without each hunk. Raises DoesNotApply."""
    chance = random.Random(f"{seed} {instance.instance_id}")
    drawn = Drawn([DrawnVariant("gold", "gold", "", 0, "", "", instance.fix_patch)])
    looks = _looks(instance, clone)
    with scratch(clone, instance.base.sha) as index:
        index.apply("fix", instance.fix_patch)
        sources = list(_sources(instance, index))
    drafts = _Drafts(instance.fix_patch, sources, drawn)
    rules = same.RULES if looks else (*same.RULES, *same.MARKUP)
    drafts.take("same", rules, count, chance)
    drafts.widen(TAGS)
    drafts.take("same", rules, count, chance)
    drafts.widen(FUNCTIONS)
    drafts.take("same", rules, count, chance)
    drafts.take_several("same", rules, count, chance)
    drafts.narrow()
    drafts.take_hunks(chance)
    drafts.take("harmful", harmful.RULES, count, chance)
    drafts.widen(TAGS)
    drafts.take("harmful", harmful.RULES, count, chance)
    return drawn


def _looks(instance: Instance, clone: Clone) -> bool:
    """Whether a test may look at markup that users do not perceive; true if the tests cannot be read."""
    with scratch(clone, instance.base.sha) as index:
        try:
            index.apply("test", instance.test_patch)
        except DoesNotApply:
            return True
        texts = [index.read(path) for path in instance.expected_files]
    return not texts or any(text is None or _LOOKS.search(text) for text in texts)


def _sources(instance: Instance, index: Scratch) -> Iterator[tuple[bytes, Code]]:
    """The source files of gold that tests can use, with the base's and gold's text."""
    is_protected = protected(instance)
    for path in paths(instance.fix_patch):
        gold = index.read(path)
        if gold is None or not is_code(path) or is_protected(path) or _EXAMPLES.search(path):
            continue
        base = index.read(path, instance.base.sha) or b""
        yield base, Code(path, gold, changed_lines(base, gold), base)


def _excerpts(text: bytes, edit: Edit) -> tuple[bytes, bytes]:
    """The text at the places of an edit, before and after; the whole line if it only adds something."""
    parts = sorted(edit.parts)
    if any(end > start for start, end, _ in parts):
        return " … ".encode().join(text[start:end] for start, end, _ in parts), " … ".encode().join(
            new for *_, new in parts
        )
    start, end = parts[0][0], parts[-1][1]
    line_start, line_end = text.rfind(b"\n", 0, start) + 1, text.find(b"\n", end)
    line = text[line_start : line_end if line_end >= 0 else len(text)]
    moved = Edit(tuple((at - line_start, to - line_start, new) for at, to, new in parts))
    return line, moved.on(line)


class _Drafts:
    """Makes patches of edits, and skips those that it has made already."""

    def __init__(self, gold: str, sources: Sequence[tuple[bytes, Code]], drawn: Drawn) -> None:
        self.sources, self.drawn = sources, drawn
        self.base, self.narrower = {code.path: base for base, code in sources}, sources
        self.gold = dict(sections(gold))
        self.seen: dict[Kind, set[str]] = {}

    def widen(self, around: Collection[str]) -> None:
        """From now on, also use the nodes of these types around gold's lines."""
        self.sources = [(base, code.widened(around)) for base, code in self.sources]

    def narrow(self) -> None:
        """From now on, use only gold's lines again."""
        self.sources = self.narrower

    def take(self, kind: Kind, rules: Sequence[tuple[str, same.Rule]], count: int, chance: random.Random) -> None:
        """Take variants of one edit each, in turn from each rule, until they run out."""
        waiting: dict[str, list[Draft]] = {}
        for _, code in self.sources:
            for rule, edit in edits(rules, code):
                waiting.setdefault(rule, []).append(Draft(kind, rule, code, edit))
        if kind == "harmful":
            waiting["hunk left out"] = []
        for drafts in waiting.values():
            chance.shuffle(drafts)
        turns = sorted(waiting)
        chance.shuffle(turns)
        hunk_variants = [variant for variant in self.drawn.variants if variant.kind == "hunk" and variant.patch.strip()]
        chance.shuffle(hunk_variants)
        while turns and self._count(kind) < count:
            rule = turns.pop(0)
            if rule == "hunk left out":
                self._next_hunk(kind, rule, hunk_variants)
                remaining = bool(hunk_variants)
            else:
                self._next(waiting[rule])
                remaining = bool(waiting[rule])
            if remaining:
                turns.append(rule)
        self.drawn.left_out[f"{kind}: not drawn"] += sum(map(len, waiting.values()))

    def take_several(
        self, kind: Kind, rules: Sequence[tuple[str, same.Rule]], count: int, chance: random.Random
    ) -> None:
        """Take variants of two edits if there are too few of one edit."""
        candidates = [(code, edit) for _, code in self.sources for _, edit in edits(rules, code)]
        for _ in range(8 * count if len(candidates) > 1 else 0):
            if self._count(kind) >= count:
                return
            (code, first), (other_code, second) = chance.sample(candidates, 2)
            if code is other_code and not first.overlaps(second):
                self._add(Draft(kind, "several", code, Edit((*first.parts, *second.parts))))

    def take_hunks(self, chance: random.Random) -> None:
        """Take gold without each of its hunks."""
        whole = [(code, hunk) for base, code in self.sources for hunk in hunks(base, code)]
        for code, hunk in sorted(chance.sample(whole, min(MOST_HUNKS, len(whole))), key=whole.index):
            lines = code.text.splitlines()[hunk.line - 1 : hunk.line]
            self._keep("hunk", "hunk left out", code, hunk.line, (lines[0] if lines else b"", b""), hunk.text)
        self.drawn.left_out["hunk: not drawn"] += max(0, len(whole) - MOST_HUNKS)

    def _count(self, kind: Kind) -> int:
        return sum(variant.kind == kind for variant in self.drawn.variants)

    def _next(self, waiting: list[Draft]) -> None:
        """Add the first draft that makes a variant."""
        while waiting:
            if self._add(waiting.pop()):
                return

    def _next_hunk(self, kind: Kind, rule: str, hunk_variants: list[DrawnVariant]) -> None:
        """Add the first hunk that is not a variant already."""
        while hunk_variants:
            variant = hunk_variants.pop()._replace(kind=kind, rule=rule)
            if not self._is_known(kind, variant.patch):
                self.drawn.variants.append(variant)
                return

    def _add(self, draft: Draft) -> bool:
        """Try to add a variant; returns whether it was added."""
        kind, rule, code, edit = draft
        edited = code.edited(edit)
        if edited is None:
            return self._leave_out(kind, "does not parse")
        if kind == "harmful" and edited.effective == code.effective:
            return self._leave_out(kind, "has no effect")
        line = code.text.count(b"\n", 0, min(start for start, *_ in edit.parts)) + 1
        return self._keep(kind, rule, code, line, _excerpts(code.text, edit), edited.text)

    def _keep(self, kind: Kind, rule: str, code: Code, line: int, excerpts: tuple[bytes, bytes], text: bytes) -> bool:
        if text == code.text:
            return self._leave_out(kind, "is gold")
        patch = self._patch(code, text)
        if kind != "hunk" and not patch.strip():
            return self._leave_out(kind, "is the base")
        if self._is_known(kind, patch):
            return self._leave_out(kind, "is there already")
        before, after = (excerpt.decode(errors="replace").strip()[:_CUT] for excerpt in excerpts)
        self.drawn.variants.append(DrawnVariant(kind, rule, code.path, line, before, after, patch))
        return True

    def _is_known(self, kind: Kind, patch: str) -> bool:
        """Whether a kind has this patch already. Remembers the patch."""
        patches, name = self.seen.setdefault(kind, set()), digest(patch)
        is_known = name in patches
        patches.add(name)
        return is_known

    def _leave_out(self, kind: Kind, reason: str) -> bool:
        self.drawn.left_out[f"{kind}: {reason}"] += 1
        return False

    def _patch(self, code: Code, text: bytes) -> str:
        """Gold with another text in one file."""
        changed = section(self.gold[code.path], self.base[code.path], text)
        return "".join((self.gold | {code.path: changed}).values())
