"""Patch, run, read: which parts of a patch count, and what is restored before its tests run."""

from __future__ import annotations

from dataclasses import replace

import factories
import pytest
from histories import History
from menu import FIX, MENU_TEST, NAMED, OPENS, MakePlan, Patch, link, with_jest

from pipeline.core.records import Status
from pipeline.execution.applying import PatchFailed
from pipeline.execution.runs import Plan, TestRun, run_gold, run_patch
from pipeline.execution.tree import existing
from pipeline.sandbox.base import Workspace


def test_gold_patches_are_applied_one_by_one(plan: MakePlan, patch: Patch) -> None:
    test, fix = ("test", patch(MENU_TEST)), ("fix", patch(FIX))
    assert run_gold(plan(), []).results == {OPENS: Status.PASSED}
    assert run_gold(plan(), [test]).results == {OPENS: Status.PASSED, NAMED: Status.FAILED}
    assert run_gold(plan(), [test, fix]).results == {OPENS: Status.PASSED, NAMED: Status.PASSED}


def test_a_file_with_a_line_separator_in_its_name_exists(plan: MakePlan, patch: Patch) -> None:
    """U+2028 ends a line for `str.splitlines`, but not for `ls`."""
    name = "src/New\u2028.test.js"
    run = run_patch(plan((name,)), "", "", patch({name: "is new | src/Menu.js | <nav\n"}))
    assert run.results == {f"{name} > is new": Status.PASSED}


def test_any_number_of_files_may_be_asked_for(plan: MakePlan) -> None:
    """A patch with thousands of files once made one command too long, so none of them seemed to exist."""
    names = [f"{'long/' * 40}{number}" for number in range(12_000)]
    with plan().sandbox.open("", cache="none") as workspace:
        assert existing(workspace, [*names, "src/Menu.js"]) == {"src/Menu.js"}


@pytest.mark.trap("two-patches-one-apply")
def test_the_patch_that_does_not_apply_is_named(plan: MakePlan, patch: Patch) -> None:
    """Multi-SWE-bench gives two patches to one `git apply`, so a failure cannot be attributed to either."""
    other = patch(FIX).replace("<nav>", "<ul>").replace("src/Menu.js", "src/Other.js")
    with pytest.raises(PatchFailed, match="the fix patch does not apply") as error:
        run_gold(plan(), [("test", patch(MENU_TEST)), ("fix", other)])
    assert error.value.name == "fix"


@pytest.mark.trap("empty-patch")
def test_an_empty_patch_changes_nothing(plan: MakePlan, patch: Patch) -> None:
    """`git apply` exits with 128 on an empty patch. In Multi-SWE-bench, no test then runs, and the instance counts as
    unresolved."""
    assert run_gold(plan(), [("test", ""), ("fix", "\n")]).results == {OPENS: Status.PASSED}
    assert run_patch(plan(), "", "", patch(MENU_TEST)).results == {OPENS: Status.PASSED, NAMED: Status.FAILED}


def test_a_patch_is_run_with_the_gold_tests(plan: MakePlan, patch: Patch) -> None:
    run = run_patch(plan(), patch(FIX), "", patch(MENU_TEST))
    assert run.results == {OPENS: Status.PASSED, NAMED: Status.PASSED}
    assert (run.end, run.faults, run.restored) == ("ran", (), ())


@pytest.mark.parametrize(
    "text", ["no patch\n", "diff --git a/x b/x\n", "--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n", "@@\n"]
)
def test_a_text_that_is_no_patch_does_not_apply(plan: MakePlan, patch: Patch, text: str) -> None:
    """A text that is no patch does not apply. This is the model's failure and must not raise any other error."""
    with pytest.raises(PatchFailed) as error:
        run_patch(plan(), text, "", patch(MENU_TEST))
    assert error.value.name == "predicted"


def test_a_patch_without_gits_header_is_read_as_git_reads_it(plan: MakePlan, patch: Patch) -> None:
    """Tools other than git omit the header; files of installed packages are removed from such patches too."""
    fix = "--- a/src/Menu.js\n+++ b/src/Menu.js\n@@ -1 +1 @@\n-<nav>\n+<nav aria-label>\n"
    hidden = "--- a/node_modules/dep/index.js\n+++ b/node_modules/dep/index.js\n@@ -1 +1 @@\n-installed\n+patched\n"
    run = run_patch(plan(), fix + hidden, "", patch(MENU_TEST))
    assert run.results[NAMED] is Status.PASSED
    assert run.restored == ("node_modules/dep/index.js",)


@pytest.mark.trap("graded-with-its-own-edits")
@pytest.mark.rule("restore")
@pytest.mark.parametrize(
    "files",
    [
        {"src/Menu.test.js": "opens | src/Menu.js |\n"},
        {"src/Menu.test.js": None},
        {"src/__snapshots__/Menu.snap": "<nav role>\n"},
        {"src/__snapshots__/New.snap": "<nav role>\n"},
        {"package.json": "{}\n"},
        {"jest.config.js": None},
        {"jest.config.ts": "export default {}\n"},
        {"src/setupTests.js": "globalThis.expect = () => {}\n"},
        {"__mocks__/dep.js": "module.exports = {}\n"},
        {"src/New.test.js": "passes | src/Menu.js |\n"},
        {"src/[M]enu.test.js": "passes | src/Menu.js |\n"},
        {":!top.test.js": "passes | src/Menu.js |\n"},
        {"src/Menü x.test.js": "passes | src/Menu.js |\n"},
    ],
    ids=lambda files: next(iter(files)),
)
def test_files_that_decide_the_tests_are_restored(plan: MakePlan, patch: Patch, files: dict[str, str | None]) -> None:
    """Several benchmarks grade a patch with its own tests, snapshots or configuration in place. Here such changes are
    listed and undone; they are no offence."""
    run = run_patch(plan(), patch(FIX | files), "", patch(MENU_TEST))
    assert run.restored == tuple(files)
    assert run.results == {OPENS: Status.PASSED, NAMED: Status.PASSED}
    assert run.faults == ()


_HUNK = "@@ -1 +1 @@\n-opens | src/Menu.js | <nav\n+opens | src/Menu.js |\n"
_HEADER = "diff --git a/src/Menu.js b/src/Menu.js\n"
_TEST = "--- a/src/Menu.test.js\n+++ b/src/Menu.test.js\n"


@pytest.mark.trap("graded-with-its-own-edits")
@pytest.mark.rule("restore")
@pytest.mark.parametrize(
    "edit",
    [
        _HEADER + _TEST + _HUNK,
        "diff --git a/src/Menu.test.js b/src/Menu.js\nrename from src/Menu.test.js\nrename to src/Mine.js\n",
        _HEADER + '--- "a/src/Menu.test.js"\n+++ "b/src/Menu\\056test.js"\n' + _HUNK,
        "diff --git a/src/Menu.js b/other.js\n" + _TEST + _HUNK,
        "diff --git a/src/Menu.test.js b/src/Menu.test.js\n" + _TEST + _HUNK + "rename to src/Menu.js\n",
        _TEST + _HUNK,
    ],
    ids=["header", "rename", "quoted", "no-name", "after-the-hunk", "no-header"],
)
def test_a_wrong_name_in_a_header_hides_no_test(plan: MakePlan, patch: Patch, edit: str) -> None:
    """Git uses the name after `+++`. What is restored follows from the changed files, not from the patch's text."""
    run = run_patch(plan(), patch({"src/New.js": "x\n"}) + edit, "", patch(MENU_TEST))
    assert run.restored == ("src/Menu.test.js",)
    assert run.results == {OPENS: Status.PASSED, NAMED: Status.FAILED}


@pytest.mark.trap("graded-with-its-own-edits")
@pytest.mark.rule("restore")
def test_line_ends_hide_no_file(plan: MakePlan, patch: Patch, library: History) -> None:
    """If attributes normalize line endings, git warns about a file with other ones. That warning became part of the
    file's name, and the patch's own configuration stayed."""
    library.commit("attributes", {".gitattributes": "* text=auto\n"})
    given = patch(FIX | {"jest.config.js": "module.exports = mine\n"}).replace("mine\n", "mine\r\n")
    run = run_patch(plan(), given, "", patch(MENU_TEST))
    assert (run.restored, run.results[NAMED]) == (("jest.config.js",), Status.PASSED)


@pytest.mark.invariant(7)
def test_a_name_that_is_not_utf_8_is_listed_as_records_can_hold_it(plan: MakePlan, patch: Patch) -> None:
    """Records cannot hold such a name: writing the verdict would have ended the whole step, for all other patches
    too."""
    added = (
        _added("Name", "x\n").replace("a/Name", '"a/src/M\\374.test.js"').replace("b/Name", '"b/src/M\\374.test.js"')
    )
    run = run_patch(plan(), patch(FIX) + added, "", patch(MENU_TEST))
    assert (run.restored, set(run.results.values())) == (("src/M\\xfc.test.js",), {Status.PASSED})
    assert "xfc" in factories.make_verdict(factories.make_prediction(), restored=run.restored).model_dump_json()


@pytest.mark.rule("counter-runs-once")
@pytest.mark.parametrize("time", ["mtimeMs", "ctimeMs"])
def test_file_times_are_the_same_in_every_run(plan: MakePlan, patch: Patch, time: str) -> None:
    """A counter-run changes gold's tests after they are in place. With different timestamps, a patch could fail in that
    run only and defy the tests in the others."""
    program = f"""
        const fs = require("fs"), time = (name) => fs.statSync(name).{time};
        const gaps = [time("src/Menu.test.js") - time("src/Menu.js"), time("src") - time("src/New.js")];
        console.log(Math.max(...gaps.map(Math.abs)), fs.readFileSync("src/Link.js", "utf8"));
    """
    environment = plan().environment.model_copy(update={"test": ("node", "-e", program)})
    link = _added("src/Link.js", "Menu.js\n\\ No newline at end of file\n").replace("100644", "120000")
    given = patch(FIX | {"src/New.js": "x\n"}) + link

    def alter(workspace: Workspace) -> None:
        workspace.run(["sleep", "0.3"])
        workspace.write(f"{workspace.root}/src/Menu.test.js", b"opens | src/Menu.js | <menu\n")

    run = run_patch(replace(plan(), environment=environment), given, "", patch(MENU_TEST), alter=alter)
    gap, text = run.log.decode().splitlines()[-2].split(" ", 1)
    assert float(gap) < 250 and text == '<nav aria-label="Menu">'


@pytest.mark.rule("restore")
@pytest.mark.parametrize("theirs", ["src/wrap/index.js", "src/testing"])
def test_files_in_the_place_of_golds_are_removed(plan: MakePlan, patch: Patch, theirs: str) -> None:
    """A folder in the place of a file of gold's tests, or a file in the place of a folder: gold's test patch would not
    apply, and the patch would fail because of a name."""
    tests = MENU_TEST | {"src/wrap": "gold\n", "src/testing/more": "gold\n"}
    run = run_patch(plan(), patch(FIX | {theirs: "mine\n"}), "", patch(tests))
    assert (run.restored, set(run.results.values())) == ((theirs,), {Status.PASSED})


@pytest.mark.rule("test-aware")
def test_packages_and_modules_of_node_that_a_patch_adds_are_told(
    plan: MakePlan, patch: Patch, library: History
) -> None:
    """In disguise, sources have neither, so that a failure there is no evidence. We called an honest program tampered
    because it used `vm`."""
    library.commit("packages", {"package.json": '{"jest": {}, "dependencies": {"a": "1"}}\n'})
    manifest = '{"jest": {}, "dependencies": {"a": "2", "entities": "4"}, "devDependencies": {"b": "1"}}\n'
    given = patch(FIX | {"package.json": manifest, "src/package.json": "[" * 9000})
    assert run_patch(plan(), given, "", patch(MENU_TEST)).declared == ("entities",)
    odd = patch(FIX | {"package.json": '{"dependencies": {"\\ud800": "1"}}\n'})
    assert run_patch(plan(), odd, "", patch(MENU_TEST)).declared == ("\\ud800",)
    starts = "import vm from 'node:vm';\nrequire(`child_process`);\nimport('./vm');\n"
    started = run_patch(plan(), patch(FIX | {"src/start.js": starts}), "", patch(MENU_TEST))
    assert started.declared == ("node:child_process", "node:vm")


#: commands of a repository: one generates a file from a source, as `tools/make.sh` says
PREPARE = (("sh", "tools/make.sh"),)


@pytest.fixture
def preparing(plan: MakePlan, library: History) -> Plan:
    """A plan for a repository that generates `made.txt`."""
    library.commit("tools", {"tools/make.sh": "cp src/Menu.js made.txt\n"})
    return replace(plan(), environment=plan().environment.model_copy(update={"prepare": PREPARE}))


def add_made(library: History) -> None:
    """Add the generated file to the image: it is in no commit and in no patch."""
    (library.folder / "made.txt").write_text("<nav>\n")
    (library.folder / ".git" / "a11y-bench-made").write_text("made.txt")


@pytest.mark.rule("prepared-files")
def test_generated_files_follow_from_the_patch(preparing: Plan, library: History, patch: Patch) -> None:
    given, test = patch(FIX), patch({"src/Menu.test.js": "made | made.txt | aria-label\n"})
    add_made(library)
    assert set(run_patch(preparing, given, "", test).results.values()) == {Status.PASSED}


@pytest.mark.trap("graded-with-its-own-edits")
@pytest.mark.parametrize(
    "does",
    [
        "echo 'opens | package.json |' > src/Menu.test.js",
        "rm src/Menu.test.js",
        "echo 'opens | package.json |' > src/Other.test.js",
        "echo 'opens | package.json |' > src/Old.test.js; git update-index --assume-unchanged src/Old.test.js",
        "echo > jest.config.ts; echo jest.config.ts >> .git/a11y-bench-made",
    ],
)
def test_commands_of_a_patch_cannot_change_tests(preparing: Plan, library: History, patch: Patch, does: str) -> None:
    """A repository's commands run before its tests, and a patch may change them. Their changes to gold's files are
    undone; a change that cannot be undone is evidence of tampering."""
    library.commit("old", {"src/Old.test.js": "opens | src/Menu.js | <menu\n"})
    test = patch({"src/Menu.test.js": "made | made.txt | aria-label\n"})
    given = patch({"tools/make.sh": f"{does}\n", "src/Menu.js": "<ul>\n"})
    add_made(library)
    run = run_patch(replace(preparing, files=("src/Menu.test.js", "src/Old.test.js")), given, "", test)
    assert run.results == {"src/Menu.test.js > made": Status.FAILED, "src/Old.test.js > opens": Status.FAILED} or (
        run.faults == ("the run changed src/Old.test.js",)
    )


#: adds a test
_OTHER = "echo 'opens | package.json |' > src/Other.test.js"


@pytest.mark.trap("graded-with-its-own-edits")
@pytest.mark.parametrize(
    "does",
    [
        f"{_OTHER}; git add -f src/Other.test.js",
        f"{_OTHER}; git add -f src && git -c user.name=x -c user.email=x commit -qm x",
        f"{_OTHER}; git init -q src/deep; mkdir src/deep/__tests__; mv src/Other.test.js src/deep/__tests__",
        "echo 'echo > src/Other.test.js' > ../their.sh; git config core.fsmonitor 'sh ../their.sh'",
    ],
    ids=["staged", "committed", "repository-within", "monitor"],
)
def test_commands_of_a_patch_cannot_hide_new_tests(preparing: Plan, library: History, patch: Patch, does: str) -> None:
    """They can write into `.git`, so git's answers about files cannot be trusted afterwards: a new configuration could
    be hidden."""
    given = patch({"tools/make.sh": f"{does}\n", "src/Menu.js": "<ul>\n"})
    add_made(library)
    program = """
        const fs = require("fs");
        console.log(fs.readdirSync("src", { recursive: true }).filter((name) => name.endsWith(".test.js")).join());
    """
    environment = preparing.environment.model_copy(update={"test": ("node", "-e", program)})
    run = run_patch(replace(preparing, environment=environment), given, "", patch(MENU_TEST))
    assert (run.log.decode().splitlines()[-1], run.changed) == ("Menu.test.js", ())


@pytest.mark.trap("helper-only-tests-import")
@pytest.mark.parametrize("name", ["src/wrap.js", "src/Menu.stories.js"])
def test_helpers_of_golds_tests_replace_those_of_the_patch(plan: MakePlan, patch: Patch, name: str) -> None:
    """A helper with the name of an ordinary source belongs to gold as well: a patch's file of the same name does not
    displace it."""
    tests = MENU_TEST | {name: "gold\n"}
    run = run_patch(plan(), patch(FIX | {name: "mine\n"}), "", patch(tests))
    assert run.restored == (name,)
    assert run.results == {OPENS: Status.PASSED, NAMED: Status.PASSED}


@pytest.mark.trap("graded-with-its-own-edits")
def test_ignore_rules_of_a_patch_hide_no_files(plan: MakePlan, patch: Patch) -> None:
    """A new `.gitignore` would hide a new test or snapshot from `git status`."""
    files = {".gitignore": "*\n", "src/.gitignore": "*\n", "src/New.test.js": "passes | src/Menu.js |\n"}
    run = run_patch(plan(), patch(FIX | files), "", patch(MENU_TEST))
    assert run.restored == ("src/New.test.js",)
    assert set(run.results) == {OPENS, NAMED}


@pytest.mark.trap("graded-with-its-own-edits")
def test_installed_packages_are_not_patched(plan: MakePlan, patch: Patch) -> None:
    """Git does not track them, so a patch's changes there could not be undone."""
    dep = {"src/Menu.test.js": "is as installed | node_modules/dep/index.js | installed\n"}
    changes = {"node_modules/dep/index.js": "patched\n", "src/node_modules/dep.js": "new\n"}
    given = patch(FIX) + patch({"a.js": "installed\n"}).replace("a/a.js", "a/node_modules/dep/new.js").replace(
        "b/a.js", "b/node_modules/dep/new.js"
    )
    given += "".join(_added(path, text) for path, text in changes.items())
    run = run_patch(plan(), given, "", patch(dep))
    assert run.results == {"src/Menu.test.js > is as installed": Status.PASSED}
    assert run.restored == ("node_modules/dep/index.js", "node_modules/dep/new.js", "src/node_modules/dep.js")


def _added(path: str, text: str) -> str:
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{text}"


@pytest.mark.trap("graded-with-its-own-edits")
def test_installed_packages_are_not_moved_away(plan: MakePlan, patch: Patch) -> None:
    """Under its new name, such a file would no longer belong to a package."""
    moved = "similarity index 100%\nrename from node_modules/dep/index.js\nrename to src/dep.js\n"
    given = f"diff --git a/node_modules/dep/index.js b/src/dep.js\n{moved}"
    with pytest.raises(PatchFailed, match="it moves node_modules/dep/index.js"):
        run_patch(plan(), given, "", patch(MENU_TEST))


@pytest.mark.trap("graded-with-its-own-edits")
def test_how_git_reads_files_is_not_patched(plan: MakePlan, patch: Patch) -> None:
    """A file with an encoding attribute that makes it look unchanged would not be restored."""
    files = {".gitattributes": "*.js ident\n", "src/.gitattributes": "*.js working-tree-encoding=UTF-7\n"}
    given = patch(FIX) + "".join(_added(path, text.strip() + "\n") for path, text in files.items())
    run = run_patch(plan(), given, "", patch(MENU_TEST))
    assert (run.results[NAMED], run.restored) == (Status.PASSED, tuple(files))


@pytest.mark.rule("three-way")
def test_a_patch_that_does_not_apply_is_merged(plan: MakePlan, patch: Patch, library: History) -> None:
    """If it was made against another version of a file, git merges it and the run records this. Nothing stays
    staged."""
    text = "<ul>\none\ntwo\nthree\n" + "more\n" * 9
    library.commit("base", {"src/List.js": text, "src/Copy.js": text.replace("<ul>", "<ol>")})
    made = patch({"src/List.js": text.replace("three", "aria-label"), "src/New.test.js": "x | a | b\n"})
    given = made.replace("src/List.js", "src/Copy.js")
    test = patch({"src/Menu.test.js": "merged | src/Copy.js | aria-label\nolder | src/Copy.js | <ol>\n"})
    with pytest.raises(PatchFailed, match="predicted"):
        run_patch(plan(), made.replace("src/List.js", "src/Menu.js"), "", test)
    run = run_patch(plan(), given, "", test)
    assert (run.merged, run.restored) == (True, ("src/New.test.js",))
    assert set(run.results.values()) == {Status.PASSED}
    assert not run_patch(plan(), made, "", test).merged


@pytest.mark.trap("graded-with-its-own-edits")
@pytest.mark.parametrize("path", ["src/__snapshots__", "tests"])
def test_a_link_in_place_of_a_test_folder_is_put_back(plan: MakePlan, patch: Patch, path: str) -> None:
    """Through a link, tests or snapshots could exist under a name that is not restored."""
    theirs = link(path, "src")
    removed = patch({"src/__snapshots__/Menu.snap": None}) if path.startswith("src") else ""
    gold = MENU_TEST | {f"{path}/Menu.snap": "<nav aria-label>\n"}
    run = run_patch(plan(), removed + theirs, "", patch(gold))
    assert run.restored
    assert run.results == {OPENS: Status.PASSED, NAMED: Status.FAILED}


@pytest.mark.trap("bought-fault")
def test_a_link_to_a_file_without_end_costs_nothing(plan: MakePlan, patch: Patch) -> None:
    """Our own search read `/proc/self/pagemap` until its time limit, several times."""
    given = patch(FIX) + link("src/big", "/proc/self/pagemap")
    run = run_patch(with_jest(plan(), "23.6.0"), given, "", patch(MENU_TEST))
    assert (run.restored, run.results[NAMED]) == (("src/big",), Status.PASSED)


@pytest.mark.trap("guessed-configuration")
@pytest.mark.parametrize(
    ("files", "restored"),
    [
        ({"tools/odd.js": "patched\n"}, ("tools/odd.js",)),
        ({"tools/odd.js": None}, ("tools/odd.js",)),
        ({"tools/odd": "found before it\n"}, ("tools/odd",)),
        ({"tools/odd.js": None, "tools/odd/index.js": "x\n"}, ("tools/odd.js", "tools/odd/index.js")),
        ({"tools/other.js": "not read\n"}, ()),
    ],
    ids=["changed", "deleted", "shadowed", "a-folder", "beside-it"],
)
def test_files_that_the_runner_reads_are_restored(
    plan: MakePlan, patch: Patch, library: History, files: dict[str, str | None], restored: tuple[str, ...]
) -> None:
    """Its name reveals nothing, but the instance lists it. Without an entry in the instance, the patch's version
    stays."""
    library.commit("more", {"tools/odd.js": "configured\n"})
    gold, given = patch({"src/Menu.test.js": "configured | tools/odd.js | configured\n"}), patch(FIX | files)
    knowing = replace(plan(), protected=("tools/odd.js",))
    run = run_patch(knowing, given, "", gold)
    assert (set(run.results.values()), run.restored) == ({Status.PASSED}, restored)
    stands_in = tuple(path for path in files if path == "tools/odd")
    assert run_patch(plan(), given, "", gold).restored == stands_in, "a file without extension, whatever is known"


@pytest.mark.trap("guessed-configuration")
def test_a_link_in_place_of_a_folder_that_the_runner_reads_is_put_back(
    plan: MakePlan, patch: Patch, library: History
) -> None:
    library.commit("more", {"tools/deep/odd.js": "configured\n"})
    given = patch({"tools/deep/odd.js": None}) + link("tools/deep", "../src")
    gold = patch({"src/Menu.test.js": "configured | tools/deep/odd.js | configured\n"})
    run = run_patch(replace(plan(), protected=("tools/deep/odd.js",)), given, "", gold)
    assert set(run.results.values()) == {Status.PASSED}
    assert run.restored == ("tools/deep", "tools/deep/odd.js")


@pytest.mark.rule("restore")
def test_golds_own_configuration_is_applied(plan: MakePlan, patch: Patch) -> None:
    """A fix with a new set-up file needs it; the rest of the gold patch stays out."""
    gold = patch(FIX | {"jest.config.js": "module.exports = { testEnvironment: 'jsdom' }\n"})
    test = patch({"src/Menu.test.js": "configured | jest.config.js | jsdom\nhas a name | src/Menu.js | aria-label\n"})
    run = run_patch(plan(), patch({"jest.config.js": "broken\n"}), gold, test)
    assert run.results == {"src/Menu.test.js > configured": Status.PASSED, NAMED: Status.FAILED}
    assert run.restored == ("jest.config.js",)


def test_files_count_as_tests() -> None:
    """The file counts as a passing test, unless another run of the same file could not load it."""
    run = TestRun(results={"a > t": Status.PASSED}, suites={"a": Status.PASSED, "b": Status.FAILED})
    assert run.with_files(["a", "c"]).results == {"a > t": Status.PASSED, "a": Status.PASSED}


@pytest.mark.rule("hooks")
def test_node_loads_the_file_that_reports_hooks_before_the_runner(plan: MakePlan) -> None:
    """In addition to the options of the repository's own command; a runner without such a file is left alone."""
    fields = {"test": ("node", "-p", "process.env.NODE_OPTIONS"), "test_env": {"NODE_OPTIONS": "--no-warnings"}}
    for parser, more in (("jest-json", " --require "), ("vitest-json", "")):
        environment = plan().environment.model_copy(update=fields | {"parser": parser})
        (line,) = run_gold(replace(plan(), environment=environment), []).log.decode().splitlines()[1:]
        assert line.startswith(f"--no-warnings{more}") and line.endswith("/hooks.cjs") is bool(more)
