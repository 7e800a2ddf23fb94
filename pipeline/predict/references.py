"""The two references that need no model: `oracle` answers with the gold patch, `nop` with none.

They check the benchmark itself (oracle resolves every instance, nop none), and only they see gold. Reads their verdicts
in `04_evaluation/`; writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.core.names import Repo
from pipeline.core.records import Instance, Outcome, Verdict
from pipeline.core.store import Store, each_record

REFERENCES = {
    "oracle": lambda instance: instance.fix_patch,
    "nop": lambda instance: "",
}
#: reference -> its required outcome on every instance
REQUIRED = {"oracle": Outcome.RESOLVED, "nop": Outcome.EMPTY}


def answer(agent: str, instance: Instance) -> tuple[str, str]:
    """A reference's patch and its outcome."""
    return REFERENCES[agent](instance), "REFERENCE"


def unchecked(store: Store, repo: Repo, instances: Sequence[Instance]) -> list[str]:
    """The instances for which the stored verdicts do not say that oracle resolves them and nop does not."""
    found = {name: _outcomes(store, repo, name) for name in REQUIRED}
    names = (instance.instance_id for instance in instances)
    return [
        name
        for name in names
        if any(found[reference].get(name) is not outcome for reference, outcome in REQUIRED.items())
    ]


def _outcomes(store: Store, repo: Repo, reference: str) -> dict[str, Outcome]:
    path = store.evaluation(repo, reference, reference) / "verdicts.jsonl"
    return {verdict.instance_id: verdict.outcome for verdict in each_record(path, Verdict)}
