"""Reverts, bots' pull requests and version bumps."""

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
        ('Revert "revert: add aria-label"', NOTHING),
        ("Revert 'Add aria-label'", "revert"),
        ("Revert: Add aria-label", "revert"),
        ("fix(menu): revert #12", "revert"),
        ("Revert the changes from PR #12", "revert"),
        ("Revert acme/ui#12", "revert"),
        ("fix: reverts 0123abc", "revert"),
        ("Revert commit 0123abc", "revert"),
        ("Revert to the native focus ring", NOTHING),
        ("Revert focus to the trigger when the dialog closes", NOTHING),
        ("Revert focus to the trigger (fixes #12)", NOTHING),
        ("fix: revert the role of the menu", NOTHING),
        ("fix(menu): revert to Button", NOTHING),
        ("Reverse the order of tabs", NOTHING),
        ('Revert "label" text to default on Escape', NOTHING),
        ('Revert "label"', "revert"),
        ("Revert `Add aria-label`", "revert"),
        ("Revert `role: menu` to fix the focus", NOTHING),
        ("revert(menu): revert `aria-label` to `label`", "revert"),
        ('🔥 Revert "Add aria-label"', "revert"),
        ("[Revert] Add aria-label", "revert"),
        ("Revert add aria-label (#12)", "revert"),
        ("Revert to the native focus ring (#12)", NOTHING),
        ("Partially revert #12", "revert"),
        ('Rollback "Add aria-label"', "revert"),
        ("Back out #12", "revert"),
        ("Roll back the focus of the menu", NOTHING),
        ("Merge pull request #12 from acme/revert-11-label", "revert"),
        ('Merge "Revert "Add aria-label""', "revert"),
        ('Merge "Revert "Add aria-label"" into main', "revert"),
        ('Merge "Revert "Revert "Add aria-label"""', NOTHING),
        ('Revert^2 "Add aria-label"', NOTHING),
        ('Revert^3 "Add aria-label"', "revert"),
        ('Merge "build: Upgrade phpunit to 9.5.0"', "bump"),
        ("Version bump", "bump"),
        ("Bump master to 20220503.0", "bump"),
        ("Bump lodash from 1 to 2", "bump"),
        ("Bump z-index from 1 to 2", NOTHING),
        ("⬆️ Bump eslint from 7.24.0 to 7.25.0", "bump"),
        ("Update yarn.lock", "bump"),
        ("Update package-lock.json", "bump"),
        ("Tag v1.2.3", "bump"),
        ("Bump eslint from 7.24.0 to 7.25.0", "bump"),
        ("chore(deps-dev): bump @types/node", "bump"),
        ("Update dependency react-aria to v3", "bump"),
        ("fix: update @acme/ui to 1.4.1", "bump"),
        ("Upgrade dependencies", "bump"),
        ("chore: bump version to 4.0.0-beta.1", "bump"),
        ("Lock file maintenance", "bump"),
        ("Version Packages", "bump"),
        ("Release v2.1.0", "bump"),
        ("v2.3.0 [WIP]", "bump"),
        ("Merge dev to master", "bump"),
        ("Prepare release 1.25.1", "bump"),
        ("chore(release): publish", "bump"),
        ("v7.7.2", "bump"),
        ("Release 5", "bump"),
        ("Bump react from 16.8 to 17.0 in /docs", "bump"),
        ("bump actions/checkout from 2 to 3", "bump"),
        ("Bump the storybook group across 1 directory with 3 updates", "bump"),
        ("feat: bump to Bootstrap 5.0.1", "bump"),
        ("build: bump 5.4.0", "bump"),
        ("bump next@9.2.2", "bump"),
        ("Bump all dependencies", "bump"),
        ("Bump @acme/ui versions", "bump"),
        ("Update babel monorepo to v7", "bump"),
        ("Update actions/cache action to v5", "bump"),
        ("Update dependency eslint to the latest", "bump"),
        ("Update eslint to the latest version 🚀", "bump"),
        ("fix(package): update react to version 16", "bump"),
        ("[Snyk] Security upgrade lodash from 4.17.23 to 4.18.1", "bump"),
        ("fix(deps): bump size-limit and the color contrast checker", "bump"),
        ("feat(Banner): update to v3", NOTHING),
        ("feat: update v-avatar to v3", NOTHING),
        ("feat(deps): update avatar to v3", "bump"),
        ("feat: update @acme/avatar to v3.0.1", "bump"),
        ("Update the focus order of tabs to 2 steps", NOTHING),
        ("Release focus when the menu closes", NOTHING),
        ("Release focus 2", NOTHING),
        ("Bump into the wall", NOTHING),
        ("fix(Button): bump touch target size to 44px for a11y", NOTHING),
        ("Bump color contrast of placeholder to AA", NOTHING),
        ("Bump color contrast from 3.1 to 4.5", NOTHING),
        ("Bump the buttons of the menu to 4.5:1", NOTHING),
        ("Bump z-index of focus ring to avoid clipping", NOTHING),
        ("Bump the focus ring in the dark version", NOTHING),
        ("Bump combobox to the ARIA 1.2 pattern", NOTHING),
        ("Upgrade aria-label to the latest", NOTHING),
        ("Update padding to 1.5rem", NOTHING),
        ("Update dependencies of the focus effect", NOTHING),
        ("Upgrade contrast of disabled buttons", NOTHING),
        ("Support WCAG 2.1", NOTHING),
    ],
)
def test_kinds_by_title(title: str, kind: str) -> None:
    pull = make_pull_request(title=title, body="")
    assert [name for name, told in KINDS.items() if told(pull, ())] == ([kind] if kind else [])


@pytest.mark.rule("no-persons-work")
@pytest.mark.parametrize(
    ("title", "sources", "expected"),
    [
        ("core(a11y): upgrade axe-core to 4.1.1, update a11y audits", ("package.json", "core/audits/a11y.js"), False),
        ("Update Menu to v2 with keyboard support", ("src/Menu.tsx",), False),
        ("Update deps and fix bug", ("yarn.lock", "src/Menu.vue"), False),
        ("fix(deps): Don't use global variables", ("src/Menu.js",), False),
        ("Bump focus ring from 1.5 to 2.0", ("src/ring.scss",), False),
        ("Update deps", ("package.json", "docs/package-lock.json", "yarn.lock", ".github/workflows/ci.yml"), True),
        (
            "Bump eslint to 7.1.0",
            ("pnpm-lock.yaml", ".eslintrc.js", "CHANGELOG.md", "jest.config.js", "bun.lockb"),
            True,
        ),
        ("Update deps", (), True),
        ("Release v2.1.0", ("package.json", "dist/menu.js"), True),
        ("chore: bump version to 4.0.0", ("src/version.ts",), True),
    ],
)
def test_an_update_that_changes_code_is_work(title: str, sources: tuple[str, ...], expected: bool) -> None:
    """A fifth of the updates that were left out as bumps changed code. A release is one by its title."""
    assert KINDS["bump"](make_pull_request(title=title, body=""), sources) is expected


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
        ("nextcloud-command", True),
        ("Hosted Weblate", True),
        ("translatewiki.net", True),
        ("GitHub Actions", True),
        ("k8s-ci-robot", True),
        ("Robot", False),
        ("ann", False),
        ("Abbott", False),
        ("Bothe", False),
        ("", False),
    ],
)
def test_kinds_by_author(author: str, expected: bool) -> None:
    assert KINDS["bot"](make_pull_request(author=author), ()) is expected


def test_a_revert_is_recognized_by_its_body() -> None:
    """With a title of its own above git's line; that line may also be in a branch's list of commits, which does not
    count."""
    line = "This reverts commit 0123456789abcdef."
    assert KINDS["revert"](make_pull_request(title="Take the label back", body=line), ())
    assert KINDS["revert"](make_pull_request(title="misc: temporary revert of the label", body=line), ())
    assert not KINDS["revert"](make_pull_request(title="Label the menu", body=f"* add\n\n* Revert\n\n{line}"), ())
    assert not KINDS["revert"](make_pull_request(title="Reland the label", body=line), ())


@pytest.mark.parametrize("title", ["fix(menu): add a label", "Restore reverted label", 'Reapply "Revert the label"'])
def test_a_change_that_is_made_again_is_no_revert(title: str) -> None:
    """Git writes the same line for the revert of a revert; the title of the change says more."""
    line = "This reverts commit 0123456789abcdef, which\nreverted #12."
    assert not KINDS["revert"](make_pull_request(title=title, body=line), ())


@pytest.mark.rule("no-persons-work")
def test_a_title_like_a_fix_is_a_revert_by_its_body() -> None:
    """The title "Revert focus to the trigger" describes a dialog's behavior, but people name reverts like this as
    well."""
    title = "Revert focus to the trigger"
    assert KINDS["revert"](make_pull_request(title=title, body="It broke Safari.\n\nThis reverts commit 0123abcd."), ())
    assert KINDS["revert"](make_pull_request(title=title, body="Reverts acme/ui#12"), ())
    assert not KINDS["revert"](make_pull_request(title=title, body="Nothing reverts commit 0123abcd. Fixes #12"), ())
