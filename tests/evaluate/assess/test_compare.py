"""Comparing snapshots: equal where accessibility is unchanged and different where it breaks, in every format."""

from __future__ import annotations

import pytest
from benchmarks.assess import figures, judge
from snapshot_mutations import KINDS, mutations

from pipeline.evaluate.assess import markup
from pipeline.evaluate.assess.compare import compare, differ, dressed, trees
from pipeline.evaluate.assess.markup import Unparsable

pytestmark = pytest.mark.engine("browser")

BUTTON = '<button\n  aria-describedby="hint"\n  class="a"\n>\n  Book\n</button>'
HINT = '<p\n  id="hint"\n>\n  Ask first\n</p>'


def likeness(viewer, gold: str, new: str) -> str:
    return compare(viewer, markup.parse(gold), markup.parse(new)).likeness


def test_the_goals_are_met_on_our_own_components(viewer, snapshots):
    """At least 500 mutations of 200 snapshots: 99% of the harmless ones compare equal, and 85% of the harmful ones of
    each class are detected."""
    plain = {key: text for key, text in snapshots.items() if not key.startswith("other forms")}
    measured = list(figures(list(judge(viewer, mutations(plain, each=60)))))
    assert [figure for figure in measured if not figure.met] == []
    assert measured[-1].value == 0, "every class has changes"
    assert len([figure for figure in measured if "noticed" in figure.name]) == sum(kind.harmful for kind in KINDS)


def test_the_serializer_of_a_snapshot_does_not_matter(viewer, snapshots):
    """One component as DOM elements, by react-test-renderer, and as an HTML string."""
    names = [key.split()[0] for key in snapshots if key.endswith("plain, Berth 1")]
    assert len(names) == 36
    for name in names:
        element = trees(viewer, name, markup.parse(snapshots[f"{name} plain, Berth 1"]))
        for form in ("react-test-renderer", "a string of HTML"):
            other = trees(viewer, form, markup.parse(snapshots[f"other forms of {name} {form} 1"]))
            assert differ(element, other).reason == ""


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (BUTTON.replace('class="a"', 'class="b"') + HINT, "cosmetic"),
        (BUTTON.replace('"hint"', '"tip"') + HINT.replace('"hint"', '"tip"'), "cosmetic"),
        (BUTTON.replace('  class="a"', '  aria-expanded="true"\n  class="a"') + HINT, "a11y-different"),
        (BUTTON + HINT.replace("Ask first", "Ask"), "a11y-different"),
        (BUTTON.replace('  class="a"', '  lang="de"') + HINT, "a11y-different"),
        (BUTTON.replace('  class="a"', '  aria-current="true"') + HINT, "a11y-different"),
        (BUTTON.replace('  class="a"', '  aria-checked="false"\n  class="a"') + HINT, "a11y-different"),
        (BUTTON.replace('  class="a"', '  aria-disabled="false"\n  class="a"') + HINT, "cosmetic"),
        (HINT + BUTTON, "a11y-different"),
    ],
    ids=["class", "id", "state", "description", "language", "current", "not-allowed", "default", "order"],
)
def test_snapshots_are_compared_by_what_assistive_technology_reports(viewer, new, expected):
    """Including what the browser's own tree omits (language, a state that the role does not allow); never an id."""
    assert likeness(viewer, BUTTON + HINT, new) == expected


def test_the_reason_shows_the_difference(viewer):
    gold, new = (markup.parse(f'<button\n  aria-label="{name}"\n/>') for name in ("Close", "Open"))
    compared = compare(viewer, gold, new)
    assert compared.reason.splitlines()[-2:] == ['-- button "Close"', '+- button "Open"']


def test_the_order_of_the_tab_key_is_compared(viewer):
    one, other = '<input\n  aria-label="a"\n/>', '<input\n  aria-label="b"\n/>'
    first = other.replace("/>", '  tabindex="1"\n/>')
    assert likeness(viewer, one + other, one + first) == "a11y-different"


def test_elements_hidden_by_styles_are_hidden(viewer):
    shown, hidden = (
        f'.c0 {{\n  {rule};\n}}\n\n<p\n  class="c0"\n>\n  a\n</p>' for rule in ("color: red", "display: none")
    )
    assert likeness(viewer, shown, hidden) == "a11y-different"


def test_styles_in_a_snapshot_of_their_own_dress_the_markup_before_it(viewer):
    """Portals are serialized this way: first the elements, then their styles."""
    keys = ["Drop opens 1", "Drop opens 2"]
    element, styles = '<p\n  class="a"\n>\n  x\n</p>', '".a {{\n  display: {};\n}}"'
    gold, new = (
        dressed(keys, dict(zip(keys, (element, styles.format(rule)), strict=True))) for rule in ("block", "none")
    )
    assert list(gold) == keys[:1]
    assert compare(viewer, gold[keys[0]], new[keys[0]]).likeness == "a11y-different"
    with pytest.raises(Unparsable, match="no markup before it"):
        dressed(keys[1:], {keys[1]: styles.format("none")})


@pytest.mark.invariant(5)
def test_a_snapshot_runs_no_script(viewer):
    """A model's patch decides what a snapshot contains."""
    script = (
        '"<img src=x onerror=\\"document.body.innerHTML = 1\\"><script>document.body.innerHTML = 2</script><p>a</p>"'
    )
    trees(viewer, "script", markup.parse(script))
    assert "paragraph: a" in trees(viewer, "script", markup.parse(script)).aria
