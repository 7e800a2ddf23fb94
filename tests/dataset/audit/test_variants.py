"""Variants of an instance: drawn with a seed, each a different patch that applies, none equal to gold or the base."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from factories import make_instance
from histories import History

from pipeline.core.git import diff, open_clone
from pipeline.core.records import Base, Instance
from pipeline.dataset.applied import apply
from pipeline.dataset.audit.variants import Drawn, draw

BEFORE = """\
import { useState } from "react";
import { Icon } from "icons";

// the menu of a page
export function Menu({ items, label }) {
  const [open, setOpen] = useState(false);
  return (
    <nav className="menu">
      <button onClick={() => setOpen(!open)}>{label}</button>
      {open && <ul>{items}</ul>}
    </nav>
  );
}
"""
AFTER = BEFORE.replace("<nav", '<nav role="navigation" aria-label={label ? `${label} menu` : undefined}').replace(
    "<button onClick={() => setOpen(!open)}>",
    '<button aria-expanded={open} aria-controls="list" onKeyDown={(event) => event.key === "Escape" && setOpen(false)} '
    "onClick={() => setOpen(!open)}>",
).replace("// the menu of a page", "// the menu of a page, for everybody")  # fmt: skip
FILES = {
    "src/Menu.jsx": AFTER,
    "src/Menu.stories.jsx": "export const Plain = () => <Menu hidden />;\n",
    "README.md": "# The menu\n",
    "jest.config.js": "module.exports = { a: true };\n",
}


def instance(folder: Path, test: str = "getByRole('navigation');\n") -> tuple[History, Instance]:
    """An instance whose gold changes a component, a story, a text page and the runner's configuration."""
    made = History(folder / "clone")
    base = made.commit("base", {"src/Menu.jsx": BEFORE, "src/Menu.test.jsx": "old;\n"})
    made.commit("fix", FILES | {"src/Menu.test.jsx": test})
    clone = open_clone(made.folder)
    patches = {
        "fix_patch": diff(clone, base, "HEAD", sorted(FILES)),
        "test_patch": diff(clone, base, "HEAD", ["src/Menu.test.jsx"]),
    }
    tests = {"src/Menu.test.jsx > is told": "PFP"}
    return made, make_instance(tests=tests, base=Base(label="main", ref="main", sha=base), **patches)


@pytest.fixture
def drawn(tmp_path: Path) -> tuple[History, Instance, Drawn]:
    made, candidate = instance(tmp_path)
    return made, candidate, draw(candidate, open_clone(made.folder), 20, 0)


def test_twenty_of_each_kind_and_every_hunk(drawn: tuple[History, Instance, Drawn]) -> None:
    """A comment has no effect; stories, texts and protected files contain no code that a test could see."""
    _, _, found = drawn
    kinds = Counter(variant.kind for variant in found.variants)
    assert (kinds["gold"], kinds["same"], kinds["harmful"], kinds["hunk"]) == (1, 20, 20, 1)
    assert {variant.path for variant in found.variants[1:]} == {"src/Menu.jsx"}
    assert len({variant.rule for variant in found.variants if variant.kind == "same"}) > 6
    assert len({variant.rule for variant in found.variants if variant.kind == "harmful"}) > 8


def test_each_is_another_patch_that_applies(drawn: tuple[History, Instance, Drawn]) -> None:
    history, one, found = drawn
    clone = open_clone(history.folder)
    for kind in ("same", "harmful"):
        trees = [apply(clone, one.base.sha, {"it": each.patch}).tree for each in found.variants if each.kind == kind]
        gold = apply(clone, one.base.sha, {"fix": one.fix_patch}).tree
        assert len(set(trees)) == len(trees) == 20
        assert not {gold, history.tree(one.base.sha)} & set(trees)


def test_equal_seeds_draw_equal_variants(tmp_path: Path) -> None:
    history, one = instance(tmp_path)
    clone = open_clone(history.folder)
    first, again, other = (draw(one, clone, 5, seed) for seed in (1, 1, 2))
    assert first.variants == again.variants != other.variants
    assert first.left_out == again.left_out


def test_a_variant_has_its_place_and_its_change(drawn: tuple[History, Instance, Drawn]) -> None:
    role = next(variant for variant in drawn[2].variants if variant.rule == "role inverted")
    assert (role.path, role.line) == ("src/Menu.jsx", 8)
    assert (role.before, role.after) == ('"navigation"', '"presentation"')


@pytest.mark.parametrize(("test", "markup"), [("getByRole('navigation');\n", True), ("toMatchSnapshot();\n", False)])
def test_markup_changes_only_if_no_test_compares_it(tmp_path: Path, test: str, markup: bool) -> None:
    history, one = instance(tmp_path, test)
    found = draw(one, open_clone(history.folder), 40, 0)
    assert any(each.rule == "other markup" for each in found.variants) is markup
