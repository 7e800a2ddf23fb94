"""From the text of one snapshot to the elements that it shows.

Reads what the serializers of jest and vitest write: DOM elements and react-test-renderer's (pretty-format's form, one
attribute a line), lists of them, strings of HTML, and the blocks of CSS that styled-components and emotion put before.
Does not cover components that were not rendered (shallow renderers), and values that are not markup.
"""

from __future__ import annotations

import json
import re

from pipeline.browser import Markup, Node
from pipeline.core.errors import A11yBenchError

#: wrappers that are no elements themselves
CONTAINERS = ("DocumentFragment", "React.Fragment", "Fragment", "body", "html")
#: React's names of attributes -> HTML's
REACT = {"className": "class", "htmlFor": "for", "defaultValue": "value", "defaultChecked": "checked"}
#: attributes with the values `true` and `false`; all other booleans are present or absent
ENUMERATED = re.compile(r"aria-|data-|role$|contenteditable$|draggable$|spellcheck$", re.IGNORECASE)

#: a style sheet: selectors, each with a block
_STYLES = re.compile(r"\s*(?:[^{}\s][^{}]*\{(?:[^{}]|\{[^{}]*\})*\}\s*)+")
_LIST = re.compile(r"\A\s*(?:\w+ )?\[\n(.*)\n\]\s*\Z", re.DOTALL)
_TEXT_MARKUP = re.compile(r"<[a-zA-Z][\w.:()-]*(?:\s[^<]*)?/?>")
_INLINE = re.compile(r"<[a-zA-Z][\w-]* +[^\s/>]")
_OPEN = re.compile(r"<([^\s/>]+)")
_ATTRIBUTE = re.compile(r"\n( *)([^\s=<>]+)(?==)")
_STRING = re.compile(r'="(.*?)"(?=\n *(?:/?>|[^\s=<>"]+=))', re.DOTALL)
_VALUE = re.compile(r"=\{([^\n]*)\}(?=\n)")
_STYLE_PAIR = re.compile(r'"?([\w-]+)"?: ("(?:[^"\\]|\\.)*"|-?[\d.]+)')
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TEXT = re.compile(r"[^<]+")


class Unparsable(A11yBenchError):
    """A snapshot that shows no elements, or has an unknown form; the message says which."""


def parse(text: str) -> Markup:
    """Read a snapshot. Raises Unparsable."""
    text = text.strip("\n")
    if text in ("", '""', "null", "undefined"):
        return Markup("", [])
    if text.startswith('"') and text.endswith('"'):
        return _string(text[1:-1].replace('\\"', '"'))
    if not _TEXT_MARKUP.search(text):
        raise Unparsable("it is no markup")
    if _INLINE.search(text):
        return Markup("", [{"html": text}])
    listed = _LIST.match(text)
    try:
        return _read(listed[1] if listed else text, bool(listed))
    except _Written:
        return _read(listed[1] if listed else text, bool(listed), written=True)
    except RecursionError:
        raise Unparsable("its elements are nested too deeply") from None


def _read(text: str, listed: bool, written: bool = False) -> Markup:
    reader = _Reader(text, listed, written)
    nodes = reader.nodes("")
    return Markup("\n".join(reader.styles), nodes)


def shows(text: str) -> bool:
    """Whether a snapshot shows elements, or styles for them."""
    try:
        parse(text)
    except Unparsable:
        return False
    return True


def _string(text: str) -> Markup:
    if _TEXT_MARKUP.search(text):
        return Markup("", [{"html": text}])
    if _STYLES.fullmatch(text):
        return Markup(text, [])
    raise Unparsable("it is no markup")


class _Written(Exception):
    """The document is handwritten markup, with texts over several lines."""


class _Reader:
    """A scanner over pretty-format's form, in which every tag, attribute and text begins a line."""

    def __init__(self, text: str, listed: bool, written: bool = False) -> None:
        self.text, self.position, self.listed, self.written = f"{text}\n", 0, listed, written
        self.styles: list[str] = []

    def nodes(self, closing: str) -> list[Node]:
        """The children up to the closing tag, or up to the end."""
        children: list[Node] = []
        while self.position < len(self.text):
            if self._skip(_COMMENT):
                continue
            if closing and self.text.startswith(closing, self.position):
                self.position += len(closing)
                return children
            children += self._element() if self.text.startswith("<", self.position) else self._texts(not closing)
        if closing:
            raise Unparsable(f"{closing} is missing")
        return children

    def _skip(self, pattern: re.Pattern[str]) -> str | None:
        if match := pattern.match(self.text, self.position):
            self.position = match.end()
            return match[match.lastindex or 0]
        return None

    def _element(self) -> list[Node]:
        tag = self._skip(_OPEN)
        if tag is None or not (tag in CONTAINERS or re.fullmatch(r"[a-z][\w:-]*", tag)):
            raise Unparsable(f"<{tag}> was not rendered")
        attributes = dict(pair for pair in iter(self._attribute, None) if pair[1] is not None)
        inner = attributes.pop("dangerouslySetInnerHTML", None)
        children: list[Node] = [] if self._ends() else self.nodes(f"</{tag}>")
        children += [{"html": inner}] if inner else []
        is_element = tag not in CONTAINERS or (tag == "body" and attributes)
        return [[tag, attributes, children]] if is_element else children

    def _ends(self) -> bool:
        """Whether the element has no children; passes the end of its opening tag."""
        end = self._skip(re.compile(r"\s*(/?>)"))
        if end is None:
            raise Unparsable(f"a tag does not end: {self.text[self.position : self.position + 40]!r}")
        return end == "/>"

    def _attribute(self) -> tuple[str, str | None] | None:
        match = _ATTRIBUTE.match(self.text, self.position)
        if match is None:
            return None
        self.position, name = match.end(), REACT.get(match[2], match[2])
        string = self._skip(_STRING)
        if string is not None:
            return name, string.replace('\\"', '"')
        value = self._skip(_VALUE)
        if value is None:
            value = self._skip(re.compile(rf"=\{{\n(.*?)\n{match[1]}\}}(?=\n)", re.DOTALL))
        if value is None:
            raise Unparsable(f"the attribute {name} does not end")
        return name, _value(name, value)

    def _texts(self, outermost: bool) -> list[Node]:
        """Texts up to the next tag. Each begins a line; a continued text has another indentation.

        White space belongs to the texts: it may separate elements that are single words. If any text of the document
        has a line break, the whole document is handwritten markup, in which no two texts are next to each other.
        """
        raw = self._skip(_TEXT) or ""
        if _STYLES.fullmatch(raw):
            self.styles.append(raw)
            return []
        if (lead := self._lead(raw)) and raw.startswith(lead):
            body = raw[: raw.rindex("\n")].removeprefix(lead)
            texts = [body] if self.written else re.split(rf"{lead}(?=\S)", body)
            if not self.written and any("\n" in text for text in texts):
                raise _Written
            return [_unescape(text) for text in texts if text]
        broken = re.match(r"\n( *)", raw)
        lines = re.split(rf"\n{broken[1]}(?=\S)", raw.rstrip(" ")) if broken else [raw]
        texts = [line.removesuffix("\n") for line in lines]
        if outermost and self.listed:
            texts = [re.sub(r"\A\s*,\s*\Z", "", text) for text in texts]
        return [_unescape(text) for text in texts if text.strip()]

    def _lead(self, raw: str) -> str:
        """The indentation of each text, derived from the line of the tag that follows; empty if there is none."""
        last = re.search(r"\n( *)\Z", raw)
        if last is None or self.position >= len(self.text) or not last.start():
            return ""
        return last[0] + ("  " if self.text.startswith("</", self.position) else "")


def _unescape(text: str) -> str:
    """Undo pretty-format's escapes: only the angle brackets of tags."""
    return text.replace("&lt;", "<").replace("&gt;", ">")


def _value(name: str, value: str) -> str | None:
    """The HTML value of an attribute `name={value}`; None if it is absent (functions, false, null)."""
    if value in ("true", "false"):
        return value if ENUMERATED.match(name) else {"true": ""}.get(value)
    if re.fullmatch(r"-?[\d.]+", value):
        return value
    pairs = [(key, _plain(text)) for key, text in _STYLE_PAIR.findall(value)] if "{" in value else []
    if name == "style":
        return "; ".join(
            f"{_kebab(key)}: {f'{size}px' if isinstance(size, int | float) else size}" for key, size in pairs
        )
    html = dict(pairs).get("__html")
    return None if html is None else str(html)


def _plain(text: str) -> str | int | float:
    """A text or a number of an object; newer versions of pretty-format write a backslash as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text[1:-1] if text.startswith('"') else text


def _kebab(name: str) -> str:
    return re.sub(r"([A-Z])", r"-\1", name).lower()
