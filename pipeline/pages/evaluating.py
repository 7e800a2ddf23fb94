"""Evaluation: every page of a run is run through its case and gets a verdict.

Reads a run; writes `04_evaluation/pages/<run>/` and the engine's observations, stored by page, case and law, so that
the same page is run once. Verdicts are derived from observations: if other axe-core tags count, pages are judged again,
but not run again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.browser.axe import AXE
from pipeline.browser.program import executable, version
from pipeline.core.console import log_file
from pipeline.core.errors import UserError
from pipeline.core.law import law, register
from pipeline.core.progress import Progress
from pipeline.core.store import (
    Unit,
    digest,
    each_record,
    now,
    read_field,
    read_object,
    read_record,
    unique,
    write_bytes,
    write_json,
)
from pipeline.core.work import Interrupts
from pipeline.pages.engine import MERGE, RUNNER, Limits, Looked
from pipeline.pages.records import Observed, PageAnswer, PageVerdict
from pipeline.pages.results import Timing, results
from pipeline.pages.running import Doubts, RunPage, code_of, run_pages
from pipeline.pages.runs import KEPT, KEY, Run, copy_cases, with_cases
from pipeline.pages.verdict import APART, Doubt, verdict_of

register("pages", "pipeline.pages", "cases.py", "engine.py", "gate.py", "gate.toml", "records.py", "running.py")
register("pages", "pipeline.pages", "others.py", "shared.py", "verdict.py")
register("pages", "pipeline.browser", "fenced.py", "ordinary.js", "ordinary.py")
#: the file of the settings of an evaluation
SETTINGS = "settings.json"
#: the files of an observation
SEEN, PICTURE = "seen.json", "screenshot.png"


def page_law() -> str:
    """The digest of all that decides a verdict on a page: our code and the runner's, axe-core, Playwright."""
    runner = [path.read_bytes() for path in sorted(RUNNER.glob("*.js"))]
    return digest(law("pages"), *runner, AXE.name, MERGE.name, metadata.version("playwright"))


def is_of_other_browser(ran: Mapping[str, str]) -> bool:
    """Whether a page ran in another version of Chromium than the one that is installed. If either is unknown, no."""
    program = executable()
    here = version(program) if program else ""
    return bool(here) and ran.get("chromium", here) != here


class Kept(NamedTuple):
    """What is known about one page: the observation, and who is to blame for a doubtful end."""

    seen: Observed
    doubt: Doubt


@dataclass(frozen=True)
class Evaluation:
    """The verdicts on a run; `apart` are the axe-core tags whose rules do not count. `renew` runs pages again whose
    stored observations come from another version of Chromium; those are archived."""

    run: Run
    apart: tuple[str, ...] = APART
    jobs: int = 2
    engine: str = "threads"
    limits: Limits = Limits()
    renew: bool = False
    law: str = field(default_factory=page_law)

    def evaluate(self) -> list[PageVerdict]:
        """Run pages without a stored observation, judge all, and write. Raises UserError without a browser."""
        run, answers = self.run, self.run.answers()
        with run.store.lock("pages-eval", run.name), log_file(run.evaluated / "evaluation.log"):
            missing = [answer for answer in answers if not self._is_kept(answer) or self._is_renewed(answer)]
            faults = self._look(missing) if missing else {}
            verdicts = [self._verdict(answer, faults) for answer in answers]
            self._write(answers, verdicts)
        return verdicts

    def inputs(self, answer: PageAnswer) -> dict[str, str]:
        """Everything that an observation of a page depends on."""
        case = self.run.by_name[answer.case].digest
        return {"page": answer.digest, "case": case, "law": self.law, "limits": digest(vars(self.limits))}

    def unit(self, answer: PageAnswer) -> Unit:
        return Unit(self.run.store.pages_evaluated(KEPT) / digest(self.inputs(answer)))

    def kept(self, answer: PageAnswer) -> Kept:
        unit = self.unit(answer)
        return Kept(read_record(unit.folder / SEEN, Observed), unit.result()["doubt"])

    def seen(self, answer: PageAnswer) -> Observed | None:
        """The observation of a page; None if the machine failed."""
        return self.kept(answer).seen if self._is_kept(answer) else None

    def screenshot(self, answer: PageAnswer) -> bytes:
        """The screenshot of a page as PNG, empty if there is none."""
        path = self.unit(answer).folder / PICTURE
        return path.read_bytes() if path.exists() else b""

    def _is_kept(self, answer: PageAnswer) -> bool:
        inputs = self.inputs(answer)
        return self.unit(answer).inputs() in (inputs, inputs | self._control(answer))

    def _is_renewed(self, answer: PageAnswer) -> bool:
        return self.renew and is_of_other_browser(self.kept(answer).seen.ran)

    def _control(self, answer: PageAnswer) -> dict[str, str]:
        """The additional inputs of a doubtful observation."""
        return {"control": digest(self.run.by_name[answer.case].control)}

    def _look(self, answers: Sequence[PageAnswer]) -> dict[tuple[str, str, int], Kept]:
        """Run pages, each only once if several answers share it, and store the observations. Returns the pages for
        which the machine failed, or failed to decide who is to blame; the next evaluation runs them again."""
        first: dict[str, PageAnswer] = {}
        for answer in answers:
            first.setdefault(self.unit(answer).folder.name, answer)
        requests = [self._request(key, answer) for key, answer in first.items()]
        faults, doubts = {}, Doubts(self.limits)
        with Progress("running", len(requests)) as progress:
            options: dict[str, Any] = {"jobs": self.jobs, "engine": self.engine, "hear": progress.hear}
            for request, looked in run_pages(requests, interrupts=Interrupts(progress.stopping), **options):
                answer = first[request.key[0]]
                doubt = doubts.settle(self.run.by_name[answer.case], looked.observed)
                if looked.observed.machine or doubt == "machine":
                    faults[request.key[0]] = Kept(looked.observed, doubt)
                else:
                    self._keep(answer, looked, doubt)
                progress.finish(request.name, looked.observed.machine or looked.observed.ended or "looked at")
        keys = {answer.key: self.unit(answer).folder.name for answer in answers}
        return {answer: faults[key] for answer, key in keys.items() if key in faults}

    def _request(self, key: str, answer: PageAnswer) -> RunPage:
        name, code = f"{answer.case} {answer.model} s{answer.sample}", code_of(self.run.by_name[answer.case])
        return RunPage(name, self.run.page(answer), code, (key,), True, self.limits)

    def _keep(self, answer: PageAnswer, looked: Looked, doubt: Doubt) -> None:
        files = {SEEN: looked.observed.model_dump_json().encode()}
        if looked.screenshot:
            files[PICTURE] = looked.screenshot
        control = self._control(answer) if looked.observed.is_doubtful else {}
        if self._is_kept(answer) and self._is_renewed(answer):
            self.run.store.displace(self.unit(answer).folder)
        self.unit(answer).keep(files, {"doubt": doubt}, **self.inputs(answer), **control)

    def _verdict(self, answer: PageAnswer, faults: dict[tuple[str, str, int], Kept]) -> PageVerdict:
        seen, doubt = faults[answer.key] if answer.key in faults else self.kept(answer)
        about = PageVerdict(
            case=answer.case,
            model=answer.model,
            sample=answer.sample,
            result="error",
            digest=answer.digest,
            case_digest=self.run.by_name[answer.case].digest,
            law=self.law,
            ran=seen.ran,
        )
        return verdict_of(seen, about, self.apart, doubt)

    def _write(self, answers: Sequence[PageAnswer], verdicts: Sequence[PageVerdict]) -> None:
        run = self.run
        for answer in answers:
            path = run.evaluated / run.screenshot(*answer.key)
            if picture := self.screenshot(answer):
                write_bytes(path, picture)
            else:
                run.store.displace(path)
        run.store.replace_records(run.evaluated / "verdicts.jsonl", verdicts)
        timings = {answer.key: self._times(answer) for answer in answers}
        self._write_cases(run.evaluated / "cases")
        settings: dict[str, Any] = {"axe": {"apart": list(self.apart)}, "limits": vars(self.limits)}
        write_json(run.evaluated / SETTINGS, settings)
        write_json(run.evaluated / "results.json", results(run, answers, verdicts, timings, settings))

    def _write_cases(self, folder: Path) -> None:
        """Copy the cases to `folder`, unless they are the run's own; an earlier copy of others is archived."""
        parent = self.run.cases[0].folder.parent
        if parent == folder:
            return
        self.run.store.displace(folder)
        if parent != self.run.folder / "cases":
            copy_cases(self.run.cases, folder)

    def _times(self, answer: PageAnswer) -> Timing:
        if not self._is_kept(answer):
            return Timing(now())
        seconds = self.kept(answer).seen.seconds.get("case", 0)
        return Timing(read_field(self.unit(answer).path, "finished", str), round(1000 * seconds))


def evaluated(run: Run) -> tuple[Evaluation, list[PageVerdict]]:
    """The stored verdicts of a run, with the settings that made them. Raises UserError if there are none."""
    path = run.evaluated / "verdicts.jsonl"
    if not path.exists():
        raise UserError("this run has no verdicts", path=path, hint=f"run: just pages-eval --run {run.name}")
    settings = read_object(run.evaluated / SETTINGS, "axe", "limits")
    run = with_cases(run, run.evaluated / "cases") if (run.evaluated / "cases").exists() else run
    verdicts = list(unique(each_record(path, PageVerdict), path, KEY))
    laws = {verdict.law for verdict in verdicts} or {page_law()}
    try:
        apart, limits = tuple(settings["axe"]["apart"]), Limits(**settings["limits"])
    except (KeyError, TypeError) as error:
        hint = f"run: just pages-eval --run {run.name}"
        raise UserError(f"no settings of an evaluation: {error}", path=run.evaluated / SETTINGS, hint=hint) from None
    return Evaluation(run, apart, limits=limits, law=laws.pop()), verdicts


def with_k(run: Run, ks: tuple[int, ...]) -> Run:
    """The same run with other k of pass@k. Raises UserError for a k above the number of samples."""
    return replace(run, asked=replace(run.asked, ks=ks).checked()) if ks else run
