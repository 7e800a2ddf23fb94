"""Where clones are on this machine. Their paths belong to the machine and are never written to the data.

`01_raw/<repo>/source.json` names a clone by its remote and a commit. It is searched for in A11Y_BENCH_CLONES (a folder
of clones), in the folders that were collected from (`clones.json` in the user's configuration folder), and in the data
directory (`01_raw/<repo>/clone`). The first one that has the commit is used. Does not cover fetching.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from pipeline.core.cache import home, lock
from pipeline.core.errors import UserError
from pipeline.core.git import Clone, has_commit, open_clone
from pipeline.core.names import Repo
from pipeline.core.store import Store, is_list_of_texts, read_object, write_json

#: the options of `collect` that name a clone, by the kind of source in `source.json`
_OPTIONS = {
    "git": "--path CLONE",
    "github": "--source github --path CLONE",
    "dataset": "--source dataset --path FILE --clone CLONE",
}


def describe(clone: Clone) -> dict[str, str]:
    """A clone without its path: its remote, without credentials, and the commit it is at."""
    remote = public_url(clone.remote_url)
    return ({"remote": remote} if remote else {}) | {"commit": clone.git.rev_parse("HEAD")}


def public_url(url: str) -> str:
    """A remote's address without user, password and query; empty for a local folder, and for text that is not an
    address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.scheme in ("http", "https", "ssh", "git"):
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    host, colon, path = url.partition(":")
    is_scp = bool(colon) and "/" not in host and not path.startswith(("//", ":")) and "@" not in path
    return f"{host.rpartition('@')[2]}:{path}" if is_scp else ""


def remember(repo: Repo, clone: Path) -> None:
    """Note on this machine where a repository's clone is: newest first, without folders that no longer exist."""
    path = _list_path()
    with lock(path.with_suffix(".lock")):
        listed = _listed()
        others = [folder for folder in listed.get(str(repo), []) if Path(folder).exists()]
        folders = list(dict.fromkeys([str(clone.absolute()), *others]))
        if listed.get(str(repo)) != folders:
            write_json(path, listed | {str(repo): folders})


def recollect(store: Store, repo: Repo) -> str:
    """The command that collects a repository again from the same kind of source, with a clone. A new repository is
    collected from a clone. Raises UserError for a `source.json` that cannot be read."""
    path = store.raw(repo) / "source.json"
    return _command(repo, read_object(path) if path.exists() else {})


def _command(repo: Repo, about: Mapping[str, object]) -> str:
    return f"just collect-run {repo} {_OPTIONS.get(str(about.get('kind')), _OPTIONS['git'])}"


def not_collected(store: Store, repo: Repo) -> UserError:
    """The error for a repository of which nothing is collected."""
    collected = ", ".join(map(str, store.repositories("01_raw"))) or "none"
    return UserError(f"{repo} is not collected", hint=f"collected: {collected}; run: {_command(repo, {})}")


def find(store: Store, repo: Repo) -> Clone:
    """The clone that a repository was collected from, or another one that has the same commit.

    Raises UserError if the repository is not collected, or if no such clone is found, with the folders it looked in.
    """
    path = store.raw(repo) / "source.json"
    if not path.exists():
        raise not_collected(store, repo)
    adopt_clone_path(store, repo)
    about = read_object(path)
    commit, attempts = about.get("commit", "HEAD"), ["looked at:"]
    for folder in _folders(store, repo):
        found = _open(folder, commit)
        if isinstance(found, Clone):
            return found
        attempts.append(f"  {folder}: {found}")
    remedy = f"name one: {_command(repo, about)}, or a folder of clones in A11Y_BENCH_CLONES"
    problem = (
        f"has the commit {commit}" if commit != "HEAD" else "is known: the repository was collected without a clone"
    )
    raise UserError(f"no clone of {repo} {problem}", path=path, hint="\n  ".join([*attempts, remedy]))


def adopt_clone_paths(store: Store) -> int:
    """Move the paths of clones from a data directory of schema 1 to this machine's list; returns how many."""
    return sum(adopt_clone_path(store, repo) for repo in store.repositories("01_raw"))


def adopt_clone_path(store: Store, repo: Repo) -> bool:
    """The same for one repository; returns whether `source.json` was changed."""
    path = store.raw(repo) / "source.json"
    if not path.exists():
        return False
    before = read_object(path)
    if wrong := [field for field in ("path", "file") if not isinstance(before.get(field, ""), str)]:
        raise UserError("not a text", path=path, field=wrong[0], hint=f"collect again: {_command(repo, before)}")
    about = dict(before)
    if "path" in about:
        folder = Path(about.pop("path"))
        remember(repo, folder)
        found = _open(folder, "HEAD")
        about |= describe(found) if isinstance(found, Clone) else {}
    if "file" in about:
        about["file"] = Path(about["file"]).name
    if about != before:
        write_json(path, about)
    return about != before


def _folders(store: Store, repo: Repo) -> Iterator[Path]:
    """The folders in which a clone may be, in search order."""
    folder = os.environ.get("A11Y_BENCH_CLONES")
    if folder:
        names = (f"{repo.org}/{repo.repo}", repo.slug, repo.repo)
        yield from (Path(folder).absolute() / f"{name}{end}" for name in names for end in ("", ".git"))
    yield from map(Path, _listed().get(str(repo), []))
    yield store.raw(repo) / "clone"
    yield store.raw(repo) / "clone" / "bare.git"


def _open(folder: Path, commit: str) -> Clone | str:
    """The clone in a folder, or why it cannot be used."""
    if not folder.exists():
        return "nothing is there"
    try:
        clone = open_clone(folder)
    except UserError as error:
        return error.message
    return clone if has_commit(clone, commit) else f"it has no commit {commit}"


def _list_path() -> Path:
    import platformdirs

    with home():
        return platformdirs.user_config_path("a11y-bench") / "clones.json"


def _listed() -> dict[str, list[str]]:
    path = _list_path()
    listed = read_object(path) if path.exists() else {}
    for name, folders in listed.items():
        if not is_list_of_texts(folders):
            raise UserError("not a list of folders", path=path, field=name, hint="correct or remove this entry")
    return listed
