"""Second step: places in the files. Agentless, arXiv 2407.01489, sections 3.1.2 and 3.1.3.

The model sees the elements of the files, and the text of the first files as far as the context has room, and names the
related elements. Then it sees their code with line numbers and names edit locations, in several samples. A file that it
names without elements or lines matters as a whole. If it names no file, all files do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from magentless.elements import elements
from magentless.prompting import ELEMENTS, LINES
from magentless.replies import Span, places
from magentless.session import Session
from magentless.views import lines_of, numbered, outline, with_text

#: spans of lines by path, the most important file first; a file without spans matters as a whole
Places = Mapping[str, Sequence[Span]]


class Finder:
    """Finds places in the files of one task. Safe to share between threads."""

    def __init__(self, session: Session, paths: Iterable[str]) -> None:
        self._session = session
        self.texts = session.checkout.texts(paths)
        self._elements = {path: elements(path, text) for path, text in self.texts.items()}
        self._lengths = {path: len(lines_of(text)) for path, text in self.texts.items()}

    @property
    def everywhere(self) -> Places:
        """All files as a whole."""
        return dict.fromkeys(self.texts, ())

    def related(self) -> Places:
        """The places of the related elements. Raises Ended without a reply."""
        outlines = [outline(path, self.texts[path], found) for path, found in self._elements.items()]
        prompt = self._session.prompter.prompt(ELEMENTS, outlines, self._texts(outlines))
        return self._named(self._session.ask(ELEMENTS, prompt.text))

    def _texts(self, outlines: Sequence[str]) -> dict[int, str]:
        """The first outlines by position, each with the text of its file, unless this is too long to be shown whole."""
        settings = self._session.settings.files
        first = list(zip(outlines, self.texts.items(), strict=True))[: settings.with_text]
        return {
            place: with_text(outlined, text)
            for place, (outlined, (path, text)) in enumerate(first)
            if self._lengths[path] <= settings.whole_file_lines
        }

    def edit_locations(self, related: Places, sample: int) -> Places:
        """The places of one sample of edit locations. Raises Ended without a reply."""
        session = self._session
        code = [numbered(path, self.texts[path], spans, session.settings.files) for path, spans in related.items()]
        prompt = session.prompter.prompt(LINES, code)
        return self._named(session.ask(LINES, prompt.text, sample, session.settings.samples.heat(sample)))

    def _named(self, reply: str) -> Places:
        return places(reply, self._elements, self._lengths) or self.everywhere
