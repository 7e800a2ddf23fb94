"""Pull requests that are not a person's work on the code: reverts, pull requests of bots, and version bumps."""

from __future__ import annotations

import re

from pipeline.core.records import PullRequest

#: `fix(menu)!: `, `[docs] `
_PREFIX = r"^\s*(?:\[[^\]]*\]\s*)?(?:[a-z]+(?:\([^)]*\))?!?:\s*)?"
_REVERT = re.compile(
    r"^\s*(?:\[[^\]]*\]\s*)?(?:chore(?:\([^)]*\))?!?:\s*)?revert(?:s|ed|ing)?\b(?!\s+(?:back\s+)?to\b)"
    rf"|{_PREFIX}revert(?:s|ed|ing)?[:\s]*[\"'“(]",
    re.IGNORECASE,
)
_REVERTED = re.compile(r"\brevert(?:s|ed|ing)?\b[:\s]*[\"'“(]", re.IGNORECASE)
_REVERTING = re.compile(r"\s*(?:this reverts commit [0-9a-f]{7,}|reverts? (?:[\w.-]+/[\w.-]+)?#\d+)", re.IGNORECASE)
_BOT = re.compile(
    r"\[bot\]$|[-_ ]bot$|^bot[-_ ]|"
    r"^(?:dependabot|renovate|greenkeeper|snyk|imgbot|allcontributors|github-actions|semantic-release|changeset|weblate|crowdin|"
    r"mergify|pull-request-bot|backportbot|web-flow-bot|openverse-bot|pyup|depfu|whitesource|mend-bolt|restyled|"
    r"nextcloud command|kodiak|lerna)\b.*$",
    re.IGNORECASE,
)
_VERSION = r"v?\d+(?:\.\d+)+(?:[-+.][\w.-]+)?|v\d+"
_BUMP = re.compile(
    _PREFIX + r"(?:"
    rf"bump(?:s|ed|ing)?\b.*\b(?:version|versions|deps|dependency|dependencies|packages?|from|to|{_VERSION})\b"
    rf"|(?:update|upgrade)[sd]?\s+(?:(?:dependency|monorepo)\s+)?[`@\w./-]+\s+(?:to|from)\s+(?:the\s+latest|{_VERSION})"
    r"|(?:update|upgrade|pin|lock)[sd]?\s+(?:(?:all|dev|node|npm|yarn|production|non-major|minor|patch|linters?)\s+)*(?:dependenc(?:y|ies)|deps|devdependencies|lock\s*files?)\b"
    r"|lock\s*file maintenance\b"
    r"|version packages\b"
    r"|(?:prepare\s+|cut\s+)?(?:new\s+)?release\b\s*(?:(?:of\s+)?(?:@?[\w/.-]+[@\s])?v?\d|candidate|$)"
    rf"|publish\s+(?:packages|release|{_VERSION})|(?:{_VERSION})\s*$"
    r")|^\s*(?:chore|build|fix|ci)\(deps(?:-dev)?\)!?:|^\s*chore\(release\)!?:",
    re.IGNORECASE,
)


def is_revert(pull: PullRequest) -> bool:
    """Whether it reverts another change. The revert of a revert is not one: it makes the change again."""
    if not _REVERT.match(pull.title):
        return bool(_REVERTING.match(pull.body)) and not re.match(r"\s*re-?(?:apply|land)", pull.title, re.IGNORECASE)
    return max(1, len(_REVERTED.findall(pull.title))) % 2 == 1


def is_bot(pull: PullRequest) -> bool:
    """Whether a program opened it, judged by the author's name."""
    return bool(_BOT.search(pull.author.strip()))


def is_bump(pull: PullRequest) -> bool:
    """Whether it only changes versions: of dependencies, or its own for a release."""
    return bool(_BUMP.search(pull.title))


#: the funnel's reason -> the function that recognizes it
KINDS = {"revert": is_revert, "bot": is_bot, "bump": is_bump}
