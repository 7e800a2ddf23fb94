"""In a checkout, messages name recipes; in an installed wheel, they name the commands behind these."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.cli import COMMANDS
from pipeline.core import console, recipes
from pipeline.core.errors import UserError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def wheel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The folder of shipped files, as in a wheel: without the justfile."""
    (tmp_path / "docker").symlink_to(ROOT / "docker")
    monkeypatch.setattr(recipes, "ROOT", tmp_path)
    recipes.commands.cache_clear()
    yield tmp_path
    recipes.commands.cache_clear()


@pytest.mark.parametrize(
    ("hint", "runnable"),
    [
        ("run: just eval-run acme/ui GLM-4.6", "run: a11y-bench evaluate acme/ui GLM-4.6"),
        ("just agt-preprocess acme/ui m", "a11y-bench predict --step preprocess acme/ui m"),
        ("rate candidates (just triage)", "rate candidates (a11y-bench triage serve)"),
        ("just remote-push, just migrate", "a11y-bench remote push, a11y-bench migrate"),
        ("just bench-run acme/ui m", "a11y-bench run acme/ui m"),
        ("just worker HOST", "a11y-bench worker HOST"),
        ("just as before", "just as before"),
    ],
)
def test_a_wheel_names_commands(wheel: Path, hint: str, runnable: str) -> None:
    assert recipes.runnable(hint) == runnable


def test_a_wheel_names_its_own_scripts(wheel: Path) -> None:
    assert recipes.runnable("run: just browser-install") == f"run: {wheel}/docker/browser/install.sh"
    scripts = recipes.commands()["engine-start"].split(" && ")
    assert [Path(script).name for script in scripts] == ["install.sh", "start.sh"]
    assert all(Path(script).is_file() for script in scripts)


def test_a_checkout_names_recipes() -> None:
    assert recipes.runnable("run: just eval-run acme/ui GLM-4.6") == "run: just eval-run acme/ui GLM-4.6"


def test_every_recipe_of_a_message_has_a_command(wheel: Path) -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "pipeline").rglob("*.py"))
    named = set(re.findall(r"(?:\(|: |or |`)just ([a-z]+(?:-[a-z]+)*)", source))
    assert len(named) >= 15 and named - recipes.commands().keys() == set()
    called = {command.split()[1] for command in recipes.commands().values() if command.startswith("a11y-bench ")}
    assert called <= COMMANDS.keys()


def test_printed_recipes_become_commands_in_a_wheel(wheel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    console.say("do it: just collect-run acme/ui")
    console.table("Parts", ("part", "what to do"), [("base image", "just doctor")])
    printed = capsys.readouterr()
    assert printed.err == "do it: a11y-bench collect acme/ui\n"
    assert "a11y-bench doctor" in printed.out
    assert str(UserError("no report", hint="run: just analyze-run")) == "no report\n  run: a11y-bench analyze"
