"""Pull requests that are not a person's work on the code: reverts, pull requests of bots, and version bumps."""

from __future__ import annotations

import re

from pipeline.core.records import PullRequest

#: `fix(menu)!: `, `[docs] `
_PREFIX = r"^\s*(?:\[[^\]]*\]\s*)?(?:[a-z]+(?:\([^)]*\))?!?:\s*)?"
_TO_REVERT = r"revert(?:s|ed|ing)?\b"
#: what a revert can name after the verb: a quoted title, a number or a commit
_OBJECT = (
    r"[:\s]*(?:[\"“]|'[^']*\s[^']*'"
    r"|(?:(?:the|changes?|part|from|of|in|commits?|pr|pull request|merge(?: request)?)\s+)*"
    r"[(\[]?(?:(?:[\w.-]+/[\w.-]+)?[#!]\d+|(?=[a-f]*\d)[0-9a-f]{7,40}\b))"
)
#: a title of this form is enough: `revert(menu): …`, `chore: revert …`, or a revert with an object
_REVERT = re.compile(
    r"^\s*(?:\[[^\]]*\]\s*)?revert(?:s|ed|ing)?(?:\([^)]*\))?!?:"
    rf"|^\s*(?:\[[^\]]*\]\s*)?chore(?:\([^)]*\))?!?:\s*{_TO_REVERT}(?!\s+(?:back\s+)?to\b)"
    rf"|{_PREFIX}{_TO_REVERT}{_OBJECT}",
    re.IGNORECASE,
)
#: any other title with the verb can also be a fix ("Revert focus to the trigger"): its body decides
_BARE_REVERT = re.compile(rf"{_PREFIX}{_TO_REVERT}", re.IGNORECASE)
#: the quoted titles of reverts within a title
_REVERTED = re.compile(rf"\b{_TO_REVERT}[:\s]*[\"'“(]|(?<=[\"'“])revert(?:s|ed|ing)?(?:\([^)]*\))?!?:", re.IGNORECASE)
_REVERTING = re.compile(
    r"^\s*(?:this reverts commit [0-9a-f]{7,}|reverts? (?:[\w.-]+/[\w.-]+)?#\d+)", re.IGNORECASE | re.MULTILINE
)
_BOT = re.compile(
    r"\[bot\]$|[-_ ]bot$|^bot[-_ ]|"
    r"^(?:dependabot|renovate|greenkeeper|snyk|imgbot|allcontributors|github-actions|semantic-release|changeset|weblate|crowdin|"
    r"mergify|pull-request-bot|backportbot|web-flow-bot|openverse-bot|pyup|depfu|whitesource|mend-bolt|restyled|"
    r"nextcloud[- ]command|kodiak|lerna)\b.*$",
    re.IGNORECASE,
)
#: the end of a version; a ratio (4.5:1), a share, or a quantity with its unit is not a version
_END = r"(?![\w%]|:\d|\s*(?:seconds?|m?s|px|r?em|times)\b)"
_VERSION = rf"[`^~]*(?:v?\d+(?:\.\d+)+(?:[-+.][\w.-]+)?|v\d+(?:-[\w.]+)?){_END}"
#: a package, or something else with a version
_NAME = r"[`@\w./-]+"
#: words between the name and the version
_KIND = r"(?:\s+(?:action|monorepo|digest|orb|docker tag|packages?|versions?))*"
_DEPENDENCIES = r"(?:(?:dev-?)?dependenc(?:y|ies)|deps?)\b(?!\s+(?:arrays?|lists?|of)\b)"
_BUMP_OF = r"bump(?:s|ed|ing)?\b"
_UPDATE_OF = r"(?:security\s+)?(?:update|upgrade|pin)[sd]?\s+"
#: the forms of a bump, after the prefix
_FORMS = (
    rf"{_BUMP_OF}(?:(?!\b(?:of|in|on|for|with)\b).)*\b(?:versions?\b|packages?\b|lock\s*files?\b|{_DEPENDENCIES})",
    rf"{_BUMP_OF}.*\b(?:from|to|at)\s+(?:{_NAME}\s+)?{_VERSION}",
    rf"{_BUMP_OF}(?:\s+{_NAME})?[@\s]{_VERSION}",
    rf"{_BUMP_OF}\s+(?=\S*[@/]){_NAME}\s+(?:from\s+\d+\s+)?to\s+\d+{_END}",
    rf"{_BUMP_OF}\s+the\s+\S+\s+group\b",
    rf"{_UPDATE_OF}(?:(?:dependency|monorepo)\s+)?{_NAME}{_KIND}\s+(?:to|from)\s+"
    rf"(?:(?:version\s+)?{_VERSION}|version\s+\d|the\s+latest\s+version\b)",
    rf"{_UPDATE_OF}(?:dependency|monorepo)\s+{_NAME}\s+(?:to|from)\s+(?:the\s+)?(?:latest|\d)",
    rf"(?:{_UPDATE_OF}|locks?\s+)(?:(?:all|dev|node|npm|yarn|production|non-major|minor|patch|linters?)\s+)*"
    rf"(?:{_DEPENDENCIES}|lock\s*files?\b)",
    r"lock\s*file maintenance\b",
    r"version packages\b",
    rf"(?:prepare\s+|cut\s+)?(?:new\s+)?release\b\s*"
    rf"(?:(?:of\s+)?(?:{_NAME}[@\s])?{_VERSION}|v?\d+\s*$|candidate\b|$)",
    rf"publish\s+(?:packages\b|release\b|{_VERSION})",
    rf"{_VERSION}\s*$",
)
_BUMP = re.compile(rf"{_PREFIX}(?:{'|'.join(_FORMS)})", re.IGNORECASE)
_BUMP_BY_SCOPE = re.compile(r"\s*(?:(?:chore|build|fix|ci)\(deps(?:-dev)?\)|chore\(release\))!?:", re.IGNORECASE)
#: a component that got a new version of its design is work (`feat: update menu to v3`)
_WORK = re.compile(
    r"\s*(?:feat|refactor|perf)(?:\((?!deps)[^)]*\))?!?:\s*(?:update|upgrade)[sd]?\s+[\w-]+\s+to\b", re.IGNORECASE
)
#: quantities and standards of a design: a number after them can look like a version
_QUANTITY = re.compile(
    r"(?<![\w@/-])(?:contrast|ratio|opacity|line-height|size|spacing|width|height|duration|delay|wcag|aria"
    r"|success criteri(?:on|a))(?![\w/-])",
    re.IGNORECASE,
)


def is_revert(pull: PullRequest) -> bool:
    """Whether it reverts another change. The revert of a revert is not one: it makes the change again."""
    if _REVERT.match(pull.title):
        return max(1, len(_REVERTED.findall(pull.title))) % 2 == 1
    if _BARE_REVERT.match(pull.title):
        return bool(_REVERTING.search(pull.body))
    return bool(_REVERTING.match(pull.body)) and not re.match(r"\s*re-?(?:apply|land)", pull.title, re.IGNORECASE)


def is_bot(pull: PullRequest) -> bool:
    """Whether a program opened it, judged by the author's name."""
    return is_bot_name(pull.author)


def is_bot_name(name: str) -> bool:
    """Whether a name is a program's."""
    return bool(_BOT.search(name.strip()))


def is_bump(pull: PullRequest) -> bool:
    """Whether it only changes versions: of dependencies, or its own for a release."""
    if _BUMP_BY_SCOPE.match(pull.title):
        return True
    is_work = _WORK.match(pull.title) or _QUANTITY.search(pull.title)
    return bool(_BUMP.match(pull.title)) and not is_work


#: the funnel's reason -> the function that recognizes it
KINDS = {"revert": is_revert, "bot": is_bot, "bump": is_bump}
