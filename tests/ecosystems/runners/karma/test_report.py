"""Karma runs one bundle: if it breaks, the report has one file that could not run, as with any other runner."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from pipeline.core.records import Status
from pipeline.ecosystems import parser
from pipeline.ecosystems.reports import Report


def with_error(error: bool) -> Report:
    """A real report whose browser had an error outside every test, or none."""
    data = json.loads((Path(__file__).parent / "outputs" / "6.report").read_text(encoding="utf-8"))
    data["stats"]["error"] = error
    return parser("karma-json").read(json.dumps(data).encode(), "/repo")


@pytest.mark.parametrize(("error", "status"), [(True, Status.FAILED), (False, Status.PASSED)])
def test_a_broken_bundle_is_a_file_that_could_not_run(error: bool, status: Status) -> None:
    """A fix that makes the bundle load differs from one that does not; the tests are as reported."""
    assert with_error(error).suites == {"karma.conf.js": status}
    assert with_error(error).tests == with_error(False).tests


#: starts the browser of the configuration that the reporter wraps, as Karma does
LAUNCHES = """
const config = { set(more) { Object.assign(this, more); } };
require(process.argv[1])(config);
const Launcher = config.plugins.pop()["launcher:A11yBench"][1];
const own = new Launcher(() => {});
process.stdout.write(process.env[own.ENV_CMD] || own.DEFAULT_CMD.linux);
"""


@pytest.mark.parametrize(("ours", "started"), [("/image/chromium", "/image/chromium"), ("", "/downloaded/chrome")])
def test_a_configuration_may_name_a_missing_browser(tmp_path: Path, ours: str, started: str) -> None:
    """The configuration used the browser that a package's install script downloads, and no browser started."""
    configuration, reporter = tmp_path / "karma.conf.js", parser("karma-json").reporter_file()
    configuration.write_text("process.env.CHROME_BIN = '/downloaded/chrome';\nmodule.exports = () => {};\n")
    node = next(folder for folder in os.get_exec_path() if Path(folder, "node").exists())
    alone = tmp_path / "bin"
    alone.mkdir()
    (alone / "node").symlink_to(Path(node, "node"))
    env = {"PATH": str(alone), "KARMA_CONFIG": str(configuration), "CHROME_BIN": ours}
    done = subprocess.run(["node", "-e", LAUNCHES, str(reporter)], env=env, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (started, "")
