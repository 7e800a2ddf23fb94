"""What may run in the local sandbox, which isolates nothing."""

from __future__ import annotations

import pytest

from pipeline.core.errors import UserError
from pipeline.core.trust import demo_commits, require_trust

DEMO = sorted(demo_commits())[:2]


def test_the_demos_commits_are_known() -> None:
    assert len(demo_commits()) > 10
    assert all(len(sha) == 40 for sha in demo_commits())


@pytest.mark.invariant(5)
@pytest.mark.rule("local-sandbox")
@pytest.mark.parametrize("commits", [["0" * 40], [DEMO[0], "0" * 40]])
def test_foreign_code_needs_the_users_consent(commits: list[str]) -> None:
    """A repository that merely calls itself the demo would run with the user's rights: commits are known by their
    SHAs."""
    with pytest.raises(UserError, match="code that is not the demo's") as error:
        require_trust("local", False, *commits)
    assert "--sandbox docker" in str(error.value) and "--trust-local" in str(error.value)
    require_trust("local", True, *commits)
    require_trust("docker", False, *commits)


@pytest.mark.invariant(5)
@pytest.mark.rule("local-sandbox")
def test_a_models_patch_is_never_trusted_without_consent() -> None:
    """Its patch on the demo's commits is still untrusted code."""
    require_trust("local", False, *DEMO)
    with pytest.raises(UserError, match="a model's patch"):
        require_trust("local", False, *DEMO, trusted_patch=False)
    require_trust("docker", False, *DEMO, trusted_patch=False)
