"""Progress on stderr, results on stdout, details in a run's log file."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from pipeline.core.console import clock, counted, is_terminal, log_file, say, table, visible
from pipeline.core.progress import Progress


def test_a_closed_stream_is_no_terminal() -> None:
    """Python sets a stream that the shell has closed (`>&-`) to None."""
    assert not is_terminal(None)


def test_progress_is_printed_in_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("building", 2) as progress:
        progress.step("a-1", "installing")
        progress.finish("a-1", "qualified")
        progress.finish("a-2", "rejected [bold]")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert [line.split("] ", 1)[1] for line in captured.err.splitlines()] == [
        "a-1: installing",
        "a-1: qualified (1 of 2)",
        "a-2: rejected [bold] (2 of 2)",
    ]


def test_progress_counts_what_threads_finish(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("building", 40) as progress:
        threads = [threading.Thread(target=progress.finish, args=(f"a-{n}", "done")) for n in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert progress.done == 40
    assert len(capsys.readouterr().err.splitlines()) == 40


def test_a_table_is_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    """Titles of commits such as `[Menu] :tada: …` are not markup."""
    table("Dataset [1]", ("title", "tests"), [("[Menu] Add a name :tada:", 5), ("other", 12)])
    table("Empty", ("instance",), [])
    captured = capsys.readouterr()
    assert captured.err == ""
    shown = ("Dataset [1]", "title", "[Menu] Add a name :tada:", "     5 ", "Empty", "instance")
    assert [word for word in shown if word not in captured.out] == []


def test_details_go_to_the_log_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with log_file(tmp_path / "deep" / "run.log"):
        say("told to a person, too")
        logging.getLogger("pipeline.build").debug("a detail")
    logging.getLogger("pipeline.build").error("too late")
    text = (tmp_path / "deep" / "run.log").read_text(encoding="utf-8")
    assert "told to a person, too" in text and "a detail" in text and "too late" not in text
    assert capsys.readouterr().err.startswith("told to a person, too\n")


def test_control_characters_are_shown_and_not_sent(capsys: pytest.CaptureFixture[str]) -> None:
    assert visible("a\tb\r\nc\u2028é\x1b[2J\r\x9b") == "a\tb\nc\u2028é\\x1b[2J\\x0d\\x9b"
    say("\x1b]0;title\x07")
    table("Causes", ("cause",), [("\x1b[2J",)])
    assert "\x1b]" not in (captured := capsys.readouterr()).err and "\x1b[2J" not in captured.out


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "00:00"),
        (59.9, "00:59"),
        (60, "01:00"),
        (3599, "59:59"),
        (3600, "1:00:00"),
        (86_399, "23:59:59"),
        (360_000, "100:00:00"),
    ],
)
def test_a_duration_is_shown_for_people(seconds: float, text: str) -> None:
    assert clock(seconds) == text


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (1, "file", "1 file"),
        (0, "file", "0 files"),
        (2, "repository", "2 repositories"),
        (1, "repository", "1 repository"),
        (1_234_567, "row", "1,234,567 rows"),
    ],
)
def test_nouns_agree_with_their_number(number: int, noun: str, text: str) -> None:
    assert counted(number, noun) == text
