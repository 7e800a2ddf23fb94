"""Files that only tests import: how they are recognized, and how they are treated."""

from __future__ import annotations

from pathlib import Path

import pytest
from factories import REPO, make_candidate
from histories import Content, History
from tiny_library import Bench, Pull, make_library

from pipeline.build.helpers import only_tests_import, split
from pipeline.core.git import diff, open_clone
from pipeline.core.records import Candidate, Instance
from pipeline.core.store import read_records
from pipeline.dataset.check import Checked, check

MENU = "import { step } from './step';\nexport const Menu = () => step();\n"
TEST = "import { Menu } from './Menu';\nimport { show } from '../tools/show';\n"
GOLD: dict[str, Content] = {
    "src/Menu.js": MENU,
    "src/step.js": "export const step = () => 1;\n",
    "src/Menu.test.js": TEST,
    "tools/show.js": "import rows from './rows.json';\nexport const show = (it) => [it, rows];\n",
    "tools/rows.json": "[]\n",
}


def candidate(
    folder: Path, files: dict[str, Content], base: dict[str, Content] | None = None
) -> tuple[History, Candidate]:
    """A candidate that changes these files."""
    made = History(folder / "clone")
    before = made.commit("base", {"README.md": "old\n", **(base or {})})
    after = made.commit("fix", files)
    sources = sorted(path for path in files if ".test." not in path)
    patches = [diff(open_clone(made.folder), before, after, some) for some in (sources, sorted({*files} - {*sources}))]
    base_of = {"label": "main", "ref": "main", "sha": before}
    return made, make_candidate(base=base_of, merge_sha=after, fix_patch=patches[0], test_patch=patches[1])


def found(
    folder: Path, files: dict[str, Content], base: dict[str, Content] | None = None, **more: str
) -> tuple[str, ...]:
    made, changed = candidate(folder, files, base)
    return only_tests_import(open_clone(made.folder), changed.model_copy(update=more))


@pytest.mark.trap("helper-only-tests-import")
def test_helpers_and_what_they_import_are_the_tests(tmp_path: Path) -> None:
    """Otherwise the agent would have to write a helper that gold adds and only tests import, and that it cannot know
    about."""
    assert found(tmp_path, GOLD) == ("tools/rows.json", "tools/show.js")


@pytest.mark.trap("helper-only-tests-import")
def test_a_fixture_of_any_kind_is_a_test_and_a_page_is_not(tmp_path: Path) -> None:
    """A page may be what is repaired, and so may a fixture that a source names."""
    test = "import { Menu } from './Menu';\nread('fixtures/page.html', './open.fixture.css', 'src/about.html');\n"
    files = GOLD | {
        "src/Menu.test.js": test,
        "src/Menu.js": f"{MENU}read('./fixtures/shipped.html');\n",
        "src/fixtures/page.html": "<main></main>\n",
        "src/fixtures/shipped.html": "<main></main>\n",
        "src/open.fixture.css": "a {}\n",
        "src/about.html": "<main></main>\n",
    }
    assert found(tmp_path, files) == ("src/fixtures/page.html", "src/open.fixture.css")


@pytest.mark.long
def test_a_bundle_in_the_repository_imports_nothing(tmp_path: Path) -> None:
    """A website's compiled releases have all names in one line of a megabyte, which was searched again for each of its
    strings: the build stood still for minutes."""
    bundle = "a('show');require('../tools/show');" * 40_000
    assert found(tmp_path, GOLD | {"docs/main.1f3a.js": bundle}) == ("tools/rows.json", "tools/show.js")


def test_both_patches_are_what_they_were(tmp_path: Path) -> None:
    _, changed = candidate(tmp_path, GOLD)
    moved = split(changed, {"tools/show.js"})
    assert "tools/show.js" in moved.test_patch and "tools/show.js" not in moved.fix_patch
    assert len(moved.fix_patch) + len(moved.test_patch) == len(changed.fix_patch) + len(changed.test_patch)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"src/other.js": "import { show } from '../tools/show';\n"}, "a source imports it"),
        ({"src/other.js": "import { show } from '@/show';\n"}, "a source may, through an alias"),
        ({"src/other.js": "const load = (name) => import(`./${name}`); load('show');\n"}, "a source says its name"),
        ({"package.json": '{"name": "a", "main": "tools/show.js"}\n'}, "it is an entry"),
        ({"tools/show.test.js": "import { show } from './show';\n"}, "a test is called after it"),
    ],
)
def test_what_may_be_more_than_a_helper_stays(tmp_path: Path, changed: dict[str, Content], why: str) -> None:
    assert found(tmp_path, GOLD, changed) == (), why


def test_a_source_that_goes_by_the_same_name_elsewhere_is_another(tmp_path: Path) -> None:
    other = {"src/other/a.js": "import { show } from './show';\n", "src/other/show.js": "export const show = 1;\n"}
    assert found(tmp_path, GOLD, other) == ("tools/rows.json", "tools/show.js")


def test_stories_that_tests_import_are_the_tests_and_only_shown_helpers_are_not(tmp_path: Path) -> None:
    story = {
        "src/Menu.stories.js": "import { Menu } from './Menu';\nimport { deck } from '../tools/deck';\n",
        "tools/deck.js": "export const deck = 1;\n",
        "src/Menu.test.js": "import * as stories from './Menu.stories';\n",
    }
    assert found(tmp_path, GOLD | story) == ("src/Menu.stories.js", "tools/deck.js")


def test_an_alias_of_tests_fits_by_its_end(tmp_path: Path) -> None:
    aliased = GOLD | {"src/Menu.test.js": "import { Menu } from './Menu';\nimport { show } from '@tools/show';\n"}
    assert found(tmp_path, aliased) == ("tools/rows.json", "tools/show.js")


def test_a_word_of_a_test_is_no_import(tmp_path: Path) -> None:
    """A story called `Title`, and a test that looks for the text "Title"."""
    story = {"src/stories/Title.js": "export const Title = 1;\n", "src/b.test.js": "getByText('Title');\n"}
    assert found(tmp_path, GOLD | story) == ("tools/rows.json", "tools/show.js")


def test_a_foreign_split_is_its_makers(tmp_path: Path) -> None:
    assert found(tmp_path, GOLD, origin="theirs") == ()


def test_gold_that_is_nothing_else_stays(tmp_path: Path) -> None:
    assert found(tmp_path, {"tools/show.js": "a", "src/a.test.js": "import '../tools/show';\n"}) == ()


WORKS = "works | {src} | old\n"
PULLS = {
    "menu": Pull(
        "qualified",
        f'{WORKS}named | {{src}} | new\nneeds src/wrap.js\nimport "./wrap";\n',
        others={"src/wrap.js": "wrapped\n"},
    ),
    "card": Pull(
        "qualified",
        f'{WORKS}named | src/said.js | new\nimport "./said";\n',
        fix="old and more\n",
        others={"src/said.js": "new\n"},
    ),
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    folder = tmp_path_factory.mktemp("helpers")
    made = Bench(folder, make_library(folder, PULLS).folder, folder / "cache")
    made.collect()
    made.build(listed={})
    return made


@pytest.mark.trap("helper-only-tests-import")
@pytest.mark.rule("only-tests-import")
def test_gold_is_resolved_without_them_and_what_it_can_not_do_without_it_needs(bench: Bench) -> None:
    menu, card = read_records(bench.store.dataset(REPO), Instance)
    assert (menu.moved, menu.needs) == (("src/wrap.js",), ())
    assert "src/wrap.js" in menu.test_patch and "src/wrap.js" not in menu.fix_patch
    assert (card.moved, card.needs) == ((), ("src/said.js",))
    clone = open_clone(bench.library)
    assert [list(check(Checked(instance, clone))) for instance in (menu, card)] == [[], []]
