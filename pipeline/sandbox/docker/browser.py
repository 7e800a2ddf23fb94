"""The layer with a browser, between the base image and Node: made when the first environment needs it, and kept.

Debian's Chromium and its driver are installed by the script in this folder, in a container of the base image with
network access. Programs find them by environment variables of the image. Chromium runs without its own sandbox: the
container is one, and does not grant the rights that Chromium's would need. Raises InfrastructureError if the layer
cannot be made.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from docker.models.containers import Container

from pipeline.core.cache import lock
from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.names import folder_name
from pipeline.core.store import digest
from pipeline.sandbox import install
from pipeline.sandbox.base import Limits
from pipeline.sandbox.docker.commands import execute
from pipeline.sandbox.docker.engine import Engine, commit, start
from pipeline.sandbox.docker.names import BROWSER, DIGEST, LAYER, PARENT, base_image, browser_image
from pipeline.sandbox.docker.tools import INSTALLING, run_script
from pipeline.sandbox.progress import reporting

PROGRAM = "/usr/bin/chromium"
#: where Playwright's packages look for browsers, and the script that makes Chromium look like theirs. It runs after an
#: install, since each version of Playwright looks for another revision
FOLDER = "/opt/browsers"
LINKS = Path(__file__).with_name("links.cjs")

SCRIPT = Path(__file__).with_name("browser.sh")

#: variables that tell programs where the browser and its driver are, and to download nothing
ENV = {
    **dict.fromkeys(("CHROME_BIN", "CHROMIUM_BIN", "CHROME_PATH", "PUPPETEER_EXECUTABLE_PATH"), PROGRAM),
    **dict.fromkeys(("CHROMEDRIVER_PATH", "SE_CHROMEDRIVER"), "/usr/bin/chromedriver"),
    **dict.fromkeys(("PUPPETEER_SKIP_DOWNLOAD", "PUPPETEER_SKIP_CHROMIUM_DOWNLOAD"), "true"),
    **dict.fromkeys(("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "PLAYWRIGHT_SKIP_VALIDATE_HOST_REQUIREMENTS"), "1"),
    "PLAYWRIGHT_BROWSERS_PATH": FOLDER,
}


def image(engine: Engine, cache: Path, say: Callable[[str], None]) -> str:
    """The name of the image. It is made if it is missing or has another base image.

    Raises UserError if an image was named and does not exist.
    """
    name, base, script = browser_image(), engine.image(base_image()), SCRIPT.read_text()
    if not name.startswith("a11y-bench/browser:"):
        if engine.image(name) is None:
            raise UserError(f"the engine has no image {name}", hint="make it, or unset A11Y_BENCH_BROWSER_IMAGE")
        return name
    labels = {LAYER: "browser", DIGEST: digest(base.id if base else "", script, ENV)}
    with lock(cache / "locks" / folder_name(name)):
        existing = engine.image(name)
        if not existing or not labels.items() <= existing.labels.items():
            with (
                reporting(say, "installing Chromium"),
                engine.container(base_image(), "build", install.LIMITS, **INSTALLING) as container,
            ):
                start(container)
                _install(container, script)
                commit(container, name, labels | {BROWSER: _version(container)}, ENV)
    return name


def _install(container: Container, script: str) -> None:
    code, output = run_script(container, script, PARENT)
    if code:
        raise InfrastructureError(f"Chromium could not be installed: {output}", cause="registry")


def _version(container: Container) -> str:
    """`chromium@140.0.7339.80`. Raises InfrastructureError for a browser that does not start."""
    completed = execute(container, [PROGRAM, "--version"], folder=PARENT, env={}, limits=Limits(seconds=60))
    output = completed.output.decode(errors="replace")
    if completed.code or not output.startswith("Chromium "):
        raise InfrastructureError(f"Chromium does not start: {output}", cause="engine")
    return f"chromium@{output.split()[1]}"
