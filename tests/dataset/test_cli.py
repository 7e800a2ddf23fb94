"""The `dataset` commands: exit codes, machine-readable output, and that they overwrite nothing."""

from __future__ import annotations

import csv
import errno
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from factories import REPO, make_instance
from tiny_library import Bench

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.names import Repo
from pipeline.core.records import Instance
from pipeline.core.store import Store, read_records, write_records
from pipeline.dataset import present
from pipeline.dataset.cli import command
from pipeline.dataset.rebuild import Difference

KIT = Repo("acme", "kit")


def call(store: Store, *words: str, cache: Path | None = None) -> Result:
    given = {"A11Y_BENCH_CACHE": str(cache)} if cache else {}
    return CliRunner().invoke(command, [*words, "--data", str(store.root)], env=given)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two repositories, with two instances and one."""
    store = Store(tmp_path / "data")
    store.begin()
    write_records(store.dataset(REPO), [make_instance(1), make_instance(2)])
    write_records(store.dataset(KIT), [make_instance(3, KIT)])
    return store


@pytest.mark.rule("dataset-check")
def test_check_exits_with_1_if_there_are_findings(tiny: Bench, tmp_path: Path) -> None:
    bench = tiny.copy(tmp_path)
    local = ("--sandbox", "local", "--trust-local", "--json")
    right = call(bench.store, "check", "acme/ui", *local, cache=tiny.cache)
    assert right.exit_code == 0, right.exception
    assert set(json.loads(right.stdout)["wrong"].values()) == {0}
    write_records(bench.store.dataset(REPO), [tiny.instance("menu").model_copy(update={"files": ()})])
    wrong = call(bench.store, "check", "--quick", "--json")
    assert wrong.exit_code == 1
    assert json.loads(wrong.stdout)["findings"] == [
        {"instance": "acme__ui-1", "check": "files", "detail": "no test file is run"}
    ]
    assert "oracle" not in json.loads(wrong.stdout)["wrong"]
    shown = call(bench.store, "check", "--quick")
    assert "no test file is run" in shown.stdout and shown.exit_code == 1


@pytest.mark.rule("export")
@pytest.mark.parametrize(
    "words",
    [("export", "--format", "swe-bench", "--output"), ("lock", "--unchecked", "acme/ui", "--output")],
)
def test_files_are_overwritten_only_with_force(store: Store, tmp_path: Path, words: tuple[str, ...]) -> None:
    """Writing the same bytes is allowed; others are refused."""
    name = tmp_path / "out"
    path = name if words[0] == "export" else name / "acme__ui.jsonl"
    assert call(store, *words, str(name)).exit_code == 0
    written = path.read_bytes()
    assert call(store, *words, str(name)).exit_code == 0
    path.write_text("mine")
    refused = call(store, *words, str(name))
    assert isinstance(refused.exception, UserError) and "add --force" in str(refused.exception)
    assert path.read_text() == "mine"
    assert call(store, *words, str(name), "--force").exit_code == 0
    assert path.read_bytes() == written


@pytest.mark.rule("lists-not-datasets")
def test_no_list_is_written_if_one_of_them_is_refused(store: Store, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/acme__ui.jsonl").write_text("mine")
    refused = call(store, "lock", "--unchecked", "acme/kit", "acme/ui", "--output", str(tmp_path / "out"))
    assert isinstance(refused.exception, UserError) and "add --force" in str(refused.exception)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["acme__ui.jsonl"]


def test_without_a_name_all_built_repositories_are_selected(store: Store, tmp_path: Path) -> None:
    write_records(store.dataset(Repo("acme", "empty")), [])
    call(store, "export", "--format", "multi-swe-bench", "--output", str(tmp_path / "all"))
    ids = [json.loads(line)["instance_id"] for line in (tmp_path / "all").read_text().splitlines()]
    assert ids == ["acme__kit-3", "acme__ui-1", "acme__ui-2"]
    assert call(store, "lock", "--unchecked").exit_code == 0
    assert sorted(path.name for path in (store.root / "locks").iterdir()) == ["acme__kit.jsonl", "acme__ui.jsonl"]


@pytest.mark.rule("dataset-stats")
def test_statistics_in_three_forms(store: Store) -> None:
    rows = list(csv.DictReader(call(store, "stats", "--format", "csv").stdout.splitlines()))
    assert {row["repo"] for row in rows} == {"acme/kit", "acme/ui", "total"}
    assert {"repo": "total", "group": "instances", "name": "all", "value": "3"} in rows
    nested = json.loads(call(store, "stats", "--format", "json").stdout)
    assert nested["acme/ui"]["gold patch, lines"]["median"] == 2
    assert all(name in call(store, "stats").stdout for name in ("acme/kit", "acme/ui", "total"))
    assert "total" not in call(store, "stats", "acme/ui").stdout


@pytest.mark.rule("rebuild")
def test_rebuild_exits_with_1_if_there_are_differences(tiny: Bench, tmp_path: Path) -> None:
    first, path, fresh = Store(tmp_path / "first"), tmp_path / "acme__ui.jsonl", Store(tmp_path / "rebuilt")
    write_records(first.dataset(REPO), [tiny.instance(name) for name in ("menu", "badge")])
    call(first, "lock", "--unchecked", "--output", str(tmp_path))
    local = ("--path", str(tiny.library), "--sandbox", "local", "--trust-local")
    same = call(fresh, "rebuild", str(path), *local, cache=tiny.cache)
    assert same.exit_code == 0, same.exception
    assert "2 of 2 instances match the list" in same.stdout
    path.write_text(path.read_text().replace('"statement_source":"pull_request"', '"statement_source":"issue"', 1))
    other = call(fresh, "rebuild", str(path), *local, cache=tiny.cache)
    assert other.exit_code == 1
    assert "1 of 2 instances" in other.stdout
    (found,) = json.loads(call(fresh, "rebuild", str(path), *local, "--json", cache=tiny.cache).stdout)
    assert (found["fact"], found["listed"], found["rebuilt"]) == ("statement_source", "issue", "pull_request")


@pytest.mark.rule("rebuild")
def test_a_part_of_a_list_is_rebuilt(tiny: Bench, tmp_path: Path) -> None:
    """A list takes hours, so nobody could try one of its instances first."""
    first, path, fresh = Store(tmp_path / "first"), tmp_path / "acme__ui.jsonl", Store(tmp_path / "rebuilt")
    write_records(first.dataset(REPO), [tiny.instance(name) for name in ("menu", "badge")])
    call(first, "lock", "--unchecked", "--output", str(tmp_path))
    words = ("rebuild", str(path), "--path", str(tiny.library), "--sandbox", "local", "--trust-local")
    number = str(tiny.instance("badge").number)
    shown = call(fresh, *words, "--pr", number, cache=tiny.cache)
    assert "1 of 1 instances match the list" in shown.stdout
    assert [instance.number for instance in read_records(fresh.dataset(REPO), Instance)] == [int(number)]
    unknown = call(fresh, *words, "--pr", "77", cache=tiny.cache)
    assert "unknown instance 'acme__ui-77'" in str(unknown.exception)


@pytest.mark.rule("rebuild")
def test_differences_in_the_environment_alone_are_counted_apart(capsys: pytest.CaptureFixture[str]) -> None:
    found = [
        Difference("acme__ui-1", "environment", "a", "b"),
        Difference("acme__ui-1", "image", "c", "d"),
        Difference("acme__ui-2", "image", "e", "f"),
        Difference("acme__ui-2", "test: menu.test.js > opens", "PFP", "PPP"),
    ]
    present.differences(found, 3, as_json=False)
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "1 of 3 instances match the list",
        "in 1 of the others, only digests of environment and image differ: all tests end as listed",
    ]


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("acme__ui-1",), "name an INSTANCE and a PATCH, or --serve"),
        (("acme__ui-1", "latin.diff"), "latin.diff: the patch is not UTF-8"),
        (("acme__ui-9", "empty"), "acme__ui-9 is not in the dataset of acme/ui"),
        (("acme", "empty"), "'acme' is not an instance"),
        (("--serve",), "name an INSTANCE and a PATCH, or --serve"),
        (("acme__ui-1", "empty", "--serve", "--token-file", "token"), "name an INSTANCE and a PATCH, or --serve"),
        *((("--serve", "--token-file", "token", "--address", address), f"'{address}' is not HOST:PORT")
          for address in ("8765", ":8765", "here:", "here:port", "here:99999", "here:\u00b2", "here:-1")),
        *((("--serve", "--token-file", "token", "--address", address), f"nothing can be served at '{address}'")
          for address in ("192.0.2.1:0", "a..b:0")),
        (("--serve", "--token-file", "empty", "--address", "127.0.0.1:0"), "empty: the file is empty, and anybody"),
    ],
)  # fmt: skip
def test_a_wrong_call_of_grade_gives_no_verdict(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], says: str
) -> None:
    """Exit code 1 means "not resolved", which a traceback has as well; and with an empty token, everybody was
    answered."""
    monkeypatch.chdir(tmp_path)
    for name, data in (("latin.diff", "Zo\u00eb".encode("latin-1")), ("empty", b"\n"), ("token", b"secret\n")):
        (tmp_path / name).write_bytes(data)
    result = call(store, "grade", *words, "--sandbox", "local", cache=tmp_path / "cache")
    if isinstance(result.exception, UserError):
        assert says in str(result.exception)
    else:
        assert result.exit_code == 2 and says in " ".join(result.output.split())


@pytest.mark.parametrize(
    "error",
    [
        InfrastructureError("the engine is gone", cause="engine"),
        OSError(errno.ENOSPC, "No space left on device"),
        ZeroDivisionError("a fault of ours"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_grade_cannot_evaluate_is_not_called_unresolved(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Exit code 1 is a verdict."""

    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr("pipeline.dataset.foreign.grader.Grader.grade", fails)
    (tmp_path / "fix.diff").write_text("", encoding="utf-8")
    words = ("grade", "acme__ui-1", str(tmp_path / "fix.diff"), "--sandbox", "local")
    result = call(store, *words, cache=tmp_path / "cache")
    assert result.exit_code == 75
    assert f"not evaluated: {error if not isinstance(error, ZeroDivisionError) else repr(error)}" in result.output


@pytest.mark.rule("bad-input")
def test_the_subset_reviewed_takes_no_size(store: Store) -> None:
    """It was ignored, although `reviewed` is no sample."""
    result = call(store, "subset", "reviewed", "--size", "5")
    assert result.exit_code == 2 and "--size is for lite" in result.output


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("check", "--quick"), "no dataset is built"),
        (("stats", "acme/none"), "acme/none has no dataset"),
        (("lock", "nothing"), "write it as org/repo"),
        (("export", "--format", "harbor", "--output", "x", "acme/none"), "acme/none has no dataset"),
        (
            ("export", "--format", "parquet", "--output", "x"),
            "available: harbor, hugging-face, inspect, multi-swe-bench",
        ),
        (("rebuild", "gone.jsonl"), "the list is missing"),
    ],
)
def test_bad_input_is_refused(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    result = call(Store(tmp_path), *words)
    assert isinstance(result.exception, UserError) and says in str(result.exception)
    assert not list(tmp_path.iterdir())
