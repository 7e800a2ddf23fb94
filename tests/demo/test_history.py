"""The demo's history has the same commits on every machine, and replaces only a history that the demo made."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pipeline.core.errors import UserError
from pipeline.demo.history import build_history, read_pulls

DEMO = Path(__file__).parents[2] / "data" / "demo"
COMMITS = json.loads((DEMO / "commits.json").read_text(encoding="utf-8"))


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A copy of the demo's files for a test to change."""
    return shutil.copytree(DEMO, tmp_path / "demo")


def log(repository: Path, pretty: str) -> list[str]:
    command = ["git", f"--git-dir={repository}", "log", "--reverse", "-z", f"--pretty=format:{pretty}", "main"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")


def test_the_listed_commits_are_made(tmp_path: Path) -> None:
    assert build_history(DEMO, tmp_path / "repository") == COMMITS
    merges = [pull["merge"] for pull in COMMITS["pulls"].values()]
    assert log(tmp_path / "repository", "%H") == [COMMITS["base"], *merges]


def test_each_pull_request_is_one_squash_commit(tmp_path: Path) -> None:
    build_history(DEMO, tmp_path / "repository")
    messages = [message.strip() for message in log(tmp_path / "repository", "%B")[1:]]
    assert messages == [f"{pull.title} (#{pull.number})\n\n{pull.body.strip()}" for pull in read_pulls(DEMO)]


def test_settings_of_the_host_change_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's signing, line endings, identities and surrounding repository would change the commits."""
    config = tmp_path / ".gitconfig"
    config.write_text("[commit]\ngpgSign = true\n[core]\nautocrlf = true\n[user]\nname = Host\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Host")
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert build_history(DEMO, tmp_path / "repository") == COMMITS


def test_an_up_to_date_history_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "repository"
    build_history(DEMO, target)
    (target / "kept").touch()
    build_history(DEMO, target)
    assert (target / "kept").exists()


def test_a_stale_history_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "repository"
    build_history(DEMO, target)
    subprocess.run(["git", f"--git-dir={target}", "update-ref", "refs/heads/main", COMMITS["base"]], check=True)
    build_history(DEMO, target)
    assert len(log(target, "%H")) == 1 + len(COMMITS["pulls"])


def test_a_foreign_repository_is_refused_and_left_alone(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path / "mine")], check=True)
    with pytest.raises(UserError, match="not a history made by the demo"):
        build_history(DEMO, tmp_path / "mine")
    assert (tmp_path / "mine" / "HEAD").exists()


def test_changed_files_are_refused(demo: Path, tmp_path: Path) -> None:
    (demo / "library" / "README.md").write_text("changed\n")
    with pytest.raises(UserError, match=r"commits\.json: field 'base'.*(?s:.)*--write"):
        build_history(demo, tmp_path / "repository")
    assert not (tmp_path / "repository").exists()


def test_a_broken_pull_request_is_named(demo: Path, tmp_path: Path) -> None:
    path = sorted(demo.glob("pulls/*/pull.toml"))[0]
    path.write_text("number = 12\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"012-avatar.*pull\.toml: field 'title'"):
        build_history(demo, tmp_path / "repository")


def test_a_patch_that_does_not_apply_is_named(demo: Path, tmp_path: Path) -> None:
    patch = sorted(demo.glob("pulls/*/change.patch"))[0]
    patch.write_bytes(patch.read_bytes().replace(b'size = "medium"', b'size = "other"'))
    with pytest.raises(UserError, match="012-avatar"):
        build_history(demo, tmp_path / "repository")
