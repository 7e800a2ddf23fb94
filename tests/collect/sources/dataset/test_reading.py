"""Folders of tasks, on disk or in a bare clone, and files of records, read as rows and problems."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from factories import FIX_PATCH, REPO, TEST_PATCH
from histories import History, put

from pipeline.collect.sources import Options, open_source
from pipeline.collect.sources.dataset.reading import Row, read
from pipeline.collect.stage import collect_from
from pipeline.core.errors import UserError
from pipeline.core.records import Candidate, Instance, Picture
from pipeline.core.store import Store, read_records

PICTURE = b"\x89PNG\r\n"
DEEP, LONG = "[" * 5000, "9" * 5000
ADDRESS = "https://example.org/user/menu-1.png?raw=true"
ABOUT = f"""\
instance_id: acme__ui-8
repo: acme/ui
base_commit: {"d" * 40}
created_at: '2024-01-02T03:04:05Z'
version: 1.0
image_assets:
  problem_statement:
  - {ADDRESS}
  - https://example.org/gone.gif
"""
TASK = {
    "task.yaml": ABOUT,
    "problem_statement.md": "Menu: no name\nA screen reader says nothing.\n",
    "hints.md": "It is a nav.",
    "gold.patch": FIX_PATCH,
    "test.patch": TEST_PATCH,
    "tests.json": json.dumps({"FAIL_TO_PASS": ["menu has a name"], "PASS_TO_PASS": ["menu opens", "menu closes"]}),
    "problem_assets/0-menu-1.png": PICTURE,
    "problem_assets/sandbox/App.png": b"a page of the reporter's, no picture of the statement",
    "Dockerfile": "FROM nothing",
}


def tasks(folder: Path, **others: dict[str, Any]) -> Path:
    """A folder with task folders: `menu`, and others that replace some of its files."""
    for name, more in {"menu": {}, **others}.items():
        for file, content in (TASK | more).items():
            if content is not None:
                put(folder / "tasks" / name / file, content)
    return folder


def rows(path: Path) -> tuple[list[Any], list[str]]:
    """The records, and the problems of the others."""
    found = list(read(path, REPO))
    good = [row.record for row in found if isinstance(row, Row)]
    return good, [str(error).splitlines()[0] for error in found if isinstance(error, UserError)]


@pytest.mark.rule("foreign-benchmarks")
def test_a_folder_of_tasks(tmp_path: Path) -> None:
    ((record,), problems) = rows(tasks(tmp_path, other={"task.yaml": ABOUT.replace("acme/ui", "acme/kit")}))
    pull = record.merged().pull
    assert problems == []
    assert (pull.number, pull.base.sha, pull.hints) == (8, "d" * 40, "It is a nav.")
    assert record.merged().patches == ("d" * 40, FIX_PATCH, TEST_PATCH)
    assert record.expected == ({"menu has a name"}, {"menu opens", "menu closes"})
    shown, gone = pull.pictures
    assert shown == Picture(address=ADDRESS, media="image/png", digest=hashlib.sha256(PICTURE).hexdigest())
    assert (gone.address, gone.media, gone.digest) == ("https://example.org/gone.gif", "image/gif", "")


@pytest.mark.rule("foreign-benchmarks")
def test_a_single_task_without_hints(tmp_path: Path) -> None:
    folder = tasks(tmp_path, bare={"hints.md": None, "tests.json": None, "problem_assets/0-menu-1.png": None})
    ((record,), _) = rows(folder / "tasks" / "bare")
    assert (record.merged().pull.hints, record.expected) == ("", (set(), set()))
    assert [picture.digest for picture in record.merged().pull.pictures] == ["", ""]


@pytest.mark.rule("foreign-benchmarks")
def test_a_bare_clone_that_lacks_some_contents(tmp_path: Path) -> None:
    """Files are read by object name: if the clone lacks an image, the task is read without it."""
    history = History(tmp_path / "work")
    tasks(history.folder, lost={"task.yaml": ABOUT.replace("ui-8", "ui-9"), "problem_assets/0-menu-1.png": b"lost"})
    commit = history.commit("tasks")
    history.lose(commit, "tasks/lost/problem_assets/0-menu-1.png")
    ((lost, found), problems) = rows(history.folder / ".git")
    assert problems == []
    assert [lost.number, found.number] == [9, 8]
    assert [picture.digest != "" for picture in lost.merged().pull.pictures] == [False, False]
    assert [picture.digest != "" for picture in found.merged().pull.pictures] == [True, False]


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({"task.yaml": "instance_id: [1"}, r"task.yaml:1: invalid YAML"),
        ({"task.yaml": f"{ABOUT}instance_id: acme__ui-9\n"}, "task.yaml:10: field 'instance_id': 'instance_id' is"),
        ({"task.yaml": b"a: 1\nb: \xff\n"}, r"task.yaml:2: the file is not UTF-8"),
        ({"task.yaml": ABOUT.replace("base_commit", "base")}, r"task.yaml: field 'base_commit': Field required"),
        ({"task.yaml": ABOUT.replace("ui-8", "ui")}, r"task.yaml: field 'instance_id'"),
        ({"gold.patch": None}, "gold.patch: no such file"),
        ({"gold.patch": "hello"}, "gold.patch: field 'patch': not a patch in git's format"),
        ({"test.patch": b"a\n\xff"}, "test.patch:2: the file is not UTF-8"),
        ({"hints.md": b"\xff"}, "hints.md:1: the file is not UTF-8"),
        ({"tests.json": '{"FAIL_TO_PASS": 3}'}, "tests.json: field 'FAIL_TO_PASS'"),
        ({"tests.json": DEEP}, "tests.json: invalid JSON: it nests too deep"),
        ({"tests.json": "{"}, "tests.json: invalid JSON"),
        ({"tests.json": ""}, "tests.json: invalid JSON"),
        ({"tests.json": b"\xff"}, "tests.json:1: the file is not UTF-8"),
        ({"tests.json": "null"}, "tests.json: not an object with FAIL_TO_PASS and PASS_TO_PASS"),
    ],
)
def test_a_broken_task_does_not_hide_others(tmp_path: Path, broken: dict[str, Any], says: str) -> None:
    (good, problems) = rows(tasks(tmp_path, broken=broken))
    assert [row.number for row in good] == [8]
    assert len(problems) == 1 and says in problems[0]


@pytest.mark.rule("foreign-benchmarks")
def test_published_records_hold_lists_in_strings(tmp_path: Path) -> None:
    """So does SWE-bench on its hub, in which a file may also be one list instead of lines."""
    record = {
        "repo": str(REPO),
        "instance_id": "acme__ui-8",
        "base_commit": "d" * 40,
        "patch": FIX_PATCH,
        "test_patch": TEST_PATCH,
        "problem_statement": "Menu",
        "hints_text": None,
        "image_assets": json.dumps({"problem_statement": [ADDRESS], "patch": []}),
        "FAIL_TO_PASS": '["a"]',
        "PASS_TO_PASS": "",
    }
    path = tmp_path / "all.json"
    path.write_text(json.dumps([record, record | {"patch": 1}]))
    ((row,), problems) = rows(path)
    assert row.expected == ({"a"}, set())
    assert row.merged().pull.pictures == (Picture(address=ADDRESS, media="image/png"),)
    assert len(problems) == 1 and "all.json:1: field 'patch'" in problems[0]


MULTI = {
    "org": "acme", "repo": "ui", "number": 8, "state": "closed", "title": "Menu", "body": None, "resolved_issues": [],
    "base": {"label": "acme:main", "ref": "main", "sha": "d" * 40}, "fix_patch": FIX_PATCH, "test_patch": TEST_PATCH,
}  # fmt: skip
SWE = {
    "repo": str(REPO), "instance_id": "acme__ui-9", "base_commit": "d" * 40, "patch": FIX_PATCH,
    "test_patch": TEST_PATCH, "problem_statement": "Menu",
}  # fmt: skip


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("line", "field"),
    [
        (DEEP, None),
        (f'{{"fix_patch": {DEEP}', None),
        ("{", None),
        ("3", None),
        ("null", None),
        ('"acme/ui"', None),
        ("{}", None),
        (json.dumps(MULTI | {"number": "eight"}), "number"),
        (json.dumps(MULTI | {"base": None}), "base"),
        (json.dumps(MULTI | {"base": {"label": "", "ref": ""}}), "base.sha"),
        (json.dumps(MULTI | {"resolved_issues": [{"number": 3}]}), "resolved_issues.0.title"),
        (json.dumps(MULTI | {"test_patch": None}), "test_patch"),
        (json.dumps(SWE | {"instance_id": "acme__ui-menu"}), "instance_id"),
        (json.dumps(SWE | {"FAIL_TO_PASS": DEEP}), "FAIL_TO_PASS"),
        (json.dumps(SWE | {"FAIL_TO_PASS": "['a']"}), "FAIL_TO_PASS"),
        (json.dumps(SWE | {"PASS_TO_PASS": {"a": 1}}), "PASS_TO_PASS"),
        (json.dumps(SWE | {"image_assets": '{"problem_statement": "a.png"}'}), "image_assets.problem_statement"),
        (json.dumps(SWE | {"base_commit": 7}), "base_commit"),
        (json.dumps(SWE | {"image_assets": {"problem_statement": ["http://[x"]}}), "image_assets.problem_statement.0"),
        (json.dumps(SWE | {"instance_id": f"acme__ui-{2**53}"}), "instance_id"),
        (json.dumps(SWE | {"instance_id": f"acme__ui-{LONG}"}), "instance_id"),
        (json.dumps(MULTI | {"number": 2**53}), "number"),
        (json.dumps(MULTI | {"number": 0}), "number"),
        (json.dumps(MULTI).replace('"number": 8', f'"number": {LONG}'), "number"),
        (json.dumps(MULTI | {"resolved_issues": [{"number": 2**53, "title": "a"}]}), "resolved_issues.0.number"),
    ],
)
def test_a_broken_record_is_named_and_the_others_are_read(tmp_path: Path, line: str, field: str | None) -> None:
    path = tmp_path / "all.jsonl"
    path.write_text(f"{json.dumps(MULTI)}\n\n{line}\n{json.dumps(SWE)}\n")
    found = list(read(path, REPO))
    (problem,) = (error for error in found if isinstance(error, UserError))
    assert (problem.path, problem.line, problem.field) == (path, 3, field)
    assert [row.location for row in found if isinstance(row, Row)] == [f"{path}:1", f"{path}:4"]


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.rule("bad-input")
def test_a_long_number_in_a_list_hides_no_other_record(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text(json.dumps([MULTI | {"number": 0}, SWE]).replace('"number": 0', f'"number": {LONG}'))
    found, (problem,) = rows(path)
    assert [row.number for row in found] == [9] and "all.json:1: field 'number'" in problem


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.parametrize("form", [f"{json.dumps(MULTI)}\r\n{json.dumps(SWE)}\r\n", json.dumps([MULTI, SWE], indent=1)])
def test_a_file_of_windows_has_the_same_records(tmp_path: Path, form: str) -> None:
    """It starts with a byte order mark, which hid that the file is one list."""
    path = tmp_path / "all.json"
    path.write_text(form, encoding="utf-8-sig", newline="")
    found, problems = rows(path)
    assert ([row.merged().pull.number for row in found], problems) == ([8, 9], [])


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"task.yaml": "a: [" }, "task.yaml:1: invalid YAML"),
        ({"task.yaml": "[" * 500 }, "task.yaml: invalid YAML"),
        ({"task.yaml": "- a" }, "task.yaml: not a record of a dataset"),
        ({"task.yaml": "" }, "task.yaml: not a record of a dataset"),
        ({"task.yaml": ABOUT.replace("base_commit", "commit") }, "field 'base_commit'"),
        ({"task.yaml": ABOUT.replace("acme__ui-8", "acme__ui") }, "field 'instance_id'"),
        ({"test.patch": None}, "test.patch: no such file"),
        ({"problem_statement.md": None}, "problem_statement.md: no such file"),
    ],
)  # fmt: skip
def test_a_broken_task_is_named_and_the_others_are_read(tmp_path: Path, files: dict[str, Any], says: str) -> None:
    found, (problem,) = rows(tasks(tmp_path, broken=files))
    assert [row.number for row in found] == [8]
    assert says in problem and "broken" in problem


@pytest.mark.rule("foreign-benchmarks")
def test_a_task_may_be_called_yml(tmp_path: Path) -> None:
    """Such a folder was left out without a word. `task.yaml` counts if there are both."""
    folder = tasks(
        tmp_path, other={"task.yaml": None, "task.yml": ABOUT.replace("ui-8", "ui-9")}, menu={"task.yml": "a"}
    )
    found, problems = rows(folder)
    assert (sorted(row.number for row in found), problems) == ([8, 9], [])


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.rule("bad-input")
def test_of_two_records_of_one_number_the_second_is_named(tmp_path: Path) -> None:
    """The second one vanished. The same record twice is one."""
    path = tmp_path / "all.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in (SWE, SWE, SWE | {"problem_statement": "Tabs"})))
    found, problems = rows(path)
    assert [row.problem_statement for row in found] == ["Menu"]
    assert problems == [f"{path}:3: another record of #9 than that in {path}:1"]


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.parametrize(
    "record",
    [
        SWE | {"repo": "Acme/UI"},
        SWE | {"repo": "https://github.com/acme/ui"},
        SWE | {"repo": "git@github.com:acme/ui.git"},
        MULTI | {"org": "ACME"},
        MULTI | {"repo": "acme/ui"},
        MULTI | {"repo": "https://github.com/acme/ui.git/"},
    ],
)
def test_a_repository_has_several_spellings(tmp_path: Path, record: dict[str, Any]) -> None:
    """Such records were left out without a word."""
    path = tmp_path / "all.jsonl"
    path.write_text(json.dumps(record))
    ((row,), problems) = rows(path)
    assert (str(row.repository).lower(), str(row.merged().pull.repository).lower(), problems) == (
        "acme/ui",
        "acme/ui",
        [],
    )


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (json.dumps(SWE).encode("utf-16"), "all.json: the file is UTF-16"),
        (b"PAR1\0\0", "all.json: the file is Parquet"),
        (gzip.compress(json.dumps(SWE).encode())[:-9], "all.json: not a whole gzip file"),
    ],
)
def test_a_file_of_another_format_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "all.json"
    path.write_bytes(content)
    with pytest.raises(UserError, match=says):
        list(read(path, REPO))


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.parametrize(
    "content", [gzip.compress(f"{json.dumps(SWE)}\n".encode()), json.dumps(SWE, indent=2).encode()]
)
def test_a_compressed_file_and_a_single_object_are_read(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "all.jsonl.gz"
    path.write_bytes(content)
    found, problems = rows(path)
    assert ([row.number for row in found], problems) == ([9], [])


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("line", "says"),
    [
        (json.dumps(SWE | {"problem_statement": "caf\xe9"}, ensure_ascii=False).encode("latin-1"), "it is not UTF-8"),
        (b"{", "it is invalid JSON"),
    ],
)
def test_a_line_that_is_no_record_says_what_it_is(tmp_path: Path, line: bytes, says: str) -> None:
    path = tmp_path / "all.jsonl"
    path.write_bytes(line + b"\n" + json.dumps(SWE).encode())
    found, (problem,) = rows(path)
    assert [row.number for row in found] == [9]
    assert problem == f"{path}:1: not a record of a dataset: {says}"


@pytest.mark.rule("bad-input")
def test_a_record_of_a_list_is_named_by_its_place_and_name(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text(json.dumps([MULTI, SWE | {"patch": None}, 3]))
    errors = [error for error in read(path, REPO) if isinstance(error, UserError)]
    assert [(error.field, error.hint) for error in errors][0] == (
        "patch", "correct or remove record 2 of the list (acme__ui-9)",
    )  # fmt: skip
    assert "record 3 of the list" in str(errors[1])


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("form", [SWE, MULTI])
@pytest.mark.parametrize("repo", [REPO.repo, "other"])
def test_a_record_without_its_most_telling_field(tmp_path: Path, form: dict[str, Any], repo: str) -> None:
    """It was no record of a dataset at all, even if it belonged to another repository."""
    missing = "problem_statement" if form is SWE else "fix_patch"
    record = {name: value for name, value in form.items() if name != missing}
    path = tmp_path / "all.jsonl"
    path.write_text(json.dumps(record | {"repo": repo if form is MULTI else f"acme/{repo}"}))
    found, problems = rows(path)
    assert (found, problems) == ([], [f"{path}:1: field '{missing}': Field required"] if repo == REPO.repo else [])


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("record", "field"),
    [
        (SWE | {"problem_statement": "x\ud800y"}, "problem_statement"),
        (SWE | {"FAIL_TO_PASS": ["a", "\udfff"]}, "FAIL_TO_PASS.1"),
        (SWE | {"instance_id": "acme__ui-\ud800-9"}, "instance_id"),
        (MULTI | {"resolved_issues": [{"number": 3, "title": "\ud800"}]}, "resolved_issues.0.title"),
    ],
)
def test_half_of_a_character_is_no_text(tmp_path: Path, record: dict[str, Any], field: str) -> None:
    """JSON can write it, and no file in UTF-8 can hold it: it ended the run in a traceback."""
    path = tmp_path / "all.jsonl"
    path.write_text(f"{json.dumps(record)}\n{json.dumps(SWE | {'instance_id': 'acme__ui-10'})}")
    found = list(read(path, REPO))
    (problem,) = (error for error in found if isinstance(error, UserError))
    assert (problem.line, problem.field) == (1, field) and str(problem).encode()
    assert [row.record.number for row in found if isinstance(row, Row)] == [10]


@pytest.mark.rule("foreign-benchmarks")
def test_the_transitions_of_multi_swe_bench(tmp_path: Path) -> None:
    base = {"label": "acme:main", "ref": "main", "sha": "d" * 40}
    triple = {"run": "NONE", "test": "FAIL", "fix": "PASS"}
    record = {"org": "acme", "repo": "ui", "number": 8, "state": "closed", "title": "Menu", "body": None, "base": base}
    record |= {"resolved_issues": [], "fix_patch": FIX_PATCH, "test_patch": TEST_PATCH, "hints": "It is a nav."}
    path = tmp_path / "ui_dataset.jsonl"
    path.write_text(json.dumps(record | {"fixed_tests": {"a": triple}, "p2p_tests": {"b": triple}}))
    ((row,), _) = rows(path)
    assert (row.expected, row.merged().pull.hints) == (({"a"}, {"b"}), "It is a nav.")


@pytest.mark.rule("bad-input")
def test_an_unknown_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no folder here has a task.yaml"):
        list(read(tmp_path, REPO))
    with pytest.raises(UserError, match="no such file"):
        list(read(tmp_path / "missing", REPO))


@pytest.mark.rule("foreign-benchmarks")
def test_pictures_and_hints_reach_the_task(store: Store, tmp_path: Path) -> None:
    """Their bytes are stored once, by digest; candidate, instance and task refer to them."""
    source = open_source("dataset", REPO, Options(tasks(tmp_path)))
    collect_from(store, REPO, source)
    (candidate,) = read_records(store.raw(REPO) / "candidates.jsonl", Candidate)
    assert store.picture(REPO, candidate.pictures[0].digest).read_bytes() == PICTURE
    assert {"hints", "pictures", "origin"} <= set(Instance.model_fields)
    assert (candidate.hints, len(candidate.pictures)) == ("It is a nav.", 2)


@pytest.mark.rule("foreign-benchmarks")
def test_a_link_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    """If the statement is a link to somebody's key, the key would be sent to a provider."""
    folder = tasks(
        tmp_path / "folder",
        odd={
            "task.yaml": ABOUT.replace("ui-8", "ui-9"),
            "problem_statement.md": None,
            "hints.md": None,
            "problem_assets/0-menu-1.png": None,
        },
    )
    put(tmp_path / "secret", "a key")
    (folder / "tasks" / "odd" / "problem_statement.md").symlink_to(tmp_path / "secret")
    (folder / "tasks" / "odd" / "hints.md").symlink_to(folder / "tasks" / "menu" / "hints.md")
    found, problems = rows(folder)
    assert [row.number for row in found] == [8] and "problem_statement.md: no such file" in problems[0]
    (folder / "tasks" / "odd" / "problem_statement.md").unlink()
    put(folder / "tasks" / "odd" / "problem_statement.md", "Menu")
    found, problems = rows(folder)
    assert ([row.hints_text for row in found], problems) == (["It is a nav.", "It is a nav."], [])


def test_a_folder_that_only_looks_like_a_clone_is_refused(tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    (tmp_path / "HEAD").write_text("nothing")
    with pytest.raises(UserError, match="not a git clone"):
        list(read(tmp_path, REPO))
