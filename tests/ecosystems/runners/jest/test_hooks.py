"""A module that Node loads before Jest: type checks of ts-jest that can be switched off."""

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
