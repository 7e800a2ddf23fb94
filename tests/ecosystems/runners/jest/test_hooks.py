"""A module that Node loads before Jest: type checks of ts-jest that can be switched off, and reports in a pipe."""

from __future__ import annotations

import os
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

HOOKS = files("pipeline.ecosystems.runners").joinpath("jest", "hooks.cjs")
#: where ts-jest has the function that throws type errors: since 26.4, and before
METHOD = "exports.ConfigSet = class { raiseDiagnostics() { throw new Error('TS2345'); } };"
GETTER = "exports.ConfigSet = class { get raiseDiagnostics() { return () => { throw new Error('TS2345'); }; } };"
COMPILES = "const { ConfigSet } = require('./config/config-set'); new ConfigSet().raiseDiagnostics([], 'a.ts');"


@pytest.mark.parametrize("text", [METHOD, GETTER])
@pytest.mark.parametrize(("variables", "ends_with"), [({}, 1), ({"TS_JEST_UNCHECKED": "true"}, 0)])
def test_types_are_checked_unless_the_environment_switches_this_off(
    tmp_path: Path, text: str, variables: dict[str, str], ends_with: int
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config-set.js").write_text(text)
    compiler = tmp_path / "compiler.js"
    compiler.write_text(COMPILES)
    done = subprocess.run(["node", "--require", str(HOOKS), compiler], env=os.environ | variables, capture_output=True)
    assert done.returncode == ends_with


@pytest.mark.parametrize(
    ("version", "is_appended"), [("8.17.0", True), ("12.13.1", True), ("13.11.0", True), ("14.21.3", False)]
)
def test_a_report_is_appended_to_a_pipe_where_node_would_write_at_a_position(
    tmp_path: Path, version: str, is_appended: bool
) -> None:
    os.mkfifo(tmp_path / "pipe")
    before, after = tmp_path / "before.cjs", tmp_path / "after.cjs"
    before.write_text(
        f"Object.defineProperty(process, 'versions', {{ value: {{ node: '{version}' }} }});"
        "require('fs').writeFileSync = (file, data, options) => console.log(JSON.stringify(options));"
    )
    after.write_text(
        "const { writeFileSync } = require('fs'); ['pipe', 'file'].forEach((name) => writeFileSync(name, '', {}));"
    )
    argv = ["node", "--require", str(before), "--require", str(HOOKS), str(after)]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines() == ['{"flag":"a"}' if is_appended else "{}", "{}"]
