"""Which programs count as the same, and which as broken."""

from __future__ import annotations

import pytest
from magentless.syntax import errors, fingerprint

TSX = 'export const A = () => (\n  <B x="a" y={1}>\n    hi <C />\n  </B>\n);\n'
SAME = {
    "comment": "// why\n" + TSX,
    "jsx comment": TSX.replace("hi", "{/* greet */}\n    hi"),
    "indentation": TSX.replace("    ", "\t\t"),
    "quotes and parentheses": "export const A = () => <B x='a' y={1}>\n hi <C/>\n</B>",
}
OTHER = {
    "attribute": TSX.replace("y={1}", "y={2}"),
    "text": TSX.replace("hi", "ho"),
    "string": TSX.replace('"a"', '"b"'),
    "structure": TSX.replace("hi <C />", "<C>hi</C>"),
}


@pytest.mark.trap("vote-normalisation")
@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("path", ["a.tsx", "a.jsx", "a.js"])
def test_form_and_comments_play_no_role(name, path):
    """MagentLess normalizes Python only: for TypeScript, every spelling votes for itself."""
    assert fingerprint(path, SAME[name]) == fingerprint(path, TSX)


@pytest.mark.parametrize("name", OTHER)
def test_meaning_does(name):
    assert fingerprint("a.tsx", OTHER[name]) != fingerprint("a.tsx", TSX)


@pytest.mark.parametrize(
    ("path", "one", "same", "other"),
    [
        ("a.ts", "f(<T>a, [1, 2,],);", "f(<T>a, [1, 2])", "f(<T>a, [2, 1])"),
        ("a.ts", "x = (a + b) * c", "x = ((a + b)) * c;", "x = a + b * c"),
        ("a.ts", "x = (// c\n a)", "x = a", "x = b"),
        ("a.css", "/* c */ .a { color : red; }", ".a {\n  color: red\n}", ".b { color: red; }"),
        ("a.scss", "$a: 1;\n\n.b { c: $a }", "$a: 1; .b { c: $a }", "$a: 2; .b { c: $a }"),
        ("a.json", '{"a":  1}', '{"a": 1}\n', '{"a": 2}'),
    ],
)
def test_other_languages(path, one, same, other):
    assert fingerprint(path, one) == fingerprint(path, same) != fingerprint(path, other)


def test_errors_are_counted():
    assert errors("a.tsx", TSX) == 0
    assert errors("a.tsx", TSX.replace("</B>", "</D")) > 0
    assert errors("a.tsx", TSX.replace("</B>", "</D>")) == 1
    assert errors("a.tsx", "const a = <><A.B></A.B></>;") == 0
    assert errors("a.ts", "const a = <T>b;") == 0
    assert errors("a.scss", "@if {{{") == 0


def test_a_deep_tree_is_no_problem():
    deep = "a" + " + a" * 20_000
    assert fingerprint("a.ts", deep) != fingerprint("a.ts", deep + " + a")
