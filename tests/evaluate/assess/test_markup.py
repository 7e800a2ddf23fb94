"""From the text of a snapshot to its elements, in every format that the serializers write."""

from __future__ import annotations

import pytest

from pipeline.evaluate.assess import markup
from pipeline.evaluate.assess.markup import Markup, Unparsable

ELEMENT = """
<button
  aria-label="Say "hello""
  disabled=""
>
  Book{blank}
  <b>
    now
  </b>
  <!-- nobody sees this -->
  <br />
</button>
"""
REACT = """
<label
  aria-hidden={false}
  className="a b"
  draggable={true}
  hidden={false}
  htmlFor="x"
  onClick={[Function]}
  style={
    Object {
      "display": "none",
      "marginTop": 4,
    }
  }
  tabIndex={-1}
/>
"""
STYLED = """
<DocumentFragment>
  .c0 {
  color: red;
}

@media (max-width: 600px) {
  .c0 > p {
    display: none;
  }
}

<div
    class="c0"
  >
    <p>
      one
      two
    </p>
  </div>
</DocumentFragment>
"""


def test_elements_are_read_with_attributes_texts_and_children():
    """Pretty-format does not escape quotes (Jest 29), and a text keeps a space at the end of its line."""
    button = ["button", {"aria-label": 'Say "hello"', "disabled": ""}, ["Book ", ["b", {}, ["now"]], ["br", {}, []]]]
    assert markup.parse(ELEMENT.replace("{blank}", " ")) == Markup("", [button])


def test_react_names_become_html_names():
    (label,) = markup.parse(REACT).nodes
    attributes = {"aria-hidden": "false", "class": "a b", "draggable": "true", "for": "x", "tabIndex": "-1"}
    assert label == ["label", attributes | {"style": "display: none; margin-top: 4px"}, []]


def test_styles_are_separated_from_the_markup():
    """Jest-styled-components writes them before the first element, which may be inside a fragment."""
    styles, nodes = markup.parse(STYLED)
    assert nodes == [["div", {"class": "c0"}, [["p", {}, ["one", "two"]]]]]
    assert ".c0 > p {\n    display: none;" in styles and "<" not in styles


@pytest.mark.parametrize("opening", ["[", "Array [", "NodeList [", "HTMLCollection ["])
def test_lists_are_their_elements(opening):
    text = f"{opening}\n  <i>\n    a, b\n  </i>,\n  <b />,\n]"
    assert markup.parse(text).nodes == [["i", {}, ["a, b"]], ["b", {}, []]]


def test_html_strings_are_left_to_the_browser():
    text = '"<div class=\\"a\\"><p>x</p></div>"'
    assert markup.parse(text) == Markup("", [{"html": '<div class="a"><p>x</p></div>'}])
    assert markup.parse('<div class="a">\n  <p>x</p>\n</div>').nodes[0]["html"].startswith('<div class="a">')
    inner = '<p\n  dangerouslySetInnerHTML={\n    {\n      "__html": "<b>x</b>",\n    }\n  }\n/>'
    assert markup.parse(inner).nodes == [["p", {}, [{"html": "<b>x</b>"}]]]


def test_a_style_sheet_has_no_elements():
    assert markup.parse('"@media (max-width: 9px) {\n  .a {\n    top: 0;\n  }\n}"').nodes == []
    assert markup.parse("null") == markup.parse('""') == Markup("", [])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('"only words"', "no markup"),
        ('{\n  "axis": 1,\n}', "no markup"),
        ('<Button\n  label="a"\n/>', "<Button> was not rendered"),
        ("<styled.div />", "<styled.div> was not rendered"),
        ("<div>\n  a\n", "</div> is missing"),
        ("<div\n  a=1\n/>", "does not end"),
    ],
)
def test_a_snapshot_without_html_elements_is_refused(text, why):
    with pytest.raises(Unparsable, match=why):
        markup.parse(text)


def test_every_snapshot_of_the_library_is_read(snapshots):
    assert len(snapshots) == 288
    assert all(markup.parse(text).nodes for text in snapshots.values())


def printed(node, indent: str = "") -> str:
    """An element in pretty-format's form: every tag and every text begins a line."""
    if isinstance(node, str):
        return f"{indent}{node}"
    tag, children = node
    inner = "".join(f"\n{printed(child, indent + '  ')}" for child in children)
    return f"{indent}<{tag}>{inner}\n{indent}</{tag}>"


@pytest.mark.parametrize(
    "children",
    [
        ["search", ["b", [" landmark"]]],
        ["search ", ["b", ["landmark"]]],
        [["b", ["search"]], " ", ["b", ["landmark"]]],
        [["b", ["search"]], " landmark"],
        [["b", ["search"]], "   landmark  "],
        [" "],
        [["b", [" "]], "  ", ["i", ["x "]], " y"],
        ["\n    search\n    ", ["b", ["landmark"]], "\n  "],
        ["search", "landmark"],
        [["p", [["b", ["a"]], " ", ["i", [["u", [" deep "]], " "]]]]],
    ],
    ids=str,
)
def test_white_space_between_words_is_kept(children):
    """`search <b>landmark</b>` was once read as `searchlandmark`."""

    def texts(node) -> str:
        return node if isinstance(node, str) else "".join(map(texts, node[-1]))

    (read,) = markup.parse(printed(["div", children])).nodes
    assert " ".join(texts(read).split(" ")) == texts(["div", children])


def test_a_text_that_a_person_wrote_goes_over_several_lines():
    """A line that happens to begin at the indentation of another text belongs to the same text: `nurse shark` was once
    read as `nurseshark`."""
    text = "<div>\n  <p>\n    a long\n      text\n  </p>\n  <a>\n    nurse\n    shark\n  </a>\n</div>"
    (read,) = markup.parse(text).nodes
    assert read[2][1] == ["a", {}, ["nurse\n    shark"]]


def test_attributes_of_a_body_are_kept():
    assert markup.parse('<body\n  aria-hidden="true"\n>\n  <p />\n</body>').nodes == [
        ["body", {"aria-hidden": "true"}, [["p", {}, []]]]
    ]
    assert markup.parse("<body>\n  <p />\n</body>").nodes == [["p", {}, []]]


@pytest.mark.parametrize(
    ("value", "style"),
    [
        ('"content": "\\201c",', "content: \\201c"),
        ('"content": "\\\\201c",', "content: \\201c"),
        ('"backgroundImage": "url(\\d)",', "background-image: url(\\d)"),
        ('"gridArea": 1.2.3,', "grid-area: 1.2.3"),
        ('"marginTop": -4.5,', "margin-top: -4.5px"),
        ('"content": "a\\"b",', 'content: a"b'),
    ],
)
def test_styles_are_read_whether_backslashes_are_escaped_or_not(value: str, style: str) -> None:
    """Jest 29 writes them unescaped, which is no valid JSON. Such a snapshot once ended the assessment of its
    instance."""
    found = markup.parse(f"<div\n  style={{\n    {{\n      {value}\n    }}\n  }}\n/>")
    assert found.nodes == [["div", {"style": style}, []]]


@pytest.mark.parametrize(("html", "inner"), [('"<b>\\d</b>"', "<b>\\d</b>"), ('"<i>a</i>"', "<i>a</i>"), ("12", "12")])
def test_inner_html_is_a_text(html: str, inner: str) -> None:
    text = f'<p\n  dangerouslySetInnerHTML={{\n    {{\n      "__html": {html},\n    }}\n  }}\n/>'
    assert markup.parse(text).nodes == [["p", {}, [{"html": inner}]]]


def test_markup_that_is_nested_too_deeply_is_refused() -> None:
    """No traceback: a patch decides what its snapshots contain."""
    assert markup.parse("<b>\n" * 100 + "x\n" + "</b>\n" * 100).nodes
    with pytest.raises(Unparsable, match="nested too deeply"):
        markup.parse("<b>\n" * 2000 + "x\n" + "</b>\n" * 2000)
    assert not markup.shows("<b>\n" * 2000)
