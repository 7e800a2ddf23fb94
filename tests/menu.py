"""A change to the small library of tests/execution: the component's fix, its test, and links as patches give them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pipeline.execution.runs import Plan

MENU_TEST = {"src/Menu.test.js": "opens | src/Menu.js | <nav\nhas a name | src/Menu.js | aria-label\n"}
FIX = {"src/Menu.js": '<nav aria-label="Menu">\n'}
OPENS, NAMED = "src/Menu.test.js > opens", "src/Menu.test.js > has a name"

Patch = Callable[[dict[str, str | None]], str]
MakePlan = Callable[..., Plan]


def with_jest(plan: Plan, version: str) -> Plan:
    """The same plan for another version of Jest."""
    return replace(plan, environment=plan.environment.model_copy(update={"runner_version": version}))


def link(path: str, target: str) -> str:
    """A patch that adds a link."""
    head = f"diff --git a/{path} b/{path}\nnew file mode 120000\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n"
    return f"{head}+{target}\n\\ No newline at end of file\n"
