"""The browser of an image: any program finds it, without network, privileges or changes to the repository."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

import pytest
from factories import make_environment

from pipeline.build.layers import USEFUL
from pipeline.core.cache import cache_root
from pipeline.ecosystems.installation import installation
from pipeline.sandbox.base import Completed, Workspace
from pipeline.sandbox.docker.sandbox import DockerSandbox
from pipeline.sandbox.images import Installed

pytestmark = pytest.mark.engine

PACKAGES = {"puppeteer": "24", "playwright": "1.50.1", "karma-chrome-launcher": "3.2.0"}
OPEN = 'const page = await browser.newPage(); await page.setContent("<button>Menu</button>");'
SAY = 'console.log("it says", await page.evaluate("document.body.textContent")); await browser.close();'
#: how a repository's set-up starts a browser
STARTS = {
    "puppeteer": 'require("puppeteer").launch()',
    "puppeteer, the older headless mode": 'require("puppeteer").launch({ headless: "shell" })',
    "playwright": 'require("playwright").chromium.launch()',
    "playwright, the whole browser": 'require("playwright").chromium.launch({ channel: "chromium" })',
    "playwright, Google's": 'require("playwright").chromium.launch({ channel: "chrome" })',
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[DockerSandbox, str, Installed]]:
    """An image with a browser and the packages that start one; removed afterwards."""
    sandbox, folder = DockerSandbox(cache_root()), tmp_path_factory.mktemp("browser")
    manifests, environment, instance = folder / "manifests", uuid.uuid4().hex, uuid.uuid4().hex
    manifests.mkdir()
    package = {"name": "tiny", "version": "1.0.0", "private": True, "dependencies": PACKAGES}
    (manifests / "package.json").write_text(json.dumps(package))
    words = ("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund")
    asked = make_environment(node="22", manager_version="", install=words, browser="chromium")
    installed = sandbox.images.environment(installation(asked), environment, manifests, lambda line: None)
    sandbox.images.instance(environment, instance, manifests)
    yield sandbox, instance, installed
    own = [layer for layer in sandbox.images.kept() if layer.digest in (environment, instance)]
    for one in sorted(own, key=lambda layer: USEFUL[layer.kind]):
        sandbox.images.remove(one)


@pytest.fixture
def workspace(made: tuple[DockerSandbox, str, Installed]) -> Iterator[Workspace]:
    sandbox, instance, _ = made
    with sandbox.open(instance, cache="none") as opened:
        yield opened


def node(workspace: Workspace, script: str) -> Completed:
    workspace.write(f"{workspace.root}/start.cjs", f"(async () => {{{script}}})();".encode())
    return workspace.run(["node", "start.cjs"], seconds=120)


@pytest.mark.parametrize("how", STARTS)
def test_every_launcher_finds_the_browser(workspace: Workspace, how: str) -> None:
    done = node(workspace, f"const browser = await {STARTS[how]}; {OPEN} {SAY}")
    assert b"it says Menu" in done.output, done.output.decode(errors="replace")[-2000:]


def test_the_driver_matches_the_browser(workspace: Workspace, made: tuple[DockerSandbox, str, Installed]) -> None:
    browser = made[2].browser
    driver = workspace.run(["sh", "-c", "$CHROMEDRIVER_PATH --version"]).output.decode()
    assert browser.startswith("chromium@") and browser.removeprefix("chromium@") in driver
