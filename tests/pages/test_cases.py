"""Cases: what a folder must contain, and what examples promise."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages_bench import EXPECTED, expecting, make_case, page

from pipeline.core.errors import UserError
from pipeline.pages.cases import load_case, load_cases, set_name


def test_a_case_with_its_examples(tmp_path: Path) -> None:
    case = make_case(tmp_path / "harbour")
    (example,) = case.examples
    assert (case.name, example.name, example.expected, example.fault) == ("harbour", "examples/good.html", EXPECTED, "")
    assert example.is_good and list(case.code) == ["test.js"] and not case.names_axe


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        ("", "there is no <script"),
        ('<script id="a11y-assertions">{"assertions": {"a": "pass" "b": 1}}</script>', "not JSON"),
        (f'<script id="a11y-assertions">{"[" * 100_000}</script>', "not JSON"),
        ('<script id="a11y-assertions" type="application/json">[]</script>', "no object 'assertions'"),
        ('<script id="a11y-assertions">{"assertions": {"a": "maybe"}}</script>', "'a' is expected neither"),
        ('<script id="a11y-assertions">{"assertions": {"a": "pass", "a": "fail"}}</script>', "'a' occurs twice"),
        ('<script data-id="a11y-assertions">{"assertions": {"a": "pass"}}</script>', "there is no <script"),
        ('<!-- <script id="a11y-assertions">{"assertions": {"a": "pass"}}</script> -->', "there is no <script"),
    ],
)  # fmt: skip
def test_unreadable_expectations_are_reported(script: str, fault: str, tmp_path: Path) -> None:
    (example,) = make_case(tmp_path / "a", broken=page(head=script)).examples
    assert fault in example.fault and not example.is_good


def test_expectations_may_be_booleans_and_attributes_in_any_order(tmp_path: Path) -> None:
    script = '<SCRIPT type=\'application/json\' id=a11y-assertions>{"assertions": {"a": true, "b": " Fail "}}</SCRIPT>'
    (example,) = make_case(tmp_path / "a", one=page(head=script)).examples
    assert example.expected == {"a": "pass", "b": "fail"}


def test_a_script_may_show_a_comment_before_the_expectations(tmp_path: Path) -> None:
    script = '<script>"<!--"</script><script id="a11y-assertions">{"assertions": {"a": "pass"}}</script><!-- -->'
    (example,) = make_case(tmp_path / "a", one=page(head=script)).examples
    assert example.expected == {"a": "pass"}


@pytest.mark.parametrize(("passes", "good"), [("true", True), ("false", False), ("null", True)])
def test_a_page_that_should_not_pass_is_no_good_example(tmp_path: Path, passes: str, good: bool) -> None:
    """Its assertions hold, but axe-core finds something; used as the control, it cleared a case of blame."""
    script = f'<script id="a11y-assertions">{{"assertions": {{"a": "pass"}}, "passes": {passes}}}</script>'
    (example,) = make_case(tmp_path / "a", one=page(head=script)).examples
    assert example.is_good is good


def test_the_older_form_says_only_whether_a_page_passes(tmp_path: Path) -> None:
    case = make_case(tmp_path / "a", good=expecting(page(), EXPECTED))
    for name in ("example-pass", "example-fail"):
        (case.folder / name).mkdir()
        (case.folder / name / "index.html").write_text(page())
    assert [(example.name, example.passes) for example in load_case(case.folder).examples[1:]] == [
        ("example-pass/index.html", True),
        ("example-fail/index.html", False),
    ]


def test_a_case_in_the_current_folder_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It had none, and a run was paid for that could not be stored."""
    make_case(tmp_path / "ferry")
    monkeypatch.chdir(tmp_path / "ferry")
    assert [case.name for case in load_cases(Path())] == ["ferry"]


def test_the_digest_covers_the_code_and_not_the_examples(tmp_path: Path) -> None:
    case = make_case(tmp_path / "a")
    (case.folder / "examples" / "more.js").write_text("x")
    assert load_case(case.folder).digest == case.digest
    (case.folder / "helpers.js").write_text("x")
    assert load_case(case.folder).digest != case.digest


def test_links_out_of_a_case_are_not_read(tmp_path: Path) -> None:
    case = make_case(tmp_path / "a")
    (tmp_path / "secret.js").write_text("x")
    (case.folder / "link.js").symlink_to(tmp_path / "secret.js")
    assert list(load_case(case.folder).code) == ["test.js"]


def test_a_folder_of_cases_or_a_single_case_is_loaded(tmp_path: Path) -> None:
    make_case(tmp_path / "b")
    make_case(tmp_path / "a")
    assert [case.name for case in load_cases(tmp_path)] == ["a", "b"]
    assert [case.name for case in load_cases(tmp_path / "b")] == ["b"]
    assert [case.name for case in load_cases(tmp_path, ("b",))] == ["b"]
    assert set_name(tmp_path, load_cases(tmp_path)) != set_name(tmp_path, load_cases(tmp_path, ("b",)))


def test_a_prompt_is_what_its_file_says(tmp_path: Path) -> None:
    case = make_case(tmp_path / "a", prompt="A harbour.\n")
    assert case.prompt == "A harbour.\n"
    (case.folder / "prompt.md").write_text(" \n")
    with pytest.raises(UserError, match="the prompt is empty"):
        load_case(case.folder)


def test_all_files_but_the_prompt_and_the_examples_belong_to_the_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test that reads a text or a module next to it failed, since only some kinds of files were there."""
    case = make_case(tmp_path / "a")
    for name in ("helper.mjs", "words.txt", "data/prompt.md", "notes about axe.md", "examples/more.txt"):
        path = case.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("axe")
    found = load_case(case.folder)
    assert list(found.code) == ["data/prompt.md", "helper.mjs", "notes about axe.md", "test.js", "words.txt"]
    assert found.names_axe
    (case.folder / "helper.mjs").unlink()
    assert not load_case(case.folder).names_axe
    monkeypatch.setattr("pipeline.pages.cases.LARGEST", 99)
    with pytest.raises(UserError, match="larger than 99 bytes"):
        load_case(case.folder).code  # noqa: B018


@pytest.mark.rule("bad-input")
def test_an_invalid_case_does_not_affect_named_ones(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        make_case(tmp_path / name)
    (tmp_path / "b" / "test.js").unlink()
    assert [case.name for case in load_cases(tmp_path, ("a", "c"))] == ["a", "c"]
    with pytest.raises(UserError, match="--case"):
        load_cases(tmp_path)
    faults: list[tuple[str, UserError]] = []
    assert [case.name for case in load_cases(tmp_path, faults=faults)] == ["a", "c"]
    assert [name for name, _ in faults] == ["b"]
    for name in ("a", "c"):
        (tmp_path / name / "test.js").unlink()
    with pytest.raises(UserError, match=r"a/test\.js: no such file"):
        load_cases(tmp_path, faults=[])


@pytest.mark.rule("bad-input")
def test_an_invalid_case_is_refused(tmp_path: Path) -> None:
    case = make_case(tmp_path / "all" / "a")
    with pytest.raises(UserError, match="no case b\n  available: a"):
        load_cases(tmp_path / "all", ("b",))
    with pytest.raises(UserError, match="no such folder"):
        load_cases(tmp_path / "none")
    (case.folder / "test.js").unlink()
    with pytest.raises(UserError, match=r"test\.js: no such file"):
        load_cases(tmp_path / "all")
