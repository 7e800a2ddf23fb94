"""Stage 04: what the accessibility assessment says of the patches that there are now, beside the verdicts on them."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.analyze.reading import checks
from pipeline.analyze.reading.answered import Run
from pipeline.analyze.reading.judged import Verdicts
from pipeline.analyze.reading.matching import holds
from pipeline.analyze.reading.rows import Known, Who
from pipeline.core.assessment import Assessment
from pipeline.core.names import Repo
from pipeline.core.store import Store, each_record, unique

#: assessments by agent, model and instance
Assessments = dict[tuple[str, str, str], Assessment]


def read(
    store: Store, repo: Repo, runs: Mapping[Who, Run], verdicts: Verdicts, known: Mapping[str, Known]
) -> Assessments:
    """Those of a repository. Raises UserError for one that is of no instance or belies its verdict."""
    found: Assessments = {}
    for path in (folder / "assessments.jsonl" for folder in store.evaluated_in(repo)):
        for one in unique(each_record(path, Assessment), path):
            checks.known(one, known, path)
            checks.of_folder(one.agent, one.model, path.parent, path)
            key = one.agent, one.model, one.instance_id
            if key in verdicts and holds(one, runs.get(key[:2]), known[one.instance_id]):
                checks.keeps(one, verdicts[key], path)
                found[key] = one
    return found
