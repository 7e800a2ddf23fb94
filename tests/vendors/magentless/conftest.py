"""A git checkout made from a table of files, a task, settings, and the agent with a scripted model."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from magentless.causes import Ended
from magentless.checkout import Checkout
from magentless.cli import main
from magentless.inputs import Settings, Task, load_settings
from magentless.prompting import Prompter
from magentless.provider import Ask, Messages
from magentless.repair import Sample
from magentless.session import Session
from magentless.tokens import estimate

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
#: one set of one sample, requested once, without retrieval
SINGLE = """\
samples = {sets = 1, per_set = 1, reasks = 0}
retrieval = {model = ""}
provider = {max_retries = 1}
"""
VENDORS = Path(__file__).parents[3] / "vendors"


def git(folder: Path, *args: str, stdin: bytes | None = None) -> bytes:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false")
    command = ["git", *identity, "-C", str(folder), *args]
    return subprocess.run(command, input=stdin, capture_output=True, check=True).stdout


def edit(path: str, search: str, replace: str) -> str:
    """A reply with one edit in the prompt's format."""
    lines = (f"### {path}", "<<<<<<< SEARCH", *search.splitlines(), "=======", *replace.splitlines(), ">>>>>>> REPLACE")
    return "\n".join(("```", *lines, "```", ""))


@dataclass(frozen=True)
class Finished:
    """The files that the agent left."""

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


class Answering:
    """A model whose answers come from a function; `asked` holds the questions and their conversations."""

    def __init__(self, answer: Callable[[str, str], str]) -> None:
        self._answer, self.asked, self.name = answer, [], "scripted"

    choices = 1

    def ask_several(self, question: Ask, messages: Messages, samples: Sequence[int]) -> list[str | Ended]:
        return [self._or_end(question._replace(sample=sample), messages) for sample in samples]

    def _or_end(self, question: Ask, messages: Messages) -> str | Ended:
        try:
            return self.ask(question, messages)
        except Ended as end:
            return end

    def ask(self, question: Ask, messages: Messages) -> str:
        self.asked.append((question, messages))
        return self._answer(question.step, messages[-1]["content"])


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
def make_session(make_task, make_settings) -> Callable[..., Session]:
    """The object that the steps of a task share; its model is a function of step and prompt."""

    def make(checkout: Checkout, answer: Callable[[str, str], str] = lambda step, prompt: "", **more: Any) -> Session:
        settings, task = more.get("settings") or make_settings(SINGLE), more.get("task") or make_task()
        prompter = Prompter(task, settings, settings.context.default, estimate)
        return Session(task, checkout, settings, prompter, Answering(answer))

    return make


@pytest.fixture
def make_task() -> Callable[..., Task]:
    def make(*issues: dict[str, Any], hints: str = "") -> Task:
        statement = issues or ({"number": 3, "title": "IconButton has no name", "body": "The image needs alt text."},)
        names = {"instance_id": "org__lib-12345", "org": "org", "repo": "lib", "lang": "ts"}
        return Task.model_validate({"schema_version": 2, **names, "statement": statement, "hints": hints})

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
def run_agent(
    tmp_path: Path,
    make_task: Callable[..., Task],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., Finished]:
    """Runs `magentless` on a checkout: one set of one sample and no retrieval, unless told otherwise."""

    def run(root: Path, url: str, *, task: Task | None = None, toml: str = "", **environment: str) -> Finished:
        (tmp_path / "task.json").write_text((task or make_task()).model_dump_json())
        (tmp_path / "run.toml").write_text(toml or SINGLE)
        paths = {"task": tmp_path / "task.json", "checkout": root, "out": tmp_path / "out", "cache": tmp_path / "cache"}
        paths["settings"] = tmp_path / "run.toml"
        arguments = [text for name, path in paths.items() for text in (f"--{name}", str(path))]
        access = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-secret-1"} | environment
        with monkeypatch.context() as surroundings:
            for name, value in access.items():
                surroundings.setenv(name, value)
            code = main(["--model", "scripted", *arguments])
        return Finished(code, capsys.readouterr().err, tmp_path / "out")

    return run
