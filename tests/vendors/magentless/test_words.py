"""How identifiers and prose are split into comparable words."""

from __future__ import annotations

from magentless.words import identifiers, parts


def test_identifiers_are_whole_and_in_lower_case():
    assert identifiers("const DropButton = a_b.onFocus;") == {"const", "dropbutton", "onfocus"}


def test_parts_split_where_names_are_joined():
    assert parts("src/useARIALabel.tsx drop-button HTMLElement") == {
        "src", "use", "aria", "label", "tsx", "drop", "button", "html", "element",
    }  # fmt: skip
