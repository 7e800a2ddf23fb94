"""Environments of a repository's candidates: inferred from a clone, overridden, shown, and exported with one file for
each era."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import factories
import pytest
from click.testing import CliRunner
from histories import History

from pipeline.build.environments import environment_of, selected, write
from pipeline.build.show import command
from pipeline.collect.stage import collect
from pipeline.core.git import diff, open_clone
from pipeline.core.records import Candidate
from pipeline.core.store import Store, read_records
from pipeline.execution import images

MANIFEST = '{"devDependencies": {"jest": "^29.7.0"}, "scripts": {"test": "jest"}}'
FIRST = {"package.json": MANIFEST, "package-lock.json": "{}", ".nvmrc": "18\n", "src/a.js": "1", "src/a.test.js": "1"}
OVERRIDE = '[[override]]\nfrom = 2\nset.node = "20"\nset.test = ["make", "test"]\n'


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A repository with two pull requests; the second one's base has no runner."""
    library = History(tmp_path / "library")
    library.commit("first", FIRST)
    library.commit("Add an aria label (#1)", {"src/a.js": "2", "src/a.test.js": "2"})
    library.commit("drop the tests' runner", {"package.json": "{}"})
    library.commit("Add another aria label (#2)", {"src/a.js": "3", "src/a.test.js": "3"})
    made = Store(tmp_path / "data")
    collect(made, factories.REPO, library.folder)
    return made


def candidate(store: Store, number: int) -> Candidate:
    found = read_records(store.raw(factories.REPO) / "candidates.jsonl", Candidate)
    return next(one for one in found if one.number == number)


def test_an_environment_follows_its_base(store: Store) -> None:
    clone = images.source(store, factories.REPO)
    found = environment_of(clone, candidate(store, 1))
    assert (found.node, found.runner, found.evidence["node"]) == ("18", "jest", ".nvmrc")


def test_overrides_take_part_in_the_digests(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An override changes the image and the command; the other pull requests stay as they are."""
    (tmp_path / f"{factories.REPO.slug}.toml").write_text(OVERRIDE.replace("from = 2", "to = 1"), encoding="utf-8")
    clone, before = images.source(store, factories.REPO), candidate(store, 1)
    inferred = environment_of(clone, before)
    monkeypatch.setenv("A11Y_BENCH_REPOS", str(tmp_path))
    overridden = environment_of(clone, before)
    assert (overridden.node, overridden.test) == ("20", ("make", "test"))
    recipes = [images.recipe(clone, made, before.base.sha, before.base.sha) for made in (inferred, overridden)]
    assert recipes[0].image != recipes[1].image


def show(store: Store, *arguments: str) -> str:
    done = CliRunner().invoke(command, [str(factories.REPO), *arguments, "--data", str(store.root)])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_command_shows_all_environments(store: Store) -> None:
    shown = show(store)
    assert "jest ^29.7.0" not in shown and "jest 29.7.0" in shown
    assert "runner_unsupported" in shown and ".nvmrc" in shown


def test_one_environment_is_shown_with_its_evidence(store: Store) -> None:
    shown = show(store, "--pr", "1")
    assert "--coverage=false" in shown and ".nvmrc" in shown and "scripts.test: jest" in shown


def test_a_nested_folder_is_shown(tmp_path: Path) -> None:
    history = History(tmp_path / "library")
    files = {f"web/{path}": text for path, text in FIRST.items()}
    history.commit("first", files)
    history.commit("Add an aria label (#1)", {"web/src/a.js": "2", "web/src/a.test.js": "2"})
    made = Store(tmp_path / "data")
    collect(made, factories.REPO, history.folder)
    assert "folder=web manager=npm" in show(made, "--pr", "1")


def test_the_command_prints_json(store: Store) -> None:
    first, second = (json.loads(line) for line in show(store, "--json").splitlines())
    assert first["instance_id"] == "acme__ui-1" and first["environment"]["node"] == "18"
    assert (second["instance_id"], second["reason"]) == ("acme__ui-2", "runner_unsupported")
    assert json.loads(show(store, "--json", "--pr", "1")) == first


def test_each_era_has_one_file(store: Store) -> None:
    """Instances of the same layer share a file; where their tests run differently, it has a table for each."""
    other = factories.make_environment(folder="packages/ui")
    instances = [
        factories.make_instance(1),
        factories.make_instance(2),
        factories.make_instance(3, environment=other),
        factories.make_instance(4, environment_digest="f" * 32),
    ]
    write(store, factories.REPO, instances)
    folder = store.qualification(factories.REPO) / "environments"
    assert {path.stem for path in folder.glob("*.toml")} == {"e" * 32, "f" * 32}
    found = tomllib.loads((folder / f"{'e' * 32}.toml").read_text(encoding="utf-8"))
    assert [table["instances"] for table in found["environment"]] == [["acme__ui-1", "acme__ui-2"], ["acme__ui-3"]]
    assert found["environment"][1]["folder"] == "packages/ui"


@pytest.mark.invariant(3)
def test_the_same_instances_give_the_same_bytes(store: Store) -> None:
    folder = store.qualification(factories.REPO) / "environments"
    write(store, factories.REPO, [factories.make_instance(1)])
    before = {path: path.read_bytes() for path in folder.iterdir()}
    write(store, factories.REPO, [factories.make_instance(1)])
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.rule("nothing-overwritten")
def test_an_era_without_instances_is_archived(store: Store) -> None:
    write(store, factories.REPO, [factories.make_instance(1)])
    write(store, factories.REPO, [factories.make_instance(1, environment_digest="f" * 32)])
    assert list(store.archive_root.glob(f"*/02_dataset/*/environments/{'e' * 32}.toml"))


@pytest.mark.parametrize(
    ("importer", "expected"),
    [("test/lit.test.js", ("test/lit.test.js",)), ("test/index.js", ("test/menu.common.js",))],
)
def test_a_suite_that_tests_share_is_run_by_these(tmp_path: Path, importer: str, expected: tuple[str, ...]) -> None:
    """Alone, it fails: the tests load the element first."""
    library = History(tmp_path / "library")
    library.commit("first", {"package.json": MANIFEST, importer: "import './menu.common.js';\n"})
    before = library.commit("suite", {"test/menu.common.js": "1"})
    after = library.commit("fix", {"test/menu.common.js": "2"})
    clone = open_clone(library.folder)
    base = {"label": "main", "ref": "main", "sha": before}
    patch = diff(clone, before, after, ["test/menu.common.js"])
    changed = factories.make_candidate(base=base, merge_sha=after, test_patch=patch)
    assert selected(clone, changed, "touched") == expected


def test_a_clone_is_read_and_never_written(store: Store) -> None:
    clone = images.source(store, factories.REPO)
    before = sorted(str(path) for path in Path(clone.place).rglob("*"))
    environment_of(open_clone(Path(clone.place).parent), candidate(store, 1))
    assert sorted(str(path) for path in Path(clone.place).rglob("*")) == before
