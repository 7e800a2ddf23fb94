"""How a patch changes axe-core's violations, and how elements are identified."""

from __future__ import annotations

import pytest

from pipeline.core.assessment import AxeDelta
from pipeline.evaluate.assess.axe.findings import Violations, delta, violations


def found(*elements: str, rule: str = "image-alt") -> Violations:
    return violations({"rule": rule, "criteria": ["1.1.1"], "element": element, "tests": ["a"]} for element in elements)


def told(delta: AxeDelta) -> dict[str, list[str]]:
    changes = ("fixed", "remaining", "introduced")
    return {name: [violation.element for violation in getattr(delta, name)] for name in changes if getattr(delta, name)}


@pytest.mark.parametrize(
    ("base", "candidate", "changes"),
    [
        (found("img"), (), {"fixed": ["img"]}),
        (found("img"), found("img"), {"remaining": ["img"]}),
        ((), found("img"), {"introduced": ["img"]}),
        (found("img", "img [2]"), found("img"), {"fixed": ["img [2]"], "remaining": ["img"]}),
        (found('dialog "A \\" b" > img'), found("dialog > img"), {"remaining": ["dialog > img"]}),
        (found("dialog > img"), found("menu > img"), {"fixed": ["dialog > img"], "introduced": ["menu > img"]}),
        (found("img"), found("img", rule="label"), {"fixed": ["img"], "introduced": ["img"]}),
        (
            found('a "x" > img', 'a "y" > img'),
            found('a "y" > img', 'a "z" > img'),
            {"remaining": ['a "y" > img', 'a "z" > img']},
        ),
    ],
    ids=["fixed", "remaining", "introduced", "one-of-two", "new-name", "new-role", "other-rule", "one-renamed"],
)
def test_a_violation_is_the_same_where_rule_and_roles_are(base, candidate, changes):
    """A patch that names a dialog has not fixed the image in it. The exact path is compared first, then the roles along
    the path."""
    made = delta(base, (), candidate)
    assert told(made) == changes
    assert (made.base, made.gold, made.candidate) == (len(base), 0, len(candidate))


def test_violations_do_not_depend_on_the_order_of_tests():
    rows = [{"rule": rule, "criteria": [], "element": "img", "tests": ["b", "a", "b"]} for rule in ("y", "x")]
    assert violations(rows) == violations(reversed(rows))
    assert violations(rows)[0].tests == ("a", "b")
