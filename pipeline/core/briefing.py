"""A task as text for an agent or a judge: all linked issues, and nothing of the solution."""

from __future__ import annotations

from pipeline.core.records import Issue, Task

#: the placeholder for the task's text in a prompt's template
STATEMENT = "STATEMENT"


def statement(task: Task) -> str:
    """The issues in order, each with its title and labels, then the hints."""
    return "\n\n".join(filter(None, [*map(_issue, task.statement), task.hints.strip()])) + "\n"


def _issue(issue: Issue) -> str:
    labels = f"Labels: {', '.join(issue.labels)}" if issue.labels else ""
    return "\n\n".join(filter(None, [f"# {issue.title}", labels, issue.body.strip()]))


def prompt(template: str, task: Task) -> str:
    return template.replace(STATEMENT, statement(task))
