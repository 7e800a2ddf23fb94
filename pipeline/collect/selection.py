"""Which repositories to mine, by docs/thesis.md (section 4.1): popularity, maintenance, relevance to the web.

Reads a list like `repositories.toml` and asks GitHub for the facts; the last push counts as the last commit. Does not
restrict the stages: any repository can be collected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from github import GithubException
from github.Repository import Repository
from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.collect.github.rest import Rest
from pipeline.core.errors import UserError
from pipeline.core.names import Repo, parse_repo
from pipeline.core.texts import misfit, read_toml, wrong_value

STARS = 500
SIX_MONTHS = timedelta(days=183)
#: languages and topics that make a repository web-related if the list does not say it
WEB_LANGUAGES = frozenset({"TypeScript", "JavaScript", "HTML", "CSS", "SCSS", "Vue", "Svelte", "Astro"})
WEB_TOPICS = frozenset(
    {"web", "frontend", "html", "css", "react", "vue", "angular", "svelte", "web-components", "aria"}
)


class Listed(BaseModel):
    """An entry of the list; `web` says how it is web-related. If empty, GitHub's language and topics decide."""

    model_config = ConfigDict(extra="forbid")
    name: str
    web: str = ""
    sampled: bool = False


class Row(NamedTuple):
    """The facts about a repository, and the reasons against it; without any, it is selected."""

    repo: str
    stars: int
    last_commit: str
    web: str
    reasons: tuple[str, ...]


def load_list(path: Path | None = None) -> list[Listed]:
    """The list in `path`, or the thesis's. Raises UserError with file and field."""
    list_path = path or Path("repositories.toml")
    tables = read_toml(path or Path(str(files("pipeline.collect") / "repositories.toml"))).get("repository")
    if not isinstance(tables, list):
        hint = "[[repository]] name = 'org/repo'"
        raise UserError("not a list of repositories", path=list_path, field="repository", hint=hint)
    return [_row(list_path, number, table) for number, table in enumerate(tables)]


def _row(path: Path, number: int, table: Any) -> Listed:
    """An entry of the list, which is numbered from 0. Raises UserError."""
    try:
        row = Listed.model_validate(table)
        parse_repo(row.name)
    except ValidationError as error:
        raise misfit(path, error, place=("repository", number)) from None
    except UserError as error:
        raise wrong_value(path, ("repository", number, "name"), error.message, error.hint) from None
    return row


def select(rest: Rest, listed: Sequence[Listed], now: datetime | None = None) -> Iterator[Row]:
    """A row for each repository, in the list's order, even if GitHub does not have it."""
    since = (now or datetime.now(UTC)) - SIX_MONTHS
    for entry in listed:
        repo = parse_repo(entry.name)
        try:
            facts = rest.facts(str(repo))
        except GithubException as error:
            yield Row(str(repo), 0, "", entry.web, (f"GitHub does not give it: {error.status}",))
            continue
        yield _judge(repo, entry.web or _web(facts), facts, since)


def _judge(repo: Repo, web: str, facts: Repository, since: datetime) -> Row:
    pushed = facts.pushed_at
    criteria: dict[str, Any] = {
        f"not over {STARS} stars": facts.stargazers_count > STARS,
        "no commit in six months": bool(pushed and pushed >= since),
        "not web related": web,
        "archived": not facts.archived,
    }
    moved = facts.full_name.lower() != str(repo).lower()
    name = f"{repo} (now {facts.full_name})" if moved else str(repo)
    failed = tuple(reason for reason, passed in criteria.items() if not passed)
    return Row(name, facts.stargazers_count, pushed.date().isoformat() if pushed else "", web, failed)


def _web(facts: Repository) -> str:
    """The language or topics on GitHub that make a repository web-related; empty without any."""
    topics = sorted(WEB_TOPICS.intersection(facts.topics))
    return facts.language if facts.language in WEB_LANGUAGES else ", ".join(topics)
