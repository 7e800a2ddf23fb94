"""Reading files that people write (tables, TOML, plain text), and reporting what is wrong with them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core import texts
from pipeline.core.errors import UserError
from pipeline.core.texts import line_in_toml, parse_json, parse_yaml, read_table, read_text, read_toml, unzipped


def written(folder: Path, text: str | bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# -- tables ----------------------------------------------------------------------------------------------------------
def test_a_row_knows_its_line_even_after_cells_of_several_lines(tmp_path: Path) -> None:
    """A note on a sheet may have several paragraphs, and an error must name the right row's line."""
    path = written(tmp_path, 'name,note\na,"one\n\ntwo"\nb,\n')
    assert [(line, row["name"]) for line, row in read_table(path)] == [(4, "a"), (5, "b")]


def test_a_table_without_rows_is_empty(tmp_path: Path) -> None:
    assert read_table(written(tmp_path, "name,note\n"), ["name", "note"]) == []


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    "text", ["", "\n", "name\n", "name;note\na;b\n"], ids=["empty", "blank", "short", "semicolons"]
)
def test_a_missing_column_is_refused(tmp_path: Path, text: str) -> None:
    """Spreadsheets in some languages save semicolons; every row then seemed to have no rating."""
    with pytest.raises(UserError) as caught:
        read_table(written(tmp_path, text), ["name", "note"], hint="save it with commas")
    assert (
        caught.value.line == 1 and caught.value.field in ("name", "note") and caught.value.hint == "save it with commas"
    )


@pytest.mark.rule("bad-input")
def test_a_cell_that_is_too_long_for_the_reader_is_refused_with_its_line(tmp_path: Path) -> None:
    """If a quotation mark is never closed, the rest of the file becomes one cell."""
    path = written(tmp_path, f'name,note\na,b\nc,"{"x" * 200_000}\n')
    with pytest.raises(UserError, match="invalid CSV") as caught:
        read_table(path)
    assert caught.value.line is not None and caught.value.line >= 3


@pytest.mark.trap("rows-lost-in-a-table")
@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('name,note\na,b\nc,"d\ne,f\ng,h\n', 3, "invalid CSV: unexpected end of data"),
        ('name,"note\na,b\n', 1, "invalid CSV: unexpected end of data"),
        ('name,note\na,"b" c\n', 2, "invalid CSV"),
        ("name,note\na,b\nc,one, two\n", 3, "more cells than there are columns"),
        ("name,note,name\na,b,c\n", 1, "field 'name': the column occurs twice"),
    ],
    ids=["quotation", "quotation in the head", "after a quotation", "cells", "columns"],
)
def test_a_malformed_table_is_refused(tmp_path: Path, text: str, line: int, says: str) -> None:
    """A quotation mark turned all further ratings into a note, and a comma cut a note off, both silently."""
    with pytest.raises(UserError, match=says) as caught:
        read_table(written(tmp_path, text))
    assert (caught.value.path, caught.value.line) == (tmp_path / "file", line)


def test_quotation_marks_within_a_cell_are_text(tmp_path: Path) -> None:
    path = written(tmp_path, 'name,note\na,says "b"\nc,"says ""d"", twice"\n')
    assert [row["note"] for _, row in read_table(path)] == ['says "b"', 'says "d", twice']


def test_a_byte_order_mark_is_removed_from_the_first_column(tmp_path: Path) -> None:
    path = written(tmp_path, b"\xef\xbb\xbfname,note\na,b\n")
    assert read_table(path, ["name"], "utf-8-sig")[0][1] == {"name": "a", "note": "b"}


# -- stored files ----------------------------------------------------------------------------------------------------
WHOLE = gzip.compress(b"log\n" * 1000, mtime=0)


def test_a_gzip_file_is_unzipped(tmp_path: Path) -> None:
    assert unzipped(written(tmp_path, WHOLE)) == b"log\n" * 1000


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    "data",
    [b"", WHOLE[:5], WHOLE[:-9], WHOLE[:-1], b"plain text", WHOLE + b"more", WHOLE[:10] + b"\xff" * 9 + WHOLE[19:]],
    ids=["empty", "head", "end", "last byte", "text", "more", "damaged"],
)
def test_a_damaged_gzip_file_is_refused(tmp_path: Path, data: bytes) -> None:
    """click takes an EOFError for Ctrl-C, so that a cut file told its user to run the same command again."""
    with pytest.raises(UserError, match="not a whole gzip file") as caught:
        unzipped(written(tmp_path, data))
    assert caught.value.path == tmp_path / "file" and "put back a copy" in str(caught.value)


@pytest.mark.rule("bad-input")
def test_a_gzip_file_that_could_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in somebody else's bundle."""
    monkeypatch.setattr(texts, "MOST_UNZIPPED", 3999)
    with pytest.raises(UserError, match="it unzips to more than 3999 bytes"):
        unzipped(written(tmp_path, WHOLE))


# -- texts and TOML --------------------------------------------------------------------------------------------------
@pytest.mark.rule("bad-input")
def test_the_line_of_the_first_wrong_byte_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not UTF-8") as caught:
        read_text(written(tmp_path, b"one\ntwo\n\xe9t\xe9\n"))
    assert caught.value.line == 3


@pytest.mark.rule("bad-input")
def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: Is a directory"):
        read_text(tmp_path)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("text", ["a = ", "a = 1\na = 2", "day = 2024-13-45", f"a = {'[' * 5000}"])
def test_invalid_toml_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UserError, match="invalid TOML"):
        read_toml(written(tmp_path, text))


TOML = """\
name = "x"  # ["agents"]
filter.lang = [
    "ts",
]

[[agents]]
models = [
    "a",
    "b",
]
[agents.inner]
"a key" = 1

[[agents]]
text = '''
name = "y"
cap = 3
'''
cap = 2
"""


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("name",), 1),
        (("filter", "lang"), 2),
        (("filter", "lang", 0), 2),
        (("agents", 0), 6),
        (("agents", 0, "models", 1), 7),
        (("agents", 0, "inner", "a key"), 12),
        (("agents", 1), 14),
        (("agents", 1, "cap"), 19),
        (("agents", 1, "name"), 14),  # not there
        (("agents", 2), 6),
        (("pages",), None),
        ((), None),
    ],
)
def test_a_value_of_a_toml_file_has_a_line(place: tuple[str | int, ...], line: int | None) -> None:
    """Of a value over several lines, it is the first; of a missing value, that of the table that lacks it."""
    assert line_in_toml(TOML, place) == line


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("place", "line"), [(("tests",), 3), (("tests", 1, "prompt"), 5), (("tests", 1, "none", 3), 4), (("tests", 9), 3)]
)
def test_a_value_of_a_yaml_file_has_a_line(place: tuple[str | int, ...], line: int) -> None:
    text = "judge: m\ntests:\n  - {name: a, prompt: b}\n  - name: c\n    prompt: d\n"
    assert parse_yaml(text, Path("x"), None).line(place) == line


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(st.text())
def test_a_text_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Line endings are not changed, and no character is lost."""
    path = written(tmp_path_factory.getbasetemp(), text.encode("utf-8", "replace"), "any.txt")
    assert read_text(path) == text.encode("utf-8", "replace").decode()


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a": ' * 100_000, "9" * 5000])
def test_invalid_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        parse_json(text)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a: 1\nb: [", 2, "invalid YAML"),
        ("a: 1\n---\nb: 2", 2, "invalid YAML"),
        ("a: !!python/object:os.system {}", 1, "invalid YAML"),
        ("a: 2024-13-45", None, "invalid YAML"),
        ("[" * 5000, None, "invalid YAML"),
        ("a: !!bool maybe", None, "invalid YAML"),
        ("a: !!timestamp x", None, "invalid YAML"),
        ("a: 1\nb: &x {c: [*x]}", 2, "the value contains itself"),
        ("&x [1, *x]", 1, "the value contains itself"),
        ("a: 1\nb: 2\na: 3", 3, "'a' is also in line 1"),
        ("tests:\n- prompt: a\n  name: b\n  prompt: c", 4, "'prompt' is also in line 2"),
    ],
)
def test_invalid_yaml_and_duplicate_keys_are_refused(text: str, line: int | None, says: str) -> None:
    with pytest.raises(UserError, match=says) as caught:
        parse_yaml(text, Path("file.yaml"))
    assert (caught.value.path, caught.value.line) == (Path("file.yaml"), line)


def test_only_requested_types_of_yaml_are_converted() -> None:
    text = "{a: 1.50, b: 007, c: yes, d: ~, e: 2026-01-01}"
    assert parse_yaml(text, Path("file"), plain=("null",)).value == {
        "a": "1.50",
        "b": "007",
        "c": "yes",
        "d": None,
        "e": "2026-01-01",
    }
    assert parse_yaml("{a: 1.50, b: 7}", Path("file"), plain=("int",)).value == {"a": "1.50", "b": 7}
    assert parse_yaml("{a: 1.5, b: yes}", Path("file")).value == {"a": 1.5, "b": True}


def test_yaml_has_nodes_with_lines_and_shared_anchors() -> None:
    value, root = parse_yaml("a: &x {b: 1}\nc:\n  <<: *x\n  d: *x", Path("file"))
    assert value == {"a": {"b": 1}, "c": {"b": 1, "d": {"b": 1}}}
    assert [key.start_mark.line for key, _ in root.value] == [0, 1]
    assert parse_yaml("", Path("file")) == (None, None)
