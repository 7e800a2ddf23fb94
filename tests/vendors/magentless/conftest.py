"""A git checkout made from a table of files, a task, settings, and the agent as a process beside a scripted model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from magentless.checkout import Checkout
from magentless.inputs import Settings, Task, load_settings
from magentless.repair import Sample

BUTTON = """import React from 'react';

export const IconButton = ({ icon, label }) => (
  <button onClick={icon.act}>
    <img src={icon.url} />
  </button>
);
"""
FILES = {
    "src/IconButton.tsx": BUTTON,
    "src/theme.css": ".icon {\n  outline: none;\n}\n",
    "src/__tests__/IconButton.test.tsx": "test('it', () => {});\n",
}
VENDORS = Path(__file__).parents[3] / "vendors"


def git(folder: Path, *args: str, stdin: bytes | None = None) -> bytes:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false")
    command = ["git", *identity, "-C", str(folder), *args]
    return subprocess.run(command, input=stdin, capture_output=True, check=True).stdout


def edit(path: str, search: str, replace: str) -> str:
    """A reply with one edit, as the prompt asks for it."""
    lines = (f"### {path}", "<<<<<<< SEARCH", *search.splitlines(), "=======", *replace.splitlines(), ">>>>>>> REPLACE")
    return "\n".join(("```", *lines, "```", ""))


@dataclass(frozen=True)
class Finished:
    """What the agent's process left."""

    code: int
    stderr: str
    out: Path

    @property
    def patch(self) -> bytes:
        return (self.out / "patch.diff").read_bytes()

    @property
    def metadata(self) -> dict[str, Any]:
        return json.loads((self.out / "metadata.json").read_text())

    @property
    def error(self) -> dict[str, str]:
        return json.loads((self.out / "error.json").read_text())

    @property
    def trajectory(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.out / "trajectory.jsonl").read_text().splitlines()]


@pytest.fixture
def make_checkout(tmp_path: Path) -> Callable[..., Path]:
    """Makes a working tree with one commit of the given files."""

    def make(files: Mapping[str, str | bytes], links: Mapping[str, str] | None = None) -> Path:
        root = tmp_path / "checkout"
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content.encode() if isinstance(content, str) else content)
        for path, target in (links or {}).items():
            (root / path).symlink_to(target)
        git(root, "init", "--quiet")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", "base")
        return root

    return make


@pytest.fixture
def checkout(make_checkout: Callable[..., Path]) -> Checkout:
    return Checkout(make_checkout(FILES))


@pytest.fixture
def sample() -> Sample:
    return Sample(number=0, set=0, temperature=0.0)


@pytest.fixture
def make_task() -> Callable[..., Task]:
    def make(*issues: dict[str, Any], hints: str = "") -> Task:
        statement = issues or ({"number": 3, "title": "IconButton has no name", "body": "The image needs alt text."},)
        names = {"instance_id": "org__lib-12345", "org": "org", "repo": "lib", "lang": "ts"}
        return Task.model_validate({"schema_version": 1, **names, "statement": statement, "hints": hints})

    return make


@pytest.fixture
def make_settings(tmp_path: Path) -> Callable[[str], Settings]:
    """The default settings with some TOML laid over them."""

    def make(toml: str = "") -> Settings:
        path = tmp_path / "settings.toml"
        path.write_text(toml)
        return load_settings(path)

    return make


@pytest.fixture
def run_agent(tmp_path: Path, make_task: Callable[..., Task]) -> Callable[..., Finished]:
    """Runs `python -m magentless` on a checkout, with one set of one sample unless told otherwise."""

    def run(root: Path, url: str, *, task: Task | None = None, toml: str = "", **environment: str) -> Finished:
        (tmp_path / "task.json").write_text((task or make_task()).model_dump_json())
        retries = "[provider]\nmax_retries = 1\n"
        (tmp_path / "run.toml").write_text(toml or f"[samples]\nsets = 1\nper_set = 1\n{retries}")
        paths = {"task": tmp_path / "task.json", "checkout": root, "out": tmp_path / "out"}
        paths["settings"] = tmp_path / "run.toml"
        command = [sys.executable, "-m", "magentless", "--model", "scripted"]
        command += [text for name, path in paths.items() for text in (f"--{name}", str(path))]
        access = {"PYTHONPATH": str(VENDORS), "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-secret-1"}
        done = subprocess.run(command, env=os.environ | access | environment, capture_output=True, text=True)
        return Finished(done.returncode, done.stderr, tmp_path / "out")

    return run
