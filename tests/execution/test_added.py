"""Files of a patch that tests could load in place of others are removed, and honest ones with such names stay."""

from __future__ import annotations

from dataclasses import replace

import pytest
from histories import History
from menu import FIX, MENU_TEST, NAMED, OPENS, MakePlan, Patch, link, with_jest

from pipeline.core.records import Status
from pipeline.execution.applying import prepare
from pipeline.execution.runs import run_patch


@pytest.mark.trap("graded-with-its-own-edits")
@pytest.mark.parametrize("claims", [{"src/fake.js": ""}, {"src/Menu.js": "<nav aria-label>\n"}], ids=["new", "golds"])
def test_a_file_does_not_take_the_name_of_a_package(
    plan: MakePlan, patch: Patch, library: History, claims: dict[str, str]
) -> None:
    """Jest before 24 prefers such a file to the package that tests import, unnoticed in the component. If gold adds
    such a file, it is not applied either. If the repository itself names its modules this way, it is no offence."""
    given = patch({path: f"/** @providesModule dep */\n{text}" for path, text in claims.items()})
    run = run_patch(with_jest(plan(), "23.6.0"), given, patch(FIX), patch(MENU_TEST))
    assert (run.restored, run.results[NAMED]) == (tuple(claims), Status.FAILED)
    assert run_patch(with_jest(plan(), "24.0.0"), given, patch(FIX), patch(MENU_TEST)).restored == ()
    library.commit("names", {"src/Other.js": "/**\n * @providesModule Other\n */\n"})
    assert run_patch(with_jest(plan(), ""), given, patch(FIX), patch(MENU_TEST)).restored == ()


@pytest.mark.rule("honest-patches")
@pytest.mark.parametrize(
    ("head", "is_claim"),
    [
        ("\ufeff\n/*\n * @provides\n * dep\n */\n", True),
        ("/* a menu\r\n @provides dep */\r\n", True),
        ("/* a menu */\n/** @provides dep */\n", False),
        ("// @provides dep\n", False),
        ("/* @providesNothing */\n", False),
        ("let menu;\n/** @provides the names of menus */\n", False),
    ],
)
def test_only_the_comment_at_the_head_claims_a_name(plan: MakePlan, patch: Patch, head: str, is_claim: bool) -> None:
    """A whole fix was taken back for a comment in it that said what it `@provides`."""
    given = patch({"src/Menu.js": f"{head}<nav aria-label>\n"})
    run = run_patch(with_jest(plan(), "23.6.0"), given, "", patch(MENU_TEST))
    assert run.restored == (("src/Menu.js",) if is_claim else ())


@pytest.mark.trap("graded-with-its-own-edits")
def test_a_file_does_not_replace_one_with_another_extension(plan: MakePlan, patch: Patch, library: History) -> None:
    """Tests would load one file and a bundler the other. It is no offence if gold adds such a file, if it is a type
    declaration, if one replaces the other, or if the folder already has such pairs. Node prefers data to a TypeScript
    script, and a runner may prefer a component."""
    others = {"src/Menu.d.ts": "", "src/Menu.css": "", "src/lists/Menu.js": ""}
    given = patch(FIX | others | {"src/Menu.json": "{}\n", "src/Menu.ts": "1;\n", "src/Menu.vue": "\n"})
    assert run_patch(plan(), given, "", patch(MENU_TEST)).restored == ("src/Menu.json", "src/Menu.ts", "src/Menu.vue")
    assert run_patch(plan(), given, given, patch(MENU_TEST)).restored == ()
    moved = patch({"src/Menu.js": None, "src/Menu.ts": "1;\n"})
    assert run_patch(plan(), moved, "", patch(MENU_TEST)).restored == ()
    library.commit("pairs", {"src/List.js": "", "src/List.mjs": ""})
    assert run_patch(plan(), given, "", patch(MENU_TEST)).restored == ()


@pytest.mark.trap("graded-with-its-own-edits")
@pytest.mark.parametrize(
    "added",
    [
        {"src/Menu": "1;\n"},
        {"src/Menu.web.js": "1;\n"},
        {"src/Menu.parts.ios.js": "1;\n"},
        {"src/Menu.other.js": "1;\n"},
        {"src/Menu/index.js": "1;\n"},
        {"package.json?menu.js": "1;\n"},
        {"src/Bar.js": "1;\n"},
        {"src/Bar.json": "{}\n", "src/Bar.web.js": "1;\n"},
        {"src/Menu.json": "{}\n"},
        {"src/Typed.json": "{}\n"},
    ],
    ids=lambda added: "-".join(added).replace("src/", ""),
)
def test_a_file_does_not_stand_in_for_a_script(
    plan: MakePlan, patch: Patch, library: History, added: dict[str, str]
) -> None:
    """The fix was in a file `lamp` beside `lamp.js`, which tests found first. It is no offence if gold adds the file.
    To mention a file does not help if a program may prefer it to the script."""
    library.commit("more", {"src/Bar/index.js": "", "src/Typed.ts": ""})
    given, gold = patch(FIX | added), patch(MENU_TEST)
    assert run_patch(plan(), given, "", gold).restored == tuple(added)
    assert run_patch(plan(), given, given, gold).restored == ()
    own = [f'require("./{path.removeprefix("src/")}");\n' for path in added]
    aware = run_patch(plan(), patch(FIX | added | {"src/use.js": "".join(own)}), "", gold).restored
    kept = ({"src/Menu.other.js": "1;\n"}, {"src/Menu/index.js": "1;\n"}, {"src/Menu.json": "{}\n"})
    assert aware == (() if added in kept else tuple(added))


def test_a_long_line_does_not_keep_this_machine_busy(plan: MakePlan, patch: Patch) -> None:
    """The search for a path in quotes took hours if a quote was never closed."""
    given = patch({"src/More.js": "exports.line = '" + "/" * 1_000_000 + "\n"})
    assert run_patch(plan(), given, "", patch(MENU_TEST)).restored == ()


@pytest.mark.rule("honest-patches")
def test_files_beside_a_script_that_no_import_of_it_means_stay(plan: MakePlan, patch: Patch, library: History) -> None:
    """Styles, types, parts in a folder of its name; and files for platforms where the base has some."""
    library.commit("platforms", {"src/lists/List.js": "", "src/lists/List.web.js": ""})
    others = {"src/Menu.css": "", "src/Menu.types.d.ts": "", "src/Menu/parts.js": "1;\n", "src/lists/Menu.js": "1;\n"}
    pairs = {"src/lists/Row.js": "1;\n", "src/lists/Row.web.js": "1;\n", "src/lists/List.ios.js": "1;\n"}
    run = run_patch(plan(), patch(FIX | others | pairs), "", patch(MENU_TEST))
    assert run.restored == ("src/lists/List.ios.js",)


@pytest.mark.trap("graded-with-its-own-edits")
def test_settings_that_a_patch_adds_are_removed(plan: MakePlan, patch: Patch, library: History) -> None:
    """A compiler for tests looks for its own settings, such as `.svgrrc.js`, and nobody knows all their names. The
    patch may add those that gold adds, and its own modules with such names."""
    for installed in ("unocss", "@svgr/core", ".bin/panda"):
        (library.folder / "node_modules" / installed).mkdir(parents=True)
    added = {"panda.app.config.js": "1;\n", "src/.svgrrc.js": "1;\n", "src/svgr.config.js": "1;\n"}
    added |= {"tools/uno.config.ts": "1;\n"}
    others = {"src/config.ts": "1;\n", "src/menu.config.ts": "1;\n", "src/source.js": "1;\n", "src/webrc.js": "1;\n"}
    given = patch(FIX | added | others)
    assert run_patch(plan(), given, "", patch(MENU_TEST)).restored == tuple(added)
    assert run_patch(plan(), given, given, patch(MENU_TEST)).restored == ()


@pytest.mark.trap("graded-with-its-own-edits")
@pytest.mark.parametrize("is_run", [True, False])
def test_macros_are_taken_back_where_a_compiler_runs_them(
    plan: MakePlan, patch: Patch, library: History, is_run: bool
) -> None:
    """Babel runs them while it compiles files, so they could read the tests. Gold may have them, and where no plugin
    runs them, they are modules like any other."""
    library.commit("a macro", {"src/name.macro.js": "1;\n"})
    macros = {"src/macro/index.js": "2;\n", "src/name.macro.js": "2;\n", "src/role.macro.ts": "2;\n"}
    given = patch(FIX | macros | {"src/macros.js": "2;\n", "src/parts/macro/part.js": "2;\n"})
    if is_run:
        (library.folder / "node_modules" / "babel-plugin-macros").mkdir(parents=True)
    assert run_patch(plan(), given, "", patch(MENU_TEST)).restored == (tuple(macros) if is_run else ())
    assert run_patch(plan(), given, given, patch(MENU_TEST)).restored == ()


@pytest.mark.trap("graded-with-its-own-edits")
def test_settings_beside_a_manifest_are_removed(plan: MakePlan, patch: Patch, library: History) -> None:
    library.commit("a package", {"packages/a/package.json": "{}"})
    given = patch(FIX | {"packages/a/menu.config.ts": "1;\n", "packages/a/src/menu.config.ts": "1;\n"})
    assert run_patch(plan(), given, "", patch(MENU_TEST)).restored == ("packages/a/menu.config.ts",)


@pytest.mark.rule("honest-patches")
def test_a_module_named_like_a_helper_may_belong_to_the_sources(plan: MakePlan, patch: Patch, library: History) -> None:
    """If no test can load it: neither the base nor gold has a file or a folder of that name, and the runner would not
    read it. Names of tests and files in folders of tests stay protected."""
    own = {"src/test-utils.js": "1;\n", "src/parts/test-data.ts": "1;\n"}
    tests = {"src/Menu.more.test.js": "\n", "src/__mocks__/test-utils.js": "1;\n", "test/test-utils.js": "1;\n"}
    shadows = {"src/react-dom/test-utils.js": "1;\n"}
    given = patch(FIX | own | tests | shadows)
    observing = replace(plan(), protected=("src/react-dom/test-utils",))
    assert {*run_patch(observing, given, "", patch(MENU_TEST)).restored} == {*tests, *shadows}
    golds = patch(MENU_TEST | {"src/parts/test-data.ts": "2;\n"})
    assert "src/parts/test-data.ts" in run_patch(observing, given, "", golds).restored
    library.commit("a folder", {"src/test-utils/index.js": "1;\n"})
    assert "src/test-utils.js" in run_patch(observing, given, "", patch(MENU_TEST)).restored


OWN = {"src/setup.js": "1;\n", "src/hitTest.js": "1;\n", "src/aria-spec.js": "1;\n", "src/integration/aria.js": "1;\n"}


@pytest.mark.rule("honest-patches")
def test_a_module_named_like_a_test_may_belong_to_the_sources(plan: MakePlan, patch: Patch, library: History) -> None:
    """If neither tests nor a runner can load it. Names by which runners find tests, snapshots, mocks and settings stay
    protected, and so do files in folders of tests that exist."""
    sought = {"src/hit.test.js": "1;\n", "src/test.js": "1;\n", "src/__mocks__/aria.js": "1;\n", "test/a.js": "1;\n"}
    sought |= {"src/setupTests.js": "1;\n", "src/a/Menu.test.js": "1;\n", "src/hit_test.js": "1;\n"}
    given = patch(FIX | OWN | sought)
    assert {*run_patch(plan(), given, "", patch(MENU_TEST)).restored} == {*sought}
    observing = replace(plan(), protected=("src/hitTest.js", "src/setup"))
    assert {*run_patch(observing, given, "", patch(MENU_TEST)).restored} == {*sought, "src/hitTest.js", "src/setup.js"}
    library.commit("tests", {"src/integration/menu.js": "1;\n", "src/hitTest/index.js": "1;\n"})
    found = {*run_patch(plan(), given, "", patch(MENU_TEST)).restored}
    assert found == {*sought, "src/integration/aria.js", "src/hitTest.js"}


@pytest.mark.trap("graded-with-its-own-edits")
@pytest.mark.parametrize(
    ("base", "found"),
    [
        ({}, set()),
        ({"test/old-spec.js": "1;\n"}, {"src/aria-spec.js"}),
        ({".mocharc.json": '{"spec": "**/*Test.js"}'}, {"src/hitTest.js"}),
        ({".mocharc.json": '{"spec": "src/integration/**"}'}, {"src/integration/aria.js"}),
        ({"src/Old.test.js": "1;\n"}, {*OWN}),
    ],
    ids=["none", "kind", "settings", "folder", "beside"],
)
def test_a_module_that_a_pattern_of_the_runner_may_match_is_removed(
    plan: MakePlan, patch: Patch, library: History, base: dict[str, str], found: set[str]
) -> None:
    """Mocha also runs the files of its configuration, so a file there can put things right for tests only."""
    library.commit("tests", {"src/Menu.test.js": None, "test/Menu.test.js": "opens | src/Menu.js | <nav\n", **base})
    mocha = plan().environment.model_copy(update={"runner": "mocha", "test": ("mocha", "{files}")})
    plan_of_mocha = replace(plan(), environment=mocha)
    with plan_of_mocha.sandbox.open("", cache="none") as workspace:
        applied = prepare(workspace, patch(FIX | OWN), "", "", observed=(), environment=mocha)
    assert {*applied.restored} == found


@pytest.mark.trap("graded-with-its-own-edits")
@pytest.mark.parametrize(
    ("links", "restored"),
    [
        ({"src/sign.json": "/workspace/repo/package.json"}, ("src/sign.json",)),
        ({"src/sign.json": "../../package.json"}, ("src/sign.json",)),
        ({"src/sign.json": "../.git/config"}, ("src/sign.json",)),
        ({"src/deep": "..", "src/sign.json": "deep/../package.json"}, ("src/sign.json",)),
        ({"src/sign.json": "../package.json", "src/more": "../src"}, ()),
        ({"src/Menu.js": "/workspace/repo/package.json"}, ("src/Menu.js",)),
    ],
    ids=["absolute", "above", "git", "through-another", "inside", "in-place-of-a-file"],
)
def test_links_that_lead_out_of_the_repository_are_removed(
    plan: MakePlan, patch: Patch, links: dict[str, str], restored: tuple[str, ...]
) -> None:
    """Through one, code finds the repository where it was before the disguised run, and our files. A tree with such a
    link is not collected either."""
    given = patch({path: None for path in links if path == "src/Menu.js"})
    given += "".join(link(path, target) for path, target in links.items())
    run = run_patch(plan(), given, "", patch(MENU_TEST))
    assert run.restored == restored
    assert run.results[OPENS] is Status.PASSED
