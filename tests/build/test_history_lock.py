"""The versions of another commit's lock file, for a commit that has none."""

from __future__ import annotations

from pathlib import Path

import pytest
from histories import History

from pipeline.build.history_lock import HistoryLock, nearest, pins
from pipeline.core.git import open_clone
from pipeline.core.records import Edit

YARN = """# yarn lockfile v1


a@^1.0.0, a@^1.2.0:
  version "1.4.0"

a@~1.3.0:
  version "1.3.9"

"@s/b@>=2 <4":
  version "3.0.1"

c@^10.0.0:
  version "10.2.0"
"""
LOCK = HistoryLock("yarn.lock", YARN, "0" * 40, "2018-06-01")


@pytest.mark.parametrize(
    ("name", "wanted", "version"),
    [
        ("a", "^1.2.0", "1.4.0"),
        ("a", "~1.3.0", "1.3.9"),
        ("a", "^1.1.0", "1.4.0"),
        ("a", "<1.4", "1.3.9"),
        ("a", "^2.0.0", ""),
        ("a", "^0.9.0 || ^1.4.0", "1.4.0"),
        ("@s/b", "^3.0.0", "3.0.1"),
        ("c", ">=9", "10.2.0"),
        ("c", "https://a.example/c.tgz", ""),
        ("none", "*", ""),
    ],
)
def test_the_version_is_that_of_the_same_range_or_the_newest_within_it(name: str, wanted: str, version: str) -> None:
    assert LOCK.version(name, wanted) == version


def test_each_range_is_pinned_once_unless_it_is_that_version() -> None:
    requested = [("a", "^1.1.0"), ("a", "^1.1.0"), ("c", "10.2.0"), ("none", "1.0.0")]
    assert list(pins(LOCK, requested)) == [Edit(kind="pin", name="a", old="^1.1.0", new="1.4.0")]


@pytest.mark.parametrize(
    ("day", "text"), [("2016-01-01", "first"), ("2017-06-30", "first"), ("2017-07-02", "second"), ("2030-01-01", "npm")]
)
def test_the_lock_file_nearest_in_time_is_taken(tmp_path: Path, day: str, text: str) -> None:
    """Before the repository had one, between two, and after it took another manager's."""
    history = History(tmp_path / "clone")
    commits: dict[str, dict[str, str | None]] = {
        "2016-01-01": {"package.json": "{}"},
        "2017-01-01": {"yarn.lock": "first"},
        "2017-12-31": {"yarn.lock": "second"},
        "2019-06-01": {"docs/yarn.lock": "docs"},
        "2019-12-31": {"yarn.lock": None},
        "2020-01-01": {"package-lock.json": "npm"},
    }
    for date, files in commits.items():
        history.commit("work", files, GIT_COMMITTER_DATE=f"{date}T12:00:00+00:00")
    lock = nearest(open_clone(history.folder), day)
    assert lock and lock.text == text
    assert lock.day in {"2017-01-01", "2017-12-31", "2020-01-01"} and len(lock.commit) == 40


def test_a_history_may_have_no_lock_file(tmp_path: Path) -> None:
    history = History(tmp_path / "clone")
    history.commit("none", {"package.json": "{}", "docs/yarn.lock": "docs"})
    assert nearest(open_clone(history.folder), "2018-01-01") is None


def test_a_commit_may_have_no_date(tmp_path: Path) -> None:
    history = History(tmp_path / "clone")
    history.commit("locked", {"yarn.lock": YARN})
    assert nearest(open_clone(history.folder), "") is None
