"""The page in an answer, extracted unchanged."""

from __future__ import annotations

import pytest

from pipeline.pages.answers import page_of

PAGE = "<!DOCTYPE html>\n<html lang='en'><head><title>a</title></head><body><p>b</p></body></html>"
OTHER = PAGE.replace("<p>b</p>", "<p>other</p>")
FENCED = PAGE.replace("<p>b</p>", "<pre>\n```\ncode\n```\n</pre>")
SCRIPT = PAGE.replace("<p>b</p>", "<script>const page = '<html></html>';\n</script><p>b</p>")
THINKING = PAGE.replace("<p>b</p>", "<pre>\n</think>\n<b>b</b></pre>")
COMMENTED = f"<!-- a page -->\n{PAGE}"
SAMPLE = PAGE.replace("<p>b</p>", "<pre>\n```html\n<html><p>sample</p></html>\n```\n</pre>")
SAMPLES = PAGE.replace("<p>b</p>", f"<pre>\n{OTHER}\n</pre>\n<pre>\n{OTHER}\n</pre>")
STRINGS = PAGE.replace("<p>b</p>", f"<script>const pages = [`\n{OTHER}`, `\n{OTHER}`];</script>")
CUSTOM = PAGE.replace("<p>b</p>", "<pre-view>b</pre-view>")
WINDOWS = PAGE.replace("\n", "\r\n")
XHTML = f'<?xml version="1.0" encoding="UTF-8"?>\n{PAGE}'
SNIPPET = '```html\n<html lang="en">\n```'
PARTS = "<head><title>a</title></head>\n<body class='b'>\n<p>b</p>\n</body>"
LATE = f"{PAGE}\n<!-- late -->\n<script>\nlet a = 1;\n</script>"

ANSWERS = {
    "as it is": (PAGE, PAGE),
    "with blanks around it": (f"\ufeff\n\n{PAGE}\n\n", PAGE),
    "fenced": (f"```html\n{PAGE}\n```", PAGE),
    "fenced with talk around it": (f"Here is the page:\n\n```html\n{PAGE}\n```\n\nIt has a heading.", PAGE),
    "fenced without a language": (f"```\n{PAGE}\n```", PAGE),
    "fenced by tildes": (f"~~~html\n{PAGE}\n~~~", PAGE),
    "a fence that does not end": (f"```html\n{PAGE}", PAGE),
    "an answer that was cut": ("```html\n<!doctype html><html><body><p>cut", "<!doctype html><html><body><p>cut"),
    "talk without a fence": (f"Sure! Here it is.\n{PAGE}\nI hope that this helps.", PAGE),
    "several blocks": (f"```css\np {{ color: red }}\n```\n```html\n{PAGE}\n```\n```js\nlet a;\n```", PAGE),
    "two pages in fences": (f"```html\n{PAGE}\n```\nor\n```html\n{OTHER}\n```", PAGE),
    "two pages without": (f"{PAGE}\n{OTHER}", PAGE),
    "two pages with talk between them": (f"{PAGE}\n\nOr, simpler:\n\n{OTHER}\nDone.", PAGE),
    "two pages with elements of their own": (f"{CUSTOM}\nOr:\n{OTHER}", CUSTOM),
    "two pages, the second in a fence": (f"Sure.\n{PAGE}\nor\n```html\n{OTHER}\n```", PAGE),
    "pages in a page": (SAMPLES, SAMPLES),
    "pages in a script": (STRINGS, STRINGS),
    "talk that names the root element": (f"I use `<html lang>`.\n{PAGE}", PAGE),
    "talk that shows a page in a line": (f"Not <html></html>, but:\n{PAGE}", PAGE),
    "talk that shows a doctype": (f"It begins so:\n<!DOCTYPE html>\n```html\n{OTHER}\n```", OTHER),
    "talk, and a page that shows a page in a fence": (f"Sure:\n{SAMPLE}\nDone.", SAMPLE),
    "lines that end as on Windows": (f"Here:\n```html\n{PAGE}\n```\nDone.\n".replace("\n", "\r\n"), WINDOWS),
    "a fence in the page": (FENCED, FENCED),
    "a fence in a fenced page": (f"```html\n{FENCED}\n```\nThat is it.", FENCED),
    "an end in a script": (SCRIPT, SCRIPT),
    "a comment before the doctype": (COMMENTED, COMMENTED),
    "a script after the end": (f"```html\n{LATE}\n```\nDone.", LATE),
    "a script after the end, and talk": (f"{LATE}\n\nIt uses a <script>.", LATE),
    "no doctype": ("<html><body>a</body></html>", "<html><body>a</body></html>"),
    "a snippet before the page": (f"I set the language:\n{SNIPPET}\nThe page:\n```html\n{PAGE}\n```", PAGE),
    "a snippet without a language": (f"```\n<html>\n```\nThe page:\n```\n{PAGE}\n```\nDone.", PAGE),
    "snippets and two pages": (
        f"{SNIPPET}\nand\n```html\n<!DOCTYPE html>\n<html>\n```\nPage:\n```html\n{PAGE}\n```\nor\n```\n{OTHER}\n```",
        PAGE,
    ),
    "a snippet after the page": (f"```html\n{PAGE}\n```\nIt has\n{SNIPPET}", PAGE),
    "a snippet, and a page with fences": (f"{SNIPPET}\nPage:\n```html\n{FENCED}\n```\nDone.", FENCED),
    "a page in the line of the fence": (f"Sure:\n```html {PAGE}\n```", PAGE),
    "a page between fences in its lines": (f"```html {PAGE}```", PAGE),
    "a fence with an angle in its line": (f"```html title=<a>\n{PAGE}\n```", PAGE),
    "XHTML": (XHTML, XHTML),
    "XHTML in a fence": (f"Sure:\n```xhtml\n{XHTML}\n```\nDone.", XHTML),
    "XHTML with talk around it": (f"Sure:\n{XHTML}\nDone.", XHTML),
    "XHTML with a page in a fence": (f"{XHTML[:-7]}<pre>\n{SAMPLE}\n</pre></html>",) * 2,
    "parts without a root": (f"Here it is:\n{PARTS}\nDone", PARTS),
    "parts that are the whole answer": (PARTS, PARTS),
    "talk that names the parts": ("I use <head> and </head>.", "I use <head> and </head>."),
    "a part of a page": ("```html\n<button>a</button>\n```", "<button>a</button>"),
    "the largest part": ("```html\n<p>a\n```\n```html\n<button>a</button>\n```", "<button>a</button>"),
    "thoughts": (f"<think>An <html> page?\n```html\n<p>\n```</think>\n{PAGE}", PAGE),
    "thoughts without their first mark": (
        f"I could write <html><body>, or:\n```html\n<p>\n```\n</think>\n{PAGE}",
        PAGE,
    ),
    "thoughts without it, and a fence": (f"An <html> page.\n</think>\n\nHere:\n```html\n{PAGE}\n```\nDone.", PAGE),
    "thoughts without it, and a part": (
        "An <html>?\n</thinking>\n```html\n<button>a</button>\n```",
        "<button>a</button>",
    ),
    "thoughts that were cut off": (f"<think>Let me draft:\n{PAGE}\nbut wait", ""),
    "thoughts that were cut off, in fences": (f"\n<thinking>\n```html\n{PAGE}\n```\nor", ""),
    "thoughts in brackets": (f"[THINK]A draft:\n```html\n{OTHER}\n```\n[/THINK]\n```html\n{PAGE}\n```", PAGE),
    "thoughts by another name": (f"<thought>\n{OTHER}\n</thought>\n{PAGE}", PAGE),
    "thoughts in brackets that were cut off": (f"[THINK]A draft:\n{OTHER}", ""),
    "a page about thoughts": (THINKING, THINKING),
    "talk, and a page about thoughts": (f"Sure:\n{THINKING}", THINKING),
    "no page": ("I can not do that.", "I can not do that."),
    "nothing": ("", ""),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_the_page_in_an_answer(answer: str) -> None:
    text, page = ANSWERS[answer]
    assert page_of(text) == page


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_bare_page_is_read_unchanged(answer: str) -> None:
    page = page_of(ANSWERS[answer][0])
    assert page_of(page) == page


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        "```\n",
        "```html\n<p>\n```\n",
        "<!--",
        "<!-- -->\n",
        "<html>",
        "</html>",
        "<script>",
        "<pre>\n",
        "a <html>\n",
        "<body>\n",
        "<?xml ",
        "```\n<html>\n",
    ],
)
@pytest.mark.parametrize("begin", ["", "```html\n<html>\n"])
def test_a_repetitive_answer_is_read_quickly(text: str, begin: str) -> None:
    """Small models repeat a line until their limit; each of these texts took, or could take, a minute or more."""
    assert page_of(begin + text * 20_000) is not None


@pytest.mark.timeout(20)
@pytest.mark.parametrize("line", [f"```{'a' * 200_000}`", f"```{' ' * 200_000}`", f"{'`' * 200_000}a`", " " * 200_000])
def test_a_long_line_is_read_quickly(line: str) -> None:
    assert page_of(f"{line}\n{PAGE}") == PAGE
