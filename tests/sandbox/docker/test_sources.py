"""Sources as a difference from those of the environment's reference."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sandbox.conftest import Bench, prepared

from pipeline.sandbox.docker.names import instance_image
from pipeline.sandbox.docker.sources import Difference, difference, listing
from pipeline.sandbox.images import Kept

Change = Callable[[Path], object]

#: prints what `find` sees of a tree: kinds, permissions, link targets and contents
SHOW = r"""
find . -name node_modules -prune -o -printf '%y %m %p %l\n' | sort
find . -name node_modules -prune -o -type f -print0 | sort -z | xargs -0 sha256sum
"""


def tree(folder: Path) -> Path:
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "package.json").write_text("{}")
    (folder / "src" / "a.js").write_text("a")
    (folder / "src" / "deep" / "b c.js").write_text("b")
    (folder / "src" / "link.js").symlink_to("a.js")
    (folder / "large.bin").write_bytes(bytes(300_000))
    return folder


def test_a_difference_has_written_and_removed_paths(tmp_path: Path) -> None:
    before = listing(tree(tmp_path / "x"))
    shutil.rmtree(tmp_path / "x" / "src" / "deep")
    (tmp_path / "x" / "src" / "a.js").chmod(0o755)
    (tmp_path / "x" / "new" / "er").mkdir(parents=True)
    (tmp_path / "x" / "new" / "er" / "n\udcff.js").touch()
    found = difference(before, listing(tmp_path / "x"))
    written = ["new", "new/er", "new/er/n\udcff.js", "src/a.js"]
    assert found == Difference(written, ["src/deep/b c.js"], ["src/deep"])


@pytest.mark.parametrize("path", ["src/deep", "src/a.js"])
def test_a_folder_in_place_of_a_file_is_no_difference(tmp_path: Path, path: str) -> None:
    before = listing(tree(tmp_path))
    place = tmp_path / path
    if place.is_dir():
        shutil.rmtree(place)
        place.touch()
    else:
        place.unlink()
        place.mkdir()
    assert difference(before, listing(tmp_path)) is None


# -- in the engine ----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def bench(cache: Path, spec, manifests: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A reference with a large file."""
    with prepared("docker", cache, spec, manifests, tree(tmp_path_factory.mktemp("reference"))) as bench:
        yield bench


def further(bench: Bench, folder: Path, change: Change, **options: bool) -> tuple[str, Path]:
    """Another instance, whose sources are the reference's with a change: its digest and its checkout."""
    shutil.copytree(bench.checkout, folder / "checkout", symlinks=True)
    change(folder / "checkout")
    name = f"{bench.instance}-{folder.name}"
    bench.sandbox.images.instance(bench.environment, name, folder / "checkout", **options)
    return name, folder / "checkout"


def kept(bench: Bench, name: str) -> Kept:
    return next(layer for layer in bench.sandbox.images.kept() if layer.name == instance_image(name))


def shown(bench: Bench, name: str) -> str:
    with bench.sandbox.open(name) as workspace:
        return workspace.run(["sh", "-c", SHOW]).output.decode()


def all_at_once(folder: Path) -> None:
    """Every kind of change that a commit can make."""
    shutil.rmtree(folder / "src" / "deep")
    (folder / "src" / "link.js").unlink()
    (folder / "src" / "link.js").symlink_to("../package.json")
    (folder / "src" / "a.js").write_text("changed")
    (folder / "src" / "a.js").chmod(0o755)
    (folder / "new" / "er").mkdir(parents=True)
    (folder / "new" / "er" / "-n \n.js").write_text("n")


def folder_for_file(folder: Path) -> None:
    (folder / "src" / "a.js").unlink()
    (folder / "src" / "a.js").mkdir()


@pytest.mark.engine
@pytest.mark.parametrize(
    ("change", "options", "is_small"),
    [
        (lambda folder: (folder / "src" / "a.js").unlink(), {}, True),
        (all_at_once, {}, True),
        (folder_for_file, {}, False),
        (all_at_once, {"generated": True}, False),
    ],
)
def test_an_instance_has_its_own_sources_and_stores_the_difference(
    bench: Bench, tmp_path: Path, change: Change, options: dict[str, bool], is_small: bool
) -> None:
    name, checkout = further(bench, tmp_path, change, **options)
    alone = f"{name}-alone"
    bench.sandbox.images.instance(bench.environment, alone, checkout, generated=True)
    assert shown(bench, name) == shown(bench, alone) != ""
    on = instance_image(bench.instance) if is_small else kept(bench, alone).on
    assert (kept(bench, name).size < 1000, kept(bench, name).on) == (is_small, on)
    assert kept(bench, alone).size > 300_000


@pytest.mark.engine
def test_packages_in_a_removed_folder_stay(cache: Path, spec, manifests: Path, tmp_path: Path) -> None:
    """They are the environment's, and the same for every instance of it."""
    (tree(tmp_path / "before") / "node_modules").mkdir()
    (tmp_path / "before" / "node_modules" / "own.js").touch()
    with prepared("docker", cache, spec, manifests, tmp_path / "before") as bench:
        name, _ = further(bench, tmp_path, lambda folder: shutil.rmtree(folder / "node_modules"))
        with bench.sandbox.open(name) as workspace:
            assert workspace.run(["ls", "node_modules"]).output.split() == [b"is-number"]


@pytest.mark.engine
def test_without_the_reference_an_instance_becomes_one(cache: Path, spec, manifests: Path, tmp_path: Path) -> None:
    with prepared("docker", cache, spec, manifests, tree(tmp_path / "before")) as bench:
        assert bench.sandbox.images.remove(kept(bench, bench.instance))
        name, _ = further(bench, tmp_path, lambda folder: (folder / "package.json").unlink())
        assert kept(bench, name).size > 300_000
        bench.make()
        assert kept(bench, bench.instance).on == instance_image(name)
