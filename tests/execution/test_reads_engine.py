"""Runners with configuration under names that reveal nothing: the files that they read are found, and no patch can
change them."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from histories import History

from pipeline.build.infer import Tree, infer
from pipeline.build.layers import USEFUL
from pipeline.core.cache import cache_root
from pipeline.core.git import open_clone
from pipeline.core.records import Status
from pipeline.core.store import now
from pipeline.execution import images, reads
from pipeline.execution.run import TestRun
from pipeline.execution.runs import Plan, run_patch
from pipeline.sandbox.base import Sandbox
from pipeline.sandbox.docker.sandbox import DockerSandbox

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

LIBRARIES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("odd_libraries.toml").read_text(encoding="utf-8"))
ATTACKS = [(runner, attack) for runner, library in LIBRARIES.items() for attack in library["attack"]]
MENU, TEST = "src/Menu.js", "src/Menu.test.js"
NAMED, OPENS = f"{TEST} > has a name", f"{TEST} > opens"
_ASKED = '\nit("has a name", () => { if (!named(menu())) throw new Error(menu()); });\n'


class Library:
    """A library in its image, gold's two patches, and the files that its runner reads."""

    def __init__(self, sandbox: Sandbox, folder: Path, runner: str) -> None:
        self.own, self.history = LIBRARIES[runner], History(folder / runner)
        manifest = {"name": "lib", "version": "1.0.0", "devDependencies": self.own["packages"]}
        manifest["scripts"] = {"test": self.own["command"]}
        self.files = self.own["files"] | {"package.json": json.dumps(manifest), ".gitignore": "node_modules\n"}
        sha = self.history.commit("base", self.files)
        given = {"node": ("20.19.5", "given")}
        environment = infer(Tree(self.files, self.files.get), now(), [TEST], given)
        self.made = images.recipe(open_clone(self.history.folder), environment, sha, sha)
        images.ensure(sandbox, open_clone(self.history.folder), self.made, lambda line: None)
        self.plan = Plan(sandbox, self.made.image, environment, (TEST,))
        self.fix = self.patch({MENU: self.files[MENU].replace("<nav>", "<nav aria-label=menu>")})
        self.test = self.patch({TEST: self.files[TEST] + _ASKED})
        self.asked = reads.ask(self.plan, [("test", self.test), ("fix", self.fix)], self.fix)

    def patch(self, files: dict[str, str | None], links: dict[str, str] | None = None) -> str:
        """A patch to the library; None removes a file, and links replace whatever is there."""
        for path, target in (links or {}).items():
            shutil.rmtree(self.history.folder / path)
            (self.history.folder / path).symlink_to(target)
        gone = {path for path, text in files.items() if text is None and not (self.history.folder / path).exists()}
        self.history.commit("change", {path: text for path, text in files.items() if path not in gone})
        patch = self.history.git("diff", "--binary", "--full-index", "--no-renames", "HEAD~", "HEAD") + "\n"
        self.history.git("reset", "-q", "--hard", "HEAD~")
        return patch

    def attack(self, attack: dict[str, Any]) -> str:
        files = {**attack.get("files", {}), **dict.fromkeys(attack.get("deleted", ()))}
        return self.patch(files, attack.get("links"))

    def run(self, patch: str, *read: str) -> TestRun:
        return run_patch(replace(self.plan, protected=read), patch, self.fix, self.test, [TEST])


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Library]]:
    sandbox, folder = DockerSandbox(cache_root()), tmp_path_factory.mktemp("libraries")
    made = {runner: Library(sandbox, folder, runner) for runner in LIBRARIES}
    yield made
    layers = {layer for one in made.values() for layer in (one.made.image, one.made.environment_digest)}
    own = [layer for layer in sandbox.images.kept() if layer.kind in USEFUL and layer.digest in layers]
    for one in sorted(own, key=lambda layer: USEFUL[layer.kind]):
        sandbox.images.remove(one)


@pytest.mark.trap("guessed-configuration")
@pytest.mark.parametrize("runner", list(LIBRARIES))
def test_files_that_a_runner_reads_are_found(libraries: dict[str, Library], runner: str) -> None:
    """Under any name, together with what the configuration imports; but not the code under test, even if set-up files
    import it."""
    library = libraries[runner]
    assert library.asked == reads.Observed(tuple(library.own["read"]), True)
    gold = library.run(library.fix, *library.asked.files)
    assert (set(gold.results.values()), gold.restored, gold.faults) == ({Status.PASSED}, (), ())


@pytest.mark.trap("guessed-configuration")
@pytest.mark.parametrize(
    ("runner", "attack"), ATTACKS, ids=lambda case: case if isinstance(case, str) else case["name"]
)
def test_configuration_by_any_name_is_not_the_patchs(
    libraries: dict[str, Library], runner: str, attack: dict[str, Any]
) -> None:
    """Each of these changes makes an unfixed component pass if files are protected by name only."""
    library = libraries[runner]
    patch = library.attack(attack)
    bought, run = library.run(patch), library.run(patch, *library.asked.files)
    if bought.restored != tuple(attack["files"]):  # a script beside a protected one of its name is restored anyway
        assert bought.results.get(NAMED) is Status.PASSED and not bought.restored
    assert (run.end, run.results, run.faults) == ("ran", {NAMED: Status.FAILED, OPENS: Status.PASSED}, ())
    touched = {*attack.get("files", ()), *attack.get("deleted", ()), *attack.get("links", ())}
    assert run.restored == tuple(sorted(attack.get("restored", touched)))
