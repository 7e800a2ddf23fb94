"""The part of the evidence that comes from stories, built and audited on base, gold and a patch.

The built sites and the audits are kept in `04_evaluation/evidence/`, named by their inputs. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipeline.core.assessment import AxeDelta
from pipeline.core.git import opened_clone, read_blobs
from pipeline.core.patches import paths
from pipeline.core.store import digest
from pipeline.evaluate.assess.axe.findings import Violations, delta
from pipeline.evaluate.assess.evidence import RENDERED
from pipeline.evaluate.assess.parts import PartResult
from pipeline.evaluate.assess.request import Examination, Part, Silent
from pipeline.evaluate.assess.stories import browser, build
from pipeline.evaluate.assess.stories.browser import Audited
from pipeline.evaluate.assess.stories.build import Built
from pipeline.evaluate.assess.stories.site import NoSite, Site, open_site
from pipeline.evaluate.assess.stories.touched import SOURCE, touched

#: the most stories that are audited for one instance
MOST = 60


def look(examination: Examination) -> dict[str, Any]:
    """How the patch changes what axe-core finds in the stories that it or gold touches. Raises Silent."""
    if examination.verdict.outcome not in RENDERED:
        raise Silent(f"not audited, because the verdict is {examination.verdict.outcome}")
    states = {"base": "", "gold": examination.instance.fix_patch, "patch": examination.patch}
    built = {name: _built(examination, patch, name) for name, patch in states.items()}
    ids = _chosen(examination, built["gold"])
    audits = [_audited(examination, states[name], built[name], ids[:MOST]) for name in states]
    note = f"the first {MOST} of {len(ids)} stories" if ids[MOST:] else ""
    return {"stories": PartResult(_compared(*audits), note), "browser": audits[-1].browser}


def _built(examination: Examination, patch: str, name: str) -> Built:
    instance = examination.instance
    part = Part(
        "building stories",
        f"stories {build.VERSION}",
        Built,
        lambda plan: build.run_build(plan, patch, instance.fix_patch, instance.test_patch),
    )
    built = examination.result(patch, part)
    if built.silence:
        raise Silent(f"not audited, because {name}: {built.silence}")
    return built


def _chosen(examination: Examination, gold: Built) -> list[str]:
    """The stories to audit, the same in all states. Raises Silent."""
    instance = examination.instance
    stories = touched(
        _site(gold).stories,
        dict.fromkeys([*paths(instance.fix_patch), *paths(examination.patch)]),
        gold.folder,
        _sources(examination),
    )
    if not stories:
        raise Silent("not audited, because no story shows what the patches touch")
    return [story.id for story in stories]


def _sources(examination: Examination) -> dict[str, str]:
    clone, base = opened_clone(examination.runs.clone), examination.instance.base.sha
    blobs = read_blobs(clone, base, lambda path: bool(SOURCE.search(path)))
    return {path: data.decode(errors="replace") for path, data in blobs}


def _site(built: Built) -> Site:
    try:
        return open_site(built.archive, built.folder)
    except NoSite as why:
        raise Silent(f"not audited, because {why}") from None


def _audited(examination: Examination, patch: str, built: Built, ids: Sequence[str]) -> Audited:
    part = Part(
        "auditing stories",
        f"browser {browser.VERSION} {digest(ids)}",
        Audited,
        lambda _: browser.audit(_site(built), ids),
    )
    return examination.result(patch, part)


def _compared(base: Audited, gold: Audited, patch: Audited) -> AxeDelta:
    """The delta over the stories that base and gold show. Raises Silent if the patch hides one, or there is none."""
    common = set(base.shown) & set(gold.shown)
    if hidden := sorted(common - set(patch.shown)):
        name, cause = hidden[0], patch.causes.get(hidden[0], "")
        text = f"{name} ({cause})" if cause else name
        raise Silent(f"not audited, because a story of base and gold is not shown with the patch: {text}")
    if not common:
        raise Silent("not audited, because base and gold show none of the stories")
    seen_at_base, seen_with_gold, seen_with_patch = (
        _shown_in(common, state.violations) for state in (base, gold, patch)
    )
    return delta(seen_at_base, seen_with_gold, seen_with_patch, len(common))


def _shown_in(stories: set[str], violations: Violations) -> Violations:
    return tuple(violation for violation in violations if stories.intersection(violation.tests))
