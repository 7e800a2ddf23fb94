"""Records for tests: each is valid, and each field can be overridden. Writes nothing.

An instance's tests are given as they are stored: three letters for base, test patch and gold patch (P passed, F failed,
S skipped, N none), followed by ` snapshot` if a fixed test failed by its snapshot alone. `make_instance(3,
tests={"Menu.test.tsx > has a name": "PFP"})`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.core.names import Repo
from pipeline.core.records import (
    Base,
    Candidate,
    Environment,
    Evidence,
    Instance,
    Issue,
    Outcome,
    Prediction,
    PullRequest,
    Rejection,
    Review,
    Verdict,
)
from pipeline.core.store import digest
from pipeline.sandbox.base import Completed

REPO = Repo("acme", "ui")
TESTS = {"src/Menu.test.tsx > Menu > has a name": "PFP", "src/Menu.test.tsx > Menu > opens": "PPP"}
FIX_PATCH = """\
diff --git a/src/Menu.tsx b/src/Menu.tsx
--- a/src/Menu.tsx
+++ b/src/Menu.tsx
@@ -1 +1 @@
-export const Menu = () => <nav />;
+export const Menu = () => <nav aria-label="Menu" />;
"""
TEST_PATCH = """\
diff --git a/src/Menu.test.tsx b/src/Menu.test.tsx
--- a/src/Menu.test.tsx
+++ b/src/Menu.test.tsx
@@ -1 +1 @@
-getByRole("navigation");
+getByRole("navigation", { name: "Menu" });
"""


def make_pull_request(number: int = 1, repo: Repo = REPO, **overrides: Any) -> PullRequest:
    return PullRequest(**_pull_request(number, repo) | overrides)


def make_candidate(number: int = 1, repo: Repo = REPO, **overrides: Any) -> Candidate:
    evidence = Evidence(field="title", pattern="aria", text="aria", place=4)
    fields = {"fix_patch": FIX_PATCH, "test_patch": TEST_PATCH, "statement_source": "issue", "a11y_reason": (evidence,)}
    return Candidate(**_pull_request(number, repo) | fields | overrides)


def make_environment(**overrides: Any) -> Environment:
    fields = {
        "node": "20.19.5",
        "manager": "npm",
        "manager_version": "10.8.2",
        "install": ("npm", "ci"),
        "runner": "jest",
        "runner_version": "29.7.0",
        "test": ("npx", "jest", "--json", "--outputFile={report}", "{files}"),
        "parser": "jest-json",
    }
    return Environment(**fields | overrides)


def make_instance(number: int = 1, repo: Repo = REPO, tests: Mapping[str, str] = TESTS, **overrides: Any) -> Instance:
    """An instance with these `tests`."""
    fields = _pull_request(number, repo)
    del fields["author"], fields["labels"]
    fields |= {
        "instance_id": repo.instance_id(number),
        "tests": dict(tests),
        "fix_patch": FIX_PATCH,
        "test_patch": TEST_PATCH,
        "lang": "typescript",
        "environment": make_environment(),
        "environment_digest": "e" * 32,
        "manifests": "b" * 40,
        "image": "i" * 32,
        "sandbox": "scripted",
        "files": ("src/Menu.test.tsx",),
        "repeats": 3,
        "statement_source": "issue",
    }
    return Instance(**fields | overrides)


def make_prediction(number: int = 1, repo: Repo = REPO, **overrides: Any) -> Prediction:
    fields = {
        "instance_id": repo.instance_id(number),
        "model_name_or_path": "model-a",
        "model_patch": FIX_PATCH,
        "agent": "magentless",
        "run": "r" * 32,
        "outcome": "patch",
    }
    return Prediction(**fields | overrides)


def make_verdict(prediction: Prediction, outcome: Outcome = Outcome.RESOLVED, **overrides: Any) -> Verdict:
    """A verdict on this prediction."""
    fields = {
        "instance_id": prediction.instance_id,
        "agent": prediction.agent,
        "model": prediction.model_name_or_path,
        "run": prediction.run,
        "outcome": outcome,
        "patch_digest": digest(prediction.model_patch),
        "image": "i" * 32,
        "expected": 2,
        "fixed": tuple(TESTS)[:1] if outcome is Outcome.RESOLVED else (),
    }
    return Verdict(**fields | overrides)


def make_review(number: int = 1, repo: Repo = REPO, **overrides: Any) -> Review:
    fields = {"rater": "ann", "status": "super", "success_criteria": ("4.1.2",), "principles": ("robust",)}
    return Review(**{"instance_id": repo.instance_id(number)} | fields | overrides)


def make_rejection(number: int = 1, repo: Repo = REPO, **overrides: Any) -> Rejection:
    return Rejection(**{"instance_id": repo.instance_id(number), "stage": "build", "reason": "regression"} | overrides)


def _pull_request(number: int, repo: Repo) -> dict[str, Any]:
    issue = Issue(number=number + 100, title="Menu has no name", body="A screen reader says nothing.")
    return {
        "org": repo.org,
        "repo": repo.repo,
        "number": number,
        "title": "Add aria-label to Menu",
        "body": f"Fixes #{number + 100}",
        "author": "ann",
        "labels": ("accessibility",),
        "state": "merged",
        "base": Base(label=f"{repo.org}:main", ref="main", sha="b" * 40),
        "merge_sha": "c" * 40,
        "merged_at": "2024-05-06T07:08:09Z",
        "resolved_issues": (issue,),
    }


def own_command(argv: Sequence[str], *changed: str) -> Completed:
    """The result of one of our own commands in a double: these files are the ones that patches changed; other scripts
    list nothing."""
    script, listing = " ".join(argv), "".join(f"{path}\0" for path in changed)
    if "git ls-files" in script:
        return Completed(0, f"{listing}\0\0\0\0\0".encode(), 0)
    return Completed(0, b"\0\0" if "git apply --numstat" in script else b"", 0)
