"""Rejections grouped by those lines of their logs that no known fault explains."""

from __future__ import annotations

import gzip

import pytest
from click.testing import CliRunner
from factories import REPO

from pipeline.build.cli import command
from pipeline.build.explain import explain, normalized, unexplained
from pipeline.core.errors import UserError
from pipeline.core.records import Rejection
from pipeline.core.store import Store, Unit

PLUGIN = "Error: Cannot find plugin '@acme/preset-{}' in /workspace/repo/packages/{}/babel.config.js:3:{}"
GONE = 'error Couldn\'t find package "@no/body" on the "npm" registry.'


def reject(store: Store, number: int, reason: str = "no_report", **logs: str) -> None:
    """A unit that was rejected, with its logs."""
    name = REPO.instance_id(number)
    files = {f"{log.replace('_', '.')}.log.gz": gzip.compress(text.encode()) for log, text in logs.items()}
    result = Rejection(instance_id=name, stage="build", reason=reason, detail="")
    Unit(store.qualification(REPO) / "units" / name).keep(files, result.model_dump(mode="json"), candidate="x")


@pytest.fixture
def store(tmp_path) -> Store:
    made = Store(tmp_path)
    for number in (1, 2, 3):
        reject(
            made, number, run_1=f"\x1b[31m{PLUGIN.format(number, 'ui', number)}\x1b[0m\n    at load (a.js:1:2)\nfine\n"
        )
    reject(made, 4, "environment_failed", install=f"{GONE}\nerror Unknown flag --immutable\n", run_1="Error: not this")
    reject(made, 5, "no_fix_transition", run_1="3 passed", test_1="3 passed", fix_1="3 passed")
    reject(made, 6, "patch_failed")
    return made


def test_rejections_with_the_same_line_are_one_group(store: Store) -> None:
    """The line is shown as one log has it, the largest group first; differences that only come from the commit are
    ignored."""
    explanation = explain(store, REPO)
    assert [(group.line, len(group.instances), group.reasons) for group in explanation.unknown] == [
        (PLUGIN.format(1, "ui", 1), 3, ("no_report",)),
        ("error Unknown flag --immutable", 1, ("environment_failed",)),
    ]
    assert explanation.known == {"version-gone": [REPO.instance_id(4)]}
    assert explanation.silent == [REPO.instance_id(5), REPO.instance_id(6)]


def test_the_log_of_the_last_run_is_used(store: Store) -> None:
    reject(store, 7, "gold_does_not_fix", run_1="Error: before", fix_1="Error: afterwards")
    assert "Error: afterwards" in [group.line for group in explain(store, REPO).unknown]
    assert "Error: before" not in [group.line for group in explain(store, REPO).unknown]


@pytest.mark.rule("bad-input")
def test_a_log_that_was_cut_off_is_named(store: Store) -> None:
    path = store.qualification(REPO) / "units" / REPO.instance_id(7) / "run.1.log.gz"
    reject(store, 7, run_1="Error: before")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(UserError, match="not a whole gzip file") as error:
        explain(store, REPO)
    assert error.value.path == path


@pytest.mark.parametrize(
    "line",
    [
        "npm error A complete log of this run can be found in: /r/_logs/1.log",
        "    at Error (a.js:1)",
        "│ ├── http-errors@2.0.1",
        "npm ERR! notarget In most cases you or one of your dependencies are requesting",
        "all is well",
    ],
)
def test_lines_of_every_failure_form_no_group(line: str) -> None:
    assert list(unexplained("install", f"{line}\n")) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Error: a@1.2.3 at https://r.example/a", "Error: a@2.0.0-rc.1 at https://x.example/b"),
        ("ENOENT: /home/b/x.js", "ENOENT: /root/c/y.js"),
        ("error in 'menu'", 'error in "tabs"'),
        ("error 0f3a9b2c1d", "error  deadbeef01"),
    ],
)
def test_lines_are_compared_without_details_of_a_commit(one: str, other: str) -> None:
    assert normalized(one) == normalized(other)


def test_a_huge_log_is_read_quickly() -> None:
    assert len(list(unexplained("run", "Error: " * 100_000 + "\n" + "Error: x\n" * 50_000))) <= 400


def test_explaining_runs_nothing(store: Store) -> None:
    done = CliRunner().invoke(command, [str(REPO), "--explain", "--data", str(store.root)])
    assert done.exit_code == 0, done.output
    assert "#1 #2 #3" in done.output
    assert "known fault version-gone: #4" in done.output
