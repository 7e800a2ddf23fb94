"""The forms of other benchmarks' records: Multi-SWE-bench and SWE-bench (with Multimodal and 5), distinguished by their
fields; and the test results that they expect.

Fields that a record lacks stay empty: neither form has the merge commit (except our own export), and SWE-bench has no
text of the pull request and no issue numbers (0). SWE-bench says when a pull request was opened, which is used as the
time of its merge.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from posixpath import basename
from typing import Annotated, Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from pipeline.collect.sources import Merged, Patches
from pipeline.core.errors import UserError
from pipeline.core.names import Repo, parse_repo
from pipeline.core.patches import paths
from pipeline.core.records import Base, Issue, Picture, PullRequest
from pipeline.core.texts import parse_json

#: extension of a picture -> its media type
MEDIA = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
}


class Expected(NamedTuple):
    """The benchmark's names of tests that the gold patch fixes, and of tests that pass before and after it. Both are
    empty if a record has none."""

    fixed: frozenset[str]
    kept: frozenset[str]


def _unpacked(value: Any) -> Any:
    """A field's value; published data sets contain lists and objects as JSON in a string. Raises ValueError."""
    if isinstance(value, str):
        return parse_json(value) if value.strip() else None
    return value or None


def _rows(value: Any) -> Any:
    """A field's list of objects. Data sets in columns have an object of lists instead. Raises ValueError."""
    rows = _unpacked(value) or []
    if isinstance(rows, dict) and all(isinstance(column, list) for column in rows.values()):
        return [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    return rows


def _names(value: Any) -> Any:
    """The names of tests in an object by name, a list of objects, or a list. Raises ValueError."""
    rows = _rows(value)
    if isinstance(rows, list):
        return [row.get("name") if isinstance(row, dict) else row for row in rows]
    return list(rows) if isinstance(rows, dict) else rows


def _or_empty(value: Any) -> Any:
    return "" if value is None else value


def _of_git(text: str) -> str:
    """A patch in git's format, or an empty one. Raises ValueError for others, whose files cannot be told."""
    before = _FIRST_FILE.split(text, maxsplit=1)[0]
    if "+++ " in before or (text.strip() and before == text):
        raise ValueError("not a patch in git's format: each file begins with a line 'diff --git'")
    return text


def _commit(text: str) -> str:
    """The hash of a commit in lower case. Raises ValueError for any other name."""
    name = text.strip().lower()
    if not _HASH.fullmatch(name):
        raise ValueError("not the hash of a commit")
    return name


_FIRST_FILE = re.compile(r"^diff --git ", re.MULTILINE)
_HASH = re.compile(r"[0-9a-f]{7,64}")
_Patch = Annotated[str, AfterValidator(_of_git)]
_Sha = Annotated[str, AfterValidator(_commit)]
_Optional = Annotated[str, BeforeValidator(_or_empty)]
_Tests = Annotated[frozenset[str], BeforeValidator(_names)]
#: what an address of a repository has around its name
_HOST = re.compile(r"^(?:https?://(?:www\.)?github\.com/|git@github\.com:)|(?:\.git)?/*$", re.IGNORECASE)


def repository(name: str, org: object = None) -> Repo:
    """The repository that a record names: by its name beside the organization, by both, or by its address on GitHub.
    Raises UserError."""
    text = _HOST.sub("", name.strip())
    try:
        return parse_repo(f"{org}/{text}" if isinstance(org, str) and "/" not in text else text)
    except UserError as error:
        raise UserError(error.message, field="repo", hint=error.hint) from None


#: the number of a pull request or an issue: larger ones are no names of instances, and not exact in JSON
_LARGEST = 2**53 - 1
_Number = Annotated[int, Field(ge=0, le=_LARGEST)]


class _Text(BaseModel):
    number: _Number
    title: str
    body: str | None = None


class _Base(Base):
    sha: _Sha


class MultiSweBench(BaseModel):
    """The fields of a Multi-SWE-bench record that a pull request needs. Only our export has `merge_sha`, `merged_at`
    and `pictures` (without their bytes)."""

    #: the fields of a pull request that this form has; others may come from a clone's history
    own_fields: ClassVar = ("title", "body", "merge_sha", "merged_at")
    #: the contents of files of the test patch, which only task folders have
    test_files: ClassVar[Mapping[str, bytes | None]] = {}

    org: str
    repo: str
    number: _Number
    state: str
    title: str
    body: str | None = None
    base: Annotated[_Base, BeforeValidator(_unpacked)]
    resolved_issues: Annotated[list[_Text], BeforeValidator(_rows)]
    fix_patch: _Patch
    test_patch: _Patch
    hints: str | None = None
    merge_sha: _Optional = ""
    merged_at: _Optional = ""
    pictures: Annotated[tuple[Picture, ...], BeforeValidator(_rows)] = ()
    fixed_tests: _Tests = frozenset()
    f2p_tests: _Tests = frozenset()
    s2p_tests: _Tests = frozenset()
    n2p_tests: _Tests = frozenset()
    p2p_tests: _Tests = frozenset()

    @property
    def repository(self) -> Repo:
        return repository(self.repo, self.org)

    @property
    def is_merged(self) -> bool:
        return self.state.lower() != "open"

    @property
    def expected(self) -> Expected:
        """Some records list the fixed tests only by their result before the fix."""
        return Expected(self.fixed_tests or self.f2p_tests | self.s2p_tests | self.n2p_tests, self.p2p_tests)

    def merged(self) -> Merged:
        issues = tuple(
            Issue(number=issue.number, title=issue.title, body=issue.body or "") for issue in self.resolved_issues
        )
        pull = PullRequest(
            org=self.repository.org,
            repo=self.repository.repo,
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


def _address(text: str) -> str:
    """An address that can be taken apart. Raises ValueError."""
    urlsplit(text)
    return text


class _Assets(BaseModel):
    """The addresses of pictures, by the text that they are in."""

    problem_statement: list[Annotated[str, AfterValidator(_address)]] | None = None


class SweBench(BaseModel):
    """The fields of a SWE-bench record that a pull request needs. Of a task folder, `files` are the pictures by name,
    and `test_files` the contents of files of the test patch by path."""

    own_fields: ClassVar = ()

    instance_id: str
    repo: str
    base_commit: _Sha
    patch: _Patch
    test_patch: _Patch
    problem_statement: str
    hints_text: str | None = None
    created_at: _Optional = ""
    image_assets: Annotated[_Assets | None, BeforeValidator(_unpacked)] = None
    FAIL_TO_PASS: Annotated[list[str] | None, BeforeValidator(_unpacked)] = None
    PASS_TO_PASS: Annotated[list[str] | None, BeforeValidator(_unpacked)] = None
    files: Mapping[str, bytes | None] = {}
    test_files: Mapping[str, bytes | None] = {}

    @property
    def repository(self) -> Repo:
        return repository(self.repo)

    @property
    def is_merged(self) -> bool:
        return True

    @property
    def number(self) -> int:
        """The number at the end of its name. Raises UserError without one."""
        match = re.search(r"-([0-9]{1,16})$", self.instance_id)
        if match and int(match[1]) <= _LARGEST:
            return int(match[1])
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
    """The pictures of a statement in order, with their bytes if available.

    A task folder names them by their index and the end of their address; its other pictures have no address.
    """
    addresses = (assets.problem_statement or []) if assets else []
    by_name = {f"{index}-{basename(urlsplit(address).path)}": address for index, address in enumerate(addresses)}
    pictures: dict[Picture, bytes | None] = {}
    for name in [*by_name, *sorted(set(files) - set(by_name))]:
        media = MEDIA.get(f".{name.rpartition('.')[2].lower()}", "")
        if media or name in by_name:
            data = files.get(name)
            digest = hashlib.sha256(data).hexdigest() if data else ""
            pictures[Picture(address=by_name.get(name, ""), media=media, digest=digest)] = data
    return pictures


def _merged(pull: PullRequest, patches: Patches, assets: tuple[bytes, ...] = ()) -> Merged:
    return Merged(pull, (*paths(patches.fix), *paths(patches.test)), patches=patches, assets=assets)


Form = MultiSweBench | SweBench
#: the forms, each with the required fields that only it has
FORMS: dict[type[MultiSweBench] | type[SweBench], frozenset[str]] = {
    form: frozenset(
        name for name in form.model_fields.keys() - other.model_fields if form.model_fields[name].is_required()
    )
    for form, other in ((MultiSweBench, SweBench), (SweBench, MultiSweBench))
}


def form_of(record: Mapping[str, Any]) -> type[MultiSweBench] | type[SweBench] | None:
    """The form of whose fields a record has most; None if it has none of them."""
    form = max(FORMS, key=lambda form: len(FORMS[form] & record.keys()))
    return form if FORMS[form] & record.keys() else None
