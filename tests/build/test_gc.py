"""`a11y-bench gc`: what no dataset refers to goes, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tiny_library import REPO, Bench

from pipeline.build.gc import command
from pipeline.core.records import Instance
from pipeline.core.store import write_records


@pytest.fixture
def bench(tiny: Bench, tmp_path: Path) -> Bench:
    """A cache of its own with two environments and three instances; the dataset holds one of them."""
    fresh = Bench(tmp_path, tiny.library, tmp_path / "cache")
    fresh.collect()
    fresh.build("menu", "badge", "icon")
    write_records(fresh.store.dataset(REPO), [fresh.outcomes["menu"]])
    return fresh


def call(bench: Bench, *options: str) -> Result:
    arguments = [*options, "--sandbox", "local", "--data", str(bench.store.root)]
    return CliRunner().invoke(command, arguments, env={"A11Y_BENCH_CACHE": str(bench.cache)}, catch_exceptions=False)


def listed(bench: Bench, *options: str) -> dict[str, tuple[bool, str]]:
    """Digest -> whether it goes, and why."""
    rows = json.loads(call(bench, "--json", *options).stdout)
    return {row["digest"]: (row["goes"], row["why"]) for row in rows if row["kind"] != "tools"}


def test_what_the_dataset_refers_to_stays(bench: Bench) -> None:
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


def test_a_dry_run_removes_nothing_and_says_what_would_go(bench: Bench) -> None:
    before = listed(bench, "--dry-run")
    result = call(bench, "--dry-run")
    assert listed(bench, "--dry-run") == before
    assert "would go" in result.stdout and "no dataset refers to it" in result.stdout and "would free" in result.stderr


def test_what_is_in_use_stays(bench: Bench) -> None:
    with bench.sandbox.open(bench.outcomes["icon"].image):
        found = listed(bench, "--all")
    icon = bench.outcomes["icon"]
    assert {digest for digest, (goes, _) in found.items() if not goes} == {icon.image, icon.environment_digest}
    assert found[icon.image] == (False, "in use")


def test_what_is_gone_is_made_again(bench: Bench) -> None:
    before = bench.outcomes["badge"]
    call(bench, "--all")
    assert [one.kind for one in bench.sandbox.images.kept()] == []
    bench.build("badge", settings=None, repeats={2: 2})
    assert isinstance(bench.outcomes["badge"], Instance)
    assert bench.outcomes["badge"].image == before.image


@pytest.mark.rule("locks")
def test_nothing_goes_while_a_build_is_under_way(bench: Bench) -> None:
    """Its candidates are in no dataset yet."""
    with bench.store.lock("build", REPO), pytest.raises(Exception, match="build-acme__ui is under way"):
        call(bench)


@pytest.mark.rule("bad-input")
def test_a_folder_without_datasets_is_refused(bench: Bench, tmp_path: Path) -> None:
    """With a wrong --data everything would go."""
    bench.store.dataset(REPO).unlink()
    with pytest.raises(Exception, match="no dataset is built"):
        call(bench)
    assert len(bench.sandbox.images.kept()) > 3
