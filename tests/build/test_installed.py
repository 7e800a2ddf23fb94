"""The version of the installed runner is read from the image, and its options follow from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from trees import read, tree

from pipeline.build import faults
from pipeline.build.installed import as_installed, requirements
from pipeline.core.records import Environment
from pipeline.ecosystems import all_runners, runner

WANTED = {"vitest": "^0.34.0"}


@dataclass
class Images:
    """A sandbox whose only image holds these files."""

    files: dict[str, str]
    root: str = "/workspace/repo"
    opened: list[str] = field(default_factory=list)

    @contextmanager
    def open(self, image: str, **_: Any) -> Iterator[Images]:
        self.opened.append(image)
        yield self

    def read(self, path: str) -> bytes | None:
        text = self.files.get(path.removeprefix(f"{self.root}/"))
        return None if text is None else text.encode()


def package(version: object) -> str:
    return json.dumps({"name": "vitest", "version": version})


def asked(files: dict[str, str], **fixed: Any) -> Environment:
    return as_installed(Images(files), "image", read(tree(devDependencies=WANTED), **fixed))


@pytest.mark.trap("flag-of-another-version")
def test_the_command_is_adapted_to_the_installed_version() -> None:
    """The manifest's range starts with another major version than the installed one."""
    found = asked({"node_modules/vitest/package.json": package("3.2.4")})
    assert found.runner_version == "3.2.4"
    assert found.test == read(tree(devDependencies={"vitest": "3.2.4"})).test
    assert "installed" in found.evidence["runner_version"]


@pytest.mark.parametrize("text", [None, "{", "[]", package(3), package("0.34.0")])
def test_without_an_installed_version_the_manifests_counts(text: str | None) -> None:
    wanted = read(tree(devDependencies=WANTED))
    assert asked({"node_modules/vitest/package.json": text} if text else {}) == wanted


def test_the_version_is_read_next_to_the_runners_entry() -> None:
    """Of two installations, the nearer one counts, as it does for the runner's entry."""
    files = {
        "packages/ui/node_modules/vitest/package.json": package("2.0.0"),
        "node_modules/vitest/package.json": package("3.0.0"),
    }
    assert asked(files, folder="packages/ui", runner="vitest").runner_version == "2.0.0"
    del files["packages/ui/node_modules/vitest/package.json"]
    assert asked(files, folder="packages/ui", runner="vitest").runner_version == "3.0.0"


@pytest.mark.parametrize("name", sorted(all_runners()))
def test_an_overridden_command_is_not_adapted(name: str) -> None:
    """An overridden command has none of our options: the version is recorded, and nothing else changes."""
    own = read(tree(devDependencies=WANTED), test=("node", "their.js", "{report}"), runner=name)
    assert runner(name).adapted(own, "1.2.3").test == own.test


def test_an_image_is_not_opened_for_a_runner_without_versioned_options() -> None:
    sandbox = Images({})
    wanted = read(tree(devDependencies={"karma": "^6"}))
    assert as_installed(sandbox, "image", wanted) == wanted and sandbox.opened == []


def test_an_image_is_not_opened_if_the_lock_file_has_the_version() -> None:
    locked = {"": {}, "node_modules/vitest": {"version": "3.2.4"}}
    lock = json.dumps({"lockfileVersion": 3, "packages": locked})
    sandbox, wanted = Images({}), read(tree({"package-lock.json": lock}, devDependencies=WANTED))
    assert wanted.runner_version == "3.2.4"
    assert as_installed(sandbox, "image", wanted) == wanted and sandbox.opened == []


#: what Jest and Node print for a file that Node cannot parse
UNPARSED = """$ node node_modules/jest/bin/jest.js --json tests/Menu.spec.js
FAIL tests/Menu.spec.js
  ● Test suite failed to run

    {path}:86
            ...options.encoding,
            ^^^

    SyntaxError: Unexpected token ...
      at Object.<anonymous> (node_modules/enzyme/build/Utils.js:80:16)
"""


@pytest.mark.parametrize(
    ("path", "engines", "line"),
    [
        ("/workspace/repo/node_modules/cheerio/dist/index.js", {"node": ">=18.17"}, "18"),
        ("node_modules/@scope/cheerio/index.js", {"node": "^18.17.0 || >=20"}, "18"),
        ("/workspace/repo/node_modules/a/node_modules/cheerio/index.js", {"node": ">=18.17"}, "18"),
        ("/workspace/repo/node_modules/cheerio/dist/index.js", {"node": ">=0.12"}, ""),
        ("/workspace/repo/node_modules/cheerio/dist/index.js", {"node": 18}, "18"),
        ("/workspace/repo/node_modules/cheerio/dist/index.js", [], ""),
        ("/workspace/repo/src/index.js", {"node": ">=18.17"}, ""),
    ],
)
def test_a_package_that_node_cannot_parse_tells_which_node_it_needs(path: str, engines: object, line: str) -> None:
    """Where nothing pins the dependencies, the newest versions are installed, next to the Node of the commit's day."""
    files = {
        f"{folder}/package.json": json.dumps({"name": "cheerio", "engines": engines})
        for folder in ("node_modules/cheerio", "node_modules/@scope/cheerio", "node_modules/a/node_modules/cheerio")
    }
    files["package.json"] = json.dumps({"name": "own", "engines": {"node": ">=20"}})
    log = UNPARSED.format(path=path)
    told = list(requirements(Images(files), read(tree(devDependencies=WANTED), node="6"), log))
    found = [finding for finding in faults.find("run", "\n".join([*told, log])) if finding.fault.name == "node-too-old"]
    assert [finding.found["node"] for finding in found if "node" in finding.found] == ([line] if line else [])
    assert bool(found) == ("node_modules" in path)
