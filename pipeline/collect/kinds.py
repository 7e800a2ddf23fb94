"""Pull requests that are not a person's work on the code: reverts, pull requests of bots, and version bumps."""

from __future__ import annotations

import re
from collections.abc import Collection

from pipeline.core.records import PullRequest

#: the title of a change that Gerrit merged
_MERGE = re.compile(r"\s*Merge \"(?P<title>.*)\"(?: into \S+)?\s*")
#: `🔥 fix(menu)!: `, `[docs] `
_PREFIX = r"^[^\w\[\"'`(]*(?:\[[^\]]*\]\s*)?(?:[a-z]+(?:\([^)]*\))?!?:\s*)?"
_TO_REVERT = r"(?:revert(?:s|ed|ing)?|roll(?:s|ed|ing)?[\s-]?back|back(?:s|ed|ing)?[\s-]?out)\b"
#: what a revert can name after the verb: a quoted title, a number or a commit; a quoted word is a value
_OBJECT = (
    r"[:\s]*(?:[\"“](?:[^\"”\n]*\s|[^\s\"”]*[\"”]\s*(?:\(|$))|`[^`\n]*`\s*(?:\(|$)|'[^']*\s[^']*'"
    r"|(?:(?:the|changes?|part|from|of|in|commits?|pr|pull request|merge(?: request)?)\s+)*"
    r"[(\[]?(?:(?:[\w.-]+/[\w.-]+)?[#!]\d+|(?=[a-f]*\d)[0-9a-f]{7,40}\b)"
    r"|(?![:\s]*(?:back\s+)?to\b).*\s\([#!]\d+\)\s*$)"
)
#: a title of this form is enough: `revert(menu): …`, `chore: revert …`, the branch of GitHub's button, or a revert with
#: an object
_REVERT = re.compile(
    r"^[^\w\[]*(?:\[[^\]]*\]\s*)?revert(?:s|ed|ing)?(?:\([^)]*\))?!?:|^\W*\[revert\]"
    rf"|^\s*(?:\[[^\]]*\]\s*)?chore(?:\([^)]*\))?!?:\s*{_TO_REVERT}(?!\s+(?:back\s+)?to\b)"
    r"|^Merge pull request #\d+ from \S*\brevert-\d+-"
    rf"|{_PREFIX}(?:partial(?:ly)?\s+)?{_TO_REVERT}(?:\^\d+)?{_OBJECT}",
    re.IGNORECASE,
)
#: any other title with the verb can also be a fix ("Revert focus to the trigger"): its body decides
_BARE_REVERT = re.compile(rf"{_PREFIX}(?:partial(?:ly)?\s+)?{_TO_REVERT}", re.IGNORECASE)
#: a title that may describe a revert in other words
_TAKEN_BACK = re.compile(
    r"(?!\s*re-?(?:apply|land)).*\b(?:reverts?|reverting|undo(?:es|ing)?|tak(?:e|es|ing)\b.*\bback)\b", re.IGNORECASE
)
#: the quoted titles of reverts within a title; `Revert^2` counts twice
_REVERTED = re.compile(
    rf"\b{_TO_REVERT}(?:\^(?P<times>\d{{1,3}}))?[:\s]*[\"'“(]|(?<=[\"'“`])revert(?:s|ed|ing)?(?:\([^)]*\))?!?:",
    re.IGNORECASE,
)
_REVERTING = re.compile(
    r"^\s*(?:this reverts commit [0-9a-f]{7,}|reverts? (?:[\w.-]+/[\w.-]+)?#\d+)", re.IGNORECASE | re.MULTILINE
)
_BOT = re.compile(
    r"\[bot\]$|[-_ ](?:ro)?bot$|^bot[-_ ]|^translatewiki\.net$|"
    r"^(?:dependabot|renovate|greenkeeper|snyk|imgbot|allcontributors|github[- ]actions|semantic-release|changeset|"
    r"(?:hosted )?weblate|crowdin|mergify|pull-request-bot|backportbot|web-flow-bot|openverse-bot|pyup|depfu|"
    r"whitesource|mend-bolt|restyled|nextcloud[- ]command|kodiak|lerna)\b.*$",
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
#: the forms of a release, after the prefix: its title is enough, since it can contain whatever was built
_RELEASES = (
    r"version\s+(?:packages|bump)\b",
    rf"{_BUMP_OF}\s+(?:the\s+)?(?:version|main|master)\b(?!\s+of\b)",
    rf"(?:prepare\s+|cut\s+)?(?:new\s+)?release\b\s*"
    rf"(?:(?:of\s+)?(?:{_NAME}[@\s])?{_VERSION}|v?\d+\s*$|candidate\b|$)",
    rf"(?:publish|tag)\s+(?:packages\b|release\b|{_VERSION})",
    rf"{_VERSION}\s*(?:\[[^\]]*\]\s*)?$",
    r"merge\s+(?:branch\s+)?[`'\"]?(?:dev|develop|development|next|staging|release)\b\S*\s+(?:in)?to\s+",
)
#: the forms of a bump of dependencies
_UPDATES = (
    rf"{_BUMP_OF}(?:(?!\b(?:of|in|on|for|with)\b).)*\b(?:versions?\b|packages?\b|lock\s*files?\b|{_DEPENDENCIES})",
    rf"{_BUMP_OF}.*\b(?:from|to|at)\s+(?:{_NAME}\s+)?{_VERSION}",
    rf"{_BUMP_OF}(?:\s+{_NAME})?[@\s]{_VERSION}",
    rf"{_BUMP_OF}\s+(?=\S*[@/]){_NAME}\s+to\s+\d+{_END}",
    rf"{_BUMP_OF}\s+{_NAME}\s+from\s+\d+\s+to\s+\d+{_END}",
    rf"{_BUMP_OF}\s+the\s+\S+\s+group\b",
    rf"{_UPDATE_OF}(?:(?:dependency|monorepo)\s+)?{_NAME}{_KIND}\s+(?:to|from)\s+"
    rf"(?:(?:version\s+)?{_VERSION}|version\s+\d|the\s+latest\s+version\b)",
    rf"{_UPDATE_OF}(?:dependency|monorepo)\s+{_NAME}\s+(?:to|from)\s+(?:the\s+)?(?:latest|\d)",
    rf"(?:{_UPDATE_OF}|locks?\s+)(?:(?:all|dev|node|npm|yarn|production|non-major|minor|patch|linters?)\s+)*"
    rf"(?:{_DEPENDENCIES}|lock\s*files?\b|[\w./-]*(?:\.lock|-lock\.\w+|shrinkwrap\.json)\b)",
    r"lock\s*file maintenance\b",
)
_RELEASE = re.compile(rf"\s*chore\(release\)!?:|{_PREFIX}(?:{'|'.join(_RELEASES)})", re.IGNORECASE)
_UPDATE = re.compile(rf"{_PREFIX}(?:{'|'.join(_UPDATES)})", re.IGNORECASE)
_UPDATE_BY_SCOPE = re.compile(r"\s*(?:chore|build|fix|ci)\(deps(?:-dev)?\)!?:", re.IGNORECASE)
#: files that a bump changes: manifests, lock files, configuration, changelogs, and code of others
_NO_WORK = re.compile(
    r"(?:^|/)(?:package|bower|component|composer|lerna|manifest|nx|npm-shrinkwrap|[jt]sconfig[^/]*)\.json$"
    r"|[^/]*(?:[-.]lock(?:b|\.\w+)?|rc(?:\.\w+)?|\.config\.\w+|\.(?:md|markdown|txt|toml|ya?ml|cfg|ini|gz|tgz))$"
    r"|(?:^|/)(?:Gemfile|Podfile|Dockerfile|go\.(?:mod|sum)|CHANGELOG|VERSION)[^/]*$"
    r"|(?:^|/)(?:\.[^/]+|node_modules|vendors?|third[-_]party|changes?)(?:/|$)",
    re.IGNORECASE,
)
#: a component that got a new version of its design is work (`feat: update menu to v3`)
_WORK = re.compile(
    r"\s*(?:feat|refactor|perf)(?:\((?!deps)[^)]*\))?!?:\s*(?:update|upgrade)[sd]?\s+[\w-]+\s+to\b", re.IGNORECASE
)
#: quantities and standards of a design: a number after them can look like a version
_QUANTITY = re.compile(
    r"(?<![\w@/-])(?:contrast|ratio|opacity|line-height|size|spacing|z-index|width|height|duration|delay|wcag|aria"
    r"|success criteri(?:on|a))(?![\w/-])",
    re.IGNORECASE,
)


def is_revert(pull: PullRequest, _: Collection[str] = ()) -> bool:
    """Whether it reverts another change. The revert of a revert is not one: it makes the change again."""
    title = _title(pull)
    if _REVERT.match(title):
        return sum(int(match["times"] or 1) for match in _REVERTED.finditer(title)) % 2 == 1 or not _REVERTED.search(
            title
        )
    if _BARE_REVERT.match(title):
        return bool(_REVERTING.search(pull.body))
    return bool(_REVERTING.match(pull.body) and _TAKEN_BACK.match(title))


def is_bot(pull: PullRequest, _: Collection[str] = ()) -> bool:
    """Whether a program opened it, judged by the author's name."""
    return is_bot_name(pull.author)


def is_bot_name(name: str) -> bool:
    """Whether a name is a program's."""
    return bool(_BOT.search(name.strip()))


def is_bump(pull: PullRequest, sources: Collection[str] = ()) -> bool:
    """Whether it only changes versions: of dependencies, or its own for a release. `sources` are the files that it
    changes besides tests: an update that needed changes of the code is work."""
    title = _title(pull)
    if _WORK.match(title) or (_QUANTITY.search(title) and not _UPDATE_BY_SCOPE.match(title)):
        return False
    is_update = _UPDATE_BY_SCOPE.match(title) or _UPDATE.match(title)
    return bool(_RELEASE.match(title) or (is_update and all(map(_NO_WORK.search, sources))))


def _title(pull: PullRequest) -> str:
    match = _MERGE.fullmatch(pull.title)
    return match["title"] if match else pull.title


#: the funnel's reason -> the function that recognizes it, given also the files besides tests that change
KINDS = {"revert": is_revert, "bot": is_bot, "bump": is_bump}
