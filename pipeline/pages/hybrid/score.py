"""The hybrid score of an answer: its weighted parts, and feedback on each. Writes nothing."""

from __future__ import annotations

from functools import cache

from pipeline.core.law import law, register
from pipeline.core.store import digest
from pipeline.pages.answers import has_tag, page_of
from pipeline.pages.engine import Limits
from pipeline.pages.evaluating import page_law
from pipeline.pages.hybrid import behaviour, formulas, validity
from pipeline.pages.hybrid.expected import compare
from pipeline.pages.hybrid.records import Feedback, Hybrid, Part

register("hybrid", __package__, "behaviour.py", "expected.py", "formulas.py", "formulas.toml", "judge.md", "judge.py")
register("hybrid", __package__, "renders.js", "score.py", "validity.py")
register("hybrid", "pipeline.pages", "answers.py")

#: the part `functional` of an answer that is no page
NO_PAGE = Part(score=0, feedback=(Feedback(level="error", message="It is not a page: it has no element of HTML."),))


@cache
def hybrid_law() -> str:
    """The digest of all that decides a hybrid score: our code, html-validate, and what decides a verdict on a page."""
    checker = [(validity.ENGINE / name).read_bytes() for name in (*validity.PINNED, "check.js")]
    return digest(law("hybrid"), *checker, page_law())


def evaluate(
    answer: str,
    *,
    name: str = "page",
    model: str = "",
    sample: int = 0,
    page: str | None = None,
    expected: str | float | None = None,
    quality: Part | None = None,
    judge: str = "",
    limits: Limits | None = None,
) -> Hybrid:
    """The score of the page in an answer, `page`, by default as the commands find it. Its text is compared with the
    expected one, if any; `quality` is the part of the judge `judge` (`judge.opinions`), missing by default. An answer
    without any element is no page, which has nothing to render, unless a text is expected."""
    shown, wanted = _text(page_of(answer) if page is None else page), _text("" if expected is None else str(expected))
    parts = {
        "html": validity.check(shown),
        "functional": behaviour.watch(shown, limits) if has_tag(shown) or wanted.strip() else NO_PAGE,
        "expected": compare(shown, wanted),
        "quality": quality or Part(),
    }
    about = Hybrid(name=name, model=model, sample=sample, digest=digest(_text(answer)), law=hybrid_law(), judge=judge)
    return combine(parts, about)


def _text(text: str) -> str:
    """A text that can be stored: halves of characters, which models' libraries may return, are replaced."""
    return text.encode("utf-8", "replace").decode()


def combine(parts: dict[str, Part], about: Hybrid) -> Hybrid:
    """The record of a score, from its parts by name."""
    total, weights = formulas.overall({name: part.score for name, part in parts.items()})
    fields = {"overall_score": total, "passed": formulas.passes(total), "weights": weights}
    return about.model_copy(update={**parts, **fields})


def feedback(scored: Hybrid) -> list[dict[str, str]]:
    """The feedback as [{level, message}], part by part."""
    parts: list[Part] = [getattr(scored, name) for name in formulas.PARTS]
    messages: list[Feedback] = [message for part in parts for message in part.feedback]
    return [message.model_dump() for message in messages]
