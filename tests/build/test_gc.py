"""`a11y-bench gc`: what no dataset refers to is removed, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner, Result
from tiny_library import REPO, Bench, instance_id

from pipeline.build.garbage import judge, referring
from pipeline.build.gc import command
from pipeline.build.plan import Listed
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Instance
from pipeline.core.store import Store, Unit, write_records
from pipeline.ecosystems.installation import installation
from pipeline.sandbox.images import Directory
from pipeline.sandbox.scripted import ScriptedSandbox

NEW = Repo("acme", "new")


@pytest.fixture(scope="module")
def built(tiny: Bench, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A cache of its own with two environments and three instances; the dataset holds one of them."""
    folder = tmp_path_factory.mktemp("built")
    made = Bench(folder, tiny.library, folder / "cache")
    made.collect()
    made.build("menu", "badge", "icon")
    for name in ("badge", "icon"):
        shutil.rmtree(made.store.qualification(REPO) / "units" / instance_id(name))
    write_records(made.store.dataset(REPO), [made.outcomes["menu"]])
    return made


@pytest.fixture
def bench(built: Bench, tmp_path: Path) -> Bench:
    """The same in a place of its own, which the cache knows."""
    shutil.copytree(built.folder, tmp_path, symlinks=True, dirs_exist_ok=True)
    for path in tmp_path.glob("cache/*/*/manifest.json"):
        path.write_text(path.read_text().replace(str(built.folder), str(tmp_path)))
    shutil.rmtree(tmp_path / "cache" / "data-directories")
    copy = Bench(tmp_path, built.library, tmp_path / "cache", outcomes=built.outcomes)
    copy.sandbox.images.serve(Directory.here(copy.store.root))
    return copy


def call(bench: Bench, *options: str) -> Result:
    arguments = [*options, "--sandbox", "local", "--data", str(bench.store.root)]
    return CliRunner().invoke(command, arguments, env={"A11Y_BENCH_CACHE": str(bench.cache)}, catch_exceptions=False)


def listed(bench: Bench, *options: str) -> dict[str, tuple[bool, str]]:
    """Digest -> whether it is removed, and why."""
    rows = json.loads(call(bench, "--json", *options).stdout)
    return {row["digest"]: (row["goes"], row["why"]) for row in rows if row["kind"] != "tools"}


def test_layers_of_the_dataset_are_kept(bench: Bench) -> None:
    menu, badge, icon = (bench.outcomes[name] for name in ("menu", "badge", "icon"))
    expected = {
        menu.environment_digest: (False, "of acme/ui"),
        menu.image: (False, "of acme/ui"),
        badge.image: (True, "no dataset refers to it"),
        icon.image: (True, "no dataset refers to it"),
        icon.environment_digest: (True, "no dataset refers to it"),
    }
    assert listed(bench) == expected
    assert listed(bench).keys() == {menu.image, menu.environment_digest}


def test_a_dry_run_removes_nothing_and_lists_what_it_would(bench: Bench) -> None:
    before = listed(bench, "--dry-run")
    result = call(bench, "--dry-run")
    assert listed(bench, "--dry-run") == before
    assert "would go" in result.stdout and "no dataset refers to it" in result.stdout and "would free" in result.stderr


def test_layers_in_use_are_kept(bench: Bench) -> None:
    with bench.sandbox.open(bench.outcomes["icon"].image):
        found = listed(bench, "--all", "--yes")
    icon = bench.outcomes["icon"]
    assert {digest for digest, (goes, _) in found.items() if not goes} == {icon.image, icon.environment_digest}
    assert found[icon.image] == (False, "in use")


def test_removed_layers_are_made_again(bench: Bench) -> None:
    before = bench.outcomes["badge"]
    call(bench, "--all", "--yes")
    assert [layer.kind for layer in bench.sandbox.images.kept()] == []
    bench.build("badge", settings=None, listed={2: Listed(2)})
    assert isinstance(bench.outcomes["badge"], Instance)
    assert bench.outcomes["badge"].image == before.image


@pytest.mark.parametrize("form", ["moved", "of an earlier version"])
def test_a_cache_that_moved_can_be_used(bench: Bench, tmp_path: Path, form: str) -> None:
    """An environment named its tools by their whole path: removal failed, and commands lacked the tools."""
    cache = bench.cache.rename(tmp_path / "elsewhere")
    moved = Bench(tmp_path, bench.library, cache, outcomes=bench.outcomes)
    menu, found = bench.outcomes["menu"], {name: bench.outcomes[name] for name in ("menu", "badge", "icon")}
    if form != "moved":
        for path in cache.glob("environments/*/manifest.json"):
            path.write_text(
                re.sub(r'"tools": "[^"]*"', f'"tools": "{tmp_path}/cache/npm/x/prefix/bin"', path.read_text())
            )
    assert listed(moved, "--dry-run").keys() >= {menu.image, menu.environment_digest}
    assert {name: moved.sandbox.images.has(outcome.image) for name, outcome in found.items()} == dict.fromkeys(
        found, form == "moved"
    )
    moved.build("badge", settings=None, listed={2: Listed(2)})
    assert isinstance(moved.outcomes["badge"], Instance)
    with moved.sandbox.open(found["badge"].image) as workspace:
        first = workspace.run(["sh", "-c", "echo $PATH"]).output.decode().partition(":")[0]
    assert Path(first).is_relative_to(cache / "npm") and Path(first).is_dir()


# -- other data directories ------------------------------------------------------------------------------------------
class Shared(NamedTuple):
    """Two data directories with one sandbox that runs nothing: each dataset holds one instance."""

    sandbox: ScriptedSandbox
    mine: Bench
    other: Bench
    menu: Instance
    icon: Instance

    def judged(self) -> dict[str, tuple[bool, str]]:
        """Digest -> whether the first directory's gc removes it, and why."""
        with referring(self.mine.store, self.sandbox) as known:
            return {
                judged.kept.digest: (judged.goes, judged.why) for judged in judge(self.sandbox.images.kept(), known)
            }


@pytest.fixture
def shared(tiny: Bench, tmp_path: Path) -> Shared:
    sandbox, made = ScriptedSandbox(tmp_path), []
    for name in ("menu", "icon"):
        (tmp_path / name).mkdir()
        instance, bench = tiny.instance(name), tiny.copy(tmp_path / name)
        shutil.rmtree(bench.store.qualification(REPO))
        write_records(bench.store.dataset(REPO), [instance])
        sandbox.images.environment(installation(instance.environment), instance.environment_digest, tmp_path, print)
        sandbox.images.instance(instance.environment_digest, instance.image, tmp_path)
        sandbox.images.serve(Directory.here(bench.store.root))
        made.append((bench, instance))
    (mine, menu), (other, icon) = made
    return Shared(sandbox, mine, other, menu, icon)


@pytest.mark.trap("gc-of-others")
def test_layers_of_another_data_directory_are_kept(shared: Shared) -> None:
    """One directory's gc used to remove what other directories needed."""
    theirs = (False, f"of acme/ui in {shared.other.store.root}")
    assert shared.judged() == {
        shared.menu.image: (False, "of acme/ui"),
        shared.menu.environment_digest: (False, "of acme/ui"),
        shared.icon.image: theirs,
        shared.icon.environment_digest: theirs,
    }


@pytest.mark.trap("gc-of-others")
@pytest.mark.parametrize("place", ["gone", "elsewhere", "of another version", "broken"])
def test_an_unreadable_data_directory_prevents_removal(shared: Shared, place: str) -> None:
    """It may have moved, its disk may not be mounted, or the engine may serve other people; nothing is removed."""
    images, theirs = shared.sandbox.images, Directory.here(shared.other.store.root)
    if place == "gone":
        shared.other.store.root.rename(shared.other.folder / "moved")
    elif place == "elsewhere":
        images.forget(theirs)
        images.serve(theirs := Directory("elsewhere", "/data"))
    elif place == "broken":
        shared.other.store.dataset(REPO).write_text("{")
    else:
        (shared.other.store.root / "schema.json").write_text('{"schema_version": 0}')
    assert shared.judged()[shared.icon.image] == (False, f"may be of {theirs}")
    images.forget(theirs)
    assert shared.judged()[shared.icon.image] == (True, "no dataset refers to it")


@pytest.mark.rule("locks")
def test_nothing_is_removed_while_another_directory_builds(shared: Shared) -> None:
    with shared.other.store.lock("build", REPO), pytest.raises(UserError, match=r"build.acme__ui is under way"):
        shared.judged()


@pytest.mark.trap("gc-of-others")
def test_every_stage_that_uses_layers_is_known(tiny: Bench) -> None:
    assert Directory.here(tiny.store.root) in tiny.sandbox.images.served()


def test_a_data_directory_that_no_longer_exists_is_forgotten(bench: Bench, tmp_path: Path) -> None:
    gone = Directory.here(tmp_path / "gone")
    bench.sandbox.images.serve(gone)
    result = call(bench)
    assert "freed 0 B" in result.stderr and f"cannot tell what {gone} refers to: it is gone" in result.stderr
    call(bench, "--forget-gone")
    menu = bench.outcomes["menu"]
    assert listed(bench).keys() == {menu.image, menu.environment_digest}


def test_removing_everything_asks_and_names_the_directories(bench: Bench) -> None:
    bench.sandbox.images.serve(Directory("elsewhere", "/data"))
    result = call(bench, "--all")
    assert result.exit_code == 1 and "elsewhere:/data" in result.stderr and str(bench.store.root) in result.stderr
    assert bench.sandbox.images.has(bench.outcomes["menu"].image)


@pytest.mark.rule("locks")
@pytest.mark.trap("gc-of-others")
def test_all_directories_are_remembered_if_one_of_them_builds(bench: Bench, tmp_path: Path) -> None:
    """All used to be forgotten before the refusal, and the next removal took what the others needed."""
    other = Store(tmp_path / "other")
    other.begin()
    bench.sandbox.images.serve(Directory.here(other.root))
    before = bench.sandbox.images.served()
    for store in (bench.store, other):
        with store.lock("build", REPO), pytest.raises(UserError, match=r"build.acme__ui is under way"):
            call(bench, "--all", "--yes")
        assert bench.sandbox.images.served() == before
    assert call(bench, "--all", "--yes").exit_code == 0
    assert bench.sandbox.images.served() == []


# -- builds under way ------------------------------------------------------------------------------------------------
@pytest.mark.trap("gc-of-others")
def test_decisions_of_a_stopped_build_are_kept(shared: Shared) -> None:
    """Its repository has no dataset yet, since that is written last."""
    unit = Unit(shared.mine.store.qualification(NEW) / "units" / "acme__new-1")
    unit.finish(shared.icon.model_dump(mode="json"))
    shared.sandbox.images.forget(Directory.here(shared.other.store.root))
    assert shared.judged()[shared.icon.image] == (False, "of acme/new")


@pytest.mark.rule("locks")
def test_no_build_of_a_new_repository_starts_during_removal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    monkeypatch.setattr("pipeline.core.store.PATIENCE", 0.1)
    store.begin()
    with (
        store.still("build"),
        pytest.raises(UserError, match="a command that locks all stages"),
        store.lock("build", NEW),
    ):
        pass
    with store.lock("build", NEW):
        pass


@pytest.mark.rule("locks")
def test_nothing_is_removed_during_a_build(bench: Bench) -> None:
    """Its candidates are in no dataset yet."""
    with bench.store.lock("build", REPO), pytest.raises(Exception, match="build\\+acme__ui is under way"):
        call(bench)


@pytest.mark.rule("bad-input")
def test_a_folder_without_datasets_is_refused(bench: Bench, tmp_path: Path) -> None:
    """With a wrong --data, everything would be removed."""
    bench.store.dataset(REPO).unlink()
    shutil.rmtree(bench.store.qualification(REPO))
    with pytest.raises(Exception, match="no dataset is built"):
        call(bench)
    assert len(bench.sandbox.images.kept()) > 3
