"""The four steps in order, for one task: files, places in them, repairs, selection.

Files and related elements are located once. Edit locations are sampled, one sample per set, and each set has its own
repair prompt and samples. The first sample of locations and the first repair of a set are greedy. Sets, and the samples
of a set, are requested in parallel; the gateway limits the requests to a provider.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby

from magentless.causes import MENDABLE, Ended
from magentless.localize import Localisation, Nearest, localize
from magentless.places import Finder, Places
from magentless.prompting import REPAIR, template
from magentless.provider import Messages
from magentless.repair import Sample, Windows, repair
from magentless.run import FileSet, Run
from magentless.selection import select
from magentless.session import Session, message
from magentless.views import view, window
from magentless.words import identifiers

#: stands for a reply that was cut or empty: some providers refuse an empty message
NOTHING = "(nothing)"


class Agent:
    """Works on one task. `nearest` ranks files by vectors; None skips retrieval."""

    def __init__(self, session: Session, nearest: Nearest | None) -> None:
        self._session, self._nearest, self._settings = session, nearest, session.settings
        self._choices = session.model.choices
        self._words = identifiers(session.task.prose)

    def run(self) -> Run:
        """Run all steps. The end of a set or a sample is recorded there; raises only ProviderFailure."""
        run = Run([FileSet(number) for number in range(self._settings.samples.sets)])
        try:
            run.localisation = localize(self._session, self._nearest)
        except Ended as end:
            run.end(end)
            return run
        finder = Finder(self._session, run.localisation.files)
        related = self._related(finder, run.localisation)
        with ThreadPoolExecutor(len(run.sets)) as threads:
            for samples in threads.map(lambda files: self._set(files, finder, related), run.sets):
                run.samples.extend(samples)
        run.selected, run.votes = select(run.samples, self._session.checkout)
        return run

    def _related(self, finder: Finder, localisation: Localisation) -> Places:
        try:
            return finder.related()
        except Ended as end:
            localisation.note("elements", end)
            return finder.everywhere

    def _set(self, files: FileSet, finder: Finder, related: Places) -> list[Sample]:
        """Sample the edit locations of one set, and its repairs."""
        files.located = tuple(finder.texts)
        try:
            files.places = finder.edit_locations(related, files.number)
        except Ended as end:
            files.notes, files.places = [f"lines: {end}"], related
        seen = {path: (finder.texts[path], spans) for path, spans in files.places.items()}
        views = [view(path, *piece, self._words, self._settings.files) for path, piece in seen.items()]
        try:
            prompt = self._session.prompter.prompt(REPAIR, views)
        except Ended as end:
            files.cause, files.detail = end.cause, end.detail
            return []
        files.shown = tuple(list(files.places)[index] for index in prompt.shown)
        windows = {path: window(*seen[path], self._words, self._settings.files) for path in files.shown}
        return self._samples(files.number, prompt.text, windows)

    def _samples(self, number: int, prompt: str, windows: Windows) -> list[Sample]:
        """The repairs of a set. Those of one temperature share a request if the model can return several answers."""
        messages, per_set = [message("user", prompt)], self._settings.samples.per_set
        heat = self._settings.samples.heat
        samples = [Sample(number * per_set + index, number, heat(index)) for index in range(per_set)]
        with ThreadPoolExecutor(per_set) as threads:
            asked = [(group, threads.submit(self._firsts, group, messages)) for group in self._groups(samples)]
            ends = [
                threads.submit(self._sample, sample, first, place, messages, windows)
                for group, first in asked
                for place, sample in enumerate(group)
            ]
            return [end.result() for end in ends]

    def _groups(self, samples: Sequence[Sample]) -> list[Sequence[Sample]]:
        """Groups of samples that share a request: of one temperature, as many as the model returns at once."""
        alike = [list(group) for _, group in groupby(samples, key=lambda sample: sample.temperature)]
        return [some[at : at + self._choices] for some in alike for at in range(0, len(some), self._choices)]

    def _firsts(self, samples: Sequence[Sample], messages: Messages) -> list[str | Ended]:
        numbers = [sample.number for sample in samples]
        return self._session.several(REPAIR, messages, numbers, samples[0].temperature)

    def _sample(
        self, first: Sample, replies: Future[list[str | Ended]], place: int, messages: Messages, windows: Windows
    ) -> Sample:
        """One repair. An unusable one is requested again with the reason; returns the attempt that came furthest."""
        messages = self._attempt(first, replies.result()[place], messages, windows)
        attempts = [first]
        while attempts[-1].cause in MENDABLE and len(attempts) <= self._settings.samples.reasks:
            reasked = [f"{attempt.cause}: {attempt.detail}" for attempt in attempts]
            attempts.append(Sample(first.number, first.set, first.temperature, reasked=reasked))
            messages = self._attempt(attempts[-1], self._again(first, messages), messages, windows)
        best = furthest(attempts)
        best.replies = [attempt.reply() for attempt in attempts]
        return best

    def _again(self, sample: Sample, messages: Messages) -> str | Ended:
        try:
            return self._session.converse(REPAIR, messages, sample.number, sample.temperature)
        except Ended as end:
            return end

    def _attempt(self, sample: Sample, reply: str | Ended, messages: Messages, windows: Windows) -> Messages:
        """Fill in the sample; returns the messages that request it again."""
        try:
            if isinstance(reply, Ended):
                raise reply
            repair(sample, reply, self._session.checkout, windows)
        except Ended as end:
            sample.cause, sample.detail = end.cause, end.detail
        reason = template("reask").substitute(reason=sample.detail)
        answered = NOTHING if isinstance(reply, Ended) else reply
        return [*messages, message("assistant", answered), message("user", reason)]


def furthest(attempts: Iterable[Sample]) -> Sample:
    """The attempt that came furthest through the funnel, the last one in a tie."""
    *_, last = sorted(attempts, key=lambda sample: sample.progress)
    return last
