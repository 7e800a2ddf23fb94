"""Where the tests of an instance run: the order of the packages that could run them."""

from __future__ import annotations

from trees import of, package

from pipeline.build.infer import place


def test_packages_of_equally_long_paths_are_in_alphabetical_order() -> None:
    """The order decides which use is tried first, so it is the same in every process."""
    names = "hgfedcba"
    members = {f"packages/{name}/package.json": package(devDependencies={"jest": "29.0.0"}) for name in names}
    tree = of({"package.json": package(workspaces=["packages/*"]), **members})
    files = [f"packages/{name}/menu.test.js" for name in names]
    folders = [use.folder for use in place.alternatives(tree, tree.root(), files)]
    assert list(dict.fromkeys(folders)) == [f"packages/{name}" for name in sorted(names)]
