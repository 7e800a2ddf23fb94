"""Makes the git history of the embedded benchmark from its files: the same commits on every machine.

Reads from the demo folder: `library/` (the first commit), `pulls/*/pull.toml` with `pulls/*/change.patch` (one squash
commit each, in the order of their numbers) and `commits.json` (the commits that must result). Writes one bare
repository with the branch `main`, and nothing else. Ignores the git configuration of the host. Does not cover issues,
reviews and model answers.

After a change of the files: `python -m pipeline.demo.history --write DEMO` writes `commits.json` again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.core.errors import UserError

MAINTAINER = "harbor-ui"
STARTED = "2024-02-26T08:00:00Z"
FIRST_MESSAGE = "Harbor UI 0.8.0\n"

_MARK = "a11ybench.demo"
_SETTINGS = (
    f"core.attributesFile={os.devnull}",
    f"core.excludesFile={os.devnull}",
    "core.autocrlf=false",
    "core.fileMode=false",
)
_ISOLATED = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1"}


class Pull(NamedTuple):
    """What the history needs of one pull request."""

    number: int
    title: str
    body: str
    author: str
    merged_at: str
    patch: Path

    @property
    def message(self) -> str:
        """The commit message that a squash merge gives: `Title (#N)`, then the body."""
        return f"{self.title} (#{self.number})\n\n{self.body.strip()}\n"


def read_pulls(demo: Path) -> list[Pull]:
    """The pull requests of `demo/pulls/`, oldest first. Raises UserError if a `pull.toml` cannot be read."""
    return sorted((_read_pull(path) for path in demo.glob("pulls/*/pull.toml")), key=lambda pull: pull.number)


def build_history(demo: Path, target: Path) -> dict[str, Any]:
    """Makes the bare repository `target` from the files in `demo`, unless it is up to date.

    Returns the content of `commits.json`: `{"base": sha, "pulls": {"N": {"base": sha, "merge": sha}}}`. Raises
    UserError if the commits differ from that list, or if `target` contains something that was not made here.
    """
    trusted = json.loads((demo / "commits.json").read_text(encoding="utf-8"))
    if _head(target) == _newest(trusted):
        return trusted
    _refuse_foreign(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".history-") as scratch:
        fresh = Path(scratch) / "repository.git"
        _check(write_history(demo, fresh), trusted, demo / "commits.json")
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)
    return trusted


def write_history(demo: Path, repository: Path) -> dict[str, Any]:
    """Makes the bare repository and returns its commits in the form of `commits.json`, unchecked."""
    _git(repository, "init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--initial-branch=main")
    _git(repository, "config", _MARK, "true")
    _git(repository, f"--work-tree={(demo / 'library').resolve()}", "add", "--all")
    first = head = _commit(repository, FIRST_MESSAGE, MAINTAINER, STARTED)
    pulls = {}
    for pull in read_pulls(demo):
        _git(repository, "apply", "--cached", "--whitespace=nowarn", str(pull.patch.resolve()))
        merge = _commit(repository, pull.message, pull.author, pull.merged_at, parent=head)
        pulls[str(pull.number)] = {"base": head, "merge": merge}
        head = merge
    _git(repository, "update-ref", "refs/heads/main", head)
    return {"base": first, "pulls": pulls}


def _read_pull(path: Path) -> Pull:
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
        values = {name: fields[name] for name in Pull._fields if name != "patch"}
    except tomllib.TOMLDecodeError as error:
        raise UserError(str(error), path=path, hint="the file is TOML; correct it") from error
    except KeyError as error:
        raise UserError("is missing", path=path, field=error.args[0], hint="add it") from error
    return Pull(**values, patch=path.with_name("change.patch"))


def _commit(repository: Path, message: str, author: str, when: str, parent: str | None = None) -> str:
    """Commits the index; author and committer date are both `when` (ISO 8601, UTC). Returns the SHA."""
    tree = _git(repository, "write-tree")
    parents = ["-p", parent] if parent else []
    return _git(repository, "commit-tree", tree, *parents, "-F", "-", stdin=message, env=_identity(author, when))


def _identity(author: str, when: str) -> dict[str, str]:
    date = f"{int(datetime.fromisoformat(when).timestamp())} +0000"
    people = {"AUTHOR": author, "COMMITTER": MAINTAINER}
    return {
        f"GIT_{role}_{field}": value
        for role, name in people.items()
        for field, value in (("NAME", name), ("EMAIL", f"{name}@users.noreply.example.org"), ("DATE", date))
    }


def _git(repository: Path, *args: str, stdin: str = "", env: Mapping[str, str] | None = None) -> str:
    """Runs git on the bare repository without the host's configuration; returns its output, stripped."""
    host = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    result = subprocess.run(
        ["git", f"--git-dir={repository.resolve()}", *settings, *args],
        input=stdin.encode(),
        env={**host, **_ISOLATED, **(env or {})},
        capture_output=True,
    )
    if result.returncode:
        problem = result.stderr.decode(errors="replace").strip()
        raise UserError(f"git {args[0]} failed: {problem}", path=repository, hint=f"it was: git {' '.join(args)}")
    return result.stdout.decode().strip()


def _head(target: Path) -> str | None:
    """The newest commit of `main`, or None without such a repository."""
    try:
        return _git(target, "rev-parse", "--verify", "--quiet", "refs/heads/main")
    except UserError:
        return None


def _newest(commits: Mapping[str, Any]) -> str:
    return commits["pulls"][max(commits["pulls"], key=int)]["merge"]


def _refuse_foreign(target: Path) -> None:
    """Raises UserError for a target that this module did not make, and which must therefore not be replaced."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    try:
        _git(target, "config", "--get", _MARK)
    except UserError as error:
        raise UserError("is not a history made by the demo", path=target, hint="choose another place for it") from error


def _check(actual: Mapping[str, Any], trusted: Mapping[str, Any], path: Path) -> None:
    listed = {"base": trusted["base"], **trusted["pulls"]}
    for name, commit in {"base": actual["base"], **actual["pulls"]}.items():
        if listed.get(name) != commit:
            raise UserError(
                f"the demo's files give commit {commit}, but this file lists {listed.get(name)}",
                path=path,
                field=name,
                hint="undo the change of the demo's files, or run `python -m pipeline.demo.history --write DEMO`",
            )


def _main() -> None:
    parser = argparse.ArgumentParser(description="Writes commits.json again from the files of the demo.")
    parser.add_argument("--write", metavar="DEMO", type=Path, required=True, help="the demo's folder, data/demo")
    demo = parser.parse_args().write
    with tempfile.TemporaryDirectory() as scratch:
        commits = write_history(demo, Path(scratch) / "repository.git")
    (demo / "commits.json").write_text(json.dumps(commits, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _main()
