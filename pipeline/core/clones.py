"""Where clones are on this machine. That is a fact of the machine and never of the data.

`01_raw/<repo>/source.json` names a clone by its remote and a commit. It is searched for in A11Y_BENCH_CLONES (a folder
of clones), where it was last collected from (`clones.json` in the user's configuration folder), and inside the data
directory (`01_raw/<repo>/clone`). The first one that has the commit is used. Does not cover fetching.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from pipeline.core.cache import lock
from pipeline.core.errors import UserError
from pipeline.core.git import Clone, has_commit, open_clone
from pipeline.core.names import Repo
from pipeline.core.store import Store, read_json, write_json


def describe(clone: Clone) -> dict[str, str]:
    """What a clone is, wherever it lies: its remote, without credentials, and the commit it is at."""
    remote = public_url(clone.remote_url)
    return ({"remote": remote} if remote else {}) | {"commit": clone.git.rev_parse("HEAD")}


def public_url(url: str) -> str:
    """A remote's address without user, password and query; empty for a folder, which is a place on some machine."""
    parts = urlsplit(url)
    if parts.scheme in ("http", "https", "ssh", "git"):
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    host, colon, path = url.partition(":")
    is_scp = bool(colon) and "/" not in host and not path.startswith("//")
    return f"{host.rpartition('@')[2]}:{path}" if is_scp else ""


def remember(repo: Repo, clone: Path) -> None:
    """Note on this machine where a repository's clone lies; the last one comes first, and those that are gone go."""
    path = _list_path()
    with lock(path.with_suffix(".lock")):
        known = _known()
        others = [place for place in known.get(str(repo), []) if Path(place).exists()]
        there = list(dict.fromkeys([str(clone.absolute()), *others]))
        if known.get(str(repo)) != there:
            write_json(path, known | {str(repo): there})


def find(store: Store, repo: Repo) -> Clone:
    """The clone that a repository was collected from, or another that holds the same commit.

    Raises UserError, with where it looked, when it is not collected or no such clone is known.
    """
    path = store.raw(repo) / "source.json"
    if not path.exists():
        there = ", ".join(str(one) for one in store.repositories("01_raw")) or "none"
        hint = f"collected are: {there}; run: just collect-run {repo} --path CLONE"
        raise UserError(f"{repo} is not collected", hint=hint)
    adopt_clone_path(store, repo)
    commit, looked = read_json(path).get("commit", "HEAD"), ["looked at:"]
    for place in _places(store, repo):
        found = _open(place, commit)
        if isinstance(found, Clone):
            return found
        looked.append(f"  {place}: {found}")
    todo = f"name one: just collect-run {repo} --path CLONE, or a folder of clones in A11Y_BENCH_CLONES"
    what = f"that holds the commit {commit}" if commit != "HEAD" else "is known: it was collected without one"
    raise UserError(f"no clone of {repo} {what}", path=path, hint="\n  ".join([*looked, todo]))


def adopt_clone_paths(store: Store) -> int:
    """Take the places of clones out of a data directory of schema 1, to the list of this machine; returns how many."""
    return sum(adopt_clone_path(store, repo) for repo in store.repositories("01_raw"))


def adopt_clone_path(store: Store, repo: Repo) -> bool:
    """The same for one repository; returns whether there was something to take out."""
    path = store.raw(repo) / "source.json"
    if not path.exists():
        return False
    before: dict[str, Any] = read_json(path)
    about = dict(before)
    if "path" in about:
        place = Path(about.pop("path"))
        remember(repo, place)
        found = _open(place, "HEAD")
        about |= describe(found) if isinstance(found, Clone) else {}
    if "file" in about:
        about["file"] = Path(about["file"]).name
    if about != before:
        write_json(path, about)
    return about != before


def _places(store: Store, repo: Repo) -> Iterator[Path]:
    """Where a clone may lie, in the order in which it is looked for."""
    folder = os.environ.get("A11Y_BENCH_CLONES")
    if folder:
        names = (f"{repo.org}/{repo.repo}", repo.slug, repo.repo)
        yield from (Path(folder).absolute() / f"{name}{end}" for name in names for end in ("", ".git"))
    yield from map(Path, _known().get(str(repo), []))
    yield store.raw(repo) / "clone"
    yield store.raw(repo) / "clone" / "bare.git"


def _open(place: Path, commit: str) -> Clone | str:
    """The clone at a place, or why it is not the one."""
    if not place.exists():
        return "nothing is there"
    try:
        clone = open_clone(place)
    except UserError as error:
        return error.message
    return clone if has_commit(clone, commit) else f"it has no commit {commit}"


def _list_path() -> Path:
    import platformdirs

    return platformdirs.user_config_path("a11y-bench") / "clones.json"


def _known() -> dict[str, list[str]]:
    path = _list_path()
    return read_json(path) if path.exists() else {}
