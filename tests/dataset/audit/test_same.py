"""Edits that keep the meaning: how each changes a line, what it leaves alone, and that programs behave the same
afterwards."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from pipeline.dataset.audit import same
from pipeline.dataset.audit.code import Code, edits


def code(text: str, path: str = "src/a.jsx") -> Code:
    """A file whose lines are all gold's."""
    return Code(path, text.encode(), frozenset(range(1, text.count("\n") + 2)))


def made(rule: str, text: str, path: str = "src/a.jsx") -> list[str]:
    """The results of a rule's edits to a text."""
    found = code(text, path)
    return [edit.on(found.text).decode() for edit in getattr(same, rule)(found)]


CASES = {
    "renames": ("function f(a) { return a + { a }.a; }", ["function f(aValue) { return aValue + { a: aValue }.a; }"]),
    "attributes": ('<a role="x" id={y} />;', ['<a id={y} role="x" />;']),
    "imports": ('import { a, b } from "x";', ['import { b, a } from "x";']),
    "quotes": ('const a = "x";', ["const a = 'x';"]),
    "parentheses": ("const a = b + 1;", ["const a = (b + 1);"]),
    "constants": ("function f() { return g(1); }", ["function f() { const outcome = g(1);\nreturn outcome; }"]),
    "helpers": ("function f() { return g(1); }", ["function f() { return (() => (g(1)))(); }"]),
    "ternaries": ("const a = b ? c : d;", ["const a = !(b) ? d : c;"]),
    "branches": ("if (a) { b(); } else { c(); }", ["if (!(a)) { c(); } else { b(); }"]),
    "guards": ("const a = b.c && d();", ["const a = (b.c ? d() : b.c);"]),
    "sides": ('if (e.key === "Tab") {}', ['if ("Tab" === e.key) {}']),
    "templates": ("const a = `x ${b} y`;", ['const a = ("" + "x " + String(b) + " y");']),
    "arrows": ("const f = async (a) => a + 1;", ["const f = async function (a) { return a + 1; };"]),
    "chains": ("const a = b?.c;", ["const a = (b === null || b === undefined ? undefined : b.c);"]),
    "values": ('<a href="x" hidden />;', ['<a href={"x"} hidden />;', '<a href="x" hidden={true} />;']),
    "states": (
        '<a aria-busy={true} tabIndex="0" />;',
        [
            '<a aria-busy="true" tabIndex="0" />;', "<a aria-busy={true} tabIndex={0} />;",
        ],
    ),
    "absences": ('<a role={b ? "x" : undefined} />;', ['<a role={b ? "x" : null} />;']),
    "classes": ('<a className="x" />;', ['<a className="x is-marked" />;']),
    "wrappers": ("<p>{text}</p>;", ["<p><span>{text}</span></p>;"]),
    "fragments": (
        "function A() { return <p />; } const b = <></>;",
        ["function A() { return <><p /></>; } const b = <></>;"],
    ),
    "remarks": ("function f() { g(); }", ["function f() { // as below\n\ng(); }"]),
    "lines": ("<a id={b} />;", ["<a \n  id={b} />;"]),
    "semicolons": ("const a = 1;\nb();", ["const a = 1\nb();"]),
}  # fmt: skip


@pytest.mark.parametrize("rule", CASES)
def test_each_rule_makes_its_variants(rule: str) -> None:
    before, after = CASES[rule]
    assert made(rule, before) == after


def test_every_rule_has_its_case() -> None:
    assert {rule.__name__ for _, rule in (*same.RULES, *same.MARKUP)} == set(CASES)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("attributes", "<a {...b} id={c} {...d} />;"),  # what is spread in between decides
        ("attributes", "<a id={b()} title={c} />;"),  # order of effects
        ("attributes", '<a id="b" id="c" />;'),  # the last one counts
        ("imports", 'import a from "./a";\nimport b from "./b";'),  # modules that import each other
        ("imports", 'import "x";\nimport a from "y";'),  # imported for its effect
        ("quotes", 'const a = "it\'s";'),
        ("quotes", '"use client";'),
        ("renames", "const a = 1; export { a };"),  # a module's name is seen from outside
        ("renames", "function f(Icon) { return <Icon />; }"),
        ("renames", "function f($scope) { return $scope; }"),  # given by its name
        ("renames", "function f(a) { return function (a) { return a; }; }"),  # two of one name
        ("renames", "function f() { g((a) => a); return a; }"),  # the second is another one
        ("renames", "function f() { const g = () => 1; return g; }"),  # a function is called like its constant
        ("templates", "const a = tag`x ${b}`;"),
        ("templates", "const a = `x\n${b}`;"),
        ("arrows", "const f = () => this.a;"),
        ("arrows", "const f = () => arguments[0];"),
        ("chains", "const a = b?.c.d;"),  # the rest would be left out, too
        ("chains", "const a = f()?.b;"),  # called twice
        ("guards", "const a = f() && b;"),
        ("states", "<Menu aria-busy={true} />;"),  # a component may tell them apart
        ("absences", '<Menu role={b ? "x" : undefined} />;'),
        ("fragments", "function A() { return <p />; }"),  # React may know none
        ("fragments", "const b = <></>; const f = () => { return <p />; };"),  # no component
        ("semicolons", "const a = 1;\n[2].map(b);"),
    ],
)
def test_each_rule_leaves_other_code_alone(rule: str, text: str) -> None:
    assert made(rule, text) == []


def test_templates_of_pages_are_read_too() -> None:
    page = '<template><p role="x" :id="y"></p></template>\n<script>\nconst a = b ? c : d\n</script>\n'
    assert made("attributes", page, "a.vue") == [page.replace('role="x" :id="y"', ':id="y" role="x"')]
    assert made("ternaries", page, "a.vue") == [page.replace("b ? c : d", "!(b) ? d : c")]


#: a program that uses what the rules change, and prints the results
PROGRAM = """
const label = (count, { max = 9, unit } = {}) => {
  const shown = count > max ? `${max}+` : count;
  const text = unit && unit.name;
  return `${shown} ${text || "things"}`;
};
class Keys {
  constructor(size) { this.size = size; }
  step(event, at) {
    const { key, shift } = event;
    if (key === "Home") { return 0; } else { at += shift ? -1 : 1; }
    const [first, last] = [0, this.size - 1];
    if (at < first) return last;
    return at > last ? first : at;
  }
}
function walk(list, visit) {
  const seen = [];
  for (const item of list) {
    const inner = item?.items;
    if (inner) walk(inner, (one) => { visit(one); seen.push(one); });
    else visit(item);
  }
  return seen.map((one, place) => ({ one, place, even: place % 2 === 0 && "yes" }));
}
const keys = new Keys(3), told = [];
told.push(label(3), label(12, { unit: { name: "items" } }), label(12, { max: 20 }));
told.push(keys.step({ key: "Home" }, 2), keys.step({ key: "x" }, 2), keys.step({ key: "x", shift: 1 }, 0));
told.push(walk([1, { items: [2, { items: [3] }] }, null], (one) => told.push(one)));
told
"""


def test_variants_of_a_program_behave_the_same(tmp_path: Path) -> None:
    """This should follow from the rules, and is tested as well: every variant of a program, in one process."""
    found = code(PROGRAM, "a.js")
    variants = [(name, found.edited(edit)) for name, edit in edits(same.RULES, found)]
    texts = [PROGRAM, *(variant.text.decode() for _, variant in variants if variant)]
    script = "for (const text of JSON.parse(require('fs').readFileSync(0))) console.log(JSON.stringify(eval(text)))"
    ran = subprocess.run(["node", "-e", script], input=json.dumps(texts), capture_output=True, text=True, check=True)
    expected, *printed = ran.stdout.splitlines()
    assert json.loads(expected)[0] == "3 things"
    assert [text for text, line in zip(texts[1:], printed, strict=True) if line != expected] == []
    assert all(variant for _, variant in variants)
    assert len(printed) > 60
