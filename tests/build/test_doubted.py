"""What becomes of a candidate whose base may be healthier in another environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from histories import Content
from tiny_library import MANIFEST, Bench, Pull, make_library

from pipeline.build.qualify import Settings
from pipeline.core.records import Health, Instance
from pipeline.sandbox.base import Limits

#: two packages with tests of their own, that are named from their folders; the root has the runner
ROOT = MANIFEST.format('"jest": "file:./jest"').replace('"private"', '"workspaces": ["packages/*"], "private"')
PACKAGE = '{{"name": "{}", "version": "1.0.0", "scripts": {{"test": "jest"}}}}\n'
BASE: dict[str, Content] = {
    "package.json": ROOT,
    "src/made.js": "old\n",
    "packages/ui/package.json": PACKAGE.format("ui"),
    "packages/ui/src/ui.js": "old\n",
    "packages/ui/src/ui.test.js": "needs src/ui.js\nworks | src/ui.js | old\n",
    "packages/kit/package.json": PACKAGE.format("kit"),
    "packages/kit/src/kit.test.js": "needs dist/made.js\nworks | dist/made.js | old\n",
}
PULL = Pull("qualified", None, None, others={
    "packages/ui/src/ui.js": "old new\n",
    "packages/ui/src/ui.test.js": "needs src/ui.js\nworks | src/ui.js | old\nnamed | src/ui.js | new\n",
    "packages/kit/src/kit.test.js": "needs dist/made.js\nworks | dist/made.js | old\nalso | dist/made.js | old\n",
})  # fmt: skip


@pytest.mark.rule("base-is-well")
def test_other_ways_to_run_follow_what_made_a_base_better(tmp_path: Path) -> None:
    """A build lets the tests of one package load, and the others still have to run in their own package."""
    bench = Bench(tmp_path, make_library(tmp_path, {"menu": PULL}, BASE).folder, tmp_path / "cache")
    bench.collect()
    outcome = bench.build("menu")["menu"]
    assert isinstance(outcome, Instance), outcome
    assert outcome.environment.folder == "packages/ui"
    assert list(outcome.f2p_tests) == ["packages/ui/src/ui.test.js > named"]
    assert outcome.health == Health(files=2, loaded=1, tests=1, passed=1)


WAITS = "breaks waits\nneeds dist/made.js\nworks | dist/made.js | old\n"


@pytest.mark.rule("base-is-well")
def test_what_waits_in_vain_for_a_file_may_only_need_it(tmp_path: Path) -> None:
    """Karma waits for a bundle that webpack cannot make, and the log says what webpack misses."""
    pull = Pull("qualified", WAITS + "named | {src} | new\n", WAITS)
    bench = Bench(tmp_path, make_library(tmp_path, {"menu": pull}, {"src/made.js": "old\n"}).folder, tmp_path / "cache")
    bench.collect()
    outcome = bench.build("menu", settings=Settings(bench.sandbox, repeats=1, limits=Limits(seconds=10)))["menu"]
    assert isinstance(outcome, Instance), outcome
    assert [" ".join(words[-2:]) for words in outcome.environment.prepare] == [". build"]
