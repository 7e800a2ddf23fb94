"""Stage 04: the accessibility assessments of the current patches."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.analyze.reading import checks
from pipeline.analyze.reading.answered import Run
from pipeline.analyze.reading.judged import Verdicts
from pipeline.analyze.reading.matching import holds
from pipeline.analyze.reading.rows import KnownInstance, Who
from pipeline.core.assessment import Assessment
from pipeline.core.names import Repo
from pipeline.core.store import Store, each_record, unique

#: assessments by agent, model and instance
Assessments = dict[tuple[str, str, str], Assessment]


def read(
    store: Store, repo: Repo, runs: Mapping[Who, Run], verdicts: Verdicts, known: Mapping[str, KnownInstance]
) -> Assessments:
    """The assessments of a repository that apply to current answers. Raises UserError for an unknown instance and
    for a contradiction to the verdict."""
    assessments: Assessments = {}
    for path in (folder / "assessments.jsonl" for folder in store.evaluated_in(repo)):
        for assessment in unique(each_record(path, Assessment), path):
            checks.known(assessment, known, path)
            checks.of_folder(assessment.agent, assessment.model, path.parent, path)
            key = assessment.agent, assessment.model, assessment.instance_id
            if key in verdicts and holds(assessment, runs.get(key[:2]), known[assessment.instance_id]):
                checks.agrees_with_verdict(assessment, verdicts[key], path)
                assessments[key] = assessment
    return assessments
