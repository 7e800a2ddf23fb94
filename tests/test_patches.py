"""All readers of patches agree with git and with each other, whatever lines change."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

import pytest
from histories import History

from pipeline.analyze.structure import changed_files, structure
from pipeline.core.patches import diff_counts, paths, sections, select
from pipeline.dataset.stats import _sizes
from pipeline.evaluate.foreign import normalized
from pipeline.triage.sides import files

#: lines that look like parts of a patch, and those that line readers split or join
LINES = (
    *("", " ", "a", "b", "-- a", "++ b", "- ", "+", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "diff --git a/x b/x", "-- "),
    *("\\ No newline at end of file", "index 1..2", "rename to x", "GIT binary patch", "a\r", "\x0c", "\u2028", "\x85"),
    *("From 0123456789012345678901234567890123456789 Mon", "2.39.2", "/dev/null", "Binary files a and b differ"),
)
NAMES = (
    "{}.ts",
    "a b/{}.ts",
    "Menü {}.ts",
    'quo"te {}.ts',
    "b/a/{} b/x.ts",
    "tab\t{}.ts",
    "-- {}",
    "{}.test.tsx",
    "@@ {}",
)


class Change(NamedTuple):
    """Files before and after (None if missing), and git's patches between them."""

    before: dict[str, str | None]
    after: dict[str, str | None]
    history: History
    commits: tuple[str, str]

    def patch(self, *options: str) -> str:
        path = self.history.folder.parent / "patch"
        command = ("diff", "--no-renames", "--full-index", "--binary", f"--output={path}", *options, *self.commits)
        self.history.git("-c", "core.quotepath=false", *command)
        return path.read_bytes().decode()

    @property
    def touched(self) -> set[str]:
        return {name for name in self.before if self.before[name] != self.after[name]}


@pytest.fixture(scope="module")
def change(tmp_path_factory: pytest.TempPathFactory) -> Change:
    chance = random.Random(20251125)

    def text() -> str | None:
        lines = chance.choices(LINES, k=chance.randint(0, 14))
        return chance.choice(["\n".join([*lines, ""]), "\n".join([*lines, "end"]), "".join(f"{x}\n" for x in lines)])

    before: dict[str, str | None] = {}
    after: dict[str, str | None] = {}
    for number in range(120):
        name = chance.choice(NAMES).format(number)
        before[name], after[name] = chance.choice([(text(), text()), (None, text()), (text(), None), ("x\n", "x\n")])
        if chance.random() < 0.3 and before[name]:  # a part of it changes
            kept = before[name].split("\n")
            after[name] = "\n".join([*kept[:3], *chance.choices(LINES, k=2), *kept[5:]])
    history = History(tmp_path_factory.mktemp("patches") / "clone")
    base = history.commit("base", {name: content for name, content in before.items() if content is not None})
    changed = {name: content for name, content in after.items() if content != before[name]}
    return Change(before, after, history, (base, history.commit("head", changed)))


def test_files_of_a_patch_agree_with_git(change: Change) -> None:
    patch = change.patch()
    assert set(paths(patch)) == changed_files(patch) == {file.name for file in files(patch)} == change.touched
    assert "".join(part for _, part in sections(patch)) == patch
    assert select(patch, lambda _: True) == patch and select(patch, lambda _: False) == ""


def test_lines_of_a_patch_agree_with_git(change: Change) -> None:
    rows = [
        row.split("\t")[:2]
        for row in change.history.git("diff", "--numstat", "--no-renames", *change.commits).splitlines()
    ]
    added, removed = (sum(int(row[side]) for row in rows) for side in (0, 1))
    patch, sides = change.patch(), files(change.patch())
    assert diff_counts(patch) == (added, removed)
    assert (sum(side_of_file.added for side_of_file in sides), sum(side_of_file.removed for side_of_file in sides)) == (
        added,
        removed,
    )
    assert structure(patch).lines == _sizes(patch)["lines"] == added + removed
    assert structure(patch).files == _sizes(patch)["files"] == len(change.touched)


def test_blocks_of_a_patch_agree_with_git(change: Change) -> None:
    """Without context, each block of changed lines is a hunk of its own."""
    blocks = sum(line.startswith("@@ -") for line in change.patch("-U0").split("\n"))
    assert structure(change.patch()).hunks == blocks


def test_both_sides_of_a_patch_agree_with_the_files(change: Change) -> None:
    """With full context, each side is the whole file, line by line with its numbers."""
    for file in files(change.patch("-U999")):
        for side, number, content in (("old", "old_number", change.before), ("new", "number", change.after)):
            rows = [row for row in file.lines if row.kind != "place" and getattr(row, side) is not None]
            text = content[file.name] or ""
            assert [getattr(row, side) for row in rows] == text.removesuffix("\n").split("\n")[: len(rows)]
            assert len(rows) == len(text.removesuffix("\n").split("\n")) * bool(text)
            assert [getattr(row, number) for row in rows] == list(range(1, len(rows) + 1))


@pytest.mark.parametrize("options", [(), ("--no-prefix",), ("--src-prefix=i/", "--dst-prefix=w/"), ("-U0",)])
def test_a_patch_of_another_harness_is_normalized(change: Change, options: tuple[str, ...]) -> None:
    """Without prefixes, a new file in a folder `b` looks like one with a prefix."""
    patch, wanted = change.patch(*options), change.patch(*(option for option in options if option == "-U0"))
    patch, wanted = (select(text, lambda name: not name.startswith("b/")) for text in (patch, wanted))
    assert normalized(patch) == wanted
    assert normalized(wanted) == wanted


def test_a_patch_without_gits_headers_has_the_same_files(change: Change, tmp_path: Path) -> None:
    """In the format of `diff -u`; files whose names it would have to quote are left out."""
    plain = [part for name, part in sections(change.patch()) if name.isascii() and not set(name) & set('"\t')]
    bare = ["".join(part.partition("--- ")[1:]) for part in plain]
    patch = normalized("".join(bare))
    assert paths(patch) == [name for part, text in zip(plain, bare, strict=True) if text for name in paths(part)]
    (tmp_path / "x.patch").write_bytes(patch.encode())
    change.history.git("checkout", "-q", change.commits[0])
    try:
        change.history.git("apply", "--check", "--whitespace=nowarn", str(tmp_path / "x.patch"))
    finally:
        change.history.git("checkout", "-q", "main")
