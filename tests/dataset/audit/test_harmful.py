"""Edits that undo the fix: how each changes a line, and what it leaves alone."""

from __future__ import annotations

import pytest

from pipeline.dataset.audit import harmful
from pipeline.dataset.audit.code import Code


def made(rule: str, text: str, path: str = "src/a.jsx", base: str = "") -> list[str]:
    """The results of a rule's edits to a text whose lines are all gold's."""
    found = Code(path, text.encode(), frozenset(range(1, text.count("\n") + 2)), base.encode())
    return [edit.on(found.text).decode() for edit in getattr(harmful, rule)(found)]


CASES = {
    "attributes": (
        '<a role="x" id="y" />; b({ "aria-label": c, d }); e.setAttribute("aria-busy", f);',
        [
            '<a id="y" />; b({ "aria-label": c, d }); e.setAttribute("aria-busy", f);',
            '<a role="x" id="y" />; b({  d }); e.setAttribute("aria-busy", f);',
            '<a role="x" id="y" />; b({ "aria-label": c, d }); undefined;',
        ],
    ),
    "additions": ("<A open={b} {...c} />;", ["<A {...c} />;", "<A open={b} />;"]),
    "roles": ('<a role="button" />;', ['<a role="presentation" />;']),
    "states": (
        '<a aria-hidden="true" aria-expanded={open} />;',
        ['<a aria-hidden="false" aria-expanded={open} />;', '<a aria-hidden="true" aria-expanded={!(open)} />;'],
    ),
    "references": (
        "<a aria-labelledby={id} htmlFor={id} />;",
        [
            '<a aria-labelledby="nowhere" htmlFor={id} />;',
            '<a aria-labelledby={id} htmlFor="nowhere" />;',
        ],
    ),
    "names": ("<img alt={text} />;", ['<img alt="" />;']),
    "focus": (
        '<a tabIndex={-1} aria-live="polite" />;',
        [
            '<a tabIndex="0" aria-live="polite" />;',
            '<a tabIndex={-1} aria-live="off" />;',
        ],
    ),
    "handlers": (
        "const onKeyDown = (e) => { move(e); }; <a onKeyDown={onKeyDown} />;",
        ["const onKeyDown = (e) => { move(e); }; <a />;", "const onKeyDown = (e) => {}; <a onKeyDown={onKeyDown} />;"],
    ),
    "conditions": (
        "if (a) b(); const c = d ? e : f; <p>{g && h}</p>;",
        [
            "if (!(a)) b(); const c = d ? e : f; <p>{g && h}</p>;",
            "if (a) b(); const c = !(d) ? e : f; <p>{g && h}</p>;",
            "if (a) b(); const c = d ? e : f; <p>{!(g) && h}</p>;",
        ],
    ),
    "constant": ("<a aria-expanded={b} />;", ["<a aria-expanded={true} />;", "<a aria-expanded={false} />;"]),
    "operators": ("const a = b + 1 === c;", ["const a = b + 1 !== c;", "const a = b - 1 === c;"]),
    "texts": ("<a aria-label={b ? `to ${c}` : d} />;", ["<a aria-label={b ? `unrelated${c}` : d} />;"]),
    "statements": (
        "function f() { e.focus(); return <p />; }",
        ["function f() { ; return <p />; }", "function f() { e.focus(); return null; }"],
    ),
    "keys": (
        'if (e.key === "Tab" || e.keyCode === 13) {}',
        [
            'if (e.key === "Unidentified" || e.keyCode === 13) {}',
            'if (e.key === "Tab" || e.keyCode === -1) {}',
        ],
    ),
    "keyed": ("on({ Enter: a, other: b });", ["on({ Unidentified: a, other: b });"]),
}  # fmt: skip


@pytest.mark.parametrize("rule", CASES)
def test_each_rule_makes_its_variants(rule: str) -> None:
    before, after = CASES[rule]
    assert made(rule, before) == after


def test_every_rule_has_its_case() -> None:
    assert {rule.__name__ for _, rule in harmful.RULES} == set(CASES)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("attributes", '<a className="x" style={y} />;'),
        ("additions", '<a className="x" data-testid="y" />;'),
        ("roles", '<a role="presentation" />;'),
        ("names", '<img alt="" />;'),
        ("keys", 'const title = "Home";'),
        ("keys", "const size = 13;"),
        ("operators", 'const a = "b" + c;'),
        ("statements", '"use client";'),
    ],
)
def test_each_rule_leaves_other_code_alone(rule: str, text: str) -> None:
    assert made(rule, text) == []


def test_moved_code_is_no_addition() -> None:
    assert made("additions", "<A\n  open={b}\n/>;", base="<A open={b} />;") == []


def test_bound_attributes_of_a_template() -> None:
    page = '<template><p :aria-expanded="open" @keydown="go"></p></template>'
    assert made("states", page, "a.vue") == [page.replace('"open"', '"!(open)"')]
    assert made("handlers", page, "a.vue") == [page.replace(' @keydown="go"', "")]
