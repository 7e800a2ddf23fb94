"""What an agent is told about a task."""

from __future__ import annotations

import pytest

from pipeline.core.briefing import prompt, statement
from pipeline.core.records import Issue, Task

ISSUES = (
    Issue(number=1, title="No name", body="The button\nhas none.", labels=("a11y", "bug")),
    Issue(number=2, title="No role"),
)


def task(hints: str = "") -> Task:
    return Task(instance_id="o__r-1", org="o", repo="r", lang="tsx", statement=ISSUES, hints=hints)


@pytest.mark.trap("first-issue-only")
@pytest.mark.trap("null-body")
def test_the_statement_contains_every_issue() -> None:
    """MagentLess shows only the first one, and fails if an issue has no text."""
    assert statement(task()) == "# No name\n\nLabels: a11y, bug\n\nThe button\nhas none.\n\n# No role\n"
    assert statement(task("See the menu.")).endswith("# No role\n\nSee the menu.\n")


def test_a_prompt_inserts_the_statement_into_the_agents_template() -> None:
    """The text of an issue is never treated as a template."""
    assert prompt("Solve this:\nSTATEMENT", task("{out} STATEMENT")).startswith("Solve this:\n# No name")
    assert prompt("STATEMENT", task("{out}")).endswith("{out}\n")
