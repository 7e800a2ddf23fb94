"""Records of other benchmarks as pull requests: fields that are present, missing, or encoded as text."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from factories import FIX_PATCH, TEST_PATCH
from pydantic import ValidationError

from pipeline.collect.sources.dataset.forms import FORMS, MEDIA, MultiSweBench, SweBench, form_of
from pipeline.core.errors import UserError

MULTI: dict[str, Any] = {
    "org": "acme",
    "repo": "ui",
    "number": 7,
    "state": "closed",
    "title": "Name the menu",
    "body": None,
    "base": {"label": "acme:main", "ref": "main", "sha": "b" * 40},
    "resolved_issues": [{"number": 3, "title": "No name", "body": None}],
    "fix_patch": FIX_PATCH,
    "test_patch": TEST_PATCH,
}
SWE: dict[str, Any] = {
    "instance_id": "acme__ui-7",
    "repo": "acme/ui",
    "base_commit": "b" * 40,
    "patch": FIX_PATCH,
    "test_patch": TEST_PATCH,
    "problem_statement": "Menu has no name\nA screen reader says nothing.",
}
PNG = b"\x89PNG picture"


def multi(**overrides: Any) -> MultiSweBench:
    return MultiSweBench.model_validate(MULTI | overrides)


def swe(**overrides: Any) -> SweBench:
    return SweBench.model_validate(SWE | overrides)


@pytest.mark.parametrize(("record", "form"), [(MULTI, MultiSweBench), (SWE, SweBench)])
def test_a_form_is_recognized_by_its_fields(record: dict[str, Any], form: Any) -> None:
    """Also if one of them is missing."""
    assert FORMS[form] < record.keys()
    assert {form_of({key: record[key] for key in record.keys() - {name}}) for name in record} == {form}
    assert form_of({"repo": "acme/ui", "test_patch": ""}) is None


# -- Multi-SWE-bench ---------------------------------------------------------------------------------------------------
def test_a_record_of_multi_swe_bench() -> None:
    found = multi().merged()
    assert (str(multi().repository), found.pull.number, found.pull.body, found.pull.hints) == ("acme/ui", 7, "", "")
    assert [(issue.number, issue.body) for issue in found.pull.resolved_issues] == [(3, "")]
    assert found.files == ("src/Menu.tsx", "src/Menu.test.tsx")
    assert found.patches is not None and found.patches.base == "b" * 40


@pytest.mark.trap("unmerged-kept")
@pytest.mark.parametrize(("state", "merged"), [("closed", True), ("MERGED", True), ("open", False), ("OPEN", False)])
def test_an_open_pull_request_is_not_merged(state: str, merged: bool) -> None:
    assert multi(state=state).is_merged is merged


def test_expected_tests_of_multi_swe_bench() -> None:
    tests = {"a": {"run": "NONE", "test": "FAILED", "fix": "PASSED"}}
    assert multi(fixed_tests=tests, p2p_tests={"b": {}}).expected == ({"a"}, {"b"})
    assert multi().expected == (frozenset(), frozenset())
    assert multi(f2p_tests=tests, n2p_tests={"c": {}}).expected == ({"a", "c"}, set()), "some list them by kind only"


TRIPLE = {"run": "NONE", "test": "FAILED", "fix": "PASSED"}


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (json.dumps({"a": TRIPLE}), {"a"}),
        ({"name": ["a", "b"], "run": ["NONE"] * 2, "test": ["FAILED"] * 2, "fix": ["PASSED"] * 2}, {"a", "b"}),
        ({"name": TRIPLE}, {"name"}),
        ([{"name": "a", **TRIPLE}], {"a"}),
        ({"name": []}, set()),
        (None, set()),
        ("", set()),
    ],
)
def test_tests_of_multi_swe_bench_have_several_forms(value: Any, expected: set[str]) -> None:
    """As text, and in columns, whose names were taken for tests."""
    assert multi(fixed_tests=value, p2p_tests=value).expected == (expected, expected)


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.parametrize(
    "issues", [json.dumps(MULTI["resolved_issues"]), {"number": [3], "title": ["No name"], "body": [None]}]
)
def test_objects_of_multi_swe_bench_may_be_text_or_columns(issues: Any) -> None:
    found = multi(resolved_issues=issues, base=json.dumps(MULTI["base"]), merge_sha=None).merged().pull
    assert [issue.number for issue in found.resolved_issues] == [3]
    assert (found.base.sha, found.merge_sha) == ("b" * 40, "")


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("value", [3, {"name": ["a"], "run": []}, {"run": ["NONE"]}, "{"])
def test_tests_of_another_form_are_refused(value: Any) -> None:
    with pytest.raises(ValidationError, match="fixed_tests"):
        multi(fixed_tests=value)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("patch", ["hello", FIX_PATCH.partition("\n")[2], f"--- a/x.js\n+++ b/x.js\n{FIX_PATCH}"])
def test_a_patch_of_another_format_is_refused(patch: str) -> None:
    """Its files cannot be told, so it changed none."""
    with pytest.raises(ValidationError, match="not a patch in git's format"):
        multi(fix_patch=patch)
    with pytest.raises(ValidationError, match="not a patch in git's format"):
        swe(test_patch=patch)
    assert swe(patch=f"From: ann\n{FIX_PATCH}", test_patch="").merged().files == ("src/Menu.tsx",)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("base", ["main", "--help", "", "abc"])
def test_a_base_is_the_hash_of_a_commit(base: str) -> None:
    with pytest.raises(ValidationError, match="not the hash of a commit"):
        swe(base_commit=base)
    with pytest.raises(ValidationError, match=r"base\.sha"):
        multi(base=MULTI["base"] | {"sha": base})
    assert swe(base_commit=f" {'B' * 40}\n").merged().pull.base.sha == "b" * 40


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("field", ["org", "base", "fix_patch", "resolved_issues", "state"])
def test_a_record_without_a_field_is_refused(field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        MultiSweBench.model_validate({name: value for name, value in MULTI.items() if name != field})


# -- SWE-bench ---------------------------------------------------------------------------------------------------------
def test_a_record_of_swe_bench() -> None:
    pull = swe(created_at="2024-05-06T07:08:09Z", hints_text=" try this \n").merged().pull
    assert (pull.title, pull.merged_at, pull.merge_sha, pull.hints) == (
        "Menu has no name",
        "2024-05-06T07:08:09Z",
        "",
        "try this",
    )
    (issue,) = pull.resolved_issues
    assert (issue.number, issue.title, issue.body) == (0, "Menu has no name", "A screen reader says nothing.")


@pytest.mark.parametrize(
    ("statement", "title", "body"), [("One line", "One line", ""), ("\n\nA\n\nB\n", "A", "B"), ("", "", "")]
)
def test_the_first_line_of_a_statement_is_its_title(statement: str, title: str, body: str) -> None:
    (issue,) = swe(problem_statement=statement).merged().pull.resolved_issues
    assert (issue.title, issue.body) == (title, body)


@pytest.mark.parametrize(("name", "number"), [("acme__ui-7", 7), ("acme__my-ui-12", 12), ("acme/ui-#3-4", 4)])
def test_the_number_of_a_record_is_at_the_end_of_its_name(name: str, number: int) -> None:
    assert swe(instance_id=name).number == number


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("name", ["acme__ui", "acme__ui-x", "7", ""])
def test_a_name_without_a_number_is_refused(name: str) -> None:
    with pytest.raises(UserError) as error:
        _ = swe(instance_id=name).number
    assert error.value.field == "instance_id"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["a", "b"], {"a", "b"}),
        ('["a", "b"]', {"a", "b"}),
        ("[]", set()),
        ("", set()),
        (" ", set()),
        (None, set()),
        ([], set()),
        ('["quote \\" in it"]', {'quote " in it'}),
    ],
)
def test_lists_may_be_json_in_a_string(value: Any, expected: set[str]) -> None:
    """Published files contain them this way."""
    assert swe(FAIL_TO_PASS=value, PASS_TO_PASS=value).expected == (expected, expected)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("value", ["[", '"a"', "3", '{"a": 1}', [3], '["a", 3]'])
def test_a_list_of_another_form_is_refused(value: Any) -> None:
    with pytest.raises(ValidationError, match="FAIL_TO_PASS"):
        swe(FAIL_TO_PASS=value)


# -- pictures ----------------------------------------------------------------------------------------------------------
def assets(*addresses: str) -> str:
    return json.dumps({"problem_statement": list(addresses)})


def test_a_picture_without_its_file_has_no_digest() -> None:
    found = swe(image_assets=assets("https://a.example/x/menu.png?raw=1")).merged()
    (picture,) = found.pull.pictures
    assert (picture.address, picture.media, picture.digest) == ("https://a.example/x/menu.png?raw=1", "image/png", "")
    assert found.assets == ()


def test_a_task_folder_names_pictures_by_place_and_address() -> None:
    files = {"0-menu.png": PNG, "extra.gif": b"GIF", "notes.txt": b"no picture"}
    found = swe(image_assets=assets("https://a.example/menu.png", "https://a.example/b.jpg"), files=files).merged()
    assert [(picture.address, picture.media) for picture in found.pull.pictures] == [
        ("https://a.example/menu.png", "image/png"),
        ("https://a.example/b.jpg", "image/jpeg"),
        ("", "image/gif"),
    ]
    assert found.pull.pictures[0].digest == hashlib.sha256(PNG).hexdigest()
    assert found.assets == (PNG, b"GIF")


@pytest.mark.parametrize(
    "value", [None, "", "{}", {}, {"problem_statement": None}, {"patch": ["https://a.example/a.png"]}]
)
def test_only_pictures_of_the_statement_are_read(value: Any) -> None:
    """Images in the patch or the tests would show the solution."""
    assert swe(image_assets=value).merged().pull.pictures == ()


def test_an_address_without_a_known_extension_is_kept_without_a_type() -> None:
    (picture,) = swe(image_assets=assets("https://a.example/attachment/123")).merged().pull.pictures
    assert picture.media == "" and picture.address


@pytest.mark.parametrize("extension", [*MEDIA, *(extension.upper() for extension in MEDIA)])
def test_types_of_pictures(extension: str) -> None:
    (picture,) = swe(files={f"a{extension}": b"x"}).merged().pull.pictures
    assert picture.media == MEDIA[extension.lower()]
