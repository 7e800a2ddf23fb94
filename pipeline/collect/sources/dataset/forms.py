"""The forms of other benchmarks' records: Multi-SWE-bench and SWE-bench (Multimodal and 5 with it), told apart by their
fields; and what their makers expect of tests.

What a record does not say stays empty: neither form has the merge commit (our own export has), SWE-bench has no pull
request's text, and the numbers of its issues are unknown (0); it says when a pull request was opened, which stands in
for when it was merged.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from posixpath import basename
from typing import Annotated, Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator

from pipeline.collect.sources import Merged, Patches
from pipeline.core.errors import UserError
from pipeline.core.names import Repo, parse_repo
from pipeline.core.patches import paths
from pipeline.core.records import Base, Issue, Picture, PullRequest

#: `says` are the fields of a pull request that a form has itself; others may come from elsewhere
#: what pictures are called -> their media type
MEDIA = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
}


class Expected(NamedTuple):
    """What a benchmark's makers say of tests, by their names of them: those that the gold patch fixes, and those that
    pass before and after it. Both are empty where they do not tell."""

    fixed: frozenset[str]
    kept: frozenset[str]


class _Text(BaseModel):
    number: int
    title: str
    body: str | None = None


class MultiSweBench(BaseModel):
    """The fields of a Multi-SWE-bench record that a pull request needs. Our export alone has `merge_sha`, `merged_at`
    and `pictures` (without their bytes)."""

    says: ClassVar = ("title", "body", "merge_sha", "merged_at")

    org: str
    repo: str
    number: int
    state: str
    title: str
    body: str | None = None
    base: Base
    resolved_issues: list[_Text]
    fix_patch: str
    test_patch: str
    hints: str | None = None
    merge_sha: str = ""
    merged_at: str = ""
    pictures: tuple[Picture, ...] = ()
    fixed_tests: dict[str, Any] = {}
    p2p_tests: dict[str, Any] = {}

    @property
    def repository(self) -> Repo:
        return Repo(self.org, self.repo)

    @property
    def is_merged(self) -> bool:
        return self.state != "open"

    @property
    def expected(self) -> Expected:
        return Expected(frozenset(self.fixed_tests), frozenset(self.p2p_tests))

    def merged(self) -> Merged:
        issues = tuple(Issue(number=one.number, title=one.title, body=one.body or "") for one in self.resolved_issues)
        pull = PullRequest(
            org=self.org,
            repo=self.repo,
            number=self.number,
            title=self.title,
            body=self.body or "",
            base=self.base,
            merge_sha=self.merge_sha,
            merged_at=self.merged_at,
            resolved_issues=issues,
            hints=self.hints or "",
            pictures=self.pictures,
        )
        return _merged(pull, Patches(self.base.sha, self.fix_patch, self.test_patch))


def _unpacked(value: Any) -> Any:
    """Published data sets hold lists and objects as JSON in a string."""
    return json.loads(value) if isinstance(value, str) and value.strip() else value or None


class _Assets(BaseModel):
    """The addresses of pictures, by what they stand in."""

    problem_statement: list[str] | None = None


class SweBench(BaseModel):
    """The fields of a SWE-bench record that a pull request needs; `files` are a task folder's, by their names."""

    says: ClassVar = ()

    instance_id: str
    repo: str
    base_commit: str
    patch: str
    test_patch: str
    problem_statement: str
    hints_text: str | None = None
    created_at: str = ""
    image_assets: Annotated[_Assets | None, BeforeValidator(_unpacked)] = None
    FAIL_TO_PASS: Annotated[list[str] | None, BeforeValidator(_unpacked)] = None
    PASS_TO_PASS: Annotated[list[str] | None, BeforeValidator(_unpacked)] = None
    files: Mapping[str, bytes | None] = {}

    @property
    def repository(self) -> Repo:
        return parse_repo(self.repo)

    @property
    def is_merged(self) -> bool:
        return True

    @property
    def number(self) -> int:
        """Raises UserError for a name that ends with none."""
        if found := re.search(r"-(\d+)$", self.instance_id):
            return int(found[1])
        raise UserError(
            f"{self.instance_id} is not the number of a pull request",
            field="instance_id",
            hint="write it as org__repo-N",
        )

    @property
    def expected(self) -> Expected:
        return Expected(frozenset(self.FAIL_TO_PASS or ()), frozenset(self.PASS_TO_PASS or ()))

    def merged(self) -> Merged:
        title, _, body = self.problem_statement.strip().partition("\n")
        pictures = _pictures(self.image_assets, self.files)
        pull = PullRequest(
            org=self.repository.org,
            repo=self.repository.repo,
            number=self.number,
            title=title,
            base=Base(label="", ref="", sha=self.base_commit),
            merge_sha="",
            merged_at=self.created_at,
            resolved_issues=(Issue(number=0, title=title, body=body.strip()),),
            hints=(self.hints_text or "").strip(),
            pictures=tuple(pictures),
        )
        return _merged(
            pull, Patches(self.base_commit, self.patch, self.test_patch), tuple(filter(None, pictures.values()))
        )


def _pictures(assets: _Assets | None, files: Mapping[str, bytes | None]) -> dict[Picture, bytes | None]:
    """The pictures of a statement in their order, with their bytes where they are there.

    A task folder calls them by their place and the end of their address; what else it brings along has no address.
    """
    addresses = (assets.problem_statement or []) if assets else []
    named = {f"{place}-{basename(urlsplit(address).path)}": address for place, address in enumerate(addresses)}
    found: dict[Picture, bytes | None] = {}
    for name in [*named, *sorted(set(files) - set(named))]:
        media = MEDIA.get(f".{name.rpartition('.')[2].lower()}", "")
        if media or name in named:
            data = files.get(name)
            digest = hashlib.sha256(data).hexdigest() if data else ""
            found[Picture(address=named.get(name, ""), media=media, digest=digest)] = data
    return found


def _merged(pull: PullRequest, patches: Patches, assets: tuple[bytes, ...] = ()) -> Merged:
    return Merged(pull, (*paths(patches.fix), *paths(patches.test)), patches=patches, assets=assets)


Form = MultiSweBench | SweBench
#: a field that only this form has -> the form
FORMS: dict[str, type[MultiSweBench] | type[SweBench]] = {"fix_patch": MultiSweBench, "problem_statement": SweBench}
