"""A server that a configuration of Playwright starts, in the engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from runner_matrix import ran
from trees import of

from pipeline.build.infer import infer
from pipeline.core.cache import cache_root
from pipeline.core.records import Status
from pipeline.core.store import now
from pipeline.sandbox.docker.sandbox import DockerSandbox

CONFIGURATION = """
module.exports = {
  use: { baseURL: "http://127.0.0.1:8123" },
  webServer: { command: "http-server -p 8123 site", url: "http://127.0.0.1:8123" },
};
"""
TEST = """
import { expect, test } from "../playwright/index.js";

test("has a menu", async ({ page }) => {
  await page.goto("/");
  await expect(page.getByRole("menu")).toBeVisible();
});
"""
PACKAGES = {"@playwright/test": "1.50.1", "http-server": "14.1.1", "jest": "29.7.0"}
FILES = {
    "package.json": json.dumps({"name": "menu", "scripts": {"test": "jest"}, "devDependencies": PACKAGES}),
    "playwright.config.js": CONFIGURATION,
    "playwright/index.js": 'module.exports = require("@playwright/test");\n',
    "site/index.html": "<!doctype html><title>Menu</title><ul role='menu'><li role='menuitem'>Open</li></ul>\n",
    "e2e/menu.spec.js": TEST,
}


@pytest.mark.engine
def test_the_server_of_a_configuration_is_started(tmp_path: Path) -> None:
    """Its program was not found, since we start the runner's file and no script does. The test names its runner only by
    a module of the repository."""
    tests = ["e2e/menu.spec.js"]
    environment = infer(of(FILES), now(), tests, {"node": ("20", "given")})
    run = ran(DockerSandbox(cache_root()), tmp_path / "menu", FILES, environment, tests)
    passed = [test for test, status in run.results.items() if status is Status.PASSED and "has a menu" in test]
    assert environment.runner == "playwright" and passed, run.log.decode(errors="replace")[-3000:]
