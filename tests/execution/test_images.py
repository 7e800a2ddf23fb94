"""Which files of a commit an installation sees."""

from __future__ import annotations

from pathlib import Path

import pytest
from histories import History

from pipeline.core.errors import UserError
from pipeline.core.git import open_clone
from pipeline.execution.images import manifests_of

RELEASE = ".yarn/releases/yarn-1.22.4.js"


FILES = {"package.json": "{}", RELEASE: "a megabyte", "src/a.js": ""}


def test_a_release_of_the_manager_missing_in_the_clone_is_left_out(tmp_path: Path) -> None:
    """Clones of some repositories lack the largest files. For a package manager's release only the version in its name
    matters; a manifest without its content says nothing."""
    whole, without, broken = (History(tmp_path / name) for name in ("whole", "without", "broken"))
    heads = [history.commit("base", FILES) for history in (whole, without, broken)]
    assert manifests_of(open_clone(whole.folder), heads[0]) == {"package.json": b"{}", RELEASE: b"a megabyte"}
    without.lose(heads[1], RELEASE)
    assert manifests_of(open_clone(without.folder), heads[1]) == {"package.json": b"{}"}
    broken.lose(heads[2], "package.json")
    with pytest.raises(UserError, match=r"lacks the content of package\.json"):
        manifests_of(open_clone(broken.folder), heads[2])
