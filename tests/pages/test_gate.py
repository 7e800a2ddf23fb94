"""The gate: what is asked of a page, from names and words of the prompt and from good examples."""

from __future__ import annotations

import re

import pytest
from pages_bench import expecting, page

from pipeline.pages.checking import STRANGERS
from pipeline.pages.gate import (
    COMMON,
    NAMES,
    USUAL,
    Gate,
    _Source,
    asking,
    gate_of,
    names_of,
    words,
)

pytestmark = pytest.mark.rule("on-task")
STRANGE = [_Source.of(html) for html in STRANGERS.values()]
#: what the source of an example tells: a tag, an attribute, with its value, of a tag; a language
READABLE = re.compile(r"[a-z0-9]*|[a-z]*\[[a-z-]+(=[a-z-]+)?\]|:lang\([a-z]{2}\)")


def test_names_of_the_prompt_that_good_examples_have() -> None:
    prompt = "Make a menu. Its button has a `trigger` class, the list an id of 'menu', the note the class \"gone\"."
    good = page(body='<ul id="menu" class="trigger"></ul>')
    assert gate_of(prompt, [good]) == Gate(asking(selectors=["#menu", ".trigger"]))
    assert gate_of(prompt, []).asks["selectors"] == ["#menu", ".gone", ".trigger"]


def test_words_of_the_prompt_if_it_names_nothing() -> None:
    asks = gate_of("Create a simple page for a harbour with its ferries.", []).asks
    assert asks == asking(words=["ferr", "harbour"])
    assert words("Generate an HTML file that demonstrates a carousel.") == ["carousel"]
    assert words("It needs three things: dates, trees, and no other file.") == ["date", "thing", "tree"]
    assert words("The home page of a shopping website") == ["shop"]
    assert words("A modern, responsive landing page with ARIA roles") == []


def test_two_of_many_words() -> None:
    asks = gate_of("A page about a harbour with ferries, sailors and whales.", []).asks
    assert asks == asking(pairs=["ferr", "harbour", "sailor", "whal"])


@pytest.mark.parametrize(
    ("prompt", "about", "apart"),
    [
        ("Создай страницу с каруселью изображений.", "Карусель: изображение 1", "Серая цапля"),
        ("Créez une page décorée d'un éventail.", "Un éventail", "Une grue"),
        ("请创建一个带有标签页的网页。", "三个标签页", "苍鹭"),
        ("タブのあるページを作ってください。", "タブ", "アオサギ"),
        ("สร้างเมนูแบบเลื่อนลง", "เมนู", "นกกระสา"),
    ],
)
def test_prompts_of_other_languages_have_a_gate_too(prompt: str, about: str, apart: str) -> None:
    """A prompt without words of four ASCII letters used to accept every page."""
    found = words(prompt)
    assert any(word in about.lower() for word in found) and not any(word in apart.lower() for word in found)


#: prompts -> an element that shows that a page is about them, whatever words it has
NAMED = {
    "Generate an HTML page with a toggle switch.": "<button role=switch aria-checked=true>Sounds</button>",
    "Create a tooltip that appears on hover and focus.": "<span role=tooltip>Saves it</span>",
    "Create an accessible progress bar component that updates.": "<div role=progressbar aria-valuenow=2></div>",
    "Create a login form.": "<form><input type=password></form>",
    "Create a log in page.": "<input type=password>",
    "Create a date picker with a calendar popup.": "<button aria-haspopup=dialog>Arrival</button>",
    "Generate a page that has a breadcrumb trail.": "<nav><ol><li><a href='/'>Home</a></li></ol></nav>",
    "Generate a data grid with pagination.": "<table></table>",
    "Create a modal dialog.": "<dialog></dialog>",
    "Generate a tab widget.": "<div role=tab></div>",
    "Make some tabs.": "<div role=tablist></div>",
    "Create an accordion.": "<details></details>",
    "Generate a menu.": "<button aria-expanded=false>More</button>",
    "Create a tree view.": "<ul role=tree></ul>",
    "Make two check boxes.": "<input type=checkbox>",
    "Write a web page in French for a small bakery.": "<p lang=fr-CA>Du pain frais</p>",
    "Create a button.": "<button>More</button>",
    "Make a page with an image of a harbour.": "<img src=a alt='Boats'>",
    "Create a product card.": "<article>Headphones, 99 euros</article>",
    "Make a page with two lists and an image.": "<ul></ul>",
}


@pytest.mark.parametrize("prompt", NAMED)
def test_an_element_that_the_prompt_mentions_is_enough(prompt: str) -> None:
    """Correct pages without the word failed, and any page passed a prompt whose words a script may make true later."""
    asks = gate_of(prompt, []).asks
    assert _Source.of(NAMED[prompt]).has(asks)
    assert not any(source.has(asks) for source in STRANGE)


def test_a_prompt_that_only_names_usual_elements_asks_for_one() -> None:
    heading = {"h1", "h2", "h3", "h4", "h5", "h6", "[role=heading]"}
    assert names_of("Write a page with one heading.") == heading
    assert names_of("A heading and a page about harbours.") == set()
    assert names_of("A heading and a button about harbours.") == {"button", "[role=button]"}
    assert names_of("link 标签页") == set()
    assert words("link 标签页") == ["link", "标签", "签页"]


def test_what_shows_a_name_can_be_read_from_a_source() -> None:
    every = [one for table in (NAMES, USUAL) for shown in table.values() for one in shown]
    assert [one for one in every if not READABLE.fullmatch(one)] == []


def test_unrelated_pages_have_nothing_that_counts() -> None:
    """They fail every prompt that mentions more than usual elements, even if no assertion looks for anything."""
    counted = {one for shown in NAMES.values() for one in shown}
    assert [source.names & counted for source in STRANGE] == [set()] * len(STRANGERS)
    assert [source.elements for source in STRANGE] == [set()] * len(STRANGERS)
    assert all(one in COMMON for source in STRANGE for one in source.names if re.fullmatch("[a-z0-9]+", one))


#: good examples for a prompt about a harbour -> what is asked of pages
LACKING = {
    "its word": ("<p>The harbour</p>", asking(words=["harbour"]), ()),
    "its word in a script": ("<script>show('Harbour')</script>", asking(words=["harbour"]), ()),
    "an element": ("<p role=note><img src=a>", asking(words=["harbour"], names=["[role=note]", "img"]), (0,)),
    "nothing": ("<p>Hello</p>", asking(), (0,)),
    "the word in its expectations": (expecting("<head></head>", {"A harbour": "pass"}), asking(), (0,)),
    "the word in a style": ("<style>.a::after { content: 'harbour' }</style>", asking(), (0,)),
    "a broken declaration": ("<p>The harbour <![foo[x]]>", asking(words=["harbour"]), ()),
}  # fmt: skip


@pytest.mark.parametrize("kind", LACKING)
def test_nothing_is_asked_that_good_examples_lack(kind: str) -> None:
    """The good page of a public case failed its own gate."""
    good, asks, lacking = LACKING[kind]
    assert gate_of("Make a page about a harbour.", [good]) == Gate(asks, lacking)
    assert not lacking or _Source.of(good).has(asks) or asks == asking()


def test_one_of_many_words_is_enough_if_a_good_example_has_no_more() -> None:
    prompt, few = "A page about a harbour with ferries, sailors and whales.", "<p>Whales</p>"
    many = ["ferr", "harbour", "sailor", "whal"]
    assert gate_of(prompt, ["<p>Sailors of the harbour", few]) == Gate(asking(words=["whal"], pairs=many), (1,))


@pytest.mark.parametrize(
    ("html", "selectors"),
    [
        ('<p class="a trigger">', [".trigger"]),
        ("<script>const trigger = '<p class=\"trigger\">';</script>", []),
        ("<style>.trigger { color: red }</style><p>trigger</p>", []),
        ('<p id="trigger"><![foo[x]]>', []),
    ],
)
def test_a_class_counts_only_if_elements_of_good_examples_have_it(html: str, selectors: list[str]) -> None:
    prompt = "The button of this ferry has a `trigger` class."
    assert gate_of(prompt, [page(body=html)]).asks["selectors"] == selectors
