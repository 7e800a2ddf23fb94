"""Generated repositories: what number N is, made from (name, seed, N) alone whenever it is asked for.

An outline (kind, state, times) of all numbers is drawn at the start; texts, labels and files are not kept. What was put
into a pull request is its `Recipe`, for tests to compare with what was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random
from typing import NamedTuple

from github_double import words
from github_double.records import File, Issue, Pull

START = int(datetime(2017, 1, 1, tzinfo=UTC).timestamp())
HOUR, DAY = 3600, 86400
#: a number that no generated repository reaches
NOWHERE = 9_999_999


class Outline(NamedTuple):
    """What lists are sorted and filtered by; times are ISO 8601 in UTC."""

    kind: str
    state: str
    created_at: str
    updated_at: str


class Recipe(NamedTuple):
    """What was put into a pull request.

    `evidence` lists where; a merely mentioned issue does not count if another one is closed. `closes` and `mentions`
    are issues in its body, `linked` is one that only GitHub knows about, `dangling` is a reference to nothing,
    `foreign` whether another repository's issue is mentioned.
    """

    state: str
    source: bool
    tests: bool
    evidence: tuple[str, ...]
    closes: tuple[int, ...]
    mentions: tuple[int, ...]
    linked: tuple[int, ...]
    dangling: tuple[int, ...]
    foreign: bool


class Generator:
    """Makes one repository's numbers. `outline` grows by `extend`.

    `evidence` is the share of pull requests, and of issues, that mention accessibility themselves.
    """

    def __init__(self, name: str, seed: int, evidence: float) -> None:
        self.name, self.seed, self.evidence = name, seed, evidence
        self.outline: dict[int, Outline] = {}
        self._stream = Random(f"{name} {seed}")
        self._clock = START

    def extend(self, pulls: int) -> None:
        """Add outlines of this many newer pull requests, with issues between them, all later than the existing ones."""
        self._clock += 60 * DAY
        for _ in range(pulls):
            if self._stream.random() < 0.5:
                self._add("issue", "CLOSED" if self._stream.random() < 0.8 else "OPEN")
            self._add("pull", self._stream.choices(("MERGED", "CLOSED", "OPEN"), (75, 15, 10))[0])

    def _add(self, kind: str, state: str) -> None:
        self._clock += 1 + int(self._stream.random() * HOUR)
        updated = self._clock + int(self._stream.random() * 30 * DAY)
        self.outline[len(self.outline) + 1] = Outline(kind, state, _iso(self._clock), _iso(updated))

    def recipe(self, number: int) -> Recipe:
        """What goes into the pull request of this number."""
        return self._recipe(number, self._dice(number))

    def make(self, number: int) -> Pull | Issue:
        """The pull request or issue of this number."""
        dice = self._dice(number)
        return self._pull(number, dice) if self.outline[number].kind == "pull" else self._issue(number, dice)

    def _dice(self, number: int) -> Random:
        return Random(self.seed * 1_000_003 + number)

    def _recipe(self, number: int, dice: Random) -> Recipe:
        own = self._evidence(dice)
        source, tests = dice.random() < 0.95, dice.random() < 0.45
        closes = tuple(self._issues_before(number, dice, dice.choices((0, 1, 2), (50, 45, 5))[0]))
        mentions = tuple(self._issues_before(number, dice, dice.random() < 0.1))
        linked = tuple(self._issues_before(number, dice, dice.random() < 0.03))
        return Recipe(
            state=self.outline[number].state,
            source=source or not tests,
            tests=tests,
            evidence=own + tuple(self._issue_evidence(closes + linked or mentions)),
            closes=closes,
            mentions=mentions,
            linked=linked,
            dangling=(NOWHERE,) if dice.random() < 0.03 else (),
            foreign=dice.random() < 0.03,
        )

    def _issues_before(self, number: int, dice: Random, count: int) -> Iterator[int]:
        for _ in range(count):
            drawn = dice.randint(max(1, number - 200), number)
            if self.outline[drawn].kind == "issue":
                yield drawn

    def _issue_evidence(self, numbers: tuple[int, ...]) -> Iterator[str]:
        for number in dict.fromkeys(numbers):
            yield from (f"issue {place}" for place in self._evidence(self._dice(number)))

    def _evidence(self, dice: Random) -> tuple[str, ...]:
        """Where a pull request or an issue mentions accessibility: this is drawn first for both."""
        place = dice.choice(("title", "body", "label"))
        return (place,) if dice.random() < self.evidence else ()

    def _pull(self, number: int, dice: Random) -> Pull:
        recipe, outline = self._recipe(number, dice), self.outline[number]
        component = dice.choice(words.COMPONENTS)
        return Pull(
            number=number,
            title=dice.choice(words.EVIDENT_TITLES if "title" in recipe.evidence else words.TITLES).format(component),
            body=self._body(recipe, dice),
            state=outline.state,
            author=_author(dice),
            labels=_labels(dice, "label" in recipe.evidence),
            files=tuple(_files(recipe, component, dice)),
            closes=tuple(dict.fromkeys(recipe.closes + recipe.linked)),
            created_at=outline.created_at,
            updated_at=outline.updated_at,
        )

    def _body(self, recipe: Recipe, dice: Random) -> str:
        lines = [dice.choice(words.CLOSING).format(name=self.name, number=n) for n in recipe.closes + recipe.dangling]
        lines += [f"See also #{number}" for number in recipe.mentions]
        lines += ["Fixes other/place#12"] * recipe.foreign
        return words.TEMPLATE.format(_text(dice, "body" in recipe.evidence), "\r\n".join(lines))

    def _issue(self, number: int, dice: Random) -> Issue:
        evidence, outline = self._evidence(dice), self.outline[number]
        title = dice.choice(words.EVIDENT_TITLES if "title" in evidence else words.TITLES)
        return Issue(
            number=number,
            title=title.format(dice.choice(words.COMPONENTS)),
            body=_text(dice, "body" in evidence),
            state=outline.state,
            author=_author(dice),
            labels=_labels(dice, "label" in evidence),
            created_at=outline.created_at,
            updated_at=outline.updated_at,
        )


def _author(dice: Random) -> str | None:
    return None if dice.random() < 0.01 else dice.choice(("ann", "bob", "cleo", "renovate[bot]"))


def _text(dice: Random, evident: bool) -> str:
    sentences = dice.choices(words.SENTENCES, k=dice.randint(1, 8))
    if evident:
        sentences.append(dice.choice(words.EVIDENT_SENTENCES))
    return " ".join(sentences)


def _labels(dice: Random, evident: bool) -> tuple[str, ...]:
    labels = dice.sample(words.LABELS, dice.choice((0, 0, 1, 2)))
    return (*labels, dice.choice(words.EVIDENT_LABELS)) if evident else tuple(labels)


def _files(recipe: Recipe, component: str, dice: Random) -> Iterator[File]:
    """A few files; one pull request in 200 has more than a page of them."""
    many = 130 if dice.random() < 0.005 else dice.randint(1, 6)
    folder = f"src/components/{component}"
    for index in range(many * recipe.source):
        yield File(f"{folder}/part{index}.tsx", "MODIFIED", dice.randint(1, 40), dice.randint(0, 20))
    for index in range(dice.randint(1, 3) * recipe.tests):
        yield File(f"{folder}/__tests__/part{index}.test.tsx", "ADDED", dice.randint(1, 60), 0)


def _iso(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
