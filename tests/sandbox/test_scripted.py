"""What only ScriptedSandbox does: it gives scripted answers, and records the requests."""

from __future__ import annotations

from pathlib import Path

import pytest
from factories import make_environment

from pipeline.core.errors import InfrastructureError
from pipeline.ecosystems.installation import installation
from pipeline.sandbox.base import Completed, InstallFailed
from pipeline.sandbox.scripted import Files, ScriptedSandbox


def test_function_answers_and_writes_files(tmp_path: Path) -> None:
    def respond(argv: tuple[str, ...], files: Files) -> Completed:
        files["/scratch/report.json"] = files["/scratch/patch"] + b"!"
        return Completed(len(argv), b"said", 0.5)

    sandbox = ScriptedSandbox(tmp_path, respond)
    with sandbox.open("i") as workspace:
        workspace.write("/scratch/patch", b"p")
        assert workspace.run(["npx", "jest"]) == Completed(2, b"said", 0.5)
        assert workspace.read("/scratch/report.json") == b"p!"
    assert sandbox.commands == [("npx", "jest")]


def test_it_remembers_the_layers(tmp_path: Path) -> None:
    sandbox = ScriptedSandbox(tmp_path)
    assert sandbox.images.environment(installation(make_environment()), "e", tmp_path, print).deviations == ()
    sandbox.images.instance("e", "i", tmp_path)
    assert (sandbox.images.environments, sandbox.images.instances) == (["e"], {"i": "e"})


@pytest.mark.parametrize("error", [InstallFailed("no", "log"), InfrastructureError("no", cause="registry")])
def test_it_fails_as_it_is_told(tmp_path: Path, error: Exception) -> None:
    sandbox = ScriptedSandbox(tmp_path, failures={"e": error})
    with pytest.raises(type(error)):
        sandbox.images.environment(installation(make_environment()), "e", tmp_path, print)
    assert sandbox.images.environments == []
