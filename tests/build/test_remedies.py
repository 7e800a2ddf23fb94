"""What each remedy changes in each case, and when it has nothing to change."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from factories import make_environment

from pipeline.build import faults
from pipeline.build.remedies import REMEDIES, Diagnosis, nearest
from pipeline.build.situation import Situation
from pipeline.core.records import Edit, Environment, Nested

FROZEN = ("yarn", "install", "--frozen-lockfile")
THAWED = ("yarn", "install", "--no-frozen-lockfile")
LOCK = """\
# yarn lockfile v1


"icons@https://github.com/acme/icons/tarball/stable":
  version "4.5.0"
  resolved "https://github.com/acme/icons/tarball/stable#f1641de"

rollup@^4.0.0:
  version "4.1.0"
  resolved "https://registry.npm.taobao.org/rollup/download/rollup-4.1.0.tgz#aa"
"""
RELEASES = {"icons": ["4.4.0", "4.5.0", "4.6.0"], "kept": ["1.0.0", "1.2.0", "2.0.0-rc.1", "2.1.0"]}


def remedied(
    remedy: str,
    found: dict[str, str] | None = None,
    manifest: dict[str, Any] | None = None,
    install: tuple[str, ...] = FROZEN,
    **more: Any,
) -> Environment | None:
    """The environment after a remedy, starting from yarn 1 on Node 16."""
    environment = make_environment(node="16.2.0", manager="yarn", manager_version="1.22.22", install=install)
    files = {"package.json": json.dumps(manifest or {}).encode(), "yarn.lock": LOCK.encode()}
    files[".npmrc"] = b"@acme:registry=https://npm.acme.example/\n"
    situation = Situation(files, lambda name: RELEASES.get(name, []))
    return REMEDIES[remedy](Diagnosis(environment, found or {}, more, situation))


def edits(environment: Environment | None) -> tuple[Edit, ...]:
    return environment.edits if environment else ()


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("1.1.0", "1.0.0"),
        ("1.2.0", "1.2.0"),
        ("^1.5.0", "1.2.0"),
        ("0.9.0", ""),
        ("2.0.0", "2.1.0"),
        ("", "2.1.0"),
        ("github:acme/kept#1.0.0", "2.1.0"),
    ],
)
def test_the_nearest_release_is_of_the_same_major(wanted: str, found: str) -> None:
    assert nearest(wanted, RELEASES["kept"]) == found


def test_a_missing_version_is_substituted_and_the_lock_file_may_change() -> None:
    after = remedied("substitute", {"name": "kept", "old": "1.1.0"})
    assert edits(after) == (Edit(kind="pin", name="kept", old="1.1.0", new="1.0.0"),)
    assert after.install == THAWED


@pytest.mark.parametrize("found", [{"name": "gone", "old": "1.0.0"}, {"name": "kept", "old": "1.0.0"}])
def test_without_a_replacement_nothing_is_substituted(found: dict[str, str]) -> None:
    assert remedied("substitute", found) is None


@pytest.mark.parametrize(
    ("table", "dropped"), [("devDependencies", True), ("optionalDependencies", True), ("dependencies", False)]
)
def test_only_development_dependencies_are_dropped(table: str, dropped: bool) -> None:
    after = remedied("drop", {"name": "gone"}, {table: {"gone": "1.0.0"}})
    assert edits(after) == ((Edit(kind="drop", name="gone"),) if dropped else ())


def test_the_test_runner_is_not_dropped() -> None:
    """Without it, no test could run."""
    assert remedied("drop", {"name": "jest"}, {"devDependencies": {"jest": "29.0.0"}}) is None


def test_an_indirect_dependency_is_not_dropped() -> None:
    assert remedied("drop", {"name": "gone"}) is None


def test_packages_locked_at_a_refusing_host_come_from_the_registry() -> None:
    after = remedied("from_registry", {"host": "codeload.github.com"})
    address = "https://github.com/acme/icons/tarball/stable"
    assert edits(after) == (Edit(kind="pin", name="icons", old=address, new="4.5.0"),)


@pytest.mark.parametrize("address", ["acme/tool", "github:acme/tool#v1", "git+ssh://git@github.com/acme/tool.git"])
def test_packages_that_only_a_refusing_host_has_are_dropped(address: str) -> None:
    after = remedied("from_registry", {"host": "github.com"}, {"devDependencies": {"tool": address}})
    assert Edit(kind="drop", name="tool") in edits(after)


@pytest.mark.parametrize(
    ("host", "address", "is_there"),
    [
        ("git.acme.co.uk", "https://other.co.uk/tool.tgz", False),
        ("acme.github.io", "https://others.github.io/tool.tgz", False),
        ("a.s3.amazonaws.com", "https://b.s3.amazonaws.com/tool.tgz", False),
        ("npm.pkg.github.com", "acme/tool", False),
        ("hub.com", "acme/tool", False),
        ("acme.org", "https://npm.acme.org:8443/tool.tgz", True),
        ("codeload.github.com", "acme/tool#feature:x", True),
        ("github.com", "https://codeload.github.com/acme/tool/tar.gz/v1", True),
        ("gitlab.com", "gitlab:acme/tool", True),
        ("git.acme.org", "git@Git.Acme.org:acme/tool.git", True),
        ("git.acme.org", "git+https://user:word@git.acme.org/tool.git", True),
    ],
)
def test_packages_of_other_hosts_than_the_refusing_one_stay(host: str, address: str, is_there: bool) -> None:
    """Hosts were compared by their last two labels, which many share."""
    after = remedied("from_registry", {"host": host}, {"devDependencies": {"tool": address}})
    assert (Edit(kind="drop", name="tool") in edits(after)) is is_there


def test_a_setting_that_is_not_there_is_not_left_out() -> None:
    """That cost an install, and the instance listed a deviation that is none."""
    assert remedied("unset", setting="devEngines") is None
    assert edits(remedied("unset", manifest={"devEngines": {}}, setting="devEngines"))
    assert edits(remedied("unset", setting="@acme:registry"))


@pytest.mark.parametrize("asked", ["1.0.0", "npm:other@1.0.0", "file:./tool", "workspace:*", "gitlab:acme/tool"])
def test_packages_requested_from_other_places_stay(asked: str) -> None:
    after = remedied("from_registry", {"host": "github.com"}, {"devDependencies": {"tool": asked}})
    assert [edit.name for edit in edits(after)] == ["icons"]


def test_packages_of_a_refusing_host_that_only_a_workspace_tool_needs_are_dropped() -> None:
    """The package with a workspace's scripts depends on it, and the tested component is built with that package."""
    asked = {"dependencies": {"tool": "github:acme/tool#v1"}}
    scripts, ui = {"name": "scripts"} | asked, {"devDependencies": {"scripts": "*"}}
    shipped, test = {"dependencies": {"scripts": "*"}}, ("packages/ui/menu.test.js",)

    def left_out(tests: tuple[str, ...], **folders: Any) -> tuple[Edit, ...]:
        about = situation({}, tests, **folders)
        return edits(REMEDIES["from_registry"](Diagnosis(npm(), {"host": "codeload.github.com"}, {}, about)))

    edit = Edit(kind="drop", name="tool", folders=("packages/scripts",))
    assert left_out(test, **{"packages/ui": ui, "packages/scripts": scripts}) == (edit,)
    assert left_out(test, **{"packages/ui": shipped, "packages/scripts": scripts}) == ()
    assert left_out(test, **{"packages/ui": asked}) == ()
    assert left_out(("menu.test.js",), **{"packages/ui": ui, "packages/scripts": scripts}) == ()


@pytest.mark.parametrize(
    ("host", "address"), [("registry.npm.taobao.org", True), ("npm.acme.example", True), ("github.com", False)]
)
def test_another_registry_is_replaced_in_lock_file_and_settings(host: str, address: bool) -> None:
    assert edits(remedied("rehost", {"host": host})) == ((Edit(kind="rehost", name=host),) if address else ())


WORDS = ("node", "{entry}", "run", "--hookTimeout=60000", "--outputFile={report}", "--env", "jsdom", "-u", "{files}")


@pytest.mark.trap("flag-of-another-version")
@pytest.mark.parametrize(
    ("option", "left_out"),
    [
        ("--hookTimeout", ("--hookTimeout=60000",)),
        ("hookTimeout", ("--hookTimeout=60000",)),
        ("--hook-timeout", ("--hookTimeout=60000",)),
        ("env", ("--env", "jsdom")),
        ("-u", ("-u",)),
        ("--outputFile", ()),
        ("--no-such", ()),
    ],
)
def test_an_option_that_the_runner_does_not_know_is_left_out(option: str, left_out: tuple[str, ...]) -> None:
    """Together with its value, however the log writes it; but never the report's option, without which nothing could be
    read."""
    before = make_environment(test=WORDS)
    after = REMEDIES["without"](Diagnosis(before, {"option": option}, {}, Situation({}, lambda name: [])))
    assert (after.test if after else WORDS) == tuple(word for word in WORDS if word not in left_out)
    assert bool(after) == bool(left_out)


@pytest.mark.parametrize(
    ("names", "left"),
    [
        ('"perf"', ("test", "--project=Mobile Chrome", "{files}")),
        ('"perf", "Mobile Chrome"', ("test", "{files}")),
        ('"other"', None),
    ],
)
def test_projects_that_the_configuration_does_not_have_are_not_selected(
    names: str, left: tuple[str, ...] | None
) -> None:
    """Their names are in the configuration's text, but a condition leaves them out."""
    words = ("test", "--project", "perf", "--project=Mobile Chrome", "{files}")
    before = make_environment(runner="playwright", test=words)
    after = REMEDIES["unselect"](Diagnosis(before, {"names": names}, {}, Situation({}, lambda name: [])))
    assert (after and after.test) == left


def test_a_browser_is_added_once() -> None:
    assert (given := remedied("browser")) and given.browser == "chromium"
    assert REMEDIES["browser"](Diagnosis(given, {}, {}, Situation({}, lambda name: []))) is None


def test_variables_of_tests_are_added_to() -> None:
    after = remedied("test_env", add={"NODE_OPTIONS": "--one"})
    seen = Diagnosis(after, {}, {"add": {"NODE_OPTIONS": "--two"}}, Situation({}, lambda name: []))
    both = REMEDIES["test_env"](seen)
    assert both.test_env == {"NODE_OPTIONS": "--one --two"}
    assert REMEDIES["test_env"](Diagnosis(both, seen.found, seen.arguments, seen.situation)) is None


@pytest.mark.parametrize(
    ("found", "more", "node"),
    [
        ({}, {"step": 1}, "18"),
        ({}, {"step": -1}, "14"),
        ({"node": "20"}, {"step": 1}, "20"),
        ({"node": "17"}, {"step": 1}, "18"),
        ({"node": "16"}, {"step": 1}, None),
        ({"node": "99"}, {"step": 1}, None),
    ],
)
def test_node_moves_by_one_release_or_to_the_required_one(
    found: dict[str, str], more: dict[str, Any], node: str | None
) -> None:
    after = remedied("node", found, **more)
    assert (after.node if after else None) == node


def test_a_platforms_package_has_the_version_of_its_parent() -> None:
    after = remedied("platform", {"name": "@rollup/rollup-linux-x64-gnu"})
    assert edits(after) == (Edit(kind="add", name="@rollup/rollup-linux-x64-gnu", new="4.1.0"),)
    assert remedied("platform", {"name": "@swc/core-linux-x64-gnu"}) is None


@pytest.mark.parametrize(("old", "undated"), [("1.2.0", True), ("^1.5.0", True), ("1.2.3", False)])
def test_the_date_is_dropped_if_the_registry_has_the_version(old: str, undated: bool) -> None:
    after = remedied("undated", {"name": "kept", "old": old}, install=(*FROZEN, "--before=2020-01-01"))
    assert (after.install if after else None) == (FROZEN if undated else None)


def test_the_date_is_moved_by_a_week_before_it_is_dropped() -> None:
    """A mirror may have fetched a version days after it was published. Without a date, all versions are today's."""
    about = Situation({}, lambda name: ["1.2.0"], day="2021-03-04")
    install, found = ("npm", "install", "--before=2021-03-06"), {"name": "kept", "old": "1.2.0"}
    later = REMEDIES["undated"](Diagnosis(npm(install=install), found, {}, about))
    assert later.install == ("npm", "install", "--before=2021-03-13")
    assert REMEDIES["undated"](Diagnosis(later, found, {}, about)).install == ("npm", "install")


@pytest.mark.parametrize(
    ("runner", "test", "after"),
    [
        ("jest", ("jest", "--ci", "{files}"), ("jest", "--ci", "--testURL=x", "{files}")),
        ("jest", ("jest", "--testURL=x", "{files}"), None),
        ("jest", ("their.js",), None),
        ("vitest", ("vitest", "{files}"), None),
    ],
)
def test_a_word_is_added_to_the_test_command_of_its_runner(
    runner: str, test: tuple[str, ...], after: tuple[str, ...] | None
) -> None:
    """Jest 22 gave its pages an address at which a later jsdom refuses storage."""
    before, row = npm(runner=runner, test=test), {"runner": "jest", "word": "--testURL=x"}
    found = REMEDIES["with_word"](Diagnosis(before, {}, row, Situation({}, lambda name: [])))
    assert (found.test if found else None) == after


#: the arguments of the row for npm
FITTING = dict(next(fault for fault in faults.table() if fault.name == "day-unknown").remedies[0][1])


@pytest.mark.parametrize(
    ("node", "version", "after"),
    [
        ("6", "", ("10", "7", True)),
        ("8.17.0", "5.6.0", ("10", "7", True)),
        ("12", "6", ("12", "7", True)),
        ("14.21.3", "", ("14.21.3", "7", True)),
        ("16", "", ("16", "", False)),
        ("20", "10", ("20", "10", False)),
    ],
)
def test_without_a_date_versions_that_run_on_this_node_are_preferred(
    node: str, version: str, after: tuple[str, str, bool]
) -> None:
    """The newest versions of what nothing pins need a newer Node: cheerio 1.0.0 was installed next to Node 6."""
    environment = npm(node=node, manager_version=version, install=("npm", "install", "--before=2021-03-13"))
    found = {"name": "kept", "old": "1.2.0"}
    about = Situation({"package.json": b"{}"}, lambda name: ["1.2.0"], day="2021-03-04")
    undated = REMEDIES["undated"](Diagnosis(environment, found, FITTING, about))
    assert undated.install == ("npm", "install", "--tag=undated")
    legacy = undated.install_env.get("npm_config_legacy_peer_deps") == "true"
    assert (undated.node, undated.manager_version, legacy) == after
    locked = replace(about, files={**about.files, "package-lock.json": b"{}"})
    kept = REMEDIES["undated"](Diagnosis(environment, found, FITTING, locked))
    install = ("npm", "install") if legacy else ("npm", "install", "--tag=undated")
    assert kept == environment.model_copy(update={"install": install})


def test_a_checksum_that_is_not_locked_is_not_replaced() -> None:
    assert remedied("reseal", {"old": "sha512-A", "new": "sha512-B"}) is None
    assert edits(remedied("reseal", {"old": "f1641de", "new": "aa"}))[0].kind == "reseal"


@pytest.mark.parametrize(
    ("name", "version", "node", "after"),
    [
        ("npm", "", "12.18", "7"),
        ("npm", "6", "10.24.1", "7"),
        ("npm", "", "8", ""),
        ("npm", "8", "16", ""),
        ("yarn", "1.22.22", "12", ""),
    ],
)
def test_a_manager_too_old_for_its_lock_file_is_replaced(name: str, version: str, node: str, after: str) -> None:
    """npm 6 failed at an optional package in a lock file written by npm 7."""
    before = make_environment(manager=name, manager_version=version, node=node)
    row = {"manager": "npm", "version": "7", "node": ">=10"}
    found = REMEDIES["manager_at_least"](Diagnosis(before, {}, row, Situation({}, lambda name: [])))
    assert (found.manager_version if found else "") == after


def test_an_option_is_added_to_existing_installs_only() -> None:
    """If the root has no manifest, the option alone was run as a command."""
    app = Nested(folder="app", manager="yarn", manager_version="1.22.22", install=("yarn", "install"))
    before = make_environment(manager="yarn", install=(), nested=(app,))
    arguments = {"manager": "yarn", "word": "--update-checksums"}
    after = REMEDIES["option"](Diagnosis(before, {}, arguments, Situation({}, lambda name: [])))
    assert (after.install, after.nested[0].install) == ((), ("yarn", "install", "--update-checksums"))


def test_an_option_is_added_for_its_manager_only() -> None:
    assert remedied("option", manager="npm", word="--force") is None
    assert remedied("option", manager="yarn", word="--update-checksums").install == (*THAWED, "--update-checksums")


# -- chains, workspaces, and what developers ask for -------------------------------------------------------------------
LOCK_10 = json.dumps({
    "packages": {
        "": {"workspaces": ["packages/*", "site"]},
        "node_modules/kit": {"version": "1.0.0", "dependencies": {"inner": "1.0.0"}},
        "node_modules/inner": {"version": "1.0.0", "dependencies": {"gone": "1.0.0"}},
        "node_modules/gone": {"version": "1.0.0"},
    }
})  # fmt: skip
KIT = {"kit": "^1.0.0"}


def situation(root: dict[str, Any], tests: tuple[str, ...] = (), day: str = "", **inside: dict[str, Any]) -> Situation:
    """An npm workspace whose packages in these folders have these dependencies."""
    files = {"package.json": json.dumps({"name": "root", "workspaces": ["packages/*", "site"]} | root).encode()}
    files |= {f"{folder}/package.json": json.dumps({"name": folder} | data).encode() for folder, data in inside.items()}
    return Situation(files | {"package-lock.json": LOCK_10.encode()}, lambda name: [], tests=tests, day=day)


def npm(**fields: Any) -> Environment:
    return make_environment(**{"manager_version": "10", "install": ("npm", "ci")} | fields)


def pruned(there: Situation, environment: Environment | None = None) -> tuple[Edit, ...]:
    found = {"name": "gone", "old": "1.0.0"}
    return edits(REMEDIES["prune"](Diagnosis(environment or npm(), found, {}, there)))


def kit(*folders: str) -> tuple[Edit, ...]:
    return (Edit(kind="drop", name="kit", folders=folders),)


@pytest.mark.trap("gone-below-a-tool")
def test_a_chain_is_pruned_at_its_root() -> None:
    """The lock file shows what depends on it. A dependency needed only for development may be removed; the tests show
    whether it was needed."""
    about = situation({"devDependencies": KIT})
    assert pruned(about) == kit(".")
    after = about.after(npm(edits=kit(".")))
    assert "gone" not in [package.name for package in after.fetched(npm())]


def test_dependencies_of_the_library_are_never_pruned() -> None:
    assert pruned(situation({"dependencies": KIT})) == ()
    assert pruned(situation({"devDependencies": KIT}, **{"packages/ui": {"dependencies": KIT}})) == ()


@pytest.mark.trap("gone-below-a-tool")
def test_dependencies_of_untested_workspace_packages_can_be_pruned() -> None:
    """A documentation site depends on it, and the tested component does not."""
    folders = {"packages/ui": {}, "site": {"dependencies": KIT}}
    assert pruned(situation({}, ("packages/ui/menu.test.js",), **folders)) == kit("site")
    assert pruned(situation({}, ("site/menu.test.js",), **folders)) == ()
    uses = folders | {"packages/ui": {"dependencies": {"site": "*"}}}
    assert pruned(situation({}, ("packages/ui/menu.test.js",), **uses)) == ()


def test_dependencies_that_run_the_tests_are_not_pruned() -> None:
    lock = json.loads(LOCK_10)
    lock["packages"]["node_modules/jest"] = {"version": "29.0.0", "dependencies": KIT}
    about = situation({"devDependencies": {"jest": "^29"}})
    about = Situation(about.files | {"package-lock.json": json.dumps(lock).encode()}, about.releases)
    assert pruned(about) == ()


@pytest.mark.parametrize(
    ("manifest", "is_kept"),
    [
        ({"devDependencies": KIT}, True),
        ({"devDependencies": KIT | {"jest": "^29"}}, False),
    ],
)
def test_what_brings_the_runner_along_is_not_left_out(manifest: dict[str, Any], is_kept: bool) -> None:
    """Two packages with the runner and its configuration were left out, so no environment had a runner."""
    lock = json.loads(LOCK_10)
    lock["packages"]["node_modules/jest"] = {"version": "29.0.0"}
    lock["packages"]["node_modules/inner"]["dependencies"]["jest"] = "^29"
    about = situation(manifest)
    about = Situation(about.files | {"package-lock.json": json.dumps(lock).encode()}, about.releases)
    assert pruned(about) == (() if is_kept else kit("."))
    assert (REMEDIES["drop"](Diagnosis(npm(), {"name": "kit"}, {}, about)) is None) == is_kept


def test_what_the_tested_package_starts_its_tests_with_is_not_left_out() -> None:
    about = situation({"devDependencies": KIT, "scripts": {"test": "kit test"}})
    assert pruned(about) == ()
    tests = ("packages/ui/menu.test.js",)
    assert pruned(situation({}, tests, **{"packages/ui": {"devDependencies": KIT, "scripts": {"test": "kit"}}})) == ()
    others = {"packages/ui": {}, "site": {"devDependencies": KIT, "scripts": {"test": "kit"}}}
    assert pruned(situation({}, tests, **others)) == kit("site")


def test_a_folder_outside_the_workspace_does_not_prevent_pruning() -> None:
    assert pruned(situation({"devDependencies": KIT}, examples={"dependencies": KIT})) == kit(".")


def test_a_package_without_a_parent_is_not_pruned() -> None:
    assert REMEDIES["prune"](Diagnosis(npm(), {"name": "other"}, {}, situation({"devDependencies": KIT}))) is None


def test_packages_out_of_focus_are_not_fetched() -> None:
    about = situation({}, **{"packages/ui": {}, "site": {"dependencies": KIT}})
    assert {package.name for package in about.fetched(npm())} == {"kit", "inner", "gone"}
    assert about.fetched(npm(focus=("packages/ui",))) == []


def front_end(**manifest: Any) -> Situation:
    """A repository whose only manifest is in a folder, with a lock file."""
    files = {"web/package.json": json.dumps(manifest).encode(), "web/package-lock.json": LOCK_10.encode()}
    return Situation(files, lambda name: ["1.0.0"], tests=("web/src/menu.test.js",))


NESTED = Nested(folder="web", manager="npm", manager_version="10", install=("npm", "ci"))


def test_the_packages_of_a_nested_lock_file_are_fetched() -> None:
    """Nothing was looked up for a front end beside a server, and the install ended in a 404."""
    about = front_end(devDependencies=KIT)
    assert {package.name for package in about.fetched(npm(install=(), nested=(NESTED,)))} == {"kit", "inner", "gone"}
    assert about.fetched(npm()) == []


@pytest.mark.trap("gone-below-a-tool")
def test_a_chain_is_pruned_in_the_folder_of_its_lock_file() -> None:
    environment = npm(install=(), nested=(NESTED,))
    assert pruned(front_end(devDependencies=KIT), environment) == kit("web")
    assert pruned(front_end(dependencies=KIT), environment) == ()


def test_packages_missing_from_a_lock_file_get_the_commits_date() -> None:
    """Otherwise its versions would be today's, years younger than the rest."""
    about = situation({}, day="2021-03-04")
    thawed = REMEDIES["thaw"](Diagnosis(npm(), {}, {}, about))
    assert thawed.install == ("npm", "install", "--before=2021-03-06")
    assert REMEDIES["thaw"](Diagnosis(thawed, {}, {}, about)) is None


def test_peers_that_the_lock_file_never_had_are_left_out() -> None:
    more = {"manager": "npm", "set": {"npm_config_legacy_peer_deps": "true"}}
    about = situation({"devDependencies": KIT})
    peers = "npm ERR! Missing: react@18.0.0 from lock file\nnpm ERR! Missing: @x/dom@18.0.0 from lock file\n"
    after = REMEDIES["peers_left"](Diagnosis(npm(), {"missing": peers}, more, about))
    assert after.install_env == {"npm_config_legacy_peer_deps": "true"}
    own = {"missing": f"{peers}npm ERR! Missing: kit@1.0.0 from lock file\n"}
    assert REMEDIES["peers_left"](Diagnosis(npm(), own, more, about)) is None


def test_a_whole_workspace_is_installed_at_most_once() -> None:
    whole = REMEDIES["whole"](Diagnosis(npm(focus=("a",)), {}, {}, situation({})))
    assert whole.focus == ()
    assert REMEDIES["whole"](Diagnosis(whole, {}, {}, situation({}))) is None


@pytest.mark.parametrize(("module", "is_whole"), [("@x/core", False), ("@x/site", True), ("lodash", True)])
def test_an_unbuilt_package_does_not_cause_a_full_install(module: str, is_whole: bool) -> None:
    """Installing the whole workspace added a second version of some types, and no test was compiled any more."""
    about = situation({}, **{"packages/core": {"name": "@x/core"}, "site": {"name": "@x/site"}})
    after = REMEDIES["whole"](Diagnosis(npm(focus=("packages/core",)), {"module": module}, {}, about))
    assert (after is not None) is is_whole


@pytest.mark.parametrize(
    ("wanted", "version"), [("^8 || ~9.1", "9.1.3"), ("10", None), ("pnpm", None), (">=11", "11.1.0")]
)
def test_the_manager_of_dev_engines_is_used(wanted: str, version: str | None) -> None:
    about = Situation(
        {}, lambda name: ["8.19.4", "9.1.3", "9.9.4", "10", "11.1.0", "12.0.0-rc.1"] if name == "npm" else []
    )
    after = REMEDIES["manager_asked"](Diagnosis(npm(), {"wanted": wanted}, {}, about))
    assert (after and after.manager_version) == version


@pytest.mark.parametrize(
    ("version", "node", "newer"), [("9.15.9", "22", "10.34.8"), ("10.34.8", "22", None), ("8.15.9", "16", None)]
)
def test_the_next_major_version_of_the_manager_is_used(version: str, node: str, newer: str | None) -> None:
    """pnpm 9 refused a workspace file with settings that only pnpm 10 knows."""
    before = npm(node=node).model_copy(update={"manager": "pnpm", "manager_version": version})
    about = Situation({"pnpm-lock.yaml": b"lockfileVersion: '9.0'\n"}, lambda name: [])
    after = REMEDIES["manager_newer"](Diagnosis(before, {}, {}, about))
    assert (after and after.manager_version) == newer


@pytest.mark.parametrize(("wanted", "node"), [("^22", "22"), (">=18 <21", None), (">=8 <12", "10"), ("^99", None)])
def test_the_node_of_dev_engines_is_used(wanted: str, node: str | None) -> None:
    after = REMEDIES["node_asked"](Diagnosis(npm(node="20"), {"wanted": wanted}, {}, situation({})))
    assert (after and after.node) == node
