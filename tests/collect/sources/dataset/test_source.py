"""The source `dataset`: records of Multi-SWE-bench and of SWE-bench become the same records as from any other source.

Folders of tasks and images are covered by test_reading.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from collecting import outcomes, reasons
from factories import FIX_PATCH, REPO, TEST_PATCH
from histories import History, put

from pipeline.collect.sources import Options, open_source
from pipeline.collect.stage import collect_from
from pipeline.core.errors import UserError
from pipeline.core.records import Candidate
from pipeline.core.store import Store, read_json
from pipeline.execution.images import source

MULTI = {
    "org": "acme",
    "repo": "ui",
    "number": 7,
    "state": "closed",
    "title": "Name the menu",
    "body": None,
    "base": {"label": "acme:main", "ref": "main", "sha": "b" * 40},
    "resolved_issues": [{"number": 3, "title": "No keyboard navigation", "body": None}],
    "fix_patch": FIX_PATCH,
    "test_patch": TEST_PATCH,
    "fixed_tests": {"a": {"run": "FAIL", "test": "FAIL", "fix": "PASS"}},
}
SWE = {
    "repo": "acme/ui",
    "instance_id": "acme__ui-8",
    "base_commit": "d" * 40,
    "patch": FIX_PATCH,
    "test_patch": TEST_PATCH,
    "problem_statement": "Menu: no aria-label\nA screen reader says nothing.",
    "hints_text": "",
    "created_at": "2024-01-02T03:04:05Z",
    "version": "1.0",
}


def write(folder: Path, *rows: Any) -> Path:
    path = folder / "dataset.jsonl"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def collect(store: Store, path: Path, *numbers: int, **options: Any) -> list[str]:
    """Collect and return what was left out. Raises UserError for it if `strict`."""
    problems: list[UserError] | None = None if options.pop("strict", False) else []
    collect_from(store, REPO, open_source("dataset", REPO, Options(path, **options)), numbers, problems=problems)
    return [str(problem) for problem in problems or ()]


def test_both_forms_become_candidates(store: Store, tmp_path: Path) -> None:
    collect(store, write(tmp_path, MULTI, SWE, "", MULTI | {"repo": "other"}))
    found = outcomes(store)
    assert sorted(found) == [7, 8]
    multi, swe = found[7], found[8]
    assert isinstance(multi, Candidate) and isinstance(swe, Candidate)
    assert (multi.fix_patch, multi.test_patch, multi.base.sha) == (FIX_PATCH, TEST_PATCH, "b" * 40)
    assert (multi.body, multi.resolved_issues[0].number, multi.statement_source) == ("", 3, "issue")
    assert {evidence.field for evidence in multi.a11y_reason} == {"issue 3 title"}
    assert (swe.title, swe.resolved_issues[0].body) == ("Menu: no aria-label", "A screen reader says nothing.")
    assert read_json(store.raw(REPO) / "source.json") == {"kind": "dataset", "file": "dataset.jsonl"}


@pytest.mark.rule("foreign-benchmarks")
def test_a_record_of_a_dataset_is_taken_whatever_the_filters_decide(store: Store, tmp_path: Path) -> None:
    """It is taken whatever the filters decide, and records their decision; without tests, it is rejected as usual."""
    quiet = MULTI["resolved_issues"][0] | {"title": "Menu is slow"}
    path = write(tmp_path, MULTI | {"resolved_issues": [quiet]}, MULTI | {"number": 9, "test_patch": ""})
    collect(store, path)
    assert reasons(store) == {7: "candidate", 9: "no_test_changes"}
    candidate = outcomes(store)[7]
    assert isinstance(candidate, Candidate)
    assert (candidate.origin, candidate.filters["no_a11y_evidence"], candidate.chosen_by_hand) == (
        "dataset.jsonl",
        False,
        False,
    )


def test_the_filters_apply_on_request(store: Store, tmp_path: Path) -> None:
    quiet = MULTI["resolved_issues"][0] | {"title": "Menu is slow"}
    collect(store, write(tmp_path, MULTI | {"resolved_issues": [quiet]}, MULTI | {"number": 9}), filtered=True)
    assert reasons(store) == {7: "no_a11y_evidence", 9: "candidate"}


@pytest.mark.rule("foreign-benchmarks")
def test_the_records_own_split_of_tests_is_kept(store: Store, tmp_path: Path) -> None:
    """If the record says so, files that our patterns do not recognize as tests are tests."""
    patch = TEST_PATCH.replace("src/Menu.test.tsx", "src/checks/menu-check.js")
    collect(store, write(tmp_path, SWE | {"test_patch": patch}))
    assert reasons(store) == {8: "candidate"}


def test_a_path_that_is_not_utf8_is_a_rejection(store: Store, tmp_path: Path) -> None:
    """Git writes its bytes as escapes; stored as text, they ended the run."""
    quoted = TEST_PATCH.replace("a/src/Menu.test.tsx b/src/Menu.test.tsx", r'"a/caf\351.test.ts" "b/caf\351.test.ts"')
    collect(store, write(tmp_path, MULTI | {"test_patch": quoted}, SWE))
    assert reasons(store) == {7: "not_utf8", 8: "candidate"}


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.parametrize("path", ["../Menu.tsx", ".git/config", "src/../../a"])
def test_an_unsafe_path_is_a_rejection(store: Store, tmp_path: Path, path: str) -> None:
    """As in a clone, and whatever the filters say."""
    collect(store, write(tmp_path, MULTI | {"fix_patch": FIX_PATCH.replace("src/Menu.tsx", path)}, SWE))
    assert reasons(store) == {7: "unsafe_path", 8: "candidate"}


@pytest.mark.rule("foreign-benchmarks")
def test_a_repository_keeps_the_name_that_was_asked_for(store: Store, tmp_path: Path) -> None:
    collect(store, write(tmp_path, SWE | {"repo": "Acme/UI"}))
    assert outcomes(store)[8].instance_id == "acme__ui-8"


# -- binary files ----------------------------------------------------------------------------------------------------
BEFORE, AFTER = b"\x89PNG\0before", bytes(range(256)) * 9


@pytest.fixture
def pictures(tmp_path: Path) -> History:
    """A base, and a change of three pictures."""
    made = History(tmp_path / "pictures")
    made.commit("base", {"e2e/a.png": BEFORE, "e2e/gone.png": BEFORE, "src/Menu.tsx": "1\n"})
    made.git("checkout", "-q", "-b", "change")
    made.commit(
        "change", {"e2e/a.png": AFTER, "e2e/gone.png": None, "e2e/new.png": AFTER + b"\0", "src/Menu.tsx": "2\n"}
    )
    return made


def stubs(history: History) -> dict[str, str]:
    """The change as `git diff` without `--binary` writes it."""
    record = {"patch": ["src"], "test_patch": ["e2e"]}
    patches = {name: f"{history.git('diff', 'change~1', 'change', '--', *where)}\n" for name, where in record.items()}
    return SWE | {"base_commit": history.git("rev-parse", "change~1")} | patches


def applies(history: History, candidate: Any) -> None:
    """Check that git makes the change of these patches."""
    (history.folder.parent / "both.patch").write_text(candidate.test_patch + candidate.fix_patch)
    history.git("checkout", "-q", "-f", candidate.base.sha)
    history.git("apply", "--index", str(history.folder.parent / "both.patch"))
    assert history.git("write-tree") == history.tree("change")
    history.git("apply", "-R", "--index", str(history.folder.parent / "both.patch"))


@pytest.mark.rule("foreign-benchmarks")
def test_pictures_that_a_patch_leaves_out_come_from_the_clone(store: Store, tmp_path: Path, pictures: History) -> None:
    """Git refused the patch of such a candidate. Its only tests are pictures, which somebody chose."""
    collect(store, write(tmp_path, stubs(pictures)), clone=pictures.folder)
    assert reasons(store) == {8: "candidate"}
    applies(pictures, outcomes(store)[8])


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.parametrize(("data", "reason"), [(AFTER, "candidate"), (b"another picture", "binary"), (None, "binary")])
def test_pictures_that_a_patch_leaves_out_come_from_its_folder(
    store: Store, tmp_path: Path, pictures: History, data: bytes | None, reason: str
) -> None:
    """Only with the content that the patch names; the clone has what was there before."""
    record = stubs(pictures)
    pictures.lose("change", "e2e/a.png")
    folder = tmp_path / "tasks"
    about = {key: record[key] for key in ("instance_id", "repo", "base_commit")}
    texts = {"task.yaml": json.dumps(about), "gold.patch": record["patch"], "test.patch": record["test_patch"]}
    for name, content in (texts | {"problem_statement.md": "Menu", "test_assets/e2e/a.png": data}).items():
        if content is not None:
            put(folder / name, content)
    collect(store, folder, clone=pictures.folder)
    assert reasons(store) == {8: reason}
    if reason == "candidate":
        put(pictures.folder / "again.png", AFTER)
        pictures.git("hash-object", "-w", "again.png")
        (pictures.folder / "again.png").unlink()
        applies(pictures, outcomes(store)[8])


@pytest.mark.rule("foreign-benchmarks")
def test_without_a_clone_only_new_pictures_can_be_had(store: Store, tmp_path: Path, pictures: History) -> None:
    collect(store, write(tmp_path, stubs(pictures)))
    assert reasons(store) == {8: "binary"}


# -- the clone -------------------------------------------------------------------------------------------------------
@pytest.fixture
def history(tmp_path: Path) -> History:
    """The second commit is #8, with the pull request's own title, on a later base."""
    made = History(tmp_path / "clone")
    made.commit("first", {"src/Menu.tsx": "1\n", "src/Menu.test.tsx": "1\n"})
    made.commit("later", {"src/Other.tsx": "1\n"})
    made.commit("Say what the menu is (#8)\n\nThe why.", {"src/Menu.tsx": "2\n", "src/Menu.test.tsx": "2\n"})
    return made


@pytest.mark.rule("foreign-benchmarks")
def test_the_clone_supplies_fields_that_the_record_lacks(store: Store, tmp_path: Path, history: History) -> None:
    """Base and patches are the record's; the pull request's text and merge commit come from the history."""
    base = history.git("rev-parse", "HEAD~2")
    collect(store, write(tmp_path, SWE | {"base_commit": base}), clone=history.folder)
    candidate = outcomes(store)[8]
    assert isinstance(candidate, Candidate)
    assert (candidate.base.sha, candidate.merge_sha) == (base, history.git("rev-parse", "HEAD"))
    assert (candidate.title, candidate.body, candidate.author) == ("Say what the menu is", "The why.", "ann")
    assert (candidate.merged_at, candidate.resolved_issues[0].title) == ("2024-05-06T07:08:09Z", "Menu: no aria-label")
    assert source(store, REPO).head.commit.hexsha == candidate.merge_sha  # so `build` finds it


def test_the_same_number_with_other_files_is_another_change(store: Store, tmp_path: Path, history: History) -> None:
    patch = FIX_PATCH.replace("src/Menu.tsx", "src/Tabs.tsx")
    row = SWE | {"base_commit": history.git("rev-parse", "HEAD~2"), "patch": patch}
    collect(store, write(tmp_path, row), clone=history.folder)
    candidate = outcomes(store)[8]
    assert isinstance(candidate, Candidate) and candidate.merge_sha == ""


@pytest.mark.parametrize("spelled", [lambda sha: sha[:10], lambda sha: f" {sha.upper()}\n"])
def test_a_base_becomes_its_whole_hash(store: Store, tmp_path: Path, history: History, spelled: Any) -> None:
    base = history.git("rev-parse", "HEAD~1")
    collect(store, write(tmp_path, SWE | {"base_commit": spelled(base)}), clone=history.folder)
    candidate = outcomes(store)[8]
    assert isinstance(candidate, Candidate) and candidate.base.sha == base


def test_a_base_that_the_clone_lacks_is_a_rejection(store: Store, tmp_path: Path, history: History) -> None:
    collect(store, write(tmp_path, SWE), clone=history.folder)
    assert reasons(store) == {8: "base_missing"}


# -- what cannot be had ---------------------------------------------------------------------------------------------
@pytest.mark.rule("foreign-benchmarks")
def test_one_missing_number_does_not_refuse_the_others(store: Store, tmp_path: Path) -> None:
    problems = collect(store, write(tmp_path, MULTI, SWE), 7, 99)
    assert reasons(store) == {7: "by hand"}
    assert len(problems) == 1 and "no merged pull request #99 of acme/ui" in problems[0]


@pytest.mark.rule("foreign-benchmarks")
def test_one_broken_record_does_not_refuse_the_others(store: Store, tmp_path: Path) -> None:
    """It is reported with file, line and field, if it may belong to this repository."""
    other = {"org": "acme", "repo": "other", "number": "x", "fix_patch": ""}
    problems = collect(store, write(tmp_path, MULTI, "{", SWE | {"base_commit": None}, other))
    assert reasons(store) == {7: "candidate"}
    assert [problem.partition(": ")[0].rpartition("/")[2] for problem in problems] == [
        "dataset.jsonl:2",
        "dataset.jsonl:3",
    ]
    assert "field 'base_commit'" in problems[1]


def test_a_repeated_number_counts_once(store: Store, tmp_path: Path) -> None:
    (problem,) = collect(store, write(tmp_path, MULTI, MULTI | {"title": "again"}))
    assert "dataset.jsonl:2: another record of #7" in problem
    candidate = outcomes(store)[7]
    assert isinstance(candidate, Candidate) and candidate.title == "Name the menu"


@pytest.mark.trap("unmerged-kept")
def test_an_open_pull_request_is_left_out(store: Store, tmp_path: Path) -> None:
    """Multi-SWE-bench's collection contains pull requests that were never merged."""
    collect(store, write(tmp_path, MULTI, MULTI | {"number": 9, "state": "open"}))
    assert sorted(reasons(store)) == [7]


def test_issues_without_a_number_stay_separate(store: Store, tmp_path: Path) -> None:
    other = SWE | {"instance_id": "acme__ui-9", "problem_statement": "Dialog: focus trap"}
    collect(store, write(tmp_path, SWE, other))
    titles = [
        outcome.resolved_issues[0].title for outcome in outcomes(store).values() if isinstance(outcome, Candidate)
    ]
    assert titles == ["Menu: no aria-label", "Dialog: focus trap"]


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([MULTI, "{"], r"dataset\.jsonl:2: not a record of a dataset"),
        ([{"a": 1}], r"dataset\.jsonl:1: not a record of a dataset"),
        (["[]"], r"dataset\.jsonl:1: not a record of a dataset"),
        ([MULTI | {"number": "x"}], r"dataset\.jsonl:1: field 'number'"),
        ([MULTI | {"base": {"sha": 1}}], r"dataset\.jsonl:1: field 'base\."),
        ([SWE | {"instance_id": "acme__ui"}], r"dataset\.jsonl:1: field 'instance_id'"),
        ([MULTI | {"repo": "other"}], "it has no record of acme/ui"),
        ([], "it has no record of acme/ui"),
    ],
)
def test_a_broken_file_is_refused(store: Store, tmp_path: Path, rows: list[Any], says: str) -> None:
    """With file, line and field; what was collected before stays."""
    with pytest.raises(UserError, match=says):
        collect(store, write(tmp_path, *rows), strict=True)
    assert list(store.root.rglob("*.jsonl")) == []


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("path", [None, Path("missing.jsonl")])
def test_a_file_that_is_not_there(path: Path | None) -> None:
    with pytest.raises(UserError, match="no such file"):
        open_source("dataset", REPO, Options(path))


@pytest.mark.rule("test-files")
def test_the_datasets_own_test_files_are_kept(store: Store, tmp_path: Path) -> None:
    """Whatever their names: the authors' split is kept, and a rebase is complete."""
    odd = TEST_PATCH.replace("src/Menu.test.tsx", "checks/menu.js")
    collect(store, write(tmp_path, MULTI | {"test_patch": odd}, SWE | {"test_patch": ""}))
    assert reasons(store) == {7: "candidate", 8: "no_test_changes"}
    assert outcomes(store)[7].test_patch == odd
