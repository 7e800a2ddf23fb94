"""The four steps in order, for one task: files, places in them, repairs, selection.

Files and related elements are located once. Edit locations are sampled, one sample per set, and each set has its own
repair prompt and samples. The first sample of locations and the first repair of a set are greedy. Sets, and the samples
of a set, are requested in parallel; the gateway limits the requests to a provider.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from magentless.causes import MENDABLE, Ended
from magentless.localize import Localisation, Nearest, localize
from magentless.places import Finder, Places
from magentless.prompting import REPAIR, template
from magentless.provider import Messages
from magentless.repair import Sample, Windows, repair
from magentless.run import FileSet, Run
from magentless.selection import select
from magentless.session import Session, said
from magentless.views import view, window
from magentless.words import identifiers


class Agent:
    """Works on one task. `nearest` ranks files by vectors; None skips retrieval."""

    def __init__(self, session: Session, nearest: Nearest | None) -> None:
        self._session, self._nearest, self._settings = session, nearest, session.settings
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
        views = [view(path, *one, self._words, self._settings.files) for path, one in seen.items()]
        try:
            prompt = self._session.prompter.prompt(REPAIR, views)
        except Ended as end:
            files.cause, files.detail = end.cause, end.detail
            return []
        files.shown = tuple(list(files.places)[index] for index in prompt.shown)
        windows = {path: window(*seen[path], self._words, self._settings.files) for path in files.shown}
        return self._samples(files.number, prompt.text, windows)

    def _samples(self, number: int, prompt: str, windows: Windows) -> list[Sample]:
        per_set = self._settings.samples.per_set
        with ThreadPoolExecutor(per_set) as threads:
            return list(threads.map(lambda index: self._sample(number, index, prompt, windows), range(per_set)))

    def _sample(self, number: int, index: int, prompt: str, windows: Windows) -> Sample:
        """One repair. An unusable one is requested again with the reason; returns the attempt that came furthest."""
        messages = [said("user", prompt)]
        attempts: list[Sample] = []
        for _ in range(1 + self._settings.samples.reasks):
            reasked = [f"{one.cause}: {one.detail}" for one in attempts]
            heat, place = self._settings.samples.heat(index), number * self._settings.samples.per_set + index
            attempts.append(Sample(place, number, heat, reasked=reasked))
            messages = self._attempt(attempts[-1], messages, windows)
            if attempts[-1].cause not in MENDABLE:
                break
        return furthest(attempts)

    def _attempt(self, sample: Sample, messages: Messages, windows: Windows) -> Messages:
        """Fill in the sample; returns the messages that request it again."""
        reply = ""
        try:
            reply = self._session.converse(REPAIR, messages, sample.number, sample.temperature)
            repair(sample, reply, self._session.checkout, windows)
        except Ended as end:
            sample.cause, sample.detail = end.cause, end.detail
        reason = template("reask").substitute(reason=sample.detail)
        return [*messages, said("assistant", reply), said("user", reason)]


def furthest(attempts: Iterable[Sample]) -> Sample:
    """The attempt that came furthest through the funnel, the last one in a tie."""
    *_, last = sorted(attempts, key=lambda one: one.progress)
    return last
