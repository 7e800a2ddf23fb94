"""Which sandbox the demo uses, and which answers its model gives."""

from __future__ import annotations

import factories
import pytest

from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Candidate, Issue
from pipeline.core.trust import DEMO
from pipeline.demo.model import scripted_model
from pipeline.demo.stage import choose_sandbox
from pipeline.llm.provider import Refusal

REPO = Repo("a11y-bench", "harbor-ui")
NUMBERS = (12, 17, 19, 22, 26, 27, 33)


def candidates() -> list[Candidate]:
    """One with an issue, six without."""
    issue = Issue(number=112, title="The title of the issue")
    return [
        factories.make_candidate(
            number, REPO, title=f"Title of {number}", resolved_issues=(issue,) if number == 12 else ()
        )
        for number in NUMBERS
    ]


def test_an_answer_belongs_to_a_step_and_a_title() -> None:
    model = scripted_model(DEMO, candidates())
    assert "src/components/Avatar/Avatar.tsx" in model.reply("Step: files\n\nThe title of the issue").text
    assert "SEARCH" in model.reply("Step: repair\n\nThe title of the issue").text
    assert "Toggle.css" in model.reply("Step: files\n\nTitle of 19").text


def test_the_title_of_a_pull_request_with_an_issue_gets_no_answer() -> None:
    """An agent that is told the pull request's own title would have seen what it must not see."""
    with pytest.raises(Refusal, match="no scripted answer"):
        scripted_model(DEMO, candidates()).reply("Step: repair\n\nTitle of 12")


@pytest.mark.parametrize("engine", ["none", pytest.param("ready", marks=pytest.mark.engine)])
def test_the_demo_uses_the_local_sandbox_even_if_an_engine_answers(
    engine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It used an engine that answered, made the base image, downloaded every tool, and needed 13 minutes instead of
    one."""
    if engine == "none":
        monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    assert choose_sandbox(None).name == "local"
    output = capsys.readouterr().err
    assert output.count("\n") == 1 and "sandbox: local, since" in output and "--sandbox docker" in output


@pytest.mark.rule("bad-input")
def test_a_named_sandbox_is_taken_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for isolation gets it, or an error."""
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    with pytest.raises(UserError, match="just engine-start"):
        choose_sandbox("docker")
    with pytest.raises(UserError, match="unknown sandbox 'vm'") as error:
        choose_sandbox("vm")
    assert "available: docker, local" in str(error.value)
