"""`a11y-bench select`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("repos", nargs=-1)
@click.option("--list", "path", type=click.Path(path_type=Path), help="A TOML file with another list of repositories.")
def command(repos: tuple[str, ...], path: Path | None) -> None:
    """Show which repositories qualify: over 500 stars, a commit within six months, web-related.

    \b
    The criteria are those of the thesis with which the project began (docs/thesis.md). Without REPOS, checks the
    thesis's 29 repositories. Queries GitHub (GITHUB_TOKEN); writes nothing.
    Example: a11y-bench select grommet/grommet elastic/eui
    """
    from pipeline.collect.github.limits import Tokens, tokens_of_environment
    from pipeline.collect.github.rest import Rest
    from pipeline.collect.github.source import api_url
    from pipeline.collect.selection import Listed, load_list, select
    from pipeline.core.console import say, table

    listed = [Listed(name=name) for name in repos] or load_list(path)
    rest = Rest(api_url(), Tokens(tokens_of_environment()))
    rows = []
    for row in select(rest, listed):
        say(f"{row.repo}: {'; '.join(row.reasons) or 'selected'}")
        rows.append((row.repo, row.stars, row.last_commit, row.web, "; ".join(row.reasons) or "selected"))
    rest.close()
    table("Repositories", ("repository", "stars", "last commit", "web", "reason"), rows)
