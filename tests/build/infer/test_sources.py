"""Sources as text: remarks and literals."""

from __future__ import annotations

import pytest

from pipeline.build.infer.sources import literals, without_remarks


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("// import 'a';\nimport 'b'; // c\n", "\nimport 'b'; \n"),
        ("/* import 'a';\n */import 'b';", "import 'b';"),
        ("get('https://a.example//b'); // c", "get('https://a.example//b'); "),
        ("glob(\"src/**/*.js\"); glob('*/')", "glob(\"src/**/*.js\"); glob('*/')"),
        ("`// ${a} /* b */`", "`// ${a} /* b */`"),
        (r"'it\'s // no remark' // one", r"'it\'s // no remark' "),
        ("don't // it's", "don't // it's"),
        ('/// <reference types="vitest" />\n', '/// <reference types="vitest" />\n'),
        ('/** @type {import("vitest").Mock} */', '/** @type {import("vitest").Mock} */'),
        ("/* never closed", "/* never closed"),
        ("", ""),
    ],
)
def test_remarks_are_left_out_except_those_that_name_types(source: str, left: str) -> None:
    assert without_remarks(source) == left


def test_literals_are_found_with_their_places() -> None:
    source = r"""run("a \"b\"", 'c', `d ${e}`); // "f" """
    found = literals(source)
    assert [literal.text for literal in found] == ['a "b"', "c", "d ${e}"]
    assert [source[literal.start] + source[literal.end - 1] for literal in found] == ['""', "''", "``"]
