"""Reverts, bots' pull requests and bumps of versions."""

from __future__ import annotations

import pytest
from factories import make_pull_request

from pipeline.collect.kinds import KINDS

NOTHING = ""


@pytest.mark.rule("no-persons-work")
@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ('Revert "Add aria-label"', "revert"),
        ("revert: add aria-label", "revert"),
        ("revert(menu): add aria-label", "revert"),
        ("chore: revert the new focus ring", "revert"),
        ('[Menu] Revert "Add aria-label (#4)"', "revert"),
        ("Reverts #12", "revert"),
        ('Revert "Revert "Add aria-label""', NOTHING),
        ("Revert to the native focus ring", NOTHING),
        ("fix(menu): revert to Button", NOTHING),
        ("Reverse the order of tabs", NOTHING),
        ("Bump eslint from 7.24.0 to 7.25.0", "bump"),
        ("chore(deps-dev): bump @types/node", "bump"),
        ("Update dependency react-aria to v3", "bump"),
        ("fix: update @acme/ui to 1.4.1", "bump"),
        ("Upgrade dependencies", "bump"),
        ("chore: bump version to 4.0.0-beta.1", "bump"),
        ("Lock file maintenance", "bump"),
        ("Version Packages", "bump"),
        ("Release v2.1.0", "bump"),
        ("Prepare release 1.25.1", "bump"),
        ("chore(release): publish", "bump"),
        ("v7.7.2", "bump"),
        ("feat(Banner): update to v3", NOTHING),
        ("Update the focus order of tabs to 2 steps", NOTHING),
        ("Release focus when the menu closes", NOTHING),
        ("Bump into the wall", NOTHING),
        ("Upgrade contrast of disabled buttons", NOTHING),
        ("Support WCAG 2.1", NOTHING),
    ],
)
def test_by_the_title(title: str, kind: str) -> None:
    pull = make_pull_request(title=title, body="")
    assert [name for name, told in KINDS.items() if told(pull)] == ([kind] if kind else [])


@pytest.mark.rule("no-persons-work")
@pytest.mark.parametrize(
    ("author", "expected"),
    [
        ("dependabot[bot]", True),
        ("renovate[bot]", True),
        ("dependabot-preview[bot]", True),
        ("Renovate Bot", True),
        ("Greenkeeper", True),
        ("acme-bot", True),
        ("github-actions", True),
        ("ann", False),
        ("Abbott", False),
        ("Bothe", False),
        ("", False),
    ],
)
def test_by_the_author(author: str, expected: bool) -> None:
    assert KINDS["bot"](make_pull_request(author=author)) is expected


def test_a_revert_by_its_body() -> None:
    """A title of one's own above git's line; a list of a branch's commits may hold that line anywhere."""
    line = "This reverts commit 0123456789abcdef."
    assert KINDS["revert"](make_pull_request(title="Take the label back", body=line))
    assert not KINDS["revert"](make_pull_request(title="Label the menu", body=f"* add\n\n* Revert\n\n{line}"))
    assert not KINDS["revert"](make_pull_request(title="Reland the label", body=line))
